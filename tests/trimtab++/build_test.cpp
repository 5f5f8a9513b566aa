// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab++ end to end: programs built every way a build system builds them, then run on the emulator.
#include "tests/trimtab++/build_fixture.h"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using trimtab::wrapper::tests::Build;
using trimtab::wrapper::tests::Outcome;

const std::string clangxx = TRIMTAB_LLVM_PREFIX "/bin/clang++";
const std::string clang_cuda =
    " --cuda-path=" TRIMTAB_CUDA_PATH " --cuda-gpu-arch=sm_75 -Wno-unknown-cuda-version ";

TEST_F(Build, OneStepBuildsAndRunsOnTheEmulator) {
    Outcome built = shell(trimtab("-O3 scale.cu -o scale"));
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(built.text, HasSubstr("profiled at")) << "work is shown";
    const Outcome ran = shell("TRIMTAB_DEVICE=rtx2070super TRIMTAB_LOG=info ./scale");
    EXPECT_EQ(ran.code, 0) << ran.text;
    EXPECT_THAT(ran.text, HasSubstr("PASS no error"));
    EXPECT_THAT(ran.text, HasSubstr("scale"));

    built = shell(trimtab("-O3 scale.cu -o scale"));
    EXPECT_EQ(built.code, 0);
    EXPECT_EQ(built.text, "") << "an unchanged kernel is not profiled again";
}

TEST_F(Build, SeparateCompileAndLinkOfFilesThatShareAStaticKernelsName) {
    for (const char* step :
         {"-O2 -c one.cu", "-O2 -c two.cu -o two.o", "-O2 -c main.cpp -I" TRIMTAB_CUDA_PATH "/include",
          "one.o two.o main.o -o prog"}) {
        const Outcome outcome = shell(trimtab(step));
        ASSERT_EQ(outcome.code, 0) << step << '\n' << outcome.text;
    }
    const Outcome ran = shell("./prog");
    EXPECT_EQ(ran.code, 0) << ran.text;
    EXPECT_THAT(ran.text, HasSubstr("PASS"));
}

TEST_F(Build, SeveralSourcesOfBothKindsInOneStep) {
    const Outcome built =
        shell(trimtab("-O2 one.cu two.cu main.cpp -I" TRIMTAB_CUDA_PATH "/include -o prog"));
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(shell("./prog").text, HasSubstr("PASS"));
}

TEST_F(Build, ARuntimeThatTheBuildNamesKeepsWorking) {
    for (const char* runtime :
         {"-lcudart", "-lcudart_static -ldl -lrt -lpthread", TRIMTAB_CUDA_PATH "/lib64/libcudart_static.a"}) {
        const Outcome built =
            shell(trimtab("-O2 -L" TRIMTAB_CUDA_PATH "/lib64 scale.cu -o scale ") + runtime);
        ASSERT_EQ(built.code, 0) << runtime << '\n' << built.text;
        EXPECT_THAT(shell("./scale").text, HasSubstr("PASS")) << runtime;
    }
}

TEST_F(Build, ObjectsLinkWithoutTrimtab) {
    ASSERT_EQ(shell(trimtab("-O2 -c scale.cu")).code, 0);
    const Outcome linked = shell(clangxx + " scale.o -o scale -L" TRIMTAB_CUDA_PATH "/lib64 -lcudart");
    EXPECT_EQ(linked.code, 0) << linked.text;
}

TEST_F(Build, LibrariesLoadedWhileRunningAreTunedToo) {
    write("load.cpp", R"(
#include <cstdio>
#include <cuda_runtime.h>
#include <dlfcn.h>
int main() {
    void *library = dlopen("./libone.so", RTLD_NOW);
    if (!library) { puts(dlerror()); return 1; }
    auto one = (void (*)(int *, int))dlsym(library, "_Z3onePii");
    int *x, host[300];
    cudaMalloc((void **)&x, sizeof host);
    cudaMemset(x, 0, sizeof host);
    one(x, 300);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf(host[299] == 1 ? "PASS\n" : "FAIL\n");
}
)");
    ASSERT_EQ(shell(trimtab("-O2 -fPIC -shared one.cu -o libone.so")).code, 0);
    const Outcome built = shell(trimtab("load.cpp -I" TRIMTAB_CUDA_PATH "/include -lcudart -o load"));
    ASSERT_EQ(built.code, 0) << built.text;
    const Outcome ran = shell("TRIMTAB_LOG=info ./load");
    EXPECT_THAT(ran.text, HasSubstr("PASS"));
    EXPECT_THAT(ran.text, HasSubstr("step"));
}

TEST_F(Build, WithoutCudaItIsClangToTheLetter) {
    fs::create_directories(folder_ / "a");
    fs::create_directories(folder_ / "b");
    ASSERT_EQ(shell(trimtab("-O2 ../work/plain.cpp -o plain"), "a").code, 0);
    ASSERT_EQ(shell(clangxx + " -O2 ../work/plain.cpp -o plain", "b").code, 0);
    EXPECT_EQ(shell("cmp a/plain b/plain", ".").code, 0);
    EXPECT_THAT(shell(trimtab("--version")).text,
                AllOf(testing::StartsWith("trimtab++ (Trimtab) "),
                      testing::EndsWith(shell(clangxx + " --version").text)));
    EXPECT_THAT(shell(trimtab("--help")).text,
                AllOf(HasSubstr("--trimtab-sizes="), HasSubstr(shell(clangxx + " --help").text)));
    const Outcome mine = shell(trimtab("-c missing.cpp"));
    const Outcome theirs = shell(clangxx + " -c missing.cpp");
    EXPECT_EQ(mine.code, theirs.code);
    EXPECT_EQ(mine.text.substr(mine.text.find("error")), theirs.text.substr(theirs.text.find("error")));
}

