// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory and launches for tests: device pointers are host pointers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory.h"

namespace trimtab::emulator::test {

// Every array that is registered is one range.
class HostMemory : public GlobalMemory {
  public:
    template <class T>
    T* add(std::vector<T>& array) {
        ranges_[reinterpret_cast<std::uint64_t>(array.data())] = array.size() * sizeof(T);
        return array.data();
    }
    void clear() { ranges_.clear(); }
    [[nodiscard]] Range range_of(std::uint64_t address, Access access) override;
    [[nodiscard]] std::string explain(std::uint64_t address) const override;

  private:
    std::map<std::uint64_t, std::uint64_t> ranges_;
};

// A kernel's parameters as the ABI packs them.
class Parameters {
  public:
    template <class... T>
    explicit Parameters(const T&... values) {
        (append(&values, sizeof(T), alignof(T)), ...);
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    void append(const void* value, std::size_t size, std::size_t alignment) {
        bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
        const std::size_t at = bytes_.size();
        bytes_.resize(at + size);
        std::memcpy(bytes_.data() + at, value, size);
    }
    std::vector<std::byte> bytes_;
};

[[nodiscard]] std::shared_ptr<Program> load(std::string_view ptx);

struct Grid {
    trimtab_dim3 grid{1, 1, 1}, block{32, 1, 1};
    std::uint32_t shared_bytes = 0;
    unsigned threads = 1;
};

[[nodiscard]] std::expected<LaunchResult, Fault> try_run(Program& program, GlobalMemory& memory,
                                                         std::string_view kernel, const Grid& grid,
                                                         const Parameters& parameters,
                                                         const CountingPlan& counting = {});
// Fails the test where the launch does.
LaunchResult run(Program& program, GlobalMemory& memory, std::string_view kernel, const Grid& grid,
                 const Parameters& parameters, const CountingPlan& counting = {});

}  // namespace trimtab::emulator::test
