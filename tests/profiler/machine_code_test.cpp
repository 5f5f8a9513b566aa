// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/machine_code.h"

#include <gtest/gtest.h>

#include "emulation/emulator/exec/memory.h"

namespace trimtab::profiler {
namespace {

// Two warps, of which the second skips three instructions.
constexpr const char* text = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
 .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<4>;
 ld.param.u64 %rd1,[p];
 mov.u32 %r1,%tid.x;
 setp.ge.u32 %p1,%r1,32;
 @%p1 bra DONE;
 mul.wide.u32 %rd2,%r1,4;
 add.s64 %rd3,%rd1,%rd2;
 st.global.u32 [%rd3],%r1;
DONE:
 bar.sync 0;
 ret;
}
)";

TEST(MachineCode, CountsOfEachInstruction) {
    auto module = ptx::parse(text, "k.ptx");
    ASSERT_TRUE(module) << module.error().text();
    const auto program = emulator::load_program(std::move(*module));
    ASSERT_TRUE(program);
    emulator::SparseMemory memory;
    const std::uint64_t address = emulator::SparseMemory::region_base(0);
    emulator::LaunchRequest request;
    request.kernel = "k";
    request.grid = {1, 1, 1};
    request.block = {64, 1, 1};
    request.parameters = std::as_bytes(std::span(&address, 1));
    request.counting.count = true;
    const auto result = emulator::launch(**program, memory, request);
    ASSERT_TRUE(result) << result.error().message;
    const auto counts = ptx_counts(**program, "k", result->counters);
    ASSERT_EQ(counts.size(), 1u);
    ASSERT_EQ(counts[0].function->name, "k");
    EXPECT_EQ(counts[0].executions, (std::vector<double>{2, 2, 2, 2, 1, 1, 1, 2, 2}));
    EXPECT_TRUE(ptx_counts(**program, "another", result->counters).empty());
}

}  // namespace
}  // namespace trimtab::profiler
