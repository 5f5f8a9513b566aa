// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA's own runtime behind libtrimtab.so on a machine without a GPU: it answers there, too (versions, texts, that there is no
// device). Every function is called through Trimtab's and directly, each in a process of its own, with the same arguments.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Answer {
    int status = 0, last_error = 0, ending = 0;
    bool operator==(const Answer&) const = default;
};
void PrintTo(const Answer& answer, std::ostream* out) {
    *out << "status " << answer.status << ", last error " << answer.last_error << ", wait status "
         << answer.ending;
}

using Function = int (*)(void*, void*, void*, void*, void*, void*, void*, void*);

std::vector<std::string> symbols(const std::string& file) {
    std::ifstream in(std::string(TRIMTAB_SOURCE_DIR "/runtime/stand_in/") + file);
    std::vector<std::string> names;
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && line.front() != '#') names.push_back(line);
    return names;
}

// What a call of `name` with nulls for arguments comes to, in a child: many functions are not made for that.
Answer call(void* library, const std::string& name) {
    static auto* shared = static_cast<Answer*>(
        mmap(nullptr, sizeof(Answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    *shared = {.status = -1, .last_error = -1};
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        const auto function = reinterpret_cast<Function>(dlsym(library, name.c_str()));
        const auto peek = reinterpret_cast<int (*)()>(dlsym(library, "cudaPeekAtLastError"));
        if (function == nullptr) _exit(77);
        shared->status = function(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
        if (peek != nullptr) shared->last_error = peek();
        _exit(0);
    }
    int ending = 0;
    waitpid(child, &ending, 0);
    shared->ending = ending;
    return *shared;
}

class RealRuntime : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        setenv("TRIMTAB_DEVICE", "gpu", 1);
        setenv("TRIMTAB_LOG", "off", 1);
        // The toolkit's stub of the driver, under the driver's name: each of its functions answers that it is one.
        const fs::path folder = fs::path(testing::TempDir()) / ("driver_stub_" + std::to_string(getpid()));
        fs::create_directories(folder);
        fs::create_symlink(TRIMTAB_CUDA "/lib64/stubs/libcuda.so", folder / "libcuda.so.1");
        setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
        stub_ = dlopen((folder / "libcuda.so.1").c_str(), RTLD_LAZY | RTLD_LOCAL);
        ours_ = dlopen(TRIMTAB_BINARY_DIR "/lib/libtrimtab.so", RTLD_LAZY | RTLD_LOCAL);
        real_ = dlopen(TRIMTAB_CUDA "/lib64/libcudart.so.13", RTLD_LAZY | RTLD_LOCAL);
        ASSERT_NE(ours_, nullptr) << dlerror();
        ASSERT_NE(real_, nullptr) << dlerror();
    }
    template <typename Type>
    static Type ours(const char* name) {
        return reinterpret_cast<Type>(dlsym(ours_, name));
    }
    template <typename Type>
    static Type real(const char* name) {
        return reinterpret_cast<Type>(dlsym(real_, name));
    }
    static inline void *ours_ = nullptr, *real_ = nullptr, *stub_ = nullptr;
};

TEST_F(RealRuntime, TellsItsVersionTextsAndThatThereIsNoDevice) {
    using Get = int (*)(int*);
    using Text = const char* (*)(int);
    int version = 0, expected_version = -1;
    EXPECT_EQ(ours<Get>("cudaRuntimeGetVersion")(&version), 0);
    EXPECT_EQ(real<Get>("cudaRuntimeGetVersion")(&expected_version), 0);
    EXPECT_EQ(version, expected_version);
    for (int error = 0; error < 1100; ++error) {
        EXPECT_STREQ(ours<Text>("cudaGetErrorString")(error), real<Text>("cudaGetErrorString")(error));
        EXPECT_STREQ(ours<Text>("cudaGetErrorName")(error), real<Text>("cudaGetErrorName")(error));
    }
    int count = 7, expected_count = 7;
    const int status = ours<Get>("cudaGetDeviceCount")(&count);
    EXPECT_NE(status, 0);
    EXPECT_EQ(status, real<Get>("cudaGetDeviceCount")(&expected_count));
    EXPECT_EQ(count, expected_count);
}

TEST_F(RealRuntime, AnswersEveryFunctionOfTheRuntimeThroughTrimtabAsItDoesDirectly) {
    std::size_t called = 0;
    for (const std::string& name : symbols("cudart_symbols.txt")) {
        // What compilers' own code calls: no error code comes back.
        if (name.starts_with("__cuda") || name == "cudaCreateChannelDesc") continue;
        EXPECT_EQ(call(ours_, name), call(real_, name)) << name;
        ++called;
    }
    EXPECT_GT(called, 390u);
}

TEST_F(RealRuntime, TheDriversFunctionsReachTheDriver) {
    if (stub_ == nullptr) GTEST_SKIP() << "this toolkit has no stub of the driver";
    constexpr int is_stub = 34;  // CUDA_ERROR_STUB_LIBRARY
    std::size_t reached = 0;
    for (const std::string& name : symbols("cuda_driver_symbols.txt")) {
        const auto of_stub = dlsym(stub_, name.c_str());
        if (of_stub == nullptr) continue;  // of another minor version
        const Answer answer = call(ours_, name);
        // Trimtab's own look at their arguments first.
        EXPECT_EQ(answer.ending, 0) << name;
        if (answer.status == is_stub) ++reached;
        EXPECT_EQ(answer.status, call(stub_, name).status) << name;
    }
    EXPECT_GT(reached, 400u);
}

}  // namespace
