// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/crosscheck/emulated_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "core/analysis/sharing/memory_dependence.h"
#include "core/model/device.h"
#include "core/model/occupancy.h"
#include "core/ptx/binary.h"
#include "core/ptx/module.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/schedule/estimate.h"
#include "emulation/schedule/traced_launch.h"

namespace trimtab::choosing {
namespace {

// Of each of the few launches of blocks that a trace takes: about a second of the interpreter's. The program beside
// which this runs has other uses for its processor.
constexpr std::uint64_t instruction_budget = 20'000'000;
// Of pages that the traced blocks touch.
constexpr std::uint64_t most_memory_bytes = std::uint64_t{512} << 20;

struct Refusal {
    EmulationAnswer answer = emulation_failed;
    std::string why;
};

Refusal says_nothing(std::string why) {
    return {emulation_says_nothing, std::move(why)};
}

// The image that the device runs: the highest architecture not above it, else the lowest.
const ptx::FatBinaryImage* image_for(const ptx::FatBinary& binary, unsigned capability) {
    const auto distance = [capability](unsigned architecture) {
        return architecture <= capability ? capability - architecture : 1000 + architecture - capability;
    };
    const ptx::FatBinaryImage* best = nullptr;
    for (const ptx::FatBinaryImage& image : binary.images)
        if (image.kind == ptx::FatBinaryImage::Kind::ptx &&
            (best == nullptr || distance(image.architecture) < distance(best->architecture)))
            best = &image;
    return best;
}

std::expected<ptx::Module, Refusal> parsed(std::string_view text, const std::string& name) {
    auto module = ptx::parse(text.substr(0, text.find('\0')), name);
    if (!module) return std::unexpected(says_nothing(module.error().text()));
    return std::move(*module);
}

std::expected<ptx::Module, Refusal> module_of(const EmulationQuestion& question) {
    if (!ptx::is_fat_binary({question.code, question.code_bytes}))
        return parsed({reinterpret_cast<const char*>(question.code), question.code_bytes},
                      "the program's PTX");
    const auto binary =
        ptx::read_fat_binary({question.code, question.code_bytes}, "the program's fat binary");
    if (!binary) return std::unexpected(says_nothing(binary.error().text()));
    const ptx::FatBinaryImage* image = image_for(*binary, question.device->compute_capability);
    if (image == nullptr) return std::unexpected(says_nothing("the program holds no PTX of it"));
    return parsed({reinterpret_cast<const char*>(image->bytes.data()), image->bytes.size()},
                  image->architecture_name);
}

std::expected<double, Refusal> time_of(const EmulationQuestion& question, emulator::Program& program,
                                       const model::Device& device,
                                       const model::LaunchConfiguration& launch) {
    const auto called_off = [&question] { return question.is_called_off(question.context); };
    if (called_off()) return std::unexpected(Refusal{emulation_called_off, {}});
    const auto shared_bytes = static_cast<double>(launch.dynamic_shared_bytes);
    const model::Occupancy occupancy =
        model::occupancy(*question.device, *question.image,
                         static_cast<std::uint32_t>(launch.threads_per_block()), shared_bytes);
    if (occupancy.blocks_per_sm == 0) return std::unexpected(Refusal{.why = "a block does not fit an SM"});
    // Its own for each launch: what one writes is not what the next one reads.
    emulator::SparseMemory memory(most_memory_bytes);
    const auto traced = schedule::trace_launch(
        {.program = &program,
         .memory = &memory,
         .kernel = question.kernel,
         .grid = launch.grid,
         .block = launch.block,
         .dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared_bytes),
         .parameters = {question.parameters, question.parameter_bytes},
         .device = &device,
         .resident = occupancy.blocks_per_sm,
         .shared_bytes_of_block = question.image->static_shared_bytes + shared_bytes,
         .instruction_budget = instruction_budget,
         .loads_bypass_l1 = false,
         .is_cancelled = called_off,
         .is_interpreted = true,
         .code = nullptr});
    if (called_off()) return std::unexpected(Refusal{emulation_called_off, {}});
    if (!traced) return std::unexpected(Refusal{.why = traced.error().message});
    if (traced->is_cut) return std::unexpected(Refusal{.why = "its blocks do more than can be kept of them"});
    const double ns = schedule::estimate(*traced).time_ns;
    if (!(ns > 0)) return std::unexpected(Refusal{.why = "the emulated time is none"});
    return ns;
}

std::expected<void, Refusal> emulate(const EmulationQuestion& question) {
    const auto module = module_of(question);
    if (!module) return std::unexpected(module.error());
    if (std::string why = analysis::memory_dependence(*module, question.kernel); !why.empty())
        return std::unexpected(says_nothing(std::move(why)));
    const auto program = emulator::load_program(*module);
    if (!program) return std::unexpected(says_nothing(program.error().text()));
    model::Device device;
    device.values = *question.device;
    for (LaunchToEmulate& launch : std::span(question.launches, question.launch_count)) {
        const auto ns = time_of(question, **program, device, launch.launch);
        if (!ns) return std::unexpected(ns.error());
        launch.ns = *ns;
    }
    return {};
}

}  // namespace

extern "C" std::int32_t trimtab_emulate_times(const EmulationQuestion* question, char* why,
                                              std::size_t why_bytes) {
    if (question->struct_bytes != sizeof(EmulationQuestion) ||
        question->device->struct_bytes != sizeof(trimtab_device))
        return emulation_is_of_another_version;
    Refusal refusal;
    try {
        const auto done = emulate(*question);
        if (done) return emulation_done;
        refusal = done.error();
    } catch (const std::exception& error) {
        refusal.why = error.what();
    }
    std::ranges::replace(refusal.why, '\n', ' ');
    const std::size_t length = refusal.why.copy(why, why_bytes - 1);
    why[length] = '\0';
    return refusal.answer;
}

}  // namespace trimtab::choosing
