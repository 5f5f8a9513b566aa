// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tools/advice/defect_kernels.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/analysis/launches/legal_blocks.h"
#include "core/base/temporary_folder.h"
#include "emulation/emulator/exec/memory.h"
#include "tests/emulation/emulator/compile.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::tools {
namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

const std::string& defect_source() {
    static const std::string text = text_of(TRIMTAB_SOURCE_DIR "/tests/tools/advice/defects.cu");
    return text;
}

// Compiled once for all cases.
const KernelFile& defect_kernels() {
    static const KernelFile file = [] {
        const auto folder = base::TemporaryFolder::make().value();
        const std::string path = folder.file("defects.ptx");
        std::ofstream(path) << emulator::test::compile_cuda(defect_source(), "-O3 -gline-tables-only");
        auto loaded = load_kernels(path);
        EXPECT_TRUE(loaded) << loaded.error().text();
        return loaded ? *loaded : KernelFile{};
    }();
    return file;
}

emulator::LaunchProfile profile_of(const OneRun& run, const std::string& device_name) {
    const auto index = find_kernel(defect_kernels(), run.kernel);
    EXPECT_TRUE(index) << index.error().text();
    const auto& description = defect_kernels().kernels[*index].record.description;
    auto arguments = parse_arguments(description, run.arguments, &emulator::SparseMemory::region_base);
    EXPECT_TRUE(arguments) << arguments.error().text();
    const auto device = model::find_device(device_name);
    const LaunchQuestion question{.file = defect_kernels(),
                                  .kernel = *index,
                                  .device = *device,
                                  .arguments = *arguments,
                                  .image = analysis::to_driver_image(
                                      analysis::image_for(description, device->values.compute_capability)),
                                  .registers_from = "estimated"};
    const auto measured =
        measure_launch(question, {.x = run.grid, .y = 1, .z = 1}, {.x = run.block, .y = 1, .z = 1}, 0);
    EXPECT_TRUE(measured) << measured.error().text();
    emulator::LaunchProfile profile = measured->profile;
    profile.launches = run.launches;
    profile.total_ns = profile.time_ns * static_cast<double>(run.launches);
    return profile;
}
}  // namespace trimtab::tools
