// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process of its own that registers one kernel, launches it once and ends.
#pragma once

#include <string>

#include "core/analysis/launches/description.h"
#include "runtime/launches/launcher.h"
#include "tests/runtime/fake_backend.h"

namespace trimtab::runtime::testing {

// The grid and block that a launch written as `written` went out with. `choices`: the file of kept choices.
inline LaunchShape launched_by_new_process(const std::string& choices,
                                           const analysis::KernelDescription& description,
                                           FakeFatBinary& fat_binary, FakeBundle& bundle,
                                           const LaunchShape& written, Settings settings = {}) {
    settings.choices_path = choices;
    BackendCalls calls = fake_calls();
    Log log(LogLevel::warn);
    Bundles bundles(log);
    Report report("", log);
    Registrations registrations;
    Launcher launcher(settings, calls, bundles, report, log);
    const char host_function = 0;
    bundles.add(&bundle.bundle());
    registrations.add_function(registrations.add_fat_binary(fat_binary.wrapper()), &host_function,
                               description.name.c_str());
    LaunchShape launched = written;
    launcher.launch(registrations.find(&host_function), written, nullptr,
                    [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t) {
                        launched.written.grid = grid;
                        launched.written.block = block;
                        return cudaSuccess;
                    });
    launcher.finish();
    return launched;
}

}  // namespace trimtab::runtime::testing
