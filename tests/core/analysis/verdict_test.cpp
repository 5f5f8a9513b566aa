// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The re-blocking rule on compiled kernels: counterexamples that looser rules let through.
#include "verdicts.h"

namespace trimtab::analysis::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Clang, Verdicts, testing::Values("-O1", "-O2", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

TEST_P(Verdicts, ShiftedGuardIsJudgedByItsArguments) {
    const auto& kernel = describe(R"(
        __global__ void k(int* o, unsigned n) {
            unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g - 1 < n) o[g] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    // n = E: index E still writes.
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000), {10, 1, 1}, {100, 1, 1}), "divide x");
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 999), {10, 1, 1}, {100, 1, 1}), "cover");
}

TEST_P(Verdicts, UnsignedGuardWithMinusOne) {
    const auto& kernel = describe(R"(
        __global__ void k(int* o, int n) {
            unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, -1), {10, 1, 1}, {100, 1, 1}), "divide x");
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000), {10, 1, 1}, {100, 1, 1}), "cover");
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1001), {10, 1, 1}, {100, 1, 1}), "divide x");
}

TEST_P(Verdicts, TruncatedIndexIsNoGuard) {
    const auto& kernel = describe(R"(
        __global__ void k(unsigned char* o) {
            unsigned char i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < 100) o[i]++;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer), {1, 1, 1}, {128, 1, 1}), "divide x");
}

TEST_P(Verdicts, ClampedIndexIsNoGuard) {
    const auto& kernel = describe(R"(
        __global__ void k(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            int i = g < n ? g : 0;
            if (i < n) o[i]++;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000), {10, 1, 1}, {100, 1, 1}), "divide x");
}

TEST_P(Verdicts, IndexClampedByMinimumIsNoGuard) {
    const auto& kernel = describe(R"(
        __global__ void k(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            int i = g < n - 1 ? g : n - 1;
            if (i < n) o[i]++;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000), {10, 1, 1}, {100, 1, 1}), "divide x");
}

TEST_P(Verdicts, GridStrideSumKeepsItsTotal) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n, int m) {
            int g = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
            if (g < n) {
                float s = 0;
                for (int i = g; i < m; i += total) s += i;
                o[g] = s;
            }
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
    EXPECT_TRUE(kernel.reads_total(0));
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000, 5000), {10, 1, 1}, {100, 1, 1}), "divide x");
}

// A tree that would do, over values that might be another thread's: the reason is the values, not the tree.
TEST_P(Verdicts, RefusedValuesOfAGoodSumAreNamed) {
    const auto& kernel = describe(R"(
        __global__ void k(int* sum, int* a, int n) {
            __shared__ int s[256];
            int v = 0;
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
                v += a[i & 255];
                a[i] = 5;
            }
            s[threadIdx.x] = v;
            __syncthreads();
            for (int half = blockDim.x / 2; half > 0; half /= 2) {
                if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
                __syncthreads();
            }
            if (threadIdx.x == 0) __nvvm_atom_add_gen_i(sum, s[0]);
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons,
                Contains(Field(&Reason::text, HasSubstr("adds up over its blocks, and reads memory"))));
}

TEST_P(Verdicts, WaitingForVolatileMemoryRefuses) {
    const auto& kernel = describe(R"(
        __global__ void k(int* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) {
                __nvvm_atom_add_gen_i(c, 1);
                while (*(volatile int*)c < n) {}
            }
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons,
                Contains(AllOf(Field(&Reason::rule, 2u), Field(&Reason::text, HasSubstr("volatile")))));
    EXPECT_THAT(blocks(kernel, arguments(kernel, pointer, 1000), {10, 1, 1}, {100, 1, 1}),
                HasSubstr("volatile"));
}

TEST_P(Verdicts, WaitingForWrittenMemoryRefuses) {
    // Two arrays, so that the load stays in the loop.
    const auto& kernel = describe(R"(
        __global__ void k(int* flags, int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g >= n) return;
            flags[g] = 1;
            int i = 0;
            while (flags[(g + 1) % n] == 0 && i < 1000000) o[g] = ++i;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::text, HasSubstr("loop that goes on until memory"))));
}

