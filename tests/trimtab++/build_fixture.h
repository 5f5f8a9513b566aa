// A folder with small CUDA sources, and a shell in it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace trimtab::wrapper::tests {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

struct Outcome {
    int code = -1;
    std::string text;  // stdout and stderr
};

// Each test has a folder of its own, with the sources below in it, and a cache of its own.
class Build : public testing::Test {
  protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::path(testing::TempDir()) / (std::string("trimtab_build_") + test->name());
        fs::remove_all(folder_);
        fs::create_directories(folder_ / "work");
        setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
        write("scale.cu", R"(
#include <cstdio>
__global__ void scale(const float *in, float *out, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}
int main() {
    const int n = 1000;
    float *in, *out, host[n];
    for (int i = 0; i < n; ++i) host[i] = i;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<(n + 255) / 256, 256>>>(in, out, 2.0f, n);
    cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i)
        if (host[i] != 2.0f * i) { printf("FAIL at %d\n", i); return 1; }
    printf("PASS %s\n", cudaGetErrorString(cudaGetLastError()));
}
)");
        // Two files with a static kernel of the same name that do different things.
        for (const char* part : {"one", "two"}) {
            const std::string add = part == std::string("one") ? "1" : "2";
            write(std::string(part) + ".cu",
                  "static __global__ void step(int *x, int n) {\n"
                  "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "    if (i < n) x[i] += " +
                      add +
                      ";\n}\n"
                      "void " +
                      part + "(int *x, int n) { step<<<(n + 127) / 128, 128>>>(x, n); }\n");
        }
        write("main.cpp", R"(
#include <cstdio>
#include <cuda_runtime.h>
void one(int *, int);
void two(int *, int);
int main() {
    int *x, host[300];
    cudaMalloc((void **)&x, sizeof host);
    cudaMemset(x, 0, sizeof host);
    one(x, 300);
    two(x, 300);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    for (int value : host)
        if (value != 3) { printf("FAIL %d\n", value); return 1; }
    printf("PASS\n");
}
)");
        write("plain.cpp", "#include <cstdio>\nint main() { puts(\"plain\"); }\n");
    }

    void write(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / "work" / name) << text;
    }

    Outcome shell(const std::string& command, const std::string& where = "work") {
        const std::string full = "cd '" + (folder_ / where).string() + "' && ( " + command + " ) 2>&1";
        Outcome outcome;
        FILE* pipe = popen(full.c_str(), "r");
        std::array<char, 4096> buffer{};
        while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
            outcome.text.append(buffer.data(), got);
        const int status = pclose(pipe);
        outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
        return outcome;
    }

    std::set<std::string> files(const std::string& where) {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_ / where))
            names.insert(entry.path().filename().string());
        return names;
    }

    std::string trimtab(const std::string& arguments) {
        return TRIMTAB_BINARY_DIR "/bin/trimtab++ " + arguments;
    }

    fs::path folder_;
};

}  // namespace trimtab::wrapper::tests
