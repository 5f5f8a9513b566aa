// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/launch_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/analysis/launches/operation.h"
#include "core/model/occupancy.h"
#include "emulation/emulator/exec/memory.h"
#include "tools/trimtab/assembler.h"
#include "tools/trimtab/captured_launch.h"

namespace trimtab::tools {

void add_launch_options(CLI::App& command, LaunchOptions& options) {
    command.add_option("FILE", options.file, "CUDA source (.cu), PTX (.ptx), object, library or program")
        ->required();
    command.add_option("--kernel", options.kernel, "Ask for this kernel, by demangled or mangled name");
    options.device_option =
        command.add_option("--device", options.device, "Ask for this GPU: slug, name, or JSON file")
            ->capture_default_str();
    command
        .add_option("--arg", options.arguments,
                    "Set an argument: NAME=VALUE, by name or index (pointers: optional)")
        ->allow_extra_args(false)
        ->take_all();
    command
        .add_option("--flag", options.compiler_flags,
                    "Compile the CUDA source with this flag, as --flag=-DN=4")
        ->allow_extra_args(false)
        ->take_all();
    command
        .add_option("--dynamic-shared", options.dynamic_shared_bytes,
                    "Use so many bytes of dynamic shared memory")
        ->check(CLI::NonNegativeNumber);
    command.add_flag("--json", options.json, "Print JSON");
}

analysis::KernelImage image_that_runs(const FileKernel& kernel, const model::Device& device) {
    const analysis::KernelDescription& description = kernel.record.description;
    const unsigned capability = device.values.compute_capability;
    if (!kernel.record.fits && kernel.ptx != nullptr)
        if (auto own = assemble(*kernel.ptx, description.name, capability)) return *own;
    return analysis::image_for(description, capability);
}

std::expected<LaunchQuestion, Error> look_up(const LaunchOptions& options) {
    if (!options.capture.empty()) return look_up_captured(options);
    auto device = model::find_device(options.device);
    if (!device) return std::unexpected(device.error());
    auto file = load_kernels(options.file, options.compiler_flags);
    if (!file) return std::unexpected(file.error());
    std::vector<std::string> names;
    for (const FileKernel& kernel : file->kernels)
        if (!analysis::built_in_block(kernel.record.description) &&
            !analysis::coarsening(kernel.record.description))
            names.push_back(base_name(kernel.record.description.demangled));
    if (options.kernel.empty() && names.size() > 1) {
        return std::unexpected(Error{.message = fmt::format("holds {} kernels: say which with --kernel, {}",
                                                            names.size(), fmt::join(names, ", ")),
                                     .file = options.file});
    }
    std::size_t kernel = 0;
    if (!options.kernel.empty() || file->kernels.empty()) {
        const auto found = find_kernel(*file, options.kernel);
        if (!found) return std::unexpected(found.error());
        kernel = *found;
    }
    // As in a program, where its launches are the other body's.
    if (const auto& own = file->kernels[kernel].record.description;
        options.is_launch && analysis::keeps_its_block(own))
        for (std::size_t i = 0; i < file->kernels.size(); ++i)
            if (analysis::has_built_in_block_of(file->kernels[i].record.description, own)) {
                kernel = i;
                break;
            }
    const analysis::KernelDescription& description = file->kernels[kernel].record.description;
    auto arguments = parse_arguments(description, options.arguments, &emulator::SparseMemory::region_base);
    if (!arguments) return std::unexpected(arguments.error());
    const analysis::KernelImage image = image_that_runs(file->kernels[kernel], *device);
    const trimtab_image fitted =
        model::with_addressable_registers(analysis::to_driver_image(image), device->values);
    return LaunchQuestion{.file = std::move(*file),
                          .kernel = kernel,
                          .device = std::move(*device),
                          .arguments = std::move(*arguments),
                          .image = fitted,
                          .registers_from = image.registers_from};
}

std::expected<void, Error> require_scalars(const analysis::KernelDescription& kernel,
                                           const LaunchArguments& arguments) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const auto& parameter = kernel.parameters[i];
        const auto type = analysis::type_from_name(parameter.ptx_type);
        if (parameter.is_pointer || arguments.given[i] || !type || ptx::is_float(*type)) continue;
        return std::unexpected(
            Error{.message = fmt::format("argument {} of {} is missing: give --arg {}=VALUE", parameter.name,
                                         kernel.demangled, parameter.name)});
    }
    return require_data(kernel, arguments);
}

double shared_bytes_of(const LaunchOptions& options, const LaunchQuestion& question, trimtab_dim3 grid,
                       trimtab_dim3 block) {
    const double given = options.dynamic_shared_bytes;
    if (question.captured != nullptr && given == 0) return question.captured->capture.dynamic_shared_bytes;
    if (given != 0 || !question.description().annotated_shared) return given;
    const auto stated = analysis::stated_launch(question.description(), question.arguments.bytes,
                                                {.grid = grid, .block = block}, block);
    return stated ? static_cast<double>(stated->dynamic_shared_bytes) : 0;
}

}  // namespace trimtab::tools
