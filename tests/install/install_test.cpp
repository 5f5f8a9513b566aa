// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user gets: the Debian package, made by CPack and unpacked into an empty folder, used from there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
    int code = -1;
    std::string text;  // stdout and stderr
};

class Install : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = fs::path(testing::TempDir()) / "trimtab_install";
        fs::remove_all(folder_);
        fs::create_directories(folder_ / "work");
        setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
        const Outcome packed = shell(TRIMTAB_CPACK " -G DEB --config " TRIMTAB_BINARY_DIR
                                                   "/CPackConfig.cmake -B ../package && "
                                                   "dpkg -x ../package/*.deb ../root");
        ASSERT_EQ(packed.code, 0) << packed.text;
        write("scale.cu", R"(
#include <cstdio>
__global__ void scale(const float *in, float *out, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}
int count();
int main() {
    const int n = count();
    float *in, *out;
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    for (int i = 0; i < n; ++i) in[i] = i;
    scale<<<(n + 255) / 256, 256>>>(in, out, 2.0f, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i)
        if (out[i] != 2.0f * i) { printf("FAIL at %d\n", i); return 1; }
    printf("PASS\n");
}
)");
        write("count.cpp", "int count() { return 1000; }\n");
    }
    static void TearDownTestSuite() { fs::remove_all(folder_); }

    static void write(const std::string& name, const std::string& text) {
        const fs::path path = folder_ / "work" / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    static Outcome shell(const std::string& command) {
        const std::string full = "cd '" + (folder_ / "work").string() + "' && ( " + command + " ) 2>&1";
        Outcome outcome;
        FILE* pipe = popen(full.c_str(), "r");
        std::array<char, 4096> buffer{};
        while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
            outcome.text.append(buffer.data(), got);
        const int status = pclose(pipe);
        outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
        return outcome;
    }

    // A file of the package.
    static std::string installed(const std::string& name) { return (folder_ / "root/usr" / name).string(); }

    static void expect_tuned(const std::string& program) {
        const Outcome ran = shell("TRIMTAB_LOG=info " + program);
        EXPECT_EQ(ran.code, 0) << ran.text;
        EXPECT_THAT(ran.text, AllOf(HasSubstr("PASS"), HasSubstr("by driver")));
        EXPECT_THAT(shell("readelf -d " + program).text,
                    HasSubstr("[libtrimtab.so." TRIMTAB_VERSION_MAJOR "]"));
        EXPECT_THAT(shell("ldd " + program).text, HasSubstr(installed("lib")));
    }

    static fs::path folder_;
};

fs::path Install::folder_;

TEST_F(Install, ThePackageNamesNothingOfTheBuildAndAllThatItNeeds) {
    EXPECT_THAT(shell("grep -rlF -e " TRIMTAB_BINARY_DIR " -e " TRIMTAB_SOURCE_DIR "/ ../root").text,
                IsEmpty());
    EXPECT_THAT(shell("dpkg-deb -f ../package/*.deb Depends").text,
                AllOf(HasSubstr("clang-22"), HasSubstr("libllvm22"), HasSubstr("libc6")));
    for (const char* file : {"share/doc/trimtab/README.md", "share/doc/trimtab/docs/README.md",
                             "share/doc/trimtab/LICENSE", "share/doc/trimtab/copyright",
                             "share/doc/trimtab/LICENSES.md", "share/doc/trimtab/licences/libfmt-dev",
                             "share/doc/trimtab/samples/polybench/gemm.cu", "share/man/man1/trimtab++.1.gz"})
        EXPECT_TRUE(fs::exists(installed(file))) << file;
    // Loaders of OpenCL read /etc only.
    EXPECT_EQ(shell("cat ../root/etc/OpenCL/vendors/trimtab.icd").text, "/usr/lib/libtrimtab_opencl.so\n");
    EXPECT_TRUE(fs::exists(installed("lib/libtrimtab_opencl.so")));
    EXPECT_THAT(shell("gzip -dc " + installed("share/man/man1/trimtab-run.1.gz")).text,
                AllOf(HasSubstr("\\-\\-device"), HasSubstr("PROGRAM")));
}

TEST_F(Install, CompletionsOfferOptionsAndCommands) {
    const std::string script = installed("share/bash-completion/completions/trimtab");
    auto completed = [&](const std::string& words, int at) {
        return shell("bash -c 'source " + script + "; COMP_WORDS=(" + words +
                     "); COMP_CWORD=" + std::to_string(at) + "; _trimtab; echo ${COMPREPLY[*]}'")
            .text;
    };
    EXPECT_EQ(completed("trimtab ver", 1), "verify\n");
    EXPECT_EQ(completed("trimtab run --de", 2), "--device\n");
    EXPECT_EQ(completed("trimtab run -- ./program --de", 4), "\n") << "the program's own options";
}

TEST_F(Install, ProgramsAreBuiltAndTuned) {
    const Outcome built = shell(installed("bin/trimtab++") + " -O2 scale.cu count.cpp -o scale");
    ASSERT_EQ(built.code, 0) << built.text;
    expect_tuned("./scale");
    EXPECT_THAT(shell(installed("bin/trimtab") + " inspect ./scale").text, HasSubstr("covering"));

    // What a build without trimtab++ links, by pkg-config.
    const Outcome linked =
        shell(installed("bin/trimtab++") + " -O2 -c scale.cu && g++ scale.o count.cpp $(PKG_CONFIG_PATH=" +
              installed("lib/pkgconfig") + " pkg-config --cflags --libs trimtab) -o linked");
    ASSERT_EQ(linked.code, 0) << linked.text;
    expect_tuned("./linked");
}

TEST_F(Install, CMakeProjectsFindIt) {
    // Its compilers are others: trimtab_enable() puts trimtab++ in their place for one target.
    write("enabled/CMakeLists.txt", R"(
cmake_minimum_required(VERSION 3.21)
project(scale LANGUAGES CXX)
find_package(Trimtab 0.1 REQUIRED)
add_executable(scale ../scale.cu ../count.cpp)
trimtab_enable(scale)
)");
    Outcome built = shell(TRIMTAB_CMAKE
                          " -S enabled -B enabled/build -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=Release "
                          "-DCMAKE_PREFIX_PATH=" +
                          installed("") + " && " TRIMTAB_CMAKE " --build enabled/build");
    ASSERT_EQ(built.code, 0) << built.text;
    expect_tuned("enabled/build/scale");

    // trimtab++ is the compiler of the whole project.
    write("toolchain/CMakeLists.txt", R"(
cmake_minimum_required(VERSION 3.18)
project(scale LANGUAGES CXX CUDA)
find_package(Trimtab REQUIRED)
add_executable(scale ../scale.cu ../count.cpp)
trimtab_enable(scale)
)");
    built = shell(TRIMTAB_CMAKE " -S toolchain -B toolchain/build -DCMAKE_TOOLCHAIN_FILE=" +
                  installed("lib/cmake/Trimtab/TrimtabToolchain.cmake") +
                  " && " TRIMTAB_CMAKE " --build toolchain/build");
    ASSERT_EQ(built.code, 0) << built.text;
    expect_tuned("toolchain/build/scale");
}

}  // namespace
