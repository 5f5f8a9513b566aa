// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/fitted_kernel.h"

#include <fmt/format.h>

#include <cstdio>

#include "driver_gen/c_driver.h"
#include "driver_gen/fit_kernel.h"
#include "emulation/emulator/exec/launch.h"
#include "pipeline/remote/redis_store.h"
#include "profiler/emulator_backend.h"
#include "profiler/store.h"

namespace trimtab::tools {

std::expected<const driver_gen::KernelFits*, Error> fits_of(FileKernel& kernel, const std::string& path) {
    KernelRecord& record = kernel.record;
    if (record.fits) return &*record.fits;
    if (kernel.module == nullptr)
        return std::unexpected(Error{
            .message = fmt::format("holds neither a profile nor PTX of {}", record.description.demangled),
            .file = path});
    auto program = emulator::load_program(*kernel.module);
    if (!program) return std::unexpected(program.error());
    const auto backend = profiler::make_emulator_backend(std::move(*program));
    const auto warn = [](const std::string& line) { fmt::print(stderr, "trimtab: {}\n", line); };
    profiler::ProfileStore store(profiler::default_store_path(), warn, remote::store_of_environment(warn));
    auto profile = profiler::recall_or_profile(record.description, *backend, {}, store);
    if (!profile) return std::unexpected(Error{.message = profile.error().text(), .file = path});
    auto fits = driver_gen::fit_kernel(*profile, record.description);
    if (!fits) return std::unexpected(Error{.message = fits.error().text(), .file = path});
    record.profile = std::move(*profile);
    record.fits = std::move(*fits);
    if (auto source = driver_gen::print_driver(record.description, *record.fits, *record.model.program))
        record.driver_source = std::move(*source);
    return &*record.fits;
}

}  // namespace trimtab::tools
