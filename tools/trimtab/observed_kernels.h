// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From what a program's launches did, on the emulator and as a GPU counted it, to profiles in the store.
#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/trimtab/benched_launches.h"
#include "tools/trimtab/counted_launches.h"
#include "trimtab/error.h"

namespace trimtab::tools {

struct ObservedKernel {
    std::string name, demangled;
    std::size_t launches = 0;  // shapes with their data, those of earlier runs aside
    std::size_t points = 0;    // of the profile, those of earlier runs among them
    std::string planned;       // what is wrong with the planned profile; empty: nothing
    bool is_stored = false;
    // Prepared driver programs of its module, which knew another profile, were taken away: they are made again.
    bool is_prepared_again = false;
    std::optional<CountedKernel> counted;  // where a GPU counted, too
    std::string failure;                   // not empty: there is no profile, and why
};

struct ObservedSettings {
    std::string program;  // whose launches they are
    std::string capture;  // not empty: the file that holds the one launch, which has the kernel, too
    std::string store;    // a folder or file; empty: the cache
    bool replace = false;
    const Bench* counted = nullptr;  // the same launches on a GPU, whose counters go before the emulator's
};

// `bench`: the launches that were made again, and the objects that hold their kernels. `records`: the lines of
// TRIMTAB_PROFILES. A profile is kept under the planned one's key, so that whoever looks for that finds it, where the
// planned one failed or changes with the contents of arrays, or takes an earlier one's place.
[[nodiscard]] std::expected<std::vector<ObservedKernel>, Error> observed_kernels(
    const Bench& bench, std::string_view records, const ObservedSettings& settings);

[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<ObservedKernel>& kernels, const Bench& bench);

}  // namespace trimtab::tools
