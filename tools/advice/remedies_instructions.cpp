// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/advice/remedies.h"

namespace trimtab::advice {
namespace {

using emulator::InstructionClass;
using emulator::InstructionProfile;
using model::Metric;
using schedule::EditKind;

bool is_memory(InstructionClass kind) {
    return kind == InstructionClass::global_load || kind == InstructionClass::global_store ||
           kind == InstructionClass::global_atomic || kind == InstructionClass::shared_memory;
}

bool converts_doubles(const Subject& subject, const InstructionProfile& instruction) {
    if (subject.counted != nullptr) return instruction.kind == InstructionClass::conversion;
    return instruction.text.starts_with("cvt.") &&
           (instruction.text.contains("f64.f32") || instruction.text.contains("f32.f64"));
}

bool has_double_literal(const InstructionProfile& instruction) {
    return instruction.text.contains("0d");
}

std::string double_text(const Subject& subject, const InstructionProfile& instruction) {
    if (subject.counted != nullptr)
        return fmt::format("{:.2g} % of its instructions compute in double; none of its parameters is double",
                           100 * subject.question[Metric::fp64_instructions] /
                               std::max(1.0, subject.question[Metric::warp_instructions]));
    return has_double_literal(instruction) ? "this literal is double, and turns its operands into double"
                                           : "this is computed in double, of values that are float";
}

}  // namespace

// Doubles in a kernel that neither reads nor writes any: a literal without its f, or a function of doubles.
std::optional<WhatIf> use_floats(const Subject& subject) {
    if (subject.has_double_pointers || !(subject.question[Metric::fp64_instructions] > 0))
        return std::nullopt;
    const double warps = std::max(1.0, subject.profile.counted_active_warps);
    WhatIf out{.changed = subject.question, .times = 1, .change = {}, .evidence = {}};
    double conversions = 0, doubles = 0;
    for (const InstructionProfile& instruction : subject.profile.instructions) {
        // A double that is loaded or stored is meant; 64 bits have this name in PTX alone.
        if (is_memory(instruction.kind) && instruction.text.contains(".f64")) return std::nullopt;
        if (converts_doubles(subject, instruction)) {
            conversions += real(instruction.count.warp);
            out.edits.push_back({instruction.index, EditKind::removed});
        }
        if (instruction.kind != InstructionClass::fp64) continue;
        doubles += real(instruction.count.warp);
        out.edits.push_back({instruction.index, EditKind::single_precision});
        Evidence evidence{.source = instruction.source,
                          .column = instruction.column,
                          .text = double_text(subject, instruction),
                          .weight = real(instruction.count.warp) * (has_double_literal(instruction) ? 2 : 1)};
        const auto known = std::ranges::find(out.evidence, evidence.source, &Evidence::source);
        if (known == out.evidence.end())
            out.evidence.push_back(std::move(evidence));
        else if (known->weight < evidence.weight)
            *known = std::move(evidence);
    }
    if (out.evidence.empty() || !(conversions > 0)) return std::nullopt;
    // Of special functions in double one step is many instructions; those that are counted stay.
    out.changed[Metric::fp32_instructions] += doubles / warps;
    out.changed[Metric::fp64_instructions] =
        std::max(0.0, out.changed[Metric::fp64_instructions] - doubles / warps);
    out.changed[Metric::integer_instructions] =
        std::max(0.0, out.changed[Metric::integer_instructions] - conversions / warps);
    out.changed[Metric::warp_instructions] =
        std::max(1.0, out.changed[Metric::warp_instructions] - conversions / warps);
    return out;
}

// Warps whose lanes part: the same lanes, sorted into whole warps, would take so many fewer instructions.
std::optional<WhatIf> converge(const Subject& subject) {
    const emulator::LaunchProfile& profile = subject.profile;
    if (!(profile.divergent_branches > 0)) return std::nullopt;
    // One lane that does all is no divergence: there are no others to sort it with.
    if (subject.question[Metric::active_lanes] * subject.question[Metric::active_warps] *
            subject.question[Metric::active_blocks] <
        2 * 32)
        return std::nullopt;
    // Blocks of odd sizes have lanes that are always idle: the fullest instruction says how many work.
    double full = subject.counted != nullptr ? subject.counted->full_lanes : 1;
    for (const InstructionProfile& instruction : profile.instructions)
        if (instruction.count.warp > 0)
            full = std::max(full, real(instruction.count.thread) / real(instruction.count.warp));
    const double warps = std::max(1.0, profile.counted_active_warps);
    WhatIf out{.changed = subject.question, .times = 1, .change = {}, .evidence = {}};
    double saved = 0;
    for (const InstructionProfile& instruction : profile.instructions) {
        const double executed = real(instruction.count.warp), lanes = real(instruction.count.thread);
        if (executed > 0 && instruction.count.divergent > 0) {
            const double divergent = real(instruction.count.divergent);
            const auto known = std::ranges::find(out.evidence, instruction.source, &Evidence::source);
            // A loop that is unrolled has its branch several times, at one line.
            if (known == out.evidence.end())
                out.evidence.push_back(
                    {.source = instruction.source,
                     .text = fmt::format("warps diverge at {} {:.0f} % of {}",
                                         subject.counted == nullptr ? "this branch" : "its branches,",
                                         100 * divergent / executed,
                                         subject.counted == nullptr ? "the time" : "them"),
                     .weight = divergent});
            else
                known->weight += divergent;
        }
        const double gone = executed - std::min(executed, lanes / full);
        if (gone <= 0) continue;
        saved += gone;
        const double share = gone / executed;
        out.changed[Metric::warp_instructions] -= gone / warps;
        const auto less = [&](Metric metric, double count) {
            out.changed[metric] = std::max(0.0, out.changed[metric] - count / warps);
        };
        switch (instruction.kind) {
            case InstructionClass::fp32:
            case InstructionClass::fp16:
                less(Metric::fp32_instructions, gone);
                break;
            case InstructionClass::fp64:
                less(Metric::fp64_instructions, gone);
                break;
            case InstructionClass::integer:
            case InstructionClass::conversion:
                less(Metric::integer_instructions, gone);
                break;
            case InstructionClass::special_function:
                less(Metric::special_function_instructions, gone);
                break;
            case InstructionClass::global_load:
                less(Metric::load_requests, share * real(instruction.count.requests));
                break;
            case InstructionClass::global_store:
                less(Metric::store_requests, share * real(instruction.count.requests));
                break;
            case InstructionClass::shared_memory:
                less(Metric::shared_requests, share * real(instruction.count.requests));
                less(Metric::shared_wavefronts, share * real(instruction.count.wavefronts));
                break;
            default:
                break;
        }
    }
    if (out.evidence.empty() || saved <= 0) return std::nullopt;
    out.changed[Metric::warp_instructions] = std::max(1.0, out.changed[Metric::warp_instructions]);
    return out;
}

}  // namespace trimtab::advice
