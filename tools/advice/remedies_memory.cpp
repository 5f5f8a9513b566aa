// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/advice/remedies.h"

namespace trimtab::advice {
namespace {

using emulator::InstructionClass;
using emulator::InstructionProfile;
using model::Metric;
using schedule::EditKind;

// Sectors and lines that the lanes' bytes need, side by side.
struct Ideal {
    double sectors = 0, lines = 0;
};
Ideal ideal_of(const InstructionProfile& instruction) {
    const double requests = real(instruction.count.requests), bytes = real(instruction.count.bytes);
    return {.sectors = std::max(requests, bytes / 32), .lines = std::max(requests, bytes / 128)};
}

// More than this over the ideal is a defect: rows that begin in the middle of a line cost less.
constexpr double scattered = 1.5;

bool is_scattered(const InstructionProfile& instruction) {
    return instruction.count.requests > 0 &&
           real(instruction.count.sectors) > scattered * ideal_of(instruction).sectors;
}

// Of the sectors that are fetched, the part that some lane asks for, at most: bytes asked for over bytes
// touched, by blocks. Elements that several lanes or turns share make it too large, never too small.
// Where counters are all that is known, over bytes that memory moved: what more it moved than was asked for is not needed.
double used_share(const Subject& subject) {
    double bytes = 0;
    for (const InstructionProfile& instruction : subject.profile.instructions)
        if (instruction.kind == InstructionClass::global_load ||
            instruction.kind == InstructionClass::global_store)
            bytes += real(instruction.count.bytes);
    if (subject.counted != nullptr)
        return subject.counted->dram_bytes > 0 ? std::min(1.0, bytes / subject.counted->dram_bytes) : 1;
    const double blocks = std::max(1.0, subject.profile.counted_active_blocks);
    const double touched = 32 * subject.question[Metric::footprint_sectors];
    return touched > 0 ? std::min(1.0, bytes / blocks / touched) : 1;
}
// Below this, sectors are fetched for parts of them: structures of which one member is wanted.
constexpr double wasted = 0.75;

// One line of evidence a place in the source: a loop that is unrolled has its accesses several times.
void gather(std::vector<Evidence>& evidence, const InstructionProfile& instruction, std::string text,
            double weight) {
    Evidence made{.source = instruction.source,
                  .column = instruction.column,
                  .text = std::move(text),
                  .weight = weight};
    const auto known = std::ranges::find_if(evidence, [&](const Evidence& one) {
        return one.source == made.source && one.column == made.column;
    });
    if (known == evidence.end())
        evidence.push_back(std::move(made));
    else if (weight > known->weight)
        *known = std::move(made);
}

std::optional<WhatIf> coalesce(const Subject& subject, InstructionClass kind, bool packs) {
    const double warps = std::max(1.0, subject.profile.counted_active_warps);
    WhatIf out{.changed = subject.question, .times = 1, .change = {}, .evidence = {}};
    const bool loads = kind == InstructionClass::global_load;
    for (const InstructionProfile& instruction : subject.profile.instructions) {
        if (instruction.kind != kind || !is_scattered(instruction)) continue;
        const Ideal ideal = ideal_of(instruction);
        const double requests = real(instruction.count.requests);
        const double sectors = real(instruction.count.sectors), lines = real(instruction.count.lines);
        out.changed[loads ? Metric::load_sectors : Metric::store_sectors] -=
            (sectors - ideal.sectors) / warps;
        out.changed[loads ? Metric::load_lines : Metric::store_lines] -=
            std::max(0.0, lines - ideal.lines) / warps;
        if (!loads)
            out.changed[Metric::store_partial_sectors] -= real(instruction.count.partial_sectors) / warps;
        out.edits.push_back({instruction.index, EditKind::side_by_side});
        gather(out.evidence, instruction,
               fmt::format("{} {:.3g} sectors per request; {:.3g} would hold all that {} lanes ask for",
                           subject.counted == nullptr ? (loads ? "this load moves" : "this store moves")
                                                      : (loads ? "its loads move" : "its stores move"),
                           sectors / requests, ideal.sectors / requests,
                           subject.counted == nullptr ? "its" : "their"),
               sectors - ideal.sectors);
    }
    if (out.evidence.empty()) return std::nullopt;
    if (subject.counted != nullptr)
        out.changed.fit_traffic(used_share(subject) * subject.question.terms()["DRAM_bytes"]);
    else if (packs)
        out.changed.scale_footprints(used_share(subject));
    return out;
}

}  // namespace

std::optional<WhatIf> coalesce_loads(const Subject& subject) {
    // Counters do not tell whose neighbours are never asked for.
    if (subject.counted != nullptr) return coalesce(subject, InstructionClass::global_load, true);
    if (used_share(subject) < wasted) return std::nullopt;
    return coalesce(subject, InstructionClass::global_load, false);
}

std::optional<WhatIf> pack_loads(const Subject& subject) {
    const double used = used_share(subject);
    if (used >= wasted) return std::nullopt;
    auto out = coalesce(subject, InstructionClass::global_load, true);
    if (out)
        out->change = fmt::format("of the bytes that are fetched at most {:.0f} % are asked for", 100 * used);
    return out;
}

std::optional<WhatIf> coalesce_stores(const Subject& subject) {
    return coalesce(subject, InstructionClass::global_store, used_share(subject) < wasted);
}

std::optional<WhatIf> spread_banks(const Subject& subject) {
    const double warps = std::max(1.0, subject.profile.counted_active_warps);
    WhatIf out{.changed = subject.question, .times = 1, .change = {}, .evidence = {}};
    for (const InstructionProfile& instruction : subject.profile.instructions) {
        if (instruction.kind != InstructionClass::shared_memory || instruction.count.requests == 0) continue;
        const double requests = real(instruction.count.requests), passes = real(instruction.count.wavefronts);
        const double ideal = std::max(requests, real(instruction.count.bytes) / 128);
        if (passes <= scattered * ideal) continue;
        out.changed[Metric::shared_wavefronts] -= (passes - ideal) / warps;
        out.edits.push_back({instruction.index, EditKind::without_conflicts});
        gather(out.evidence, instruction,
               fmt::format("conflicts in banks: {} {:.3g} passes over shared memory a request",
                           subject.counted == nullptr ? "this access takes" : "its accesses take",
                           passes / requests),
               passes - ideal);
    }
    if (out.evidence.empty()) return std::nullopt;
    return out;
}

std::optional<WhatIf> keep_in_registers(const Subject& subject) {
    const double local = subject.question[Metric::local_requests];
    const double bytes = subject.question.image.local_bytes_per_thread;
    if (local <= 0 && bytes <= 0) return std::nullopt;
    WhatIf out{.changed = subject.question, .times = 1, .change = {}, .evidence = {}};
    out.changed[Metric::local_requests] = 0;
    out.changed[Metric::warp_instructions] = std::max(1.0, out.changed[Metric::warp_instructions] - local);
    out.changed.image.local_bytes_per_thread = 0;
    // Counters do not tell whose bytes memory moves: local memory's share of the sectors, four to a request, are its.
    if (subject.counted != nullptr) {
        const double others =
            subject.question[Metric::load_sectors] + subject.question[Metric::store_sectors];
        out.changed.fit_traffic(others / (others + 4 * local) * subject.question.terms()["DRAM_bytes"]);
    }
    struct Accesses {
        double count = 0, weight = 0;
    };
    std::map<std::string, Accesses> accesses;
    for (const InstructionProfile& instruction : subject.profile.instructions) {
        if (instruction.kind != InstructionClass::local_memory) continue;
        out.edits.push_back({instruction.index, EditKind::removed});
        const double requests = real(instruction.count.requests);
        // Loads are what a warp waits for.
        accesses[instruction.source].count += requests;
        accesses[instruction.source].weight += requests * (instruction.text.contains("ld.") ? 2 : 1);
    }
    const double warps = std::max(1.0, subject.profile.counted_active_warps);
    for (const auto& [source, made] : accesses)
        out.evidence.push_back(
            {.source = source,
             .text = fmt::format("goes to local memory, which is memory: {:.3g} requests per warp",
                                 made.count / warps),
             .weight = made.weight});
    if (out.evidence.empty())
        out.evidence.push_back(
            {.source = {},
             .text = fmt::format("{:.0f} bytes of registers per thread are spilled to local memory", bytes),
             .weight = bytes});
    return out;
}

// A sum that is loaded and stored in every turn, because the compiler must take it that other pointers see it
// (no __restrict__), or because the source says so: the same address again and again.
std::optional<WhatIf> sum_in_registers(const Subject& subject) {
    const double warps = std::max(1.0, subject.profile.counted_active_warps);
    WhatIf out{.changed = subject.question, .times = 1, .change = {}, .evidence = {}};
    double turns = 0, once = 0, other_loads = 0, copies = 0;
    for (const InstructionProfile& store : subject.profile.instructions) {
        if (store.kind != InstructionClass::global_store || !store.repeats_address) continue;
        const double stays = store.address_computed / std::max(1.0, real(store.count.warp));
        const double gone = 1 - std::min(1.0, stays);
        const double requests = real(store.count.requests);
        turns += requests;
        once += requests * (1 - gone);
        copies += 1;
        out.changed[Metric::store_requests] -= gone * requests / warps;
        out.changed[Metric::store_sectors] -= gone * real(store.count.sectors) / warps;
        out.changed[Metric::store_lines] -= gone * real(store.count.lines) / warps;
        out.changed[Metric::store_partial_sectors] -= gone * real(store.count.partial_sectors) / warps;
        out.changed[Metric::warp_instructions] -= gone * real(store.count.warp) / warps;
        out.edits.push_back({store.index, EditKind::removed});
        gather(
            out.evidence, store,
            fmt::format(
                "this store goes to one address in each of {:.3g} iterations: the sum can stay in a register",
                1 / std::max(1e-9, stays)),
            requests);
    }
    if (out.evidence.empty()) return std::nullopt;
    for (const InstructionProfile& load : subject.profile.instructions) {
        if (load.kind != InstructionClass::global_load) continue;
        const double requests = real(load.count.requests);
        if (!load.repeats_address) {
            other_loads += requests;
            continue;
        }
        out.edits.push_back({load.index, EditKind::removed});
        const double gone = 1 - std::min(1.0, load.address_computed / std::max(1.0, real(load.count.warp)));
        out.changed[Metric::load_requests] -= gone * requests / warps;
        out.changed[Metric::load_sectors] -= gone * real(load.count.sectors) / warps;
        out.changed[Metric::load_lines] -= gone * real(load.count.lines) / warps;
        out.changed[Metric::warp_instructions] -= gone * real(load.count.warp) / warps;
    }
    // Without the stores between them the turns that the compiler unrolled load together.
    const double rounds = subject.question[Metric::dependent_rounds];
    out.changed[Metric::dependent_rounds] = other_loads > 0 ? std::max(1.0, rounds / std::max(1.0, copies))
                                                            : std::max(1.0, rounds * once / turns);
    return out;
}

// Pointers to what the kernel only reads, which the compiler does not know: it loads again in every turn what a store
// through another pointer might have changed, and on devices that keep no other loads in L1 it goes to L2 for all.
std::optional<WhatIf> read_only(const Subject& subject) {
    const emulator::LaunchProfile& profile = subject.profile;
    if (profile.writes_unknown) return std::nullopt;
    const double warps = std::max(1.0, profile.counted_active_warps);
    const trimtab_device& device = subject.question.device;
    const bool is_cached_near = device.l1_caches_global_loads > 0 || device.compute_capability < 35;
    WhatIf out{.changed = subject.question, .times = 1, .change = {}, .evidence = {}};
    double turns = 0, once = 0, other_loads = 0;
    for (const InstructionProfile& load : profile.instructions) {
        if (load.kind != InstructionClass::global_load) continue;
        const double requests = real(load.count.requests);
        const auto index = static_cast<std::size_t>(load.parameter);
        const bool is_only_read = load.parameter >= 0 && index < profile.written.size() &&
                                  !profile.written[index] && !load.text.contains(".volatile") &&
                                  !load.text.contains(".relaxed") && !load.text.contains(".acquire");
        if (!is_only_read || load.text.contains(".nc")) {
            other_loads += requests;
        } else if (load.repeats_address) {
            const double stays = load.address_computed / std::max(1.0, real(load.count.warp)),
                         gone = 1 - std::min(1.0, stays);
            turns += requests;
            once += requests * (1 - gone);
            out.changed[Metric::load_requests] -= gone * requests / warps;
            out.changed[Metric::load_sectors] -= gone * real(load.count.sectors) / warps;
            out.changed[Metric::load_lines] -= gone * real(load.count.lines) / warps;
            out.changed[Metric::warp_instructions] -= gone * real(load.count.warp) / warps;
            out.edits.push_back({load.index, EditKind::removed});
            gather(out.evidence, load,
                   fmt::format(
                       "the same element is loaded again, {:.3g} times in all, as a store through another "
                       "pointer might have changed it: the kernel never writes what this pointer leads to",
                       1 / std::max(1e-9, stays)),
                   gone * requests);
        } else if (!is_cached_near) {
            other_loads += requests;
            out.edits.push_back({load.index, EditKind::cached_near});
            gather(out.evidence, load,
                   "the kernel never writes what this load reads, and the compiler does not know it",
                   requests);
        }
    }
    if (out.evidence.empty()) return std::nullopt;
    // Where these loads are all that a turn waits for, it waits no more.
    if (other_loads <= 0 && turns > 0)
        out.changed[Metric::dependent_rounds] =
            std::max(1.0, subject.question[Metric::dependent_rounds] * once / turns);
    if (!is_cached_near) {
        out.is_for_emulation = true;  // the model keeps all loads near the SM, or none
        out.changed.device.l1_caches_global_loads = 1;
        // The read-only cache of Kepler to Pascal: 12 to 48 KiB an SM (CUDA C++ Programming Guide, H.3 to H.5).
        if (out.changed.device.l1_bytes <= 0) out.changed.device.l1_bytes = 24576;
    }
    return out;
}

}  // namespace trimtab::advice
