// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/rounding.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::cuda {
namespace {

// One launch of a kernel `k` over one array, and what is then said of changes that a test makes there.
template <class T>
class Launch {
  public:
    Launch(std::string_view source, std::vector<T> array, bool regroups_sums = false)
        : array_(std::move(array)), rounding_(regroups_sums) {
        const auto program = emulator::test::load(emulator::test::compile_cuda(source, "-O2"));
        const MemorySnapshot before = snapshot();
        emulator::test::HostMemory memory;
        const emulator::test::Parameters parameters(memory.add(array_));
        emulator::LaunchRequest request;
        request.kernel = "k";
        request.grid = {2, 1, 1};
        request.block = {32, 1, 1};
        request.parameters = parameters.bytes();
        request.observer = &rounding_.watch();
        const auto done = emulator::launch(*program, memory, request);
        EXPECT_TRUE(done.has_value()) << done.error().message;
        rounding_.note_scales(before);
    }

    [[nodiscard]] T at(std::size_t place) const { return array_[place]; }
    // Of another value there.
    [[nodiscard]] bool explains(std::size_t place, T value, bool is_as_written = false) {
        const MemorySnapshot then = snapshot();
        const T kept = array_[place];
        array_[place] = value;
        bool all = true, any = false;
        then.compare([&](const MemorySnapshot::ChangedWord& word) {
            any = true;
            all = all && rounding_.explains(word, is_as_written);
            return true;
        });
        EXPECT_TRUE(any);
        array_[place] = kept;
        return all;
    }

  private:
    [[nodiscard]] MemorySnapshot snapshot() const {
        return MemorySnapshot({{.first = reinterpret_cast<std::uint64_t>(array_.data()),
                                .size_bytes = array_.size() * sizeof(T),
                                .name = "the array"}});
    }

    std::vector<T> array_;
    Rounding rounding_;
};

constexpr float float_step = 0x1p-23f;

TEST(Rounding, OfSumsWithFewBitsIsNone) {
    Launch<float> launch(R"(extern "C" __global__ void k(float* a) { atomicAdd(&a[1], 1.5f); })", {0, 0.25f});
    ASSERT_EQ(launch.at(1), 96.25f);
    EXPECT_FALSE(launch.explains(1, 96.25f * (1 + float_step)));
    EXPECT_FALSE(launch.explains(1, 96.25f * (1 + float_step), true));
}

TEST(Rounding, OfAtomicSumsGrowsWithTheirTermsAndNotWithTheirResult) {
    Launch<float> launch(R"(extern "C" __global__ void k(float* a) {
        atomicAdd(&a[0], 0.1f);
        atomicAdd(&a[2], threadIdx.x & 1 ? 0.1f : -0.1f);
    })",
                         {0, 0, 1e-9f, 0});
    EXPECT_TRUE(launch.explains(0, launch.at(0) * (1 + 8 * float_step)));
    EXPECT_TRUE(launch.explains(0, launch.at(0) * (1 + 8 * float_step), true));
    EXPECT_FALSE(launch.explains(0, launch.at(0) + 0.001f));
    EXPECT_FALSE(launch.explains(0, launch.at(0) + 0.1f, true));
    // Terms of 0.1 that cancel.
    EXPECT_TRUE(launch.explains(2, launch.at(2) + 1e-6f));
    EXPECT_FALSE(launch.explains(2, launch.at(2) + 1e-3f));
    // Nothing was added there.
    EXPECT_FALSE(launch.explains(1, 1e-20f));
}

TEST(Rounding, IsOfTheTypeOfTheAtomic) {
    Launch<double> launch(R"(extern "C" __global__ void k(double* a) { atomicAdd(&a[0], 0.1); })", {0});
    EXPECT_TRUE(launch.explains(0, launch.at(0) * (1 + 0x1p-50)));
    EXPECT_FALSE(launch.explains(0, launch.at(0) * (1 + 1e-7)));
}

TEST(Rounding, IsNoneOfWhatIsStoredAsAnInteger) {
    for (const bool regroups : {false, true}) {
        Launch<int> launch(R"(extern "C" __global__ void k(int* a) {
            atomicAdd((float*)&a[0], 0.1f);
            a[1 + threadIdx.x] = 1000000 + threadIdx.x;
        })",
                           std::vector<int>(34), regroups);
        EXPECT_FALSE(launch.explains(5, 1000005));
        EXPECT_TRUE(launch.explains(0, launch.at(0) + 1));
    }
}

TEST(Rounding, OfFloatsThatAreStoredIsThatOfSumsInOtherGroups) {
    constexpr std::string_view source =
        R"(extern "C" __global__ void k(float* a) { a[threadIdx.x] = a[threadIdx.x + 32] * 1.5f; })";
    const std::vector<float> ones(64, 1.0f);
    Launch<float> as_written(source, ones), regrouped(source, ones, true);
    EXPECT_FALSE(as_written.explains(3, 1.5f * (1 + float_step)));
    EXPECT_TRUE(regrouped.explains(3, 1.5f * (1 + 100 * float_step)));
    EXPECT_FALSE(regrouped.explains(3, 1.5f * 1.001f));
    // In another order, a launch as written adds as it did.
    EXPECT_FALSE(regrouped.explains(3, 1.5f * (1 + float_step), true));
}

TEST(Rounding, GoesOnWhereTheKernelReadsItsSums) {
    Launch<float> launch(R"(extern "C" __global__ void k(float* a) {
        __shared__ float s;
        if (threadIdx.x == 0) s = 0;
        __syncthreads();
        atomicAdd(&s, a[2 + threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 0) a[blockIdx.x] = s;
    })",
                         std::vector<float>(34, 0.1f));
    EXPECT_TRUE(launch.explains(1, launch.at(1) * (1 + 100 * float_step), true));
    EXPECT_FALSE(launch.explains(1, launch.at(1) * 1.001f, true));
    EXPECT_FALSE(launch.explains(5, 0.1f * (1 + float_step), true));
}

}  // namespace
}  // namespace trimtab::cuda
