// The options that select and predict share: which kernel, on which device, with which arguments.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "model/device.h"
#include "tools/trimtab/arguments.h"
#include "tools/trimtab/kernel_file.h"
#include "trimtab/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace trimtab::tools {

struct LaunchOptions {
    std::string file, kernel, device{model::default_device};
    std::vector<std::string> arguments, compiler_flags;
    double dynamic_shared_bytes = 0;
    bool json = false;
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

    [[nodiscard]] FileKernel& of() { return file.kernels[kernel]; }
    [[nodiscard]] const analysis::KernelDescription& description() const {
        return file.kernels[kernel].record.description;
    }
};
[[nodiscard]] std::expected<LaunchQuestion, Error> look_up(const LaunchOptions& options);

}  // namespace trimtab::tools
