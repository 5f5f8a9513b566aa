// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/emulated_schedule.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/sass/assemble.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/schedule/estimate.h"
#include "tools/trimtab/captured_launch.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::tools {

std::expected<std::shared_ptr<emulator::Program>, Error> load_program_of(const LaunchQuestion& question) {
    const FileKernel& kernel = question.file.kernels[question.kernel];
    if (kernel.module == nullptr)
        return std::unexpected(Error{.message = fmt::format("holds no PTX of {}, so it cannot be emulated",
                                                            kernel.record.description.demangled),
                                     .file = question.file.path});
    return emulator::load_program(*kernel.module);
}

std::expected<sass::Assembly, Error> machine_code_of(const LaunchQuestion& question,
                                                     const ScheduleOptions& options) {
    const FileKernel& kernel = question.file.kernels[question.kernel];
    if (const auto stated = schedule::in_machine_code(options.settings))
        return std::unexpected(
            Error{.message = fmt::format("{} is set, and machine code is made for the device's own",
                                         name(*stated))});
    if (options.from_ptx || kernel.ptx == nullptr)
        return std::unexpected(Error{.message = "PTX was asked for"});
    const auto capability = static_cast<unsigned>(question.device.values.compute_capability);
    auto code =
        sass::assemble(*kernel.ptx, kernel.record.description.name, capability, sass::default_cache_folder());
    // Code for another architecture is another's: older devices than ptxas knows.
    if (code && code->architecture != fmt::format("sm_{}", capability))
        return std::unexpected(Error{.message = fmt::format("ptxas makes no code for sm_{}", capability)});
    return code;
}

std::expected<schedule::TracedLaunch, Error> trace_launch(const LaunchQuestion& question,
                                                          emulator::Program& program,
                                                          const model::LaunchConfiguration& launch,
                                                          std::uint32_t resident,
                                                          const ScheduleOptions& options) {
    const FileKernel& kernel = question.file.kernels[question.kernel];
    const analysis::KernelDescription& description = kernel.record.description;
    LaunchMemory memory;
    for (const auto& parameter : description.parameters)
        if (parameter.is_pointer) memory.set_fill(parameter.index, fill_of(parameter.pointee));
    std::vector<std::byte> parameters = question.arguments.bytes;
    if (question.captured != nullptr)
        if (const auto placed = place_captured(question.captured->capture, program, memory, parameters);
            !placed)
            return std::unexpected(placed.error());
    const auto code = machine_code_of(question, options);
    auto traced = schedule::trace_launch(
        {.program = &program,
         .memory = &memory,
         .kernel = description.name,
         .grid = launch.grid,
         .block = launch.block,
         .dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared_bytes),
         .parameters = parameters,
         .device = &question.device,
         .resident = resident,
         .shared_bytes_of_block =
             question.image.static_shared_bytes + static_cast<double>(launch.dynamic_shared_bytes),
         .instruction_budget = options.instruction_budget,
         .loads_bypass_l1 = options.loads_bypass_l1,
         .policy = options.policy,
         .settings = options.settings,
         .code = code ? &*code : nullptr,
         .first_block = options.first_block});
    if (!traced) return std::unexpected(Error{.message = traced.error().message, .file = question.file.path});
    if (!code) traced->no_machine_code = code.error().text();
    return traced;
}

std::expected<schedule::TracedLaunch, Error> trace_launch(const LaunchQuestion& question,
                                                          const model::LaunchConfiguration& launch,
                                                          std::uint32_t resident,
                                                          const ScheduleOptions& options) {
    const auto program = load_program_of(question);
    if (!program) return std::unexpected(program.error());
    return trace_launch(question, **program, launch, resident, options);
}

std::string chrome_trace(const schedule::TracedLaunch& launch, std::size_t instructions) {
    using Json = nlohmann::ordered_json;
    Json events = Json::array();
    std::set<std::uint32_t> blocks;
    const schedule::Code& code = launch.trace.code;
    for (const schedule::TimelineEntry& entry : schedule::timeline(launch, instructions)) {
        if (blocks.insert(entry.block).second) {
            const std::uint64_t index = launch.trace.blocks[entry.block % launch.trace.blocks.size()].block;
            events.push_back({{"ph", "M"},
                              {"name", "process_name"},
                              {"pid", entry.block},
                              {"args", {{"name", fmt::format("block {}", index)}}}});
        }
        const schedule::Instruction& instruction = code.instructions[entry.instruction];
        Json arguments{{"resource", std::string(schedule::name(instruction.resource))},
                       {"region", code.regions[instruction.region].name}};
        std::string name(schedule::name(instruction.resource));
        if (instruction.source < launch.places.size()) {
            const emulator::InstructionPlace& place = launch.places[instruction.source];
            name = place.text.substr(0, place.text.find_first_of(" \t"));
            arguments["instruction"] = place.text;
            arguments["ptx_line"] = place.ptx_line;
            if (!place.source.empty()) arguments["source"] = place.source;
        }
        events.push_back({{"ph", "X"},
                          {"name", std::move(name)},
                          {"cat", "instruction"},
                          {"pid", entry.block},
                          {"tid", entry.warp},
                          {"ts", entry.issue_cycles},
                          {"dur", std::max(1.0, entry.end_cycles - entry.issue_cycles)},
                          {"args", std::move(arguments)}});
    }
    return Json{{"displayTimeUnit", "ns"},
                {"otherData", {{"unit", "a microsecond shown is a cycle"}}},
                {"traceEvents", std::move(events)}}
        .dump();
}

}  // namespace trimtab::tools
