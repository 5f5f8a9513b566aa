// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that abstract emulation is asked about: those of the PolyBench samples at sizes, and captured ones.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "core/base/temporary_folder.h"
#include "core/model/device.h"
#include "tools/trimtab/launch_options.h"
#include "trimtab/error.h"

namespace trimtab::bench {

// One kernel with its arguments, as its program launches it.
struct Case {
    std::string what;
    tools::LaunchOptions asked;
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
};

struct CaseOptions {
    std::string kernels = TRIMTAB_BENCH_KERNELS;
    std::vector<std::uint64_t> sizes;
    std::vector<std::string> captures, devices, apps;
    unsigned threads = 2;
};
void add_options(CLI::App& app, CaseOptions& options);

// Objects of the samples lie in `folder`.
[[nodiscard]] std::expected<std::vector<Case>, Error> cases_of(const CaseOptions& options,
                                                               const base::TemporaryFolder& folder);
// Those that are named; all that are described where none is.
[[nodiscard]] std::expected<std::vector<model::Device>, Error> devices_of(const CaseOptions& options);

[[nodiscard]] std::expected<tools::LaunchQuestion, Error> question_on(const Case& one,
                                                                      const model::Device& device);

}  // namespace trimtab::bench
