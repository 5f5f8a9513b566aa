// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/make_drivers.h"

#include <fmt/core.h>

#include <filesystem>
#include <thread>
#include <utility>

#include "core/analysis/annotations/annotation_file.h"
#include "core/analysis/annotations/klaraptor_pragmas.h"
#include "core/analysis/describe.h"
#include "core/analysis/launches/variants.h"
#include "driver_gen/driver_units.h"
#include "emulation/emulator/exec/launch.h"
#include "pipeline/kept_files.h"
#include "pipeline/profile_kernels.h"
#include "pipeline/progress.h"
#include "pipeline/workers/kernel_task.h"
#include "pipeline/workers/pool.h"
#include "profiler/emulator_backend.h"
#include "profiler/profile_kernel.h"

namespace trimtab::pipeline {
namespace {

namespace fs = std::filesystem;

// Whether a launch of it could take another block: none does where every dimension that it reads stays as
// wide as one thread, as in a kernel of one-thread blocks.
bool has_choice(const analysis::KernelDescription& kernel) {
    if (kernel.verdict == analysis::Verdict::fixed) return false;
    for (std::size_t d = 0; d < kernel.dimensions.size(); ++d)
        if (kernel.varies(d)) return true;
    return false;
}

}  // namespace

DriverMaker::DriverMaker(DriverOptions options, profiler::ProfileStore& store, Warn warn)
    : options_(std::move(options)), store_(store), warn_(std::move(warn)) {}

std::expected<std::vector<std::string>, Error> DriverMaker::make(const ptx::FatBinary& binary,
                                                                 const driver_gen::CCompiler& compiler,
                                                                 const std::string& folder) {
    analysis::KernelSources sources;
    if (!options_.kernel_sources.empty())
        if (auto read = analysis::read_kernel_sources(options_.kernel_sources)) sources = std::move(*read);
    for (const std::string& fault : analysis::add_klaraptor_pragmas(sources)) warn_(fault);
    if (!options_.annotations.empty()) {
        const auto annotations = analysis::read_annotation_file(options_.annotations);
        if (!annotations) return std::unexpected(annotations.error());
        analysis::add_annotations(sources, *annotations, options_.annotations);
    }
    auto described =
        analysis::describe_fat_binary(binary, sources, options_.input, {.reassociate = options_.reassociate},
                                      std::thread::hardware_concurrency());
    if (!described) return std::unexpected(described.error());
    if (!options_.keep.empty()) keep_descriptions(options_.keep, *described);

    for (const std::string& fault : analysis::variant_faults(described->kernels)) warn_(fault);

    driver_gen::Bundle bundle{.fat_binary_hash = binary.hash,
                              .compiler = options_.tool + " " TRIMTAB_VERSION,
                              .input = options_.input,
                              .model_text = options_.model.text,
                              .kernels = {},
                              .delivery = options_.delivery};
    for (const analysis::KernelDescription& kernel : described->kernels)
        bundle.kernels.push_back({.description = &kernel, .profile = {}, .fits = {}});
    if (options_.profile && !described->modules.empty())
        profile(bundle, described->kernels, binary, std::move(described->modules.front()));

    auto generated = driver_gen::generate(bundle, *options_.model.program);
    if (!generated) return std::unexpected(generated.error());
    if (!options_.keep.empty()) keep_sources(options_.keep, *generated);
    std::vector<driver_gen::SourceFile> files = driver_gen::driver_units(generated->drivers);
    files.push_back(std::move(generated->bundle));
    return driver_gen::compile(files, folder, compiler);
}

// `kernels` are those of the bundle, in order.
void DriverMaker::profile(driver_gen::Bundle& bundle, std::vector<analysis::KernelDescription>& kernels,
                          const ptx::FatBinary& binary, ptx::Module&& module) {
    has_lost_kernels_ = false;
    std::vector<driver_gen::BundleKernel*> chosen;
    std::vector<analysis::KernelDescription*> descriptions;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (!has_choice(kernels[i])) continue;
        chosen.push_back(&bundle.kernels[i]);
        descriptions.push_back(&kernels[i]);
    }
    if (chosen.empty()) return;

    auto program = emulator::load_program(std::move(module));
    if (!program) {
        warn_(program.error().text());
        return;
    }
    const auto backend = profiler::make_emulator_backend(*program, /*threads=*/0);
    profiler::ProfileOptions plan;
    if (options_.smallest_size != 0)
        plan.plan = {.least = options_.smallest_size, .most = options_.largest_size};
    Progress progress(options_.tool, fs::path(options_.input).filename().string(), chosen.size(),
                      options_.quiet);
    const auto note = [this](const std::string& text) {
        fmt::print(stderr, "{}: {}: {}\n", options_.tool, options_.input, text);
    };
    const ProfiledKernels profiled = profile_kernels(
        chosen,
        {.backend = *backend,
         .options = plan,
         .store = store_,
         .workers = options_.workers,
         .program = options_.workers != nullptr ? workers::shared_program(binary, options_.input) : nullptr,
         .progress = progress,
         .warn = warn_,
         .wants_evidence = options_.check,
         .note = options_.debug ? note : std::function<void(const std::string& text)>()});
    has_lost_kernels_ = profiled.has_lost;
    for (const ProfiledKernels::Refuted& refuted : profiled.refuted) {
        analysis::KernelDescription& kernel = *descriptions[refuted.kernel];
        profiler::refute(kernel, refuted.evidence);
        warn_(fmt::format("{}: {}", kernel.demangled, kernel.reasons.front().text));
        if (!options_.keep.empty()) keep_description(options_.keep, kernel);
    }
}

}  // namespace trimtab::pipeline
