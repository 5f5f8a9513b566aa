// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills the trampolines' slots (trampoline.inc): each on its first call.
#include <array>
#include <atomic>
#include <cstdint>

#include "runtime/process.h"

extern "C" {
// One pointer a trampoline, in the order of `names`.
extern std::atomic<void*> trimtab_slots[];
void* trimtab_resolve_slot(std::uint64_t index) noexcept;
}

namespace {
constexpr auto names = std::to_array<const char*>({
#include "trampoline_names.inc"
});
}  // namespace

void* trimtab_resolve_slot(std::uint64_t index) noexcept {
    auto& process = trimtab::runtime::Process::instance();
    void* function = process.loaded().backend.resolve(names[index], process.log());
    trimtab_slots[index].store(function, std::memory_order_relaxed);
    return function;
}
