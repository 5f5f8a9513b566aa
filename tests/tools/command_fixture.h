// The files that tests of the trimtab command work on, made once by trimtab++ and clang++, and how they run it.
#pragma once

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace trimtab::tools::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

inline constexpr const char* kernels_source = R"(
#include <cstdio>
#include <cstdlib>
template <typename T> __global__ void scale(const T *in, T *out, T factor, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < rows && x < columns) out[y * columns + x] = factor * in[y * columns + x];
}
__global__ void row_sums(const float *in, float *out, int rows, int columns) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < rows) {
        float sum = 0;
        for (int x = 0; x < columns; ++x) sum += in[y * columns + x];
        out[y] = sum;
    }
}
__global__ void block_sums(const float *in, float *out, int n) {
    __shared__ float part[256];
    part[threadIdx.x] = blockIdx.x * 256 + threadIdx.x < n ? in[blockIdx.x * 256 + threadIdx.x] : 0;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
int main(int argc, char **argv) {
    const int rows = 100, columns = 70, n = rows * columns;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    scale<float><<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(in, out, 2.0f, rows, columns);
    block_sums<<<(n + 255) / 256, 256>>>(in, out, n);
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    printf("%s: %s\n", device.name, cudaGetErrorString(cudaDeviceSynchronize()));
    return argc > 1 ? atoi(argv[1]) : 0;
}
)";

struct Outcome {
    int code = -1;
    std::string out, err;
    [[nodiscard]] Json json() const { return Json::parse(out, nullptr, false); }
};

inline std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Command : public testing::Test {
  protected:
    // One folder and one compile of each kind for all tests.
    static void SetUpTestSuite() {
        folder_ = fs::path(testing::TempDir()) / "trimtab_command_test";
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
        std::ofstream(folder_ / "kernels.cu") << kernels_source;
        const std::string wrapper = TRIMTAB_BINARY_DIR "/bin/trimtab++ --trimtab-quiet -O3 kernels.cu ";
        ASSERT_EQ(shell(wrapper + "-o program").code, 0) << shell(wrapper + "-o program").err;
        ASSERT_EQ(shell(wrapper + "-S --cuda-device-only -o kernels.ptx").code, 0);
        // What a compiler without Trimtab makes.
        ASSERT_EQ(
            shell(TRIMTAB_CLANG " -x cuda --cuda-path=" TRIMTAB_CUDA
                                " --cuda-gpu-arch=sm_75 --cuda-include-ptx=all -Wno-unknown-cuda-version "
                                "-O3 -c kernels.cu -o plain.o")
                .code,
            0);
    }

    static Outcome shell(const std::string& command) {
        const std::string full = "cd '" + folder_.string() + "' && { " + command + "; } >out.txt 2>err.txt";
        const int status = std::system(full.c_str());
        return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                .out = text_of(folder_ / "out.txt"),
                .err = text_of(folder_ / "err.txt")};
    }
    static Outcome trimtab(const std::string& arguments) {
        return shell(TRIMTAB_BINARY_DIR "/bin/trimtab " + arguments);
    }
    // Fails with one line that names what is wrong.
    static void expect_failure(const std::string& arguments, int code, const std::string& message) {
        const Outcome outcome = trimtab(arguments);
        EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.out << outcome.err;
        EXPECT_THAT(outcome.err, StartsWith("trimtab: ")) << arguments;
        EXPECT_THAT(outcome.err, HasSubstr(message)) << arguments;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }

    static inline fs::path folder_;
};

}  // namespace trimtab::tools::test
