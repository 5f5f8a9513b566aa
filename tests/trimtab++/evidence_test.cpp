// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a build does with evidence against a verdict; and a program that the proof once was wrong about.
#include "build_fixture.h"

namespace trimtab::wrapper::tests {
namespace {

using testing::AllOf;
using Evidence = Build;

const std::string inspect = TRIMTAB_BINARY_DIR "/bin/trimtab inspect ";

// No proof is known to be wrong for long: a worker says that another block leaves something else.
TEST_F(Evidence, AKernelWithEvidenceAgainstItsVerdictKeepsItsBlock) {
    const std::string by_worker =
        " '--trimtab-workers=exec " TRIMTAB_BINARY_DIR "/bin/trimtab_fake_worker disagrees' ";
    const std::string build = trimtab("-O2 scale.cu -o scale --trimtab-keep=kept");
    const Outcome built = shell(build + by_worker);
    EXPECT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(built.text,
                AllOf(HasSubstr("trimtab++: warning: scale.cu: scale(float const*, float*, float, int): on "
                                "the emulator it does not leave the same; the kernel keeps its block; this "
                                "is a bug in Trimtab's proof"),
                      HasSubstr("please report this line")));
    const Outcome inspected = shell(inspect + "scale");
    EXPECT_THAT(inspected.text, AllOf(HasSubstr("fixed: every launch is unchanged"), HasSubstr("rule 7, "),
                                      HasSubstr("on the emulator it does not leave the same")));
    EXPECT_THAT(shell("cat kept/scale.cu/*.description.json").text, HasSubstr("\"verdict\": \"fixed\""));
    const Outcome ran = shell("TRIMTAB_LOG=info ./scale");
    EXPECT_THAT(ran.text, AllOf(HasSubstr("PASS"), HasSubstr("this is a bug in Trimtab's proof")));

    // It is kept: nobody asks a worker again, and the warning is given again.
    const Outcome again = shell(build);
    EXPECT_THAT(again.text, AllOf(HasSubstr("this is a bug in Trimtab's proof"), Not(HasSubstr("profiled"))));
    // The same without --trimtab-keep, for which whole driver programs are kept.
    for (int i = 0; i < 2; ++i)
        EXPECT_THAT(shell(trimtab("-O2 scale.cu -o scale")).text,
                    HasSubstr("this is a bug in Trimtab's proof"));
    // Who will not wait for evidence gets the proof's verdict.
    const Outcome unchecked = shell(trimtab("-O2 scale.cu -o scale --trimtab-check=off"));
    EXPECT_EQ(unchecked.text, "");
    EXPECT_THAT(shell(inspect + "scale").text, HasSubstr("covering: any block"));
}

TEST_F(Evidence, IsToldWhereItIsAskedFor) {
    const Outcome built = shell("TRIMTAB_LOG=debug " + trimtab("-O2 scale.cu -o scale"));
    EXPECT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(built.text,
                AllOf(HasSubstr("evidence for scale(float const*, float*, float, int): "),
                      HasSubstr("launches with other blocks give the same results as those as written")));
    EXPECT_THAT(built.text, Not(HasSubstr("warning")));
    EXPECT_THAT(shell(trimtab("-O2 scale.cu -o scale --trimtab-quiet")).text, Not(HasSubstr("evidence")));
}

// What a thread did last, whether it is the first one and has much to do, and what a block has of its own: whatever the
// proof makes of it, the program prints the same.
TEST_F(Evidence, WhatDependsOnTheBlockStaysAsItIsWritten) {
    write("adversary.cu", R"(
#include <cstdio>
// The last turn of a thread goes into its second loop.
__global__ void later(int *o, int *p, int n) {
    const int g = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
    if (g >= n) return;
    int last = 0;
    for (int i = g; i < n; i += total) { o[i] = 2 * i; last = i; }
    for (int i = g; i < n; i += total) p[i] = (last * 40503 >> 7) + i;
}
// The block's first thread notes that its own part has many large values.
__global__ void weigh(int *o, int *note, const int *__restrict__ a, int d) {
    int large = 0;
    for (int k = threadIdx.x; k < d; k += blockDim.x) {
        o[blockIdx.x * d + k] = a[k] / 2;
        large += a[k] > 1000;
    }
    if (threadIdx.x == 0 && large > 5) note[blockIdx.x] = 1;
}
// A table of the block's own.
__global__ void marks(int *o, const int *__restrict__ a, int n) {
    __shared__ int t[32];
    for (int k = threadIdx.x; k < 32; k += blockDim.x) t[k] = k + 100 * blockIdx.x;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[a[i] & 31];
}
int main() {
    const int n = 3000;
    int *o, *p, *a;
    static int host[n];
    unsigned sum = 0;
    cudaMalloc(&o, sizeof host);
    cudaMalloc(&p, sizeof host);
    cudaMalloc(&a, sizeof host);
    for (int i = 0; i < n; ++i) host[i] = i * 7919 % 2500;
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    const auto add = [&](const int *from) {
        cudaMemcpy(host, from, sizeof host, cudaMemcpyDeviceToHost);
        for (int value : host) sum = sum * 31 + value;
    };
    cudaMemset(p, 0, sizeof host);
    later<<<3, 64>>>(o, p, n);
    add(o);
    add(p);
    cudaMemset(p, 0, sizeof host);
    weigh<<<5, 96>>>(o, p, a, 600);
    add(o);
    add(p);
    marks<<<12, 256>>>(o, a, n);
    add(o);
    printf("%08x\n", sum);
}
)");
    ASSERT_EQ(shell(trimtab("-O2 adversary.cu -o adversary")).code, 0);
    const Outcome plain = shell("TRIMTAB=off ./adversary"), tuned = shell("./adversary");
    EXPECT_EQ(plain.code, 0);
    EXPECT_EQ(tuned.text, plain.text);
    const std::string inspected = shell(inspect + "adversary").text;
    for (const char* kernel : {"later", "weigh", "marks"}) EXPECT_THAT(inspected, HasSubstr(kernel));
}

}  // namespace
}  // namespace trimtab::wrapper::tests
