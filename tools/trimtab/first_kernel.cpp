// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/first_kernel.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/temporary_folder.h"

namespace trimtab::tools {

namespace {

constexpr std::string_view program_source = R"(#include <cstdio>
__global__ void add(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += 2 * x[i];
}
int main() {
    const int n = 100000;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    for (int i = 0; i < n; ++i) x[i] = i % 1000, y[i] = 1;
    add<<<(n + 31) / 32, 32>>>(x, y, n);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return std::puts(cudaGetErrorString(error)), 1;
    for (int i = 0; i < n; ++i)
        if (y[i] != 1 + 2 * (i % 1000)) return std::printf("element %d is %g\n", i, y[i]), 1;
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    std::puts(device.name);
}
)";
constexpr const char* subject = "a first kernel";

Finding failed(const std::string& text, const base::TemporaryFolder& folder) {
    std::ifstream messages(folder.file("messages"));
    std::string said;
    for (std::string line; std::getline(messages, line) && said.empty();)
        if (line.contains("error")) said = line;
    return {subject, Health::missing, said.empty() ? text : text + ": " + said,
            "the lines above may say why; docs/troubleshooting.md"};
}

}  // namespace

Finding try_first_kernel() {
    const auto compiler = base::find_own_program("trimtab++");
    const auto folder = base::TemporaryFolder::make();
    if (!compiler || !folder)
        return {subject, Health::missing,
                compiler ? folder.error().text()
                         : "trimtab++ is missing next to this program: install all of Trimtab",
                ""};
    std::ofstream(folder->file("first.cu")) << program_source;
    const std::string program = folder->file("first"), messages = folder->file("messages");
    const auto built = base::run(
        {.words = {*compiler, "-O2", folder->file("first.cu"), "-o", program}, .messages_file = messages});
    if (!built || !built->is_success())
        return failed("trimtab++ does not build it" + (built ? "" : ": " + built.error().text()), *folder);
    const auto ran = base::run(
        {.words = {program}, .environment = {{"TRIMTAB_LOG", "summary"}}, .messages_file = messages},
        base::Capture::output);
    if (!ran || !ran->is_success())
        return failed(ran ? fmt::format("built, but running it {}",
                                        ran->captured.empty() ? ran->text() : "says: " + ran->first_line())
                          : ran.error().text(),
                      *folder);
    return {subject, Health::good, fmt::format("built by trimtab++, ran on {}, right", ran->first_line())};
}

}  // namespace trimtab::tools