TEST_P(Verdicts, NeighbourCopyIsAllowedAndItsRaceIsOnlyAssumedAway) {
    // m[g + 1] = m[g] races: no proof may say otherwise.
    const auto& kernel = describe(R"(
        __global__ void k(int* m, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) m[g + 1] = m[g];
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_FALSE(kernel.race_free_proved);
}

TEST_P(Verdicts, InlineAssemblyReadingTheThreadIndexRefuses) {
    const auto& kernel = describe(R"(
        __global__ void k(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned t;
            asm("mov.u32 %0,%%tid.x;" : "=r"(t));
            if (g < n) o[g] = t;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons,
                Contains(AllOf(Field(&Reason::rule, 1u), Field(&Reason::text, HasSubstr("threadIdx.x")))));
}

// A block has sixteen barriers: another number is no barrier, and the driver refuses the module.
TEST_P(Verdicts, OnlyTheBarriersOfABlockAreTaken) {
    const auto with_barrier = [&](const std::string& number) {
        return describe(R"(
            __global__ void k(int* o, int n) {
                int g = blockIdx.x * blockDim.x + threadIdx.x;
                asm volatile("bar.sync )" +
                            number + R"(;" ::: "memory");
                if (g < n) o[g] = g;
            })",
                        "k")
            .verdict;
    };
    EXPECT_NE(with_barrier("0"), Verdict::fixed);
    EXPECT_NE(with_barrier("15"), Verdict::fixed);
    EXPECT_EQ(with_barrier("16"), Verdict::fixed);
    EXPECT_EQ(with_barrier("31"), Verdict::fixed);
}

TEST_P(Verdicts, UnguardedLoadOnlyDivides) {
    const auto& plain = describe(R"(
        __global__ void k(int* o, const int* in, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (in[g] > 0 && g < n) o[g] = in[g];
        })",
                                 "k");
    EXPECT_EQ(plain.verdict, Verdict::dividing);
    EXPECT_THAT(plain.guards, IsEmpty());
}

TEST_P(Verdicts, TwentyFourBitIndexRefuses) {
    const auto& kernel = describe(R"(
        __global__ void k(int* o, unsigned n) {
            unsigned g;
            asm("{ .reg .u32 a, b; mov.u32 a, %%ctaid.x; mov.u32 b, %%ntid.x; mul24.lo.u32 %0, a, b; }" : "=r"(g));
            g += threadIdx.x;
            if (g < n) o[g] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::rule, 1u)));
}

TEST_P(Verdicts, ImagesThatDifferMustAgree) {
    constexpr std::string_view guarded = R"(
        __global__ void k(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = 1;
        })";
    constexpr std::string_view unguarded = R"(
        __global__ void k(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            o[g] = n;
        })";
    constexpr std::string_view guarded_later = R"(
        __global__ void k(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n + 5) o[g] = 1;
        })";
    constexpr std::string_view waiting = R"(
        __global__ void k(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g + 1] = 1;
            __syncthreads();
            if (g < n) o[g] += 1;
        })";
    const auto together = [&](std::string_view first, std::string_view second) {
        const auto a = ptx::parse(compile_cuda(first, GetParam()), "a");
        const auto b = ptx::parse(compile_cuda(second, GetParam()), "b");
        EXPECT_TRUE(a && b);
        std::array<Image, 2> images;
        images[0].module = &*a;
        images[0].architecture = "sm_75";
        images[1].module = &*b;
        images[1].architecture = "sm_80";
        auto kernels = analysis::describe(images, {});
        EXPECT_TRUE(kernels.has_value() && kernels->size() == 1);
        return kernels->front();
    };
    const auto at = [&](const KernelDescription& kernel, int n) {
        return blocks(kernel, arguments(kernel, pointer, n), {10, 1, 1}, {100, 1, 1});
    };
    const auto same = together(guarded, guarded);
    EXPECT_EQ(same.verdict, Verdict::covering);
    EXPECT_EQ(same.images.size(), 2u);
    EXPECT_EQ(at(same, 1000), "cover");

    const auto one_unguarded = together(guarded, unguarded);
    EXPECT_EQ(one_unguarded.verdict, Verdict::dividing);
    EXPECT_EQ(at(one_unguarded, 1000), "divide x");
    EXPECT_EQ(at(together(unguarded, guarded), 1000), "divide x");

    // Both guarded, by different tests: both must hold.
    const auto two_guards = together(guarded, guarded_later);
    EXPECT_EQ(two_guards.verdict, Verdict::covering);
    EXPECT_EQ(at(two_guards, 995), "cover");
    EXPECT_EQ(at(two_guards, 1000), "divide x");

    const auto one_waits = together(guarded, waiting);
    EXPECT_EQ(one_waits.verdict, Verdict::fixed);
    EXPECT_THAT(one_waits.reasons, Contains(Field(&Reason::text, HasSubstr("sm_80"))));
}

}  // namespace
}  // namespace trimtab::analysis::test
