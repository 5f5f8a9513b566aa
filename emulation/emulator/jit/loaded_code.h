// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code in memory, from an ELF object of the compiler's. It refers to nothing outside itself: what it
// calls it finds through the warp. So no linker is needed, nor LLVM where the object comes from the cache.
#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "trimtab/error.h"

namespace trimtab::emulator::jit {

class LoadedCode {
  public:
    // Objects of another processor, or that refer to what they do not define, are errors.
    [[nodiscard]] static std::expected<std::unique_ptr<LoadedCode>, Error> load(
        std::span<const std::byte> object);
    ~LoadedCode();
    LoadedCode(const LoadedCode&) = delete;
    LoadedCode& operator=(const LoadedCode&) = delete;

    [[nodiscard]] const void* symbol(const std::string& name) const;  // nullptr: there is none

  private:
    LoadedCode() = default;
    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
    std::map<std::string, const void*> symbols_;
};

}  // namespace trimtab::emulator::jit
