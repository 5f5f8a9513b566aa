// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Section trimtab_data of a binary: what trimtab++ left there about each kernel (include/trimtab/section.h).
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/model/chosen_model.h"
#include "driver_gen/fits.h"
#include "profiler/profile.h"
#include "trimtab/error.h"

namespace trimtab::tools {

struct KernelRecord {
    analysis::KernelDescription description;
    std::optional<profiler::Profile> profile;
    std::optional<driver_gen::KernelFits> fits;
    std::string driver_source;  // empty for a kernel that is left alone
    std::string no_driver;      // why its profile or its fits failed
    model::ChosenModel model;   // of its driver program
};

struct Record {
    std::string compiler, input, fat_binary;
    std::vector<KernelRecord> kernels;
};

// The records laid end to end in `section`; `path` names the binary in errors, which give the byte offset in
// the section.
[[nodiscard]] std::expected<std::vector<Record>, Error> read_records(std::span<const std::byte> section,
                                                                     const std::string& path);

// The records' JSON as it lies there.
[[nodiscard]] std::expected<std::vector<nlohmann::json>, Error> read_record_json(
    std::span<const std::byte> section, const std::string& path);

}  // namespace trimtab::tools
