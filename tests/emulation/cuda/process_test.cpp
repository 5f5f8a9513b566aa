// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole process on libtrimtab.so: which backend it gets, and what it says where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/shell_command.h"

namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

using trimtab::test::Outcome;

Outcome run(const std::string& environment, const std::string& arguments) {
    return trimtab::test::run(environment, TRIMTAB_PROGRAM " " + arguments);
}

TEST(Process, RunsOnTheDeviceThatItsEnvironmentNames) {
    EXPECT_EQ(run("TRIMTAB_DEVICE=k20c", "scale").output, "Tesla K20c\n");
    EXPECT_EQ(run("TRIMTAB_DEVICE=rtx2080ti,h100", "scale").output, "NVIDIA GeForce RTX 2080 Ti\n");
}

TEST(Process, AnUnknownDeviceGetsOneLineAndNoDevice) {
    const Outcome outcome = run("TRIMTAB_DEVICE=rtx2080", "scale");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.output,
              "trimtab: TRIMTAB_DEVICE: device \"rtx2080\" is not known; did you mean \"rtx2080ti\"?\n"
              "error: no CUDA-capable device is detected\n");
    EXPECT_THAT(run("TRIMTAB_DEVICE=k20c,", "scale").output, HasSubstr("trimtab: TRIMTAB_DEVICE: "));
}

TEST(Process, BadEnvironmentIsToldOnceAndHarmless) {
    const Outcome outcome = run("TRIMTAB_DEVICE=k20c TRIMTAB=maybe TRIMTAB_LOG=loud", "scale");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.output,
              "trimtab: TRIMTAB=maybe is not understood: it takes on, off or observe; taken as on\n"
              "trimtab: TRIMTAB_LOG=loud is not understood: it takes off, warn, summary, info or debug; "
              "taken as warn\n"
              "Tesla K20c\n");
}

TEST(Process, AProgramThatMakesNoCallLoadsNoBackend) {
    EXPECT_EQ(run("TRIMTAB_DEVICE=k20c", "nothing").output, "not loaded\n");
}

TEST(Process, ForkedBeforeItsFirstCallBothHalvesWork) {
    const Outcome outcome = run("TRIMTAB_DEVICE=k20c", "fork");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.output, "Tesla K20c\nTesla K20c\n");
}

TEST(Process, MemoryMayBeFreedWhileTheProgramEnds) {
    EXPECT_EQ(run("TRIMTAB_DEVICE=k20c", "keep").output, "Tesla K20c\nfreed: cudaSuccess\n");
}

TEST(Process, LogsEachLaunchWhereAsked) {
    const Outcome outcome = run("TRIMTAB_DEVICE=k20c TRIMTAB_LOG=info", "scale");
    EXPECT_THAT(outcome.output, HasSubstr("trimtab: scale_kernel(float*, int, float) on k20c:"));
    EXPECT_THAT(outcome.output, HasSubstr("by unchanged: no driver programs came with its fat binary"));
}

// A sanitizer's runtime cannot be preloaded into a program that was built without it.
#ifndef TRIMTAB_SANITIZED

// libtrimtab.so without the library that lies beside it.
TEST(Process, WithoutABackendEveryCallSaysThereIsNoDevice) {
    const fs::path folder = fs::path(::testing::TempDir()) / ("alone_" + std::to_string(getpid()));
    fs::create_directories(folder);
    fs::copy_file(TRIMTAB_LIBRARY, folder / "libtrimtab.so", fs::copy_options::overwrite_existing);
    const Outcome outcome =
        run("TRIMTAB_DEVICE=k20c LD_PRELOAD=" + (folder / "libtrimtab.so").string(), "scale");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.output, HasSubstr("the emulator's CUDA runtime cannot be loaded"));
    EXPECT_THAT(outcome.output, HasSubstr("error: no CUDA-capable device is detected"));
    fs::remove_all(folder);
}

// Preloaded into programs that have nothing to do with CUDA, as `trimtab run -- script` does.
TEST(Process, PreloadingDisturbsNoOtherProgram) {
    std::FILE* pipe =
        popen("LD_PRELOAD=" TRIMTAB_LIBRARY " TRIMTAB_LOG=debug sh -c 'echo hello | cat' 2>&1", "r");
    std::array<char, 256> buffer{};
    const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe);
    EXPECT_EQ(pclose(pipe), 0);
    EXPECT_EQ(std::string(buffer.data(), bytes), "hello\n");
}

#endif

}  // namespace
