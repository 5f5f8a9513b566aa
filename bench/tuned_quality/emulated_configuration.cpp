#include "bench/tuned_quality/emulated_configuration.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/process.h"
#include "base/temporary_folder.h"
#include "model/occupancy.h"
#include "schedule/estimate.h"
#include "tools/trimtab/emulated_schedule.h"
#include "tools/trimtab/kernel_file.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::bench {

namespace {

std::vector<std::string> defines(const Configuration& c, const EmulatorOptions& options) {
    return {fmt::format("-DBLOCK_X={}", c.block_x),         fmt::format("-DBLOCK_Y={}", c.block_y),
            fmt::format("-DTILE_X={}", c.tile_x),           fmt::format("-DTILE_Y={}", c.tile_y),
            fmt::format("-DREAD_ONLY={}", c.read_only),     fmt::format("-DUSE_PADDING={}", c.use_padding),
            fmt::format("-DIMAGE_WIDTH={}", options.width), fmt::format("-DIMAGE_HEIGHT={}", options.height)};
}

std::vector<std::string> compiler_flags(const EmulatorOptions& options) {
    std::vector<std::string> flags{
        "-O3",
        "-x",
        "cuda",
        "--cuda-device-only",
        "-S",
        "-nocudainc",
        "-nocudalib",
        fmt::format("--cuda-gpu-arch=sm_{}", std::max(75u, options.device.values.compute_capability)),
        "--cuda-path=" TRIMTAB_CUDA_PATH,
        "-Wno-unknown-cuda-version"};
    std::ranges::move(tools::register_flags(), std::back_inserter(flags));
    return flags;
}

model::Launch launch_of(const Configuration& c, const EmulatorOptions& options) {
    const auto threads = [](std::uint32_t size, std::uint32_t block, std::uint32_t tile) {
        return (size + block * tile - 1) / (block * tile) * block;
    };
    return {.extent = {threads(options.width, c.block_x, c.tile_x),
                       threads(options.height, c.block_y, c.tile_y), 1},
            .block = {c.block_x, c.block_y, 1},
            .dynamic_shared_bytes = 0};
}

}  // namespace

EmulatedConfigurations::EmulatedConfigurations(EmulatorOptions options, const std::string& store_path)
    : options_(std::move(options)), memory_("tuned_quality", store_path) {
    memory_.forget(options_.fresh);
    std::ifstream stream(options_.source, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    key_ = fmt::format("{:016x} {} {}x{}", XXH3_64bits(text.data(), text.size()), options_.device.slug,
                       options_.width, options_.height);
    for (const std::string& flag : compiler_flags(options_)) key_ += " " + flag;
    key_ = fmt::format("{:016x}", XXH3_64bits(key_.data(), key_.size()));
}

std::expected<tools::LaunchQuestion, Error> EmulatedConfigurations::compile(const Configuration& c) const {
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string ptx = folder->file("kernel.ptx");
    std::vector<std::string> command{options_.compiler};
    for (std::string& flag : compiler_flags(options_)) command.push_back(std::move(flag));
    command.insert(command.end(), {options_.source, "-o", ptx});
    for (std::string& define : defines(c, options_)) command.push_back(std::move(define));
    if (const auto built = base::run_to_success({.words = command}); !built)
        return std::unexpected(Error{.message = built.error().text(), .file = options_.source});
    tools::LaunchOptions file;
    file.file = ptx;
    file.device = options_.device.slug;
    return tools::look_up(file);
}

std::expected<EmulatedMetrics, Error> EmulatedConfigurations::measure(const Configuration& c,
                                                                      const model::Launch& launch) const {
    const auto question = compile(c);
    if (!question) return std::unexpected(question.error());
    return emulate(*question, launch, tools::default_instruction_budget);
}

std::expected<double, Error> EmulatedConfigurations::emulate_ns(const Configuration& c) {
    const auto question = compile(c);
    if (!question) return std::unexpected(question.error());
    const model::Launch launch = launch_of(c, options_);
    const model::Occupancy occupancy = model::occupancy(options_.device.values, question->image,
                                                        c.block_x * c.block_y, launch.dynamic_shared_bytes);
    if (occupancy.blocks_per_sm == 0)
        return std::unexpected(Error{.message = "the block does not fit an SM", .file = options_.source});
    const auto traced = tools::trace_launch(
        *question, {launch.extent.x / launch.block.x, launch.extent.y / launch.block.y, 1}, launch.block, 0,
        occupancy.blocks_per_sm, {});
    if (!traced) return std::unexpected(traced.error());
    return schedule::estimate(*traced).time_ns;
}

std::expected<double, Error> EmulatedConfigurations::predict_ns(const Configuration& c,
                                                                const model::RationalProgram& program) {
    const std::string key = fmt::format("{} {} {} {} {} {} {}", key_, c.block_x, c.block_y, c.tile_x,
                                        c.tile_y, c.read_only, c.use_padding);
    const model::Launch launch = launch_of(c, options_);
    return memory_.predict_ns(key, program, options_.device.values, launch,
                              [&] { return measure(c, launch); });
}

}  // namespace trimtab::bench
