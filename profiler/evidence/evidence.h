// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evidence for a verdict: whole launches on the emulator, as written and with blocks that the verdict allows, leave the same
// memory. A proof may have holes; what has been tried has none for what was tried.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/analysis/launches/description.h"
#include "emulation/emulator/exec/launch.h"
#include "profiler/profile.h"
#include "trimtab/error.h"

namespace trimtab::profiler {

struct Evidence {
    enum class Outcome : std::uint8_t {
        none,    // nothing could be compared: `text` says why
        agrees,  // with all launches that were compared
        differs  // `text` says where
    };
    Outcome outcome = Outcome::none;
    std::string text;            // one line; empty: nothing is to be said
    std::uint32_t launches = 0;  // that were compared with one as written
    std::uint32_t assumed_races =
        0;  // launches as written that leave it to the order of threads what they do
    friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct EvidenceOptions {
    // Warp instructions of all launches together, about.
    std::uint64_t instruction_budget = 600'000;
};

// Of a kernel whose verdict its proof gave. `profile`: of this backend's program, planned.
[[nodiscard]] Evidence gather_evidence(const analysis::KernelDescription& description,
                                       emulator::Program& program, const Profile& profile,
                                       const EvidenceOptions& options = {});

// Is there a verdict of the proof's to be checked? What an annotation allows is the programmer's word.
[[nodiscard]] bool wants_evidence(const analysis::KernelDescription& description);

// The kernel keeps its block from now on: a reason of rule 7, and no verdict but `fixed`.
void refute(analysis::KernelDescription& description, const Evidence& evidence);

// What makes other evidence of the same profile.
[[nodiscard]] std::string evidence_key(const analysis::KernelDescription& description,
                                       const EvidenceOptions& options = {});
[[nodiscard]] nlohmann::json to_json(const Evidence& evidence);
[[nodiscard]] std::expected<Evidence, Error> evidence_from_json(const nlohmann::json& json,
                                                                const std::string& origin);

}  // namespace trimtab::profiler
