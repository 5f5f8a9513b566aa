// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compiled code and the emulator agree on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/op.h"
#include "emulation/emulator/jit/lane_pattern.h"
#include "emulation/emulator/jit/register_copies.h"

namespace trimtab::emulator::jit {

// Functions that compiled code calls; it finds them through Warp::services. They let nothing be thrown
// through its frames, which have no tables for unwinding: the launch's fault says it, and the warp is
// stopped.
struct Services {
    // Runs the ops [first, end) and whatever they lead to within them: returns the op behind, `end` if
    // nothing special happened; nullptr where the warp stops.
    const Op* (*run_ops)(Warp* w, const Op* first, const Op* end) noexcept = nullptr;
    // Counted code: what it does not count itself. `op` counts a region; a region is counted for the first
    // time; a request of all lanes, at one place or one behind the other; one of `lanes`, whose addresses are
    // in Warp::at.
    void (*count_region)(Warp* w, const Op* op) noexcept = nullptr;
    void (*touch)(Warp* w, std::uint32_t slot) noexcept = nullptr;
    void (*count_span)(Warp* w, const Op* op, std::uint64_t first, std::uint64_t end) noexcept = nullptr;
    void (*count_lanes)(Warp* w, const Op* op, std::uint32_t lanes) noexcept = nullptr;
    // One in runs of lanes: count_request().
    void (*count_runs)(Warp* w, const Op* op, std::uint32_t run_lanes, std::uint64_t span) noexcept = nullptr;
    // A load of all lanes, whose addresses are in Warp::at: the LastRequests of that number from now on.
    void (*count_far_load)(Warp* w, const Op* op, std::uint32_t number) noexcept = nullptr;
    // Sectors for the footprints: SectorSet::insert_window().
    void (*insert_window)(Warp* w, std::uint64_t window, std::uint64_t bits) noexcept = nullptr;
    // Block::pass_on().
    std::uint32_t (*pass_on)(Warp* w) noexcept = nullptr;
    // Of functions whose registers lie in memory.
    decltype(&save_registers) save = nullptr;
    decltype(&restore_registers) restore = nullptr;
};
[[nodiscard]] const Services& services();

// Offsets in Warp, CachedRange and Op that compiled code knows, as one number that changes with them.
[[nodiscard]] std::uint64_t layout_hash();

// Functions of more PTX instructions than this keep their registers in memory.
inline constexpr std::size_t most_in_registers = 300;

struct CompileRequest {
    const KernelCode* code = nullptr;
    LanePatterns lanes;
    // In virtual registers whatever the function's size: slow to compile, and the fastest to run.
    bool is_for_long_runs = false;
};
// An ELF object; function number i is symbol "f<i>". Functions that cannot be compiled are not in it.
struct CompiledObject {
    std::vector<std::byte> bytes;
    std::string error;  // not empty: there is no object
};

// libtrimtab_jit.so's only entry point, and a function that tells the hash of the sources that it is made of: the code
// that another version makes would not fit this one's warps.
using CompileFunction = void (*)(const CompileRequest* request, CompiledObject* object);
inline constexpr const char* compile_symbol = "trimtab_jit_compile";
using HashFunction = const char* (*)();
inline constexpr const char* hash_symbol = "trimtab_jit_code_hash";

}  // namespace trimtab::emulator::jit
