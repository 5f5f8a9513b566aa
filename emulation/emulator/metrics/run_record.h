// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program's run on the emulator shows beside its single launches: copies that brought what was there
// already, and launches that waited for each other without need. tools/advice/ reads it.
#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::emulator {

struct CopySum {
    std::uint64_t count = 0;
    double bytes = 0, ns = 0;  // modelled
};

// Launches of these kernels that followed each other in a stream, of which none writes what another is given.
struct SerialLaunches {
    std::vector<std::string> kernels;  // mangled, each once, in the order in which they began
    std::uint64_t launches = 0;
    double ns = 0, together_ns = 0;  // one after the other; beside each other, at best
};

struct RunRecord {
    std::string device;  // slug
    CopySum to_device, to_host;
    // Of these: the device held the same bytes since an earlier copy to there; it is where they had come from
    // (a round trip); the host held them since an earlier copy from there.
    CopySum sent_again, round_trips, fetched_again;
    std::vector<SerialLaunches> serial;
};

inline constexpr int run_record_version = 1;
[[nodiscard]] nlohmann::json to_json(const RunRecord& record);
// Is it one, of whatever version?
[[nodiscard]] bool is_run_record(const nlohmann::json& json);
[[nodiscard]] std::expected<RunRecord, Error> run_record_from_json(const nlohmann::json& json,
                                                                   const std::string& origin);

}  // namespace trimtab::emulator
