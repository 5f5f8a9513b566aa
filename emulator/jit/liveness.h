// Which registers hold a value that is still needed, at any instruction of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/control_flow.h"
#include "ptx/module.h"

namespace trimtab::emulator::jit {

class RegisterSet {
  public:
    explicit RegisterSet(std::size_t registers = 0) : words_((registers + 63) / 64) {}
    void insert(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
    void erase(std::uint32_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
    [[nodiscard]] bool contains(std::uint32_t i) const { return ((words_[i / 64] >> (i % 64)) & 1) != 0; }
    bool merge(const RegisterSet& other);  // true: it grew
    [[nodiscard]] std::vector<ptx::RegisterIndex> list() const;

  private:
    std::vector<std::uint64_t> words_;
};

class Liveness {
  public:
    Liveness(const ptx::Function& function, const ptx::ControlFlow& flow);
    [[nodiscard]] const RegisterSet& into(ptx::BlockIndex block) const { return in_[block]; }
    // Before instruction `index`; the function's end: none.
    [[nodiscard]] RegisterSet before(std::uint32_t index) const;

  private:
    void step_back(RegisterSet& live, std::uint32_t index) const;

    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    std::vector<RegisterSet> in_, out_;
};

}  // namespace trimtab::emulator::jit
