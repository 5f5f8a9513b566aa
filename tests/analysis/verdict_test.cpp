// The re-blocking rule on compiled kernels: what must be recognised, what must be refused, and which blocks a
// launch with these very arguments may have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/describe.h"
#include "analysis/legal_blocks.h"
#include "cuda_compiler.h"
#include "judged_launch.h"

namespace trimtab::analysis::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

const void* const pointer = nullptr;

// Every kernel at every optimisation level that programs are built with.
class Verdicts : public testing::TestWithParam<const char*> {
  protected:
    const KernelDescription& describe(std::string_view source, const std::string& name) {
        kernels = describe_ptx(compile_cuda(source, GetParam()));
        return kernel_named(kernels, name);
    }
    std::vector<KernelDescription> kernels;
};
INSTANTIATE_TEST_SUITE_P(Clang, Verdicts, testing::Values("-O1", "-O2", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

// --- counterexamples that looser rules let through ---

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
    EXPECT_TRUE(kernel.reads_total[0]);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000, 5000), {10, 1, 1}, {100, 1, 1}), "divide x");
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
            __syncthreads();
            if (g < n) o[g] = 1;
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

// --- what must be recognised ---

constexpr std::string_view plane_header = R"(
    __device__ __forceinline__ int gx() { return blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ __forceinline__ int gy() { return blockIdx.y * blockDim.y + threadIdx.y; }
    __device__ __forceinline__ int gz() { return blockIdx.z * blockDim.z + threadIdx.z; }
)";

TEST_P(Verdicts, TwoDimensionsWithOneBound) {
    // clang makes max(i, j) >= n of this.
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, int n) {
            int i = gy(), j = gx();
            if (i < n && j < n) o[i * n + j] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_THAT(kernel.reasons, IsEmpty());
    const auto bytes = arguments(kernel, pointer, 100);
    EXPECT_EQ(blocks(kernel, bytes, {4, 13, 1}, {32, 8, 1}), "cover");
    // Fewer threads than n: the indices past the extent would work.
    EXPECT_EQ(blocks(kernel, bytes, {2, 13, 1}, {32, 8, 1}), "divide x");
    EXPECT_EQ(blocks(kernel, bytes, {2, 2, 1}, {32, 8, 1}), "divide xy");
}

TEST_P(Verdicts, StencilGuards) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(const float* a, float* b, int n) {
            int i = gy(), j = gx();
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1) b[i * n + j] = a[(i - 1) * n + j] + a[i * n + j + 1];
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, pointer, 100), {4, 13, 1}, {32, 8, 1}), "cover");
    // n = INT_MIN: n - 1 wraps to the largest number, so that the guard admits everything.
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, pointer, static_cast<int>(0x80000000)), {4, 13, 1},
                     {32, 8, 1}),
              "divide xy");
}

TEST_P(Verdicts, ReturnsOneAfterTheOther) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, unsigned w, long h, unsigned short d) {
            if (gx() >= w) return;
            if (gy() >= h) return;
            if (gz() >= d) return;
            o[(gz() * h + gy()) * w + gx()] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    const auto bytes = arguments(kernel, pointer, 64u, 60l, static_cast<unsigned short>(9));
    EXPECT_EQ(blocks(kernel, bytes, {2, 15, 9}, {32, 4, 1}), "cover");
    EXPECT_EQ(blocks(kernel, bytes, {2, 14, 8}, {32, 4, 1}), "divide yz");
    ASSERT_EQ(kernel.data.size(), 6u);
    EXPECT_EQ(kernel.data[0].bounds, Dimension::x);
    EXPECT_EQ(kernel.data[1].bounds, Dimension::y);
    EXPECT_EQ(kernel.data[1].type, "s64");
    EXPECT_EQ(kernel.data[2].bounds, Dimension::z);
    EXPECT_EQ(kernel.data[2].type, "u16");
}

TEST_P(Verdicts, WorkBetweenGuardsIsNotCovered) {
    // The write before the second test happens for every y.
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, int n, int m) {
            if (gx() >= n) return;
            o[gx()] = 1;
            if (gy() >= m) return;
            o[gx() + gy() * n] = 2;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 64, 64), {2, 16, 1}, {32, 4, 1}), "divide y");
}

