// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/stand_in/jump.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace trimtab::runtime {
namespace {

// jmp *0(%rip), and the address that it reads.
struct [[gnu::packed]] Jump {
    std::uint8_t opcode[6] = {0xff, 0x25, 0, 0, 0, 0};
    const void* target = nullptr;
};
static_assert(sizeof(Jump) == jump_bytes);

}  // namespace

bool write_jump(std::byte* place, const void* target) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto start = reinterpret_cast<std::uintptr_t>(place);
    const std::uintptr_t first = start / page * page;
    const std::uintptr_t last = (start + sizeof(Jump) + page - 1) / page * page;
    auto* pages = reinterpret_cast<void*>(first);
    if (mprotect(pages, last - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    Jump jump;
    jump.target = target;
    std::memcpy(place, &jump, sizeof jump);
    return mprotect(pages, last - first, PROT_READ | PROT_EXEC) == 0;
}

const void* jump_target(const void* place) {
    const Jump expected;
    Jump found;
    std::memcpy(&found, place, sizeof found);
    return std::memcmp(found.opcode, expected.opcode, sizeof expected.opcode) == 0 ? found.target : nullptr;
}

}  // namespace trimtab::runtime
