// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What trimtab bench has left of one program in several folders, one a kind of GPU: docs/validating-on-a-gpu.md.
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::tools {

struct TimedProgram {
    // The time of the best over that of what is compared: geometric mean, and least, of `launches` launches.
    struct Share {
        std::string of;  // "as written", "chosen", "occupancy API"
        std::size_t launches = 0;
        double mean = 0, least = 0;
    };
    std::string folder, device;  // device: empty where nothing was timed
    std::size_t launches = 0, skipped_kernels = 0;
    std::vector<Share> shares;
};

// The folders with bench/bench.json that lie in this one, itself among them, in order.
[[nodiscard]] std::vector<std::string> timed_folders(const std::string& folder);
// Of such a folder. The error names the file, and the member.
[[nodiscard]] std::expected<TimedProgram, Error> read_timed_program(const std::string& folder);

// A line a folder.
[[nodiscard]] std::string to_table(const std::vector<TimedProgram>& programs);
[[nodiscard]] nlohmann::ordered_json to_json(const TimedProgram& program);

}  // namespace trimtab::tools
