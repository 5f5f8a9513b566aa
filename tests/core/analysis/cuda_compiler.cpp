// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cuda_compiler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace trimtab::analysis::test {
namespace {

constexpr std::string_view cuda_header = R"(
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define LAUNCH_REGISTER(variable, register)                                                    \
    struct variable##_t {                                                                      \
        __declspec(property(get = get_x)) unsigned x;                                          \
        __declspec(property(get = get_y)) unsigned y;                                          \
        __declspec(property(get = get_z)) unsigned z;                                          \
        __device__ __forceinline__ unsigned get_x() const { return __nvvm_read_ptx_sreg_##register##_x(); } \
        __device__ __forceinline__ unsigned get_y() const { return __nvvm_read_ptx_sreg_##register##_y(); } \
        __device__ __forceinline__ unsigned get_z() const { return __nvvm_read_ptx_sreg_##register##_z(); } \
    };                                                                                         \
    extern const __device__ variable##_t variable;
LAUNCH_REGISTER(threadIdx, tid)
LAUNCH_REGISTER(blockIdx, ctaid)
LAUNCH_REGISTER(blockDim, ntid)
LAUNCH_REGISTER(gridDim, nctaid)
typedef unsigned long size_t;
)";

// A folder of this process, gone with it.
const std::filesystem::path& scratch_folder() {
    struct Folder {
        std::filesystem::path path;
        Folder() {
            std::string name = (std::filesystem::temp_directory_path() / "trimtab-analysis-XXXXXX").string();
            path = ::mkdtemp(name.data()) == nullptr ? std::filesystem::path() : std::filesystem::path(name);
        }
        ~Folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
    };
    static const Folder folder;
    return folder.path;
}

std::string next_name() {
    static std::atomic<int> count = 0;
    return "unit" + std::to_string(count++);
}

bool run(const std::string& command) {
    // A test runs the compiler that it is given.
    // NOLINTNEXTLINE(bugprone-command-processor)
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) {
        ADD_FAILURE() << "cannot run " << command;
        return false;
    }
    std::string output;
    std::array<char, 4096> buffer{};
    while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe))
        output.append(buffer.data(), read);
    const int status = ::pclose(pipe);
    EXPECT_EQ(status, 0) << command << "\n" << output;
    return status == 0;
}

}  // namespace

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(file.good()) << path;
    return text.str();
}

std::string compile_cuda(std::string_view source, const std::string& flags) {
    const std::filesystem::path base = scratch_folder() / next_name();
    std::ofstream(base.string() + ".cu") << cuda_header << source;
    const std::string command =
        std::string(TRIMTAB_CLANG) +
        " -x cuda --cuda-device-only -S -nocudainc -nocudalib --cuda-gpu-arch=sm_75 -std=c++17"
        " -fdeclspec -w -Xclang -target-feature -Xclang +ptx70 " +
        flags + " " + base.string() + ".cu -o " + base.string() + ".ptx";
    return run(command) ? read_file(base.string() + ".ptx") : std::string();
}

std::string compile_cuda_file(const std::string& path, const std::string& flags) {
    const std::string output = (scratch_folder() / next_name()).string() + ".ptx";
    const std::string command =
        std::string(TRIMTAB_CLANG) +
        " -x cuda --cuda-device-only -S --cuda-gpu-arch=sm_75 -std=c++20 -w --cuda-path=" + TRIMTAB_CUDA +
        " " + flags + " " + path + " -o " + output;
    return run(command) ? read_file(output) : std::string();
}

bool has_nvcc() {
    return std::filesystem::exists(std::string(TRIMTAB_CUDA) + "/bin/nvcc");
}

std::string compile_by_nvcc(const std::string& path, const std::string& flags) {
    if (!has_nvcc()) return {};
    const std::string output = (scratch_folder() / next_name()).string() + ".ptx";
    return run(std::string(TRIMTAB_CUDA) + "/bin/nvcc -w -ptx -arch=sm_75 -std=c++20 -lineinfo " + flags +
               " " + path + " -o " + output)
               ? read_file(output)
               : std::string();
}

std::string compile_source_by_nvcc(std::string_view source, const std::string& flags) {
    const std::string path = (scratch_folder() / next_name()).string() + ".cu";
    std::ofstream(path) << source;
    return compile_by_nvcc(path, flags);
}

std::string compile_host_library(std::string_view source) {
    const std::filesystem::path base = scratch_folder() / next_name();
    std::ofstream(base.string() + ".cpp") << source;
    const std::string library = base.string() + ".so";
    return run(std::string(TRIMTAB_CLANG) + " -w -O1 -fwrapv -shared -fPIC " + base.string() + ".cpp -o " +
               library)
               ? library
               : std::string();
}

std::vector<KernelDescription> describe_ptx(std::string_view ptx, const std::string& architecture,
                                            const Permissions& allowed) {
    const auto module = ptx::parse(ptx, "test.ptx");
    if (!module) {
        ADD_FAILURE() << module.error().text();
        return {};
    }
    Image image;
    image.module = &*module;
    image.architecture = architecture;
    auto kernels = describe({&image, 1}, {}, allowed);
    if (!kernels) {
        ADD_FAILURE() << kernels.error().text();
        return {};
    }
    return std::move(*kernels);
}

const KernelDescription& kernel_named(const std::vector<KernelDescription>& kernels,
                                      const std::string& name) {
    for (const KernelDescription& kernel : kernels)
        if (kernel.demangled.starts_with(name + "(")) return kernel;
    ADD_FAILURE() << "no kernel " << name;
    static const KernelDescription none;
    return none;
}

}  // namespace trimtab::analysis::test
