// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an SM has that warps wait for, each with two numbers: a latency and a gap (Hong et al., "GPU Code
// Optimization using Abstract Kernel Emulation and Sensitivity Analysis", PLDI 2018, section 3.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trimtab::schedule {

enum class Resource : std::uint8_t {
    fp32,
    fp64,
    fp16,
    integer,
    conversion,
    special_function,
    tensor,
    branch,
    barrier,
    collective,  // shuffles and votes of a warp
    load_store,  // where every access to memory enters
    shared,
    constant,
    texture,
    l1,    // a slot is a line's tag, or what L1 delivers in a cycle
    l2,    // a slot is a segment of 64 bytes, all or part of it: what a slice does in a cycle
    dram,  // a slot is a sector
    atomic,
    issue  // a scheduler's: a slot is a cycle in which it issues, be it one instruction or a pair
};
inline constexpr std::size_t resource_count = static_cast<std::size_t>(Resource::issue) + 1;
[[nodiscard]] std::string_view name(Resource resource);
[[nodiscard]] std::optional<Resource> resource_named(std::string_view name);
[[nodiscard]] constexpr std::size_t index(Resource resource) {
    return static_cast<std::size_t>(resource);
}

// `latency`: cycles from the admission of a request to the moment at which what depends on it may start.
// `gap`: least cycles between the admissions of two requests. A request of several slots is admitted slot by
// slot.
struct Pipe {
    double latency_cycles = 0, gap_cycles = 1;
    bool per_scheduler = false;  // each scheduler has one of its own; else the SM has one
    std::string latency_source{}, gap_source{};
};

enum class Policy : std::uint8_t {
    greedy_then_oldest,  // the warp that issued last while it can, then the one that has been ready longest
    round_robin,         // one turn each: a warp that cannot issue keeps the others waiting
    loose_round_robin    // the next that can
};
[[nodiscard]] std::string_view name(Policy policy);
[[nodiscard]] std::optional<Policy> policy_named(std::string_view name);

// One SM, as abstract emulation sees it. Gaps of l2 and dram are those of this SM's share.
struct Machine {
    std::array<Pipe, resource_count> pipes;
    unsigned schedulers = 1;
    unsigned issues_per_cycle = 1;  // of one scheduler, all from the same warp
    Policy policy = Policy::greedy_then_oldest;
    unsigned memory_queue =
        0;  // instructions of one scheduler that wait for load_store, at most; 0: any number
    double block_start_cycles = 0;  // from a block's end to the first instruction of the next in its place
    double block_gap_cycles = 0;    // least between the starts of two blocks
    std::uint64_t l1_bytes = 0;     // 0: global loads bypass it
    std::uint64_t l2_bytes = 0;     // of L2, what holds this SM's data; 0: nothing stays there
    double l1_sectors_a_slot = 4;
    bool has_banked_l1 =
        false;  // a bank for each of a line's sectors, which looks up one a cycle; else one line a cycle
    // Of the lines that loads look up there, the share that is found; nothing: their addresses decide.
    std::optional<double> l1_hit_rate{}, l2_hit_rate{};
    bool has_caches = true;  // false: every access passes on to DRAM, what is written too

    [[nodiscard]] Pipe& of(Resource resource) { return pipes[index(resource)]; }
    [[nodiscard]] const Pipe& of(Resource resource) const { return pipes[index(resource)]; }
};

}  // namespace trimtab::schedule
