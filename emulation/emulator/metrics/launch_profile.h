// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The profile record of one launch: all that its counters, its code and its shape say, in one value that
// outlives the program that launched it. tools/advice/ reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model/metrics.h"
#include "emulation/emulator/exec/counters.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/metrics/footprint_shape.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::emulator {

// A static instruction that ran.
struct InstructionProfile {
    std::string source;        // "gemm.cu:14"; empty where the code says nothing
    std::uint32_t column = 0;  // of that line, from 1; 0: not known
    std::string text;          // as PTX
    std::uint32_t index = 0;   // in the kernel's numbering
    InstructionClass kind = InstructionClass::other;
    InstructionCount count;
    std::int32_t parameter = -1;  // the pointer that its address comes from, by index; -1: not known
    // Its address was computed less often than it is used: the same in every turn of a loop.
    bool repeats_address = false;
    double address_computed = 0;  // warp executions of the instruction that made the address
};

struct LaunchProfile {
    std::string kernel;  // mangled
    std::string device;  // slug
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    trimtab_image image{};
    std::vector<std::byte>
        parameters;      // the parameter buffer; addresses are those of the program that is gone
    double time_ns = 0;  // modelled
    std::uint64_t launches = 1;
    double total_ns = 0;  // of these
    double counted_blocks = 0, counted_active_blocks = 0, counted_active_warps = 0;
    double branches = 0, divergent_branches = 0;  // of the counted
    model::MetricValues values{};
    std::vector<FootprintSample> footprints;
    std::vector<InstructionProfile> instructions;
    // Parameters by index: pointers that the kernel stores to, or gives to atomics.
    std::vector<bool> written;
    bool writes_unknown = false;  // some store's pointer is not known
};

// What the code and the counters say; shape, image, times and footprints are for the caller to add.
[[nodiscard]] LaunchProfile launch_profile(const Program& program, std::string_view kernel,
                                           const LaunchCounters& counters, std::uint64_t total_blocks);

inline constexpr int launch_profile_version = 2;
[[nodiscard]] nlohmann::json to_json(const LaunchProfile& profile);
[[nodiscard]] std::expected<LaunchProfile, Error> launch_profile_from_json(const nlohmann::json& json,
                                                                           const std::string& origin);

}  // namespace trimtab::emulator
