// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/search_emulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/temporary_folder.h"
#include "core/model/occupancy.h"
#include "emulation/schedule/estimate.h"

namespace trimtab::tools {

std::expected<LaunchQuestion, Error> SearchEmulation::compile(std::size_t variant) const {
    const std::vector<std::string>& flags = space_.variants[variant];
    const auto compiler = base::find_own_program("trimtab++");
    if (!compiler)
        return std::unexpected(Error{
            .message = "trimtab++ is missing next to trimtab; a CUDA source needs it: install all of Trimtab",
            .file = options_.file});
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    LaunchOptions options = options_;
    options.file = folder->file("variant.o");
    // A variant is described and emulated; its own profile nobody asks for. Some are too large for any device, which
    // is an answer, and no fault of the compiler's to report.
    std::vector<std::string> command{*compiler, "--trimtab-quiet", "-O3", "--trimtab-profile=off",
                                     "-fno-crash-diagnostics"};
    std::ranges::move(register_flags(), std::back_inserter(command));
    command.insert(command.end(), options_.compiler_flags.begin(), options_.compiler_flags.end());
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"-c", options_.file, "-o", options.file});
    const auto built = base::run({.words = command}, base::Capture::messages);
    if (!built || !built->is_success())
        return std::unexpected(
            Error{.message = fmt::format("cannot be compiled with {}: {}", fmt::join(flags, " "),
                                         built ? built->first_line() : built.error().message),
                  .file = options_.file});
    auto question = look_up(options);
    if (!question) {
        Error error = question.error();
        error.file = options_.file;
        return std::unexpected(std::move(error));
    }
    question->file.path = options_.file;
    return question;
}

void SearchEmulation::use(std::size_t variant, LaunchQuestion question) {
    const FileKernel& kernel = question.of();
    const std::string text = kernel.ptx == nullptr ? std::string() : *kernel.ptx;
    const auto known = std::ranges::find(codes_, text, &Code::ptx);
    variants_[variant].code = static_cast<std::size_t>(known - codes_.begin());
    if (known == codes_.end()) codes_.push_back({.ptx = text, .program = nullptr});
    variants_[variant].question.emplace(std::move(question));
}

std::expected<const LaunchQuestion*, Error> SearchEmulation::question(std::size_t variant) {
    Variant& own = variants_[variant];
    if (!own.question) {
        auto compiled = compile(variant);
        if (compiled)
            use(variant, std::move(*compiled));
        else
            own.question.emplace(std::unexpected(compiled.error()));
    }
    if (!*own.question) return std::unexpected(own.question->error());
    return &**own.question;
}

std::expected<SearchEmulation::Answer, Error> SearchEmulation::emulate(const LaunchQuestion& question,
                                                                       const LaunchCandidate& candidate,
                                                                       Code& code, std::uint32_t resident,
                                                                       bool with_bottleneck) {
    if (code.program == nullptr) {
        auto program = load_program_of(question);
        if (!program) return std::unexpected(program.error());
        code.program = std::move(*program);
    }
    const auto traced =
        trace_launch(question, *code.program,
                     {candidate.grid, candidate.block, candidate.dynamic_shared_bytes}, resident, schedule_);
    if (!traced) return std::unexpected(traced.error());
    ++traces_;
    warp_instructions_ += traced->warp_instructions;
    const schedule::Estimate estimate = schedule::estimate(*traced);
    Answer answer{
        .emulated = {.time_ns = estimate.time_ns, .warps_per_sm = 0, .cycles = {}, .bottleneck = {}},
        .has_bottleneck = with_bottleneck};
    for (std::size_t r = 0; r < schedule::resource_count; ++r)
        answer.emulated.cycles[r] = estimate.utilisation[r] * estimate.cycles;
    if (with_bottleneck)
        // Regions are not asked for: a move changes the whole launch.
        answer.emulated.bottleneck = schedule::sensitivities(*traced, estimate, threads_, 2.0);
    return answer;
}

std::optional<schedule::Emulated> SearchEmulation::operator()(std::size_t index, bool with_bottleneck) {
    const LaunchCandidate& candidate = space_.candidates[index];
    const auto fail = [&](const Error& error) -> std::optional<schedule::Emulated> {
        if (!first_error_) first_error_ = error;
        return std::nullopt;
    };
    const auto asked = question(candidate.variant);
    if (!asked) return fail(asked.error());
    const trimtab_device& device = (*asked)->device.values;
    const trimtab_dim3 &grid = candidate.grid, &block = candidate.block;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    const auto not_launched = [&](std::string_view why) {
        return fail({.message = fmt::format(
                         "{} x {} x {} blocks of {} x {} x {} cannot be launched on {}: {}", grid.x, grid.y,
                         grid.z, block.x, block.y, block.z, (*asked)->device.slug, why),
                     .file = options_.file});
    };
    if (threads > device.max_threads_per_block || block.x > device.max_block_x ||
        block.y > device.max_block_y || block.z > device.max_block_z || grid.x > device.max_grid_x ||
        grid.y > device.max_grid_y || grid.z > device.max_grid_z)
        return not_launched("beyond the device's limits");
    const model::Occupancy occupancy = model::occupancy(
        device, (*asked)->image, static_cast<std::uint32_t>(threads), candidate.dynamic_shared_bytes);
    if (occupancy.blocks_per_sm == 0)
        return not_launched("the block does not fit an SM (threads, registers or shared memory)");
    Code& code = codes_[variants_[candidate.variant].code];
    const LaunchKey key{variants_[candidate.variant].code,
                        {grid.x, grid.y, grid.z, block.x, block.y, block.z},
                        candidate.dynamic_shared_bytes};
    const auto known = answers_.find(key);
    if (known != answers_.end() && (known->second.has_bottleneck || !with_bottleneck))
        return known->second.emulated;
    auto answer = emulate(**asked, candidate, code, occupancy.blocks_per_sm, with_bottleneck);
    if (!answer) return fail(answer.error());
    answer->emulated.warps_per_sm = occupancy.warps_per_sm;
    return answers_.insert_or_assign(key, std::move(*answer)).first->second.emulated;
}

}  // namespace trimtab::tools
