// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects of samples, each compiled once, by the trimtab++ of the build (TRIMTAB_BENCH_COMPILER, TRIMTAB_BENCH_INCLUDE).
#pragma once

#include <fmt/format.h>

#include <expected>
#include <map>
#include <string>

#include "core/base/process.h"
#include "core/base/temporary_folder.h"
#include "trimtab/error.h"

namespace trimtab::bench {

class SampleObjects {
  public:
    // `folder` holds them, and outlives this.
    explicit SampleObjects(const base::TemporaryFolder& folder) : folder_(folder) {}

    // The object's path.
    [[nodiscard]] std::expected<std::string, Error> of(const std::string& source) {
        std::string& object = built_[source];
        if (!object.empty()) return object;
        const std::string path = folder_.file(fmt::format("{}.o", built_.size()));
        const auto made = base::run_to_success(
            {.words = {TRIMTAB_BENCH_COMPILER, "-O3", "--trimtab-quiet", "--trimtab-profile=off",
                       "-I" TRIMTAB_BENCH_INCLUDE, "-c", source, "-o", path}});
        if (!made) return std::unexpected(made.error());
        return object = path;
    }

  private:
    const base::TemporaryFolder& folder_;
    std::map<std::string, std::string> built_;
};

}  // namespace trimtab::bench
