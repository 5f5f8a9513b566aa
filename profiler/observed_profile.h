// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A profile of the launches that a program itself made, with its own data: for kernels whose work depends on what their
// arrays hold, or that no made-up launch can run (docs/profile.md).
#pragma once

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/model/metrics.h"
#include "profiler/profile.h"
#include "profiler/store.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::profiler {

// What Profile::backend_name is of such profiles.
inline constexpr const char* observed_backend = "program";

struct ObservedLaunch {
    std::vector<std::byte> parameters;  // the parameter buffer
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    model::MetricValues values{};
    struct Box {
        std::array<double, 3> threads{};
        double footprint_sectors = 0;
    };
    std::vector<Box> boxes;  // footprints beside the block's own
};

// `version`: who counted. `planned`: the profile that the kernel has, if it has one: it knows which values do not matter.
// `earlier`: one of these, of earlier runs, whose points stay where no launch of the same data and block takes their place.
// The error: none of the launches did anything, or they are not of that kernel.
[[nodiscard]] std::expected<Profile, Error> observed_profile(const analysis::KernelDescription& description,
                                                             const std::vector<ObservedLaunch>& launches,
                                                             const std::string& version,
                                                             const std::optional<Profile>& planned,
                                                             const std::optional<Profile>& earlier);

// Keeps it under a planned profile's key, so that whoever looks for that finds it.
void keep_observed(ProfileStore& store, std::string_view key, const Profile& profile);
// Another text after each that was kept and is another than before; for keys of what was made of profiles.
[[nodiscard]] std::string observed_mark(ProfileStore& store);

}  // namespace trimtab::profiler