TEST_P(Verdicts, WideIndices) {
    const auto& kernel = describe(R"(
        __global__ void k(double* o, size_t n) {
            size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            o[i] *= 2;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_TRUE(kernel.race_free_proved);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1000l), {4, 1, 1}, {256, 1, 1}), "cover");
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 1l << 40), {4, 1, 1}, {256, 1, 1}), "divide x");
}

TEST_P(Verdicts, FlattenedIndexCoversTheOuterDimensionOnly) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, int width, int n) {
            int i = gy() * width + gx();
            if (i < n) o[i] = 1;
        })",
                                  "k");
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, 64, 64 * 48), {2, 12, 1}, {32, 4, 1}), "divide x");
    // A negative width: rows past the end come before the start, and are not turned away.
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer, -64, 64 * 48), {2, 12, 1}, {32, 4, 1}), "divide xy");
}

TEST_P(Verdicts, BlockIndexAloneStaysOne) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n, int stride) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) o[blockIdx.y * stride + i] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_TRUE(kernel.block_stays_one[1]);
    const auto bytes = arguments(kernel, pointer, 1000, 1024);
    EXPECT_EQ(blocks(kernel, bytes, {4, 7, 1}, {256, 1, 1}), "cover");
    EXPECT_THAT(blocks(kernel, bytes, {4, 7, 1}, {128, 2, 1}), HasSubstr("blockIdx.y without threadIdx.y"));
    const auto limits = legal(kernel, bytes, {4, 7, 1}, {256, 1, 1});
    ASSERT_TRUE(limits.has_value());
    EXPECT_EQ(limits->max_block.y, 1u);
    EXPECT_EQ(limits->extent.y, 7u);
    EXPECT_TRUE(is_legal(*limits, {64, 1, 1}));
    EXPECT_FALSE(is_legal(*limits, {32, 2, 1}));
}

TEST_P(Verdicts, BlockSizeWithoutThreadIndexIsOne) {
    // blockDim.y counts in the index, threadIdx.y does not: right where the block is 1 in y.
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n) {
            unsigned block = gridDim.x * blockIdx.y + blockIdx.x;
            unsigned i = block * blockDim.x * blockDim.y + threadIdx.x;
            if (i < n) o[i] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::dividing);
    EXPECT_TRUE(kernel.block_stays_one[1]);
    const auto bytes = arguments(kernel, pointer, 4000);
    EXPECT_EQ(blocks(kernel, bytes, {4, 4, 1}, {256, 1, 1}), "divide x");
    EXPECT_THAT(blocks(kernel, bytes, {4, 4, 1}, {128, 2, 1}), HasSubstr("without threadIdx.y"));
}

TEST_P(Verdicts, DimensionsNeverReadMustBeOne) {
    const auto& kernel = describe(std::string(plane_header) + R"(
        __global__ void k(float* o, int n) { if (gx() < n) o[gx()] = 1; })",
                                  "k");
    const auto bytes = arguments(kernel, pointer, 1000);
    EXPECT_EQ(blocks(kernel, bytes, {4, 1, 1}, {256, 1, 1}), "cover");
    EXPECT_THAT(blocks(kernel, bytes, {4, 2, 1}, {256, 1, 1}), HasSubstr("no index in y"));
    EXPECT_THAT(blocks(kernel, bytes, {4, 1, 1}, {128, 1, 2}), HasSubstr("no index in z"));
}

TEST_P(Verdicts, ConstantBlockSizeRefusesAndSaysWhich) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n) {
            int i = blockIdx.x * 256 + threadIdx.x;
            if (i < n) o[i] = 1;
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::text, HasSubstr("256"))));
}

TEST_P(Verdicts, FirstThreadOnly) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o) { if (blockIdx.x * blockDim.x + threadIdx.x == 0) o[0] = 1; })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_EQ(blocks(kernel, arguments(kernel, pointer), {1, 1, 1}, {32, 1, 1}), "cover");
}

