// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/device.h"
#include "driver_gen/fits.h"
#include "emulation/emulator/check/report.h"
#include "profiler/profile.h"
#include "tests/fuzz/targets.h"
#include "tools/trimtab/records.h"

namespace trimtab::fuzz {

void fuzz_json(Input input) {
    (void)tools::read_records(input, "fuzzed");
    const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
    (void)model::parse_device(text, "fuzzed.json");
    (void)emulator::check::reports_of_json(text, "fuzzed");
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) return;
    if (const auto description = analysis::description_from_json(json, "fuzzed")) {
        (void)analysis::to_json(*description);
        // As a launch would use it: the arguments it speaks of, and its guards.
        std::size_t bytes = 64;
        for (const analysis::KernelParameter& parameter : description->parameters)
            bytes = std::max<std::size_t>(bytes, std::size_t{parameter.offset} + parameter.size);
        if (bytes > 1u << 16) return;
        const std::vector<std::byte> arguments(bytes, std::byte{3});
        (void)analysis::data_values(*description, arguments, {1000, 20, 1});
        trimtab_device device{};
        device.max_threads_per_block = device.max_block_x = device.max_block_y = 1024;
        device.max_block_z = 64;
        device.max_grid_x = device.max_grid_y = device.max_grid_z = 65535;
        (void)analysis::legal_blocks(*description, arguments, {10, 2, 1}, {100, 10, 1}, device, {});
    }
    if (const auto profile = profiler::profile_from_json(json, "fuzzed")) (void)profiler::to_json(*profile);
    if (const auto fits = driver_gen::fits_from_json(json, "fuzzed")) {
        (void)driver_gen::to_json(*fits);
        (void)driver_gen::to_text(*fits);
    }
}

}  // namespace trimtab::fuzz
