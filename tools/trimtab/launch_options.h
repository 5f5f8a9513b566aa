// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that select and predict share: which kernel, on which device, with which arguments.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "core/model/device.h"
#include "emulation/emulator/capture/capture.h"
#include "tools/trimtab/arguments.h"
#include "tools/trimtab/kernel_file.h"
#include "trimtab/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Option;
}  // namespace CLI

namespace trimtab::tools {

struct LaunchOptions {
    std::string file, kernel, device{model::default_device};
    std::vector<std::string> arguments, compiler_flags;
    double dynamic_shared_bytes = 0;
    bool json = false;
    bool is_launch = false;                      // it is asked what becomes of a program's launch
    std::string capture{};                       // --capture, in the place of `file`
    const CLI::Option* device_option = nullptr;  // was it given?
};
void add_launch_options(CLI::App& command, LaunchOptions& options);

// The options, looked up.
struct LaunchQuestion {
    KernelFile file;
    std::size_t kernel = 0;  // in `file`
    model::Device device;
    LaunchArguments arguments;
    trimtab_image image{};
    std::string registers_from;  // "ptxas sm_75"
    // Whose memory the launch finds; null: arrays are where the command line says, filled deterministically.
    std::shared_ptr<const emulator::capture::ReadCapture> captured{};

    [[nodiscard]] FileKernel& of() { return file.kernels[kernel]; }
    [[nodiscard]] const analysis::KernelDescription& description() const {
        return file.kernels[kernel].record.description;
    }
};
// A kernel with a driver program is asked about as that program sees it; any other, as the device would run it.
[[nodiscard]] analysis::KernelImage image_that_runs(const FileKernel& kernel, const model::Device& device);
[[nodiscard]] std::expected<LaunchQuestion, Error> look_up(const LaunchOptions& options);

// Emulation runs the code, so every number that may steer it must be known: an error names the first that the
// command line does not give. What a floating-point scalar is hardly matters to its time.
[[nodiscard]] std::expected<void, Error> require_scalars(const analysis::KernelDescription& kernel,
                                                         const LaunchArguments& arguments);
// As given, else what the kernel's annotation states.
[[nodiscard]] double shared_bytes_of(const LaunchOptions& options, const LaunchQuestion& question,
                                     trimtab_dim3 grid, trimtab_dim3 block);

}  // namespace trimtab::tools
