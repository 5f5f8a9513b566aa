// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What evidence is gathered from: memory with edges, and launches at the edges of what a kernel tells apart.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "made_up_kernels.h"
#include "profiler/evidence/trial_comparison.h"
#include "profiler/evidence/trial_memory.h"
#include "profiler/evidence/trial_plan.h"
#include "ptx_kernel.h"

namespace trimtab::profiler {
namespace {

using namespace testing;
using emulator::Access;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::Ge;
using ::testing::Le;

constexpr std::uint64_t most_bytes = 1 << 20;

std::uint64_t address_of(std::uint32_t region, std::int64_t offset = 0) {
    return emulator::SparseMemory::region_base(region) + static_cast<std::uint64_t>(offset);
}

template <typename T>
T& at(TrialMemory& memory, std::uint64_t address) {
    const auto range = memory.range_of(address, Access::read_write);
    EXPECT_NE(range.host, nullptr);
    return *reinterpret_cast<T*>(range.host + (address - range.first));
}

template <typename T>
std::vector<T> values(TrialMemory& memory, std::uint32_t region, std::size_t count = 1024) {
    std::vector<T> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(at<T>(memory, address_of(region, static_cast<std::int64_t>(i * sizeof(T)))));
    return out;
}

class TrialMemoryTest : public ::testing::Test {
  protected:
    std::shared_ptr<emulator::Program> program_ = program_of(ptx_kernel(""));
    TrialMemory memory_{*program_, most_bytes};
};

TEST_F(TrialMemoryTest, ContentsHaveTheirEdges) {
    memory_.set_region(0, pointee_of("int"));
    memory_.set_region(1, pointee_of("float"));
    memory_.set_region(2, pointee_of("unsigned char"));
    memory_.set_region(3, pointee_of("double"));
    memory_.set_region(4, pointee_of("bool"));
    memory_.set_region(5, pointee_of("half"));
    memory_.fill(Contents::counting, 1);
    EXPECT_THAT(values<int>(memory_, 0), AllOf(Each(AllOf(Ge(0), Le(12))), Contains(0), Contains(12)));
    EXPECT_THAT(values<float>(memory_, 1), AllOf(Each(AllOf(Ge(0), Le(12))), Contains(0), Contains(7)));
    EXPECT_THAT(values<std::uint16_t>(memory_, 5), Contains(0x3c00));  // 1
    memory_.fill(Contents::units, 1);
    EXPECT_THAT(values<double>(memory_, 3), Each(AllOf(Ge(0.5), Le(1.5))));
    EXPECT_THAT(values<int>(memory_, 0), Each(Ge(1)));
    memory_.fill(Contents::magnitudes, 1);
    const std::vector<int> of_ints = values<int>(memory_, 0);
    EXPECT_THAT(of_ints, AllOf(Contains(Ge(500'000)), Contains(Le(-500'000)), Contains(1), Contains(-1)));
    // As many small ones as large ones.
    const auto small = std::ranges::count_if(of_ints, [](int value) { return std::abs(value) < 1024; });
    EXPECT_GT(small, 300);
    EXPECT_LT(small, 700);
    EXPECT_THAT(values<float>(memory_, 1),
                AllOf(Contains(Ge(2e5f)), Contains(Le(-2e5f)), Contains(AllOf(Ge(0.f), Le(1e-3f)))));
    EXPECT_THAT(values<double>(memory_, 3), AllOf(Contains(Ge(2e5)), Contains(AllOf(Le(0.), Ge(-1e-3)))));
    memory_.fill(Contents::extremes, 1);
    EXPECT_THAT(values<int>(memory_, 0),
                AllOf(Contains(0), Contains(-1), Contains(std::numeric_limits<int>::max()),
                      Contains(std::numeric_limits<int>::min())));
    EXPECT_THAT(
        values<float>(memory_, 1),
        AllOf(Contains(std::numeric_limits<float>::max()), Contains(std::numeric_limits<float>::lowest()),
              Contains(std::numeric_limits<float>::denorm_min()), Contains(0)));
    EXPECT_THAT(values<std::uint8_t>(memory_, 2), AllOf(Contains(255), Contains(128), Contains(0)));
    for (const Contents contents : {Contents::counting, Contents::magnitudes, Contents::extremes}) {
        memory_.fill(contents, 2);
        EXPECT_THAT(values<std::uint8_t>(memory_, 4), AllOf(Each(Le(1)), Contains(0), Contains(1)));
    }
    // Others with another seed, and the same with the same one.
    memory_.fill(Contents::magnitudes, 2);
    EXPECT_NE(values<int>(memory_, 0), of_ints);
    memory_.fill(Contents::magnitudes, 1);
    EXPECT_EQ(values<int>(memory_, 0), of_ints);
}

TEST_F(TrialMemoryTest, AddressesLeadToArraysOfTheirOwn) {
    memory_.set_region(0, pointee_of("float *"));
    memory_.fill(Contents::counting, 1);
    std::set<std::uint64_t> arrays;
    for (const std::uint64_t address : values<std::uint64_t>(memory_, 0, 64)) {
        arrays.insert(address);
        EXPECT_LE(at<float>(memory_, address), 12);
        ASSERT_NE(memory_.pointee_at(address), nullptr);
        EXPECT_EQ(memory_.pointee_at(address)->fill, Fill::f32);
    }
    EXPECT_EQ(arrays.size(), 64U);
}

TEST_F(TrialMemoryTest, WhatIsChangedIsKeptComparedAndPutBack) {
    memory_.set_region(0, pointee_of("int"));
    memory_.fill(Contents::counting, 1);
    const int before = at<int>(memory_, address_of(0, 400));
    EXPECT_TRUE(memory_.changed().empty());
    auto storage = emulator::variable_storage(*program_, "counter");
    ASSERT_TRUE(storage);
    auto& counter = *reinterpret_cast<std::uint32_t*>(storage->host);
    at<int>(memory_, address_of(0, 400)) = 77;
    at<int>(memory_, address_of(0, -8)) = 5;
    counter = 9;
    const MemoryImage expected = memory_.changed();
    EXPECT_EQ(expected.size(), 3U);
    EXPECT_FALSE(compare(memory_, expected, {}));

    memory_.restore();
    EXPECT_EQ(at<int>(memory_, address_of(0, 400)), before);
    EXPECT_EQ(counter, 0U);
    EXPECT_TRUE(memory_.changed().empty());
    // What one of them has not written is a difference too.
    const auto found = compare(memory_, expected, {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->words, 3U);

    at<int>(memory_, address_of(0, 400)) = 78;
    at<int>(memory_, address_of(0, -8)) = 5;
    counter = 9;
    const auto one = compare(memory_, expected, {});
    ASSERT_TRUE(one);
    EXPECT_EQ(one->words, 1U);
    EXPECT_EQ(one->address, address_of(0, 400));
    const KernelDescription kernel = KernelBuilder("k", {true, false, false}).pointer("o", "int").build();
    EXPECT_EQ(text_of(*one, memory_, *program_, kernel), "element 100 of 'o' is 78 instead of 77");
    memory_.restore();
}

TEST_F(TrialMemoryTest, IsNotWithoutEnd) {
    memory_.fill(Contents::counting, 1);
    EXPECT_EQ(memory_.range_of(8, Access::read).host, nullptr);
    EXPECT_FALSE(memory_.is_exhausted());
    for (std::int64_t i = 0; i < 1000; ++i) (void)memory_.range_of(address_of(0, i * 4096), Access::read);
    EXPECT_TRUE(memory_.is_exhausted());
    EXPECT_LE(memory_.held_bytes(), most_bytes + 64);
    memory_.fill(Contents::counting, 1);
    EXPECT_FALSE(memory_.is_exhausted());
}

// Of an element of any width it is the element that is named, and its values.
TEST_F(TrialMemoryTest, DifferencesNameTheElement) {
    const auto text = [&](const char* type, std::int64_t offset, auto value) {
        const KernelDescription kernel = KernelBuilder("k", {true, false, false}).pointer("o", type).build();
        memory_.set_region(0, pointee_of(type));
        memory_.fill(Contents::counting, 1);
        at<decltype(value)>(memory_, address_of(0, offset)) = value;
        const MemoryImage expected = memory_.changed();
        memory_.restore();
        const auto found = compare(memory_, expected, {});
        return found ? text_of(*found, memory_, *program_, kernel) : std::string();
    };
    EXPECT_THAT(text("float", 40, 2.5f), ::testing::HasSubstr("element 10 of 'o' is "));
    EXPECT_THAT(text("float", 40, 2.5f), ::testing::HasSubstr(" instead of 2.5"));
    EXPECT_THAT(text("signed char", 7, static_cast<std::int8_t>(-3)),
                AllOf(::testing::HasSubstr("element 7 of"), ::testing::HasSubstr("instead of -3")));
    EXPECT_THAT(text("short", 6, static_cast<std::int16_t>(-3)),
                AllOf(::testing::HasSubstr("element 3 of"), ::testing::HasSubstr("instead of -3")));
    EXPECT_THAT(text("long long", -16, std::int64_t{-3}),
                AllOf(::testing::HasSubstr("element -2 of"), ::testing::HasSubstr("instead of -3")));
    EXPECT_THAT(text("double", 8, 0.1),
                AllOf(::testing::HasSubstr("element 1 of"), ::testing::HasSubstr("instead of 0.1")));
}

Profile planned_for_n(double n) {
    Profile profile;
    profile.levels = {{.data = {n, n}, .held_out = false, .why = {}}};
    profile.ranges.end[0] = {.constant = 0, .terms = {{0, 1}}};
    return profile;
}

KernelDescription guarded() {
    KernelDescription kernel = KernelBuilder("k", {true, false, false})
                                   .pointer("o", "int")
                                   .integer("n")
                                   .guard(Dimension::x, argument(1))
                                   .build();
    kernel.data[0].bounds = Dimension::x;
    return kernel;
}

TEST(TrialPlan, OthersStressTheVerdict) {
    const KernelDescription kernel = guarded();
    const Profile profile = planned_for_n(250);
    const TrialPlan plan(kernel, profile);
    ASSERT_GE(plan.written_blocks().size(), 2U);
    const trimtab_dim3 block = plan.written_blocks()[0];
    const auto launch = plan.launch(plan.base(block, 0), block);
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->written.block.x * launch->written.grid.x, 256U);
    std::set<std::uint32_t> blocks;
    for (std::size_t turn = 0; turn < 5; ++turn)
        for (const auto& other : plan.others(*launch, 6, turn)) {
            EXPECT_NE(other.block.x, block.x);
            EXPECT_EQ(other.grid.x, (256 + other.block.x - 1) / other.block.x);
            blocks.insert(other.block.x);
        }
    EXPECT_THAT(blocks, AllOf(Contains(32U), Contains(1024U), Contains(96U)));
    EXPECT_EQ(plan.others(*launch, 2, 0).size(), 2U);
    // Where the guard does not turn the tail away, blocks divide.
    const auto beyond = plan.launch({257, 256}, block);
    ASSERT_TRUE(beyond);
    for (const auto& other : plan.others(*beyond, 6, 0)) EXPECT_EQ(256 % other.block.x, 0U);
}

TEST(TrialPlan, ArgumentsAreAtTheirEdges) {
    const KernelDescription kernel = guarded();
    const Profile profile = planned_for_n(250);
    const TrialPlan plan(kernel, profile);
    const trimtab_dim3 block{64, 1, 1};
    std::set<double> values;
    for (const std::vector<double>& data : plan.edges(plan.base(block, 0), block)) values.insert(data[0]);
    EXPECT_THAT(values, AllOf(Contains(256), Contains(257), Contains(255), Contains(1), Contains(0),
                              Contains(-1), Contains(Ge(500))));
}

TEST(TrialPlan, LaunchesAreSmall) {
    const KernelDescription kernel = gemm();
    Profile profile;
    profile.levels = {{.data = {512, 512, 512, 512, 512}, .held_out = false, .why = {}}};
    profile.ranges.end[0] = {.constant = 0, .terms = {{1, 1}}};
    profile.ranges.end[1] = {.constant = 0, .terms = {{0, 1}}};
    const TrialPlan plan(kernel, profile);
    const trimtab_dim3 block = plan.written_blocks()[0];
    const auto launch = plan.launch(plan.base(block, 0), block);
    ASSERT_TRUE(launch);
    const trimtab_dim3 grid = launch->written.grid;
    EXPECT_LE(grid.x * block.x * grid.y * block.y, 4096U);
    EXPECT_GE(grid.x * grid.y, 4U);
    EXPECT_LE(launch->data[2], 64);
    // Unless nothing comes of small ones.
    const auto whole = plan.base(block, TrialPlan::attempts - 1);
    EXPECT_EQ(whole[2], 512);
}

}  // namespace
}  // namespace trimtab::profiler
