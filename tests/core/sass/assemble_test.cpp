// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With ptxas and nvdisasm, where they are installed: whatever their releases, the fixtures' kernel must come out
// with its loads.
#include "core/sass/assemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/temporary_folder.h"
#include "core/sass/assemble_older.h"
#include "core/sass/control_flow.h"
#include "tests/core/sass/fixtures.h"

namespace trimtab::sass {
namespace {

std::size_t global_loads(const Function& function) {
    return static_cast<std::size_t>(
        std::ranges::count_if(function.instructions, [](const Instruction& i) { return i.base() == "LDG"; }));
}

TEST(SassAssemble, GatherAndItsCache) {
    if (!find_ptxas() || !find_nvdisasm()) GTEST_SKIP() << "no ptxas or no nvdisasm here";
    const auto folder = base::TemporaryFolder::make();
    ASSERT_TRUE(folder);
    const std::string cache = folder->file("sass"), ptx = data_text("gather.ptx");
    const auto made = assemble(ptx, "gather", 86, cache);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->architecture, "sm_86");
    EXPECT_GT(made->resources.registers_per_thread, 8u);
    EXPECT_EQ(made->resources.local_bytes_per_thread, 0u);
    EXPECT_GE(global_loads(made->function), 3u);
    EXPECT_FALSE(control_flow(made->function).loops.empty());
    // Lines are those of the text that was handed in: the loads stand on 20, 22 and 26.
    for (const Instruction& i : made->function.instructions)
        if (i.base() == "LDG") EXPECT_THAT(i.line, testing::AnyOf(20u, 22u, 26u)) << i.text();

    std::vector<std::filesystem::path> kept;
    for (const auto& entry : std::filesystem::directory_iterator(cache)) kept.push_back(entry.path());
    ASSERT_EQ(kept.size(), 1u);
    const auto written = std::filesystem::last_write_time(kept[0]);
    const auto again = assemble(ptx, "gather", 86, cache);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->resources.registers_per_thread, made->resources.registers_per_thread);
    EXPECT_EQ(again->function.instructions.size(), made->function.instructions.size());
    // What was tampered with is made anew.
    std::ofstream(kept[0], std::ios::binary | std::ios::trunc) << "sm_86 1 0 0 0 0\nnonsense";
    const auto anew = assemble(ptx, "gather", 86, cache);
    ASSERT_TRUE(anew) << anew.error().text();
    EXPECT_EQ(anew->resources.registers_per_thread, made->resources.registers_per_thread);
    EXPECT_GE(std::filesystem::last_write_time(kept[0]), written);
}

TEST(SassAssemble, WhatPtxasRefusesIsAnError) {
    if (!find_ptxas() || !find_nvdisasm()) GTEST_SKIP() << "no ptxas or no nvdisasm here";
    EXPECT_FALSE(assemble("no PTX", "gather", 86, ""));
    EXPECT_FALSE(assemble(data_text("gather.ptx"), "another", 86, ""));
    // An older device gets the PTX's own architecture.
    const auto older = assemble(data_text("gather.ptx"), "gather", 35, "");
    ASSERT_TRUE(older) << older.error().text();
    EXPECT_EQ(older->architecture, "sm_75");
}

TEST(SassAssemble, OlderDevicesHaveRegistersOfTheirOwn) {
    if (!find_older_ptxas()) GTEST_SKIP() << "no ptxas of CUDA 11.8 here";
    const std::string ptx = data_text("gather.ptx");
    for (const auto& [capability, architecture] :
         {std::pair(50u, "sm_50"), std::pair(61u, "sm_61"), std::pair(30u, "sm_35")}) {
        const auto made = assemble_older(ptx, "gather", capability);
        ASSERT_TRUE(made) << made.error().text();
        EXPECT_EQ(made->architecture, architecture);
        EXPECT_GT(made->resources.registers_per_thread, 8u);
        EXPECT_LE(made->resources.registers_per_thread, 63u);
    }
    EXPECT_FALSE(assemble_older("no PTX", "gather", 50));
    EXPECT_FALSE(assemble_older(ptx, "another", 50));
}

TEST(SassAssemble, CodeOfMaxwellPascalAndVolta) {
    const std::string gather = data_text("gather.ptx"), instructions = data_text("instructions.ptx");
    for (const unsigned capability : {52u, 61u, 70u}) {
        const auto made = assemble(gather, "gather", capability, "");
        if (!find_older_ptxas() || !find_older_nvdisasm()) {
            ASSERT_FALSE(made);
            EXPECT_THAT(made.error().message, testing::HasSubstr("of CUDA 1"));
            continue;
        }
        ASSERT_TRUE(made) << made.error().text();
        EXPECT_EQ(made->architecture, "sm_" + std::to_string(capability));
        EXPECT_EQ(made->function.layout, capability < 70 ? Layout::grouped : Layout::whole);
        EXPECT_EQ(global_loads(made->function), 21u);  // 4, 2 and 1 iterations of three
        for (const Instruction& i : made->function.instructions)
            if (i.base() == "LDG") EXPECT_THAT(i.line, testing::AnyOf(20u, 22u, 26u)) << i.text();
        // All kinds of instructions: the table knows what ptxas makes of each, and where each branch goes.
        for (const char* kernel : {"integers", "reals", "memory"}) {
            const auto mixed = assemble(instructions, kernel, capability, "");
            ASSERT_TRUE(mixed) << mixed.error().text();
            for (const Instruction& i : mixed->function.instructions)
                EXPECT_NE(i.info, nullptr) << capability << ": " << i.text();
            EXPECT_TRUE(control_flow(mixed->function).complete) << kernel;
        }
    }
}

TEST(SassAssemble, WithoutToolsItSaysSo) {
    if (find_ptxas() && find_nvdisasm()) GTEST_SKIP() << "both are installed here";
    const auto made = assemble(data_text("gather.ptx"), "gather", 86, "");
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, testing::HasSubstr("is installed"));
}

}  // namespace
}  // namespace trimtab::sass
