// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/code_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/core/sass/fixtures.h"

namespace trimtab::tools {
namespace {

using testing::HasSubstr;

// gather (tests/core/sass), four warps of eleven turns each: twice the unrolled loop, then a pair and a single turn.
struct Gather {
    ptx::Module module = ptx::parse(sass::data_text("gather.ptx"), "gather.ptx").value();
    sass::CountedCode code;
    Gather() {
        code.assembly.architecture = "sm_75";
        code.assembly.resources.registers_per_thread = 25;
        code.assembly.function = sass::gather(75).functions.at(0);
        code.flow = sass::control_flow(code.assembly.function);
        sass::PtxCounts counts{.function = module.function("gather"), .executions = {}};
        for (const ptx::Instruction& i : counts.function->body)
            counts.executions.push_back(i.line >= 18 && i.line <= 30 ? 44 : 4);
        code.match = sass::match(code.assembly.function, code.flow, std::span(&counts, 1), 4);
        code.warp = sass::execution(code.assembly.function, code.flow, code.match.executions, 4);
    }
};

TEST(CodeReport, CountedCode) {
    const Gather gather;
    EXPECT_TRUE(gather.code.is_trusted());
    const std::string text = code_text(gather.code, gather.module);
    EXPECT_THAT(text, HasSubstr("sm_75: 90 instructions, 1536 bytes; 25 registers"));
    EXPECT_THAT(text, HasSubstr("loop       0xd0 to 0x340: 39 instructions, 12 global loads; PTX line 19"));
    EXPECT_THAT(text, HasSubstr("; 4 iterations of the PTX's at once, 2 iterations per entry\n"));
    EXPECT_THAT(text, HasSubstr("544 of the PTX's 544 bytes accessed"));  // 4 (3 * 11 + 1) of 4 bytes
    const auto json = code_json(gather.code, gather.module);
    EXPECT_EQ(json["loops"][0]["copies"], 4);
    EXPECT_EQ(json["loops"][0]["iterations"], 8);
    EXPECT_EQ(json["blocks"][3]["executions"], 8);
    EXPECT_EQ(json["blocks"][3]["by"], "lines");
    EXPECT_EQ(json["warp"]["by_pipe"]["fp32"], 11);
    EXPECT_EQ(json["matched"]["trusted"], true);
}

TEST(CodeReport, CodeWithoutCounts) {
    const Gather gather;
    const std::string text = code_text(gather.code.assembly, gather.module);
    EXPECT_THAT(text, HasSubstr("39 instructions, 12 global loads; PTX line 19\n"));
    const auto json = code_json(gather.code.assembly, gather.module);
    EXPECT_EQ(json["by_pipe"]["fp32"], 7);  // four, two and one copy
    EXPECT_EQ(json["local_bytes"], 0);
    EXPECT_FALSE(json.contains("warp"));
}

TEST(CodeReport, BytesThatDoNotAddUpAreNotTrusted) {
    Gather gather;
    gather.code.match.sass_bytes *= 1.5;
    EXPECT_FALSE(gather.code.is_trusted());
    gather.code.match.sass_bytes /= 1.5;
    gather.code.match.counted_share = 0.4;
    EXPECT_FALSE(gather.code.is_trusted());
}

}  // namespace
}  // namespace trimtab::tools