TEST_P(Verdicts, SharedMemoryAndBarriersRefuse) {
    const auto& kernel = describe(R"(
        __global__ void k(float* o, int n) {
            __shared__ float tile[256];
            tile[threadIdx.x] = o[threadIdx.x];
            __syncthreads();
            o[blockIdx.x * blockDim.x + threadIdx.x] = tile[255 - threadIdx.x];
        })",
                                  "k");
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::text, HasSubstr("shared memory"))));
    EXPECT_THAT(kernel.reasons, Contains(Field(&Reason::text, HasSubstr("waits for the other threads"))));
}

TEST_P(Verdicts, AtomicsByWhatBecomesOfTheirResult) {
    describe(R"(
        __global__ void unused(int* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) __nvvm_atom_add_gen_i(c, g);
        }
        __global__ void used(int* c, int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = __nvvm_atom_add_gen_i(c, 1);
        }
        __global__ void exchanged(int* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) __nvvm_atom_xchg_gen_i(c, g);
        }
        __global__ void within_block(int* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) __nvvm_atom_cta_add_gen_i(c, g);
        }
        __global__ void floating(float* c, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) __nvvm_atom_add_gen_f(c, 1.0f);
        })",
             "unused");
    EXPECT_EQ(kernel_named(kernels, "unused").verdict, Verdict::covering);
    EXPECT_FALSE(kernel_named(kernels, "unused").uses_float_atomics);
    EXPECT_EQ(kernel_named(kernels, "used").verdict, Verdict::fixed);
    EXPECT_EQ(kernel_named(kernels, "exchanged").verdict, Verdict::fixed);
    EXPECT_EQ(kernel_named(kernels, "within_block").verdict, Verdict::fixed);
    EXPECT_EQ(kernel_named(kernels, "floating").verdict, Verdict::covering);
    EXPECT_TRUE(kernel_named(kernels, "floating").uses_float_atomics);
}

TEST_P(Verdicts, CallsAreFollowed) {
    describe(R"(
        __device__ __attribute__((noinline)) float half(const float* x, int i) { return x[i] * 0.5f; }
        __device__ __attribute__((noinline)) int lane() { return threadIdx.x % 32; }
        extern "C" __device__ int printf(const char*, ...);
        __global__ void plain(float* o, const float* x, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = half(x, g);
        }
        __global__ void by_lane(int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = lane();
        }
        __global__ void prints(int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) printf("%d", g);
        }
        __global__ void through_pointer(int (*f)(int), int* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = f(g);
        })",
             "plain");
    EXPECT_EQ(kernel_named(kernels, "plain").verdict, Verdict::covering);
    EXPECT_EQ(kernel_named(kernels, "by_lane").verdict, Verdict::fixed);
    EXPECT_EQ(kernel_named(kernels, "prints").verdict, Verdict::fixed);
    EXPECT_THAT(kernel_named(kernels, "prints").reasons, Contains(Field(&Reason::text, HasSubstr("print"))));
    EXPECT_THAT(kernel_named(kernels, "through_pointer").reasons,
                Contains(Field(&Reason::text, HasSubstr("through a pointer"))));
}

TEST_P(Verdicts, LaunchBoundsLimitTheBlock) {
    const auto& kernel = describe(R"(
        __global__ void __launch_bounds__(128) k(float* o, int n) {
            int g = blockIdx.x * blockDim.x + threadIdx.x;
            if (g < n) o[g] = 1;
        })",
                                  "k");
    const auto limits = legal(kernel, arguments(kernel, pointer, 1000), {8, 1, 1}, {128, 1, 1});
    ASSERT_TRUE(limits.has_value()) << limits.error();
    EXPECT_EQ(limits->max_threads, 128u);
    EXPECT_FALSE(is_legal(*limits, {256, 1, 1}));
    EXPECT_THAT(blocks(kernel, arguments(kernel, pointer, 1000), {4, 1, 1}, {256, 1, 1}),
                HasSubstr("above the kernel's limit of 128"));
}

}  // namespace
}  // namespace trimtab::analysis::test