// As generators of CUDA read it: the release is in the fourth line.
TEST_F(Build, UnderNvccsNameItTellsTheToolkitsVersion) {
    fs::create_symlink(TRIMTAB_BINARY_DIR "/bin/trimtab++", folder_ / "nvcc");
    for (const char* option : {"--version", "-V"}) {
        const Outcome told =
            shell((folder_ / "nvcc").string() + " --cuda-path=" TRIMTAB_CUDA_PATH " " + option);
        EXPECT_EQ(told.code, 0) << told.text;
        EXPECT_THAT(told.text,
                    testing::MatchesRegex("nvcc: NVIDIA [^\n]*\nIn its place: trimtab\\+\\+ [^\n]*\n"
                                          "[^\n]*\nCuda compilation tools, release 1[3-9]\\.[0-9]+, "
                                          "V1[3-9]\\.[0-9]+\\.0\n"));
    }
    EXPECT_THAT(shell(trimtab("--version")).text, testing::StartsWith("trimtab++ (Trimtab) "));
    // nvcc's command lines need nvcc's defaults: an architecture, and a C++ that is GNU's.
    const Outcome built = shell((folder_ / "nvcc").string() + " -O2 scale.cu -o scale --trimtab-quiet");
    EXPECT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(shell("./scale").text, HasSubstr("PASS"));
}

// The files that a command line makes are those that clang++ makes.
TEST_F(Build, MakesTheFilesThatClangMakes) {
    for (const std::string arguments :
         {"-c scale.cu", "-c scale.cu -o x.o", "-c one.cu two.cu", "-c one.cu -x c++ plain.cpp",
          "-S --cuda-device-only scale.cu", "-S --cuda-host-only scale.cu -o s.s",
          "-E --cuda-host-only scale.cu -o s.i", "-c -MD scale.cu -o d.o", "-c -MMD -MF deps.d scale.cu",
          "-M scale.cu -o m.d", "-fsyntax-only scale.cu", "-x cuda -c scale.cu -o y.o",
          "-c scale.cu --cuda-gpu-arch=sm_80"}) {
        std::array<std::set<std::string>, 2> made;
        for (int which : {0, 1}) {
            const std::string where = "f" + std::to_string(which);
            fs::remove_all(folder_ / where);
            fs::copy(folder_ / "work", folder_ / where);
            const std::string command =
                which == 0 ? trimtab("-O1 " + arguments) : clangxx + clang_cuda + "-O1 " + arguments;
            const Outcome outcome = shell(command, where);
            ASSERT_EQ(outcome.code, 0) << command << '\n' << outcome.text;
            made[which] = files(where);
        }
        EXPECT_EQ(made[0], made[1]) << arguments;
    }
}

TEST_F(Build, DependenciesOfOneStepNameTheSource) {
    ASSERT_EQ(shell(trimtab("-MD scale.cu -o prog")).code, 0);
    std::ifstream rules(folder_ / "work" / "prog.d");
    std::stringstream text;
    text << rules.rdbuf();
    EXPECT_THAT(text.str(), HasSubstr("scale.o:"));
    EXPECT_THAT(text.str(), HasSubstr("scale.cu"));
}

TEST_F(Build, AKernelThatCannotBeProfiledStillBuildsAndRuns) {
    // It spins for ever at the sizes and contents that a profile uses: data decide.
    write("spin.cu", R"(
#include <cstdio>
__global__ void walk(const int *next, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int at = i;
    while (next[at] >= 0) at = next[at];
    out[i] = at;
}
int main() {
    int host[64], *next, *out;
    for (int i = 0; i < 64; ++i) host[i] = i == 63 ? -1 : i + 1;
    cudaMalloc(&next, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(next, host, sizeof host, cudaMemcpyHostToDevice);
    walk<<<1, 64>>>(next, out, 64);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int value : host)
        if (value != 63) { puts("FAIL"); return 1; }
    puts("PASS");
}
)");
    const Outcome built = shell(trimtab("-O2 spin.cu -o spin"));
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(built.text, HasSubstr("walk"));
    EXPECT_THAT(shell("./spin").text, HasSubstr("PASS"));
}

TEST_F(Build, ErrorsOfTheCompilerAreTheCompilers) {
    write("broken.cu", "__global__ void k() { undeclared(); }\n");
    const Outcome outcome = shell(trimtab("-c broken.cu"));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.text, HasSubstr("undeclared"));
    EXPECT_FALSE(fs::exists(folder_ / "work" / "broken.o"));
    EXPECT_EQ(shell(trimtab("scale.cu -o")).code, 2);
}

TEST_F(Build, AnUnwritableCacheIsSaidOnceAndCostsNothingElse) {
    // A file where the cache folder should be: unwritable for root as well.
    write("occupied", "");
    const Outcome built = shell("XDG_CACHE_HOME=$PWD/occupied " + trimtab("-O2 scale.cu -o scale"));
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(built.text, HasSubstr("occupied"));
    EXPECT_THAT(shell("./scale").text, HasSubstr("PASS"));
}

}  // namespace
