// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tuned_quality/predicted_configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/analysis/launches/legal_blocks.h"
#include "core/base/cache_path.h"
#include "core/base/kept_file.h"
#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "core/model/occupancy.h"
#include "core/sass/assemble.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/schedule/estimate.h"
#include "tools/trimtab/emulated_schedule.h"
#include "tools/trimtab/kernel_file.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::bench {

namespace {

// Warp instructions that the counts of one configuration may cost, as `trimtab predict` has it: with a third of it
// a configuration of many outputs a thread is judged by three or four blocks, and its time is off by up to a half.
constexpr std::uint64_t counting_budget = tools::default_instruction_budget;

std::string hash_of(std::string_view text) {
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

bool is_nvcc(const std::string& compiler) {
    return std::filesystem::path(compiler).stem() == "nvcc";
}

// PTX for 7.5, as trimtab++ makes it by default; ptxas makes the device's own code of it.
std::vector<std::string> compiler_flags(const TunedKernel& kernel, const std::string& compiler) {
    if (is_nvcc(compiler)) return {"-O3", "-x", "cu", "-ptx", "-arch=sm_75"};
    std::vector<std::string> flags{"-O3",
                                   "-x",
                                   "cuda",
                                   "--cuda-device-only",
                                   "-S",
                                   "-nocudainc",
                                   "-nocudalib",
                                   "--cuda-gpu-arch=sm_75",
                                   "--cuda-path=" TRIMTAB_CUDA_PATH,
                                   "-Wno-unknown-cuda-version"};
    std::ranges::move(tools::register_flags(), std::back_inserter(flags));
    std::ranges::copy(kernel.flags, std::back_inserter(flags));
    return flags;
}

}  // namespace

PredictedConfigurations::PredictedConfigurations(PredictorOptions options, const std::string& store_path)
    : options_(std::move(options)), memory_("tuned_quality", store_path) {
    memory_.forget(options_.fresh);
    source_key_ =
        hash_of(fmt::format("{} {}", fmt::join(compiler_flags(options_.kernel, options_.compiler), " "),
                            base::read_text(options_.kernel.source).value_or("")));
}

std::expected<PredictedConfigurations::Compiled, Error> PredictedConfigurations::compile(
    const Values& values) const {
    auto launch = configured_launch(options_.kernel, values);
    if (!launch) return std::unexpected(launch.error());
    Compiled out{.launch = std::move(*launch), .ptx_path = {}, .key = {}};
    const std::string folder = base::cache_path("tuned_quality");
    out.ptx_path = fmt::format(
        "{}/{}.ptx", folder, hash_of(fmt::format("{} {}", source_key_, fmt::join(out.launch.defines, " "))));
    std::error_code ignored;
    if (!std::filesystem::exists(out.ptx_path, ignored)) {
        const auto temporary = base::TemporaryFolder::make();
        if (!temporary) return std::unexpected(temporary.error());
        const std::string ptx = temporary->file("kernel.ptx");
        std::vector<std::string> command{options_.compiler};
        std::ranges::move(compiler_flags(options_.kernel, options_.compiler), std::back_inserter(command));
        std::ranges::copy(out.launch.defines, std::back_inserter(command));
        command.insert(command.end(), {options_.kernel.source, "-o", ptx});
        if (const auto built = base::run_to_success({.words = command}); !built)
            return std::unexpected(Error{.message = built.error().text(), .file = options_.kernel.source});
        if (const auto made = base::make_private_folder(folder); !made) return std::unexpected(made.error());
        const auto text = base::read_text(ptx);
        if (!text) return std::unexpected(text.error());
        if (const auto kept = base::write_whole(out.ptx_path, std::as_bytes(std::span(*text))); !kept)
            return std::unexpected(kept.error());
    }
    // Configurations that the compiler makes one of are one: a flag that changes nothing.
    const auto& [grid, block, defines, arguments] = out.launch;
    out.key = hash_of(fmt::format("{} {} {}x{}x{} {}x{}x{} {} {}", base::read_text(out.ptx_path).value_or(""),
                                  options_.device.slug, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                  fmt::join(arguments, " "), counting_budget));
    return out;
}

std::expected<tools::LaunchQuestion, Error> PredictedConfigurations::question(
    const Compiled& compiled) const {
    tools::LaunchOptions options;
    options.file = compiled.ptx_path;
    options.kernel = options_.kernel.kernel;
    options.device = options_.device.slug;
    options.arguments = compiled.launch.arguments;
    return tools::look_up(options);
}

std::expected<tools::LaunchQuestion, Error> PredictedConfigurations::question(const Values& values) const {
    const auto compiled = compile(values);
    if (!compiled) return std::unexpected(compiled.error());
    return question(*compiled);
}

std::expected<double, Error> PredictedConfigurations::emulated_ns(const Values& values) {
    const auto compiled = compile(values);
    if (!compiled) return std::unexpected(compiled.error());
    const auto asked = question(*compiled);
    if (!asked) return std::unexpected(asked.error());
    const auto& [grid, block, defines, arguments] = compiled->launch;
    const model::Occupancy occupancy =
        model::occupancy(options_.device.values, asked->image, block.x * block.y * block.z, 0);
    if (occupancy.blocks_per_sm == 0)
        return std::unexpected(
            Error{.message = "the block does not fit an SM", .file = options_.kernel.source});
    const auto traced =
        tools::trace_launch(*asked, {grid, block}, occupancy.blocks_per_sm, {.from_ptx = options_.from_ptx});
    if (!traced) return std::unexpected(traced.error());
    return schedule::estimate(*traced).time_ns;
}

std::expected<double, Error> PredictedConfigurations::closed_form_ns(const Values& values,
                                                                     const model::RationalProgram& program) {
    const auto compiled = compile(values);
    if (!compiled) return std::unexpected(compiled.error());
    const auto& [grid, block, defines, arguments] = compiled->launch;
    const model::Launch launch{.extent = {grid.x * block.x, grid.y * block.y, grid.z * block.z},
                               .block = block,
                               .dynamic_shared_bytes = 0};
    return memory_.predict_ns(compiled->key, program, options_.device.values, launch,
                              [&]() -> std::expected<EmulatedMetrics, Error> {
                                  const auto asked = question(*compiled);
                                  if (!asked) return std::unexpected(asked.error());
                                  return emulate(*asked, launch, counting_budget);
                              });
}

}  // namespace trimtab::bench
