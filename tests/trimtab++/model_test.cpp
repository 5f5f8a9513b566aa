// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab++ --trimtab-model: whose times driver programs predict; and KLARAPTOR's pragmas.
#include "tests/trimtab++/build_fixture.h"

namespace {

using testing::HasSubstr;
using trimtab::wrapper::tests::Build;
using trimtab::wrapper::tests::Outcome;

// No built-in model says so.
constexpr const char* more_warps =
    "# more warps are better\ntime_ns = 1e6 / warps_per_block + 0 * load_sectors\n";

std::string asked(const std::string& arguments) {
    return TRIMTAB_BINARY_DIR "/bin/trimtab " + arguments;
}

TEST_F(Build, AModelOfTheUsersChoosesTheBlock) {
    write("warps.model", more_warps);
    Outcome built = shell(trimtab("-O3 --trimtab-model=./warps.model scale.cu -o scale"));
    ASSERT_EQ(built.code, 0) << built.text;
    const Outcome ran = shell("TRIMTAB_DEVICE=rtx2070super TRIMTAB_LOG=info ./scale");
    EXPECT_THAT(ran.text, HasSubstr("PASS no error"));
    EXPECT_THAT(ran.text, HasSubstr("1024")) << "32 warps in a block";

    const std::string inspected = shell(asked("inspect ./scale")).text;
    EXPECT_THAT(inspected, HasSubstr("model      warps "));
    EXPECT_THAT(inspected, HasSubstr("a rational program\n"));
    const Outcome selected = shell(asked("select ./scale --kernel scale --extent 1000 --arg n=1000 --json"));
    EXPECT_EQ(selected.code, 0) << selected.text;
    EXPECT_THAT(selected.text, HasSubstr("1024"));
    const Outcome predicted =
        shell(asked("predict ./scale --kernel scale --grid 4 --block 256 --arg n=1000 --json"));
    EXPECT_THAT(predicted.text, HasSubstr("\"model\": \"warps\""));
    EXPECT_THAT(predicted.text, HasSubstr("\"ns\": 125000.0"));  // 8 warps

    // Another model is another build; the same one is not.
    built = shell(trimtab("-O3 --trimtab-model=mwp-cwp scale.cu -o scale"));
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(shell(asked("inspect ./scale")).text, HasSubstr("model      mwp-cwp "));
    built = shell(trimtab("-O3 scale.cu -o scale"));
    EXPECT_THAT(shell(asked("inspect ./scale")).text,
                HasSubstr("not a rational program as KLARAPTOR defines them"));
}

TEST_F(Build, AModelWithoutATimeLeavesLaunchesAsTheyAreWritten) {
    write("none.model", "time_ns = 0 / 0\n");
    ASSERT_EQ(shell(trimtab("-O3 --trimtab-model=./none.model scale.cu -o scale")).code, 0);
    const Outcome ran = shell("TRIMTAB_DEVICE=rtx2070super TRIMTAB_LOG=info ./scale");
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.text, HasSubstr("PASS no error"));
}

TEST_F(Build, AFaultOfAModelNamesItsPlace) {
    write("broken.model", "a = 1\ntime_ns = a * load_sector\n");
    const Outcome built = shell(trimtab("-O3 --trimtab-model=./broken.model scale.cu -o scale"));
    EXPECT_EQ(built.code, 2) << built.text;
    EXPECT_THAT(built.text, HasSubstr("./broken.model:2:15: 'load_sector' is not known here; did you mean "
                                      "\"load_sectors\"?"));
    EXPECT_THAT(shell(trimtab("--trimtab-model=hong scale.cu")).text,
                HasSubstr("performance model \"hong\" is not known"));
}

TEST_F(Build, KlaraptorsPragmasNameSizes) {
    write("pragma.cu", R"(
#pragma kernel_info_size_param_idx_scale = 9;
#pragma kernel_info_size_param_idx_scale = 4;
#pragma kernel_info_dim_scale = 1;
__global__ void scale(const float *in, float *out, float factor, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i] + shift;
}
#pragma kernel_info_size_param_idx_nobody = 1;
#pragma kernel_info_size_param_idx_scale = seven;
)");
    const Outcome built = shell(trimtab("-O3 -c pragma.cu -o pragma.o"));
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(built.text,
                HasSubstr("pragma.cu:2: scale(float const*, float*, float, int, int) has 5 arguments"));
    EXPECT_THAT(built.text, HasSubstr("pragma.cu:9: no kernel here is called nobody"));
    EXPECT_THAT(built.text,
                HasSubstr("pragma.cu:10: kernel_info_size_param_idx_scale wants the index of an argument"));
    EXPECT_THAT(shell(asked("inspect pragma.o")).text, HasSubstr("shift (s32)"));
}

}  // namespace
