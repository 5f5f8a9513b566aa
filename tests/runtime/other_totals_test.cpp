// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grids of other sizes for grid-stride loops: against a driver program that does what the test says.
#include "choosing/choices/other_totals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <utility>

#include "choosing/choices/argument_key.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/device.h"
#include "tests/runtime/fake_backend.h"
#include "tests/runtime/fake_process.h"

namespace trimtab::runtime {
namespace {

struct Script {
    std::function<double(double extent)> ns;
    double relative_error = 0;
    bool uncertain = false;
};
Script& script() {
    static Script script;
    return script;
}

constexpr std::size_t extent_datum = 3;  // of the fake kernel's D

int evaluate(const trimtab_device*, const trimtab_image*, const double* data, trimtab_dim3, double,
             trimtab_prediction* out) {
    out->predicted_ns = script().ns(data[extent_datum]);
    out->relative_error = script().relative_error;
    out->uncertain = script().uncertain ? 1 : 0;
    return 0;
}
int select(const trimtab_device*, const trimtab_image*, const double* data, const trimtab_limits*, double,
           std::uint32_t, trimtab_choice* out) {
    out[0] = {};
    out[0].block = {64, 1, 1};
    out[0].predicted_ns = script().ns(data[extent_datum]);
    out[0].relative_error = script().relative_error;
    out[0].uncertain = script().uncertain ? 1 : 0;
    return 1;
}

analysis::Expression parameter(std::uint32_t index, ptx::Type type) {
    analysis::Expression leaf;
    leaf.kind = analysis::Expression::Kind::parameter;
    leaf.parameter = index;
    leaf.type = type;
    return leaf;
}
analysis::Expression operation(const char* name, analysis::Expression a, analysis::Expression b) {
    return analysis::applied(analysis::decode_operation(name).value(), {std::move(a), std::move(b)});
}

// for (i = g; i < n; i += total) out[i] = ...
class OtherTotals : public ::testing::Test {
  protected:
    OtherTotals() {
        kernel_ = testing::guarded_kernel();
        kernel_.dimensions[0].index = analysis::Index::of_total;
        kernel_.strides = {{analysis::Dimension::x, {kernel_.guards[0].exits}, ""}};
        kernel_.guards.clear();
        analysis::Expression index, four;
        index.kind = analysis::Expression::Kind::global_index;
        index.type = four.type = ptx::Type::u64;
        four.bits = 4;
        kernel_.stride_accesses = {
            {operation("add.u64", parameter(1, ptx::Type::u64), operation("mul.lo.u64", index, four)), 4,
             true, ""}};
        driver_ = testing::fake_driver(kernel_);
        driver_.evaluate = &evaluate;
        driver_.select = &select;
        script() = {.ns = [](double extent) { return 1e9 / extent; }};
    }

    Decision decide(std::uint32_t grid, std::uint32_t block, int n, double least_gain = 0) {
        std::uint64_t out = 0x7f0000000000;
        int step = 1, bound = 1;
        std::array<void*, 4> arguments{&n, &out, &step, &bound};
        LaunchShape shape{};
        shape.written.grid = {grid, 1, 1};
        shape.written.block = {block, 1, 1};
        shape.arguments = arguments.data();
        Decision decision = as_written(shape, "the block as written is predicted fastest");
        decision.by = By::driver;
        decision.written_ns = decision.chosen_ns = script().ns(double(grid) * block);
        const trimtab_image image = analysis::to_driver_image(kernel_.images[0]);
        const auto device = model::find_device("rtx2070super");
        return with_best_total(decision, {kernel_, driver_, device->values, image}, shape, least_gain);
    }
    static std::uint64_t threads(const Decision& decision) {
        return std::uint64_t{decision.launch.grid.x} * decision.launch.block.x;
    }

    analysis::KernelDescription kernel_;
    trimtab_driver driver_{};
};

TEST_F(OtherTotals, OneBlockBecomesManyWhereThatIsFaster) {
    const Decision decision = decide(1, 256, 1'000'000);
    EXPECT_TRUE(decision.has_other_total);
    EXPECT_EQ(decision.launch.block.x, 64u);
    EXPECT_GE(threads(decision), 1'000'000u) << "one turn a thread is fastest by this driver program";
    EXPECT_LT(threads(decision), 1'002'000u) << "and no more threads than turns";
    EXPECT_LT(decision.chosen_ns, decision.written_ns);
    EXPECT_EQ(decision.by, By::driver);
}

TEST_F(OtherTotals, StopsWhereMoreThreadsCostMore) {
    script().ns = [](double extent) { return extent < 50'000 ? 1e9 / extent : 1e6 + extent; };
    const Decision decision = decide(1, 256, 1'000'000);
    EXPECT_EQ(threads(decision), 40'960u) << "the device's resident threads: 40 SMs of 1024";
}

TEST_F(OtherTotals, AGainWithinTheErrorIsNone) {
    script().ns = [](double extent) { return extent <= 256 ? 1000 : 800; };
    script().relative_error = 0.05;
    EXPECT_TRUE(decide(1, 256, 1'000'000).has_other_total);
    script().relative_error = 0.2;
    const Decision decision = decide(1, 256, 1'000'000);
    EXPECT_FALSE(decision.has_other_total);
    EXPECT_EQ(decision.launch.grid.x, 1u);
    EXPECT_EQ(decision.launch.block.x, 256u);
}

TEST_F(OtherTotals, UncertainPredictionsChangeNothing) {
    script().uncertain = true;
    EXPECT_FALSE(decide(1, 256, 1'000'000).has_other_total);
    script().uncertain = false;
    script().ns = [](double extent) { return extent <= 256 ? 1000 : NAN; };
    EXPECT_FALSE(decide(1, 256, 1'000'000).has_other_total);
}

TEST_F(OtherTotals, ThreadsWithoutATurnAreLeftOut) {
    script().ns = [](double extent) { return extent > 2000 ? 10 : 1000; };
    const Decision decision = decide(4096, 256, 1500);
    EXPECT_TRUE(decision.has_other_total);
    EXPECT_EQ(threads(decision), 2048u);
    // They may fill and flush what their block shares.
    script().ns = [](double extent) { return extent > 3000 ? 10 : 11; };
    EXPECT_FALSE(decide(4096, 256, 1500).has_other_total) << "slower without them";
    EXPECT_EQ(threads(decide(4096, 256, 4000)), 4096u) << "as fast without them";
}

TEST_F(OtherTotals, AGainBelowTheLeastOneChangesNothing) {
    script().ns = [](double extent) { return extent > 5000 ? 1000 : 997; };
    EXPECT_EQ(threads(decide(4096, 256, 4000, 0.002)), 4096u);
    const Decision decision = decide(4096, 256, 4000, 0.005);
    EXPECT_FALSE(decision.has_other_total) << "threads without a turn are no reason of their own";
    EXPECT_EQ(threads(decision), 4096u * 256);
    script().ns = [](double extent) { return extent <= 256 ? 1000 : 950; };
    EXPECT_TRUE(decide(1, 256, 1'000'000, 0.04).has_other_total);
    EXPECT_FALSE(decide(1, 256, 1'000'000, 0.06).has_other_total);
}

TEST_F(OtherTotals, TurnsThatMeetKeepTheirTotal) {
    // out[i / 2]: two turns write one element.
    kernel_.stride_accesses[0].address.arguments[1].arguments[1].bits = 2;
    EXPECT_FALSE(decide(1, 256, 1'000'000).has_other_total);
}

TEST_F(OtherTotals, AnIndexThatWouldWrapKeepsTheTotal) {
    EXPECT_FALSE(decide(1, 256, 0x7fffffff).has_other_total);
    // Few threads more are no harm, one a turn would be too many.
    const Decision decision = decide(1, 256, 0x7fffffff - 100'000);
    EXPECT_TRUE(decision.has_other_total);
    EXPECT_LE(threads(decision), 100'000u);
}

TEST_F(OtherTotals, AreNotRememberedForArraysThatLieElsewhere) {
    const auto key = [this](std::uint64_t out) {
        int n = 1000, step = 1, bound = 1;
        std::array<void*, 4> arguments{&n, &out, &step, &bound};
        LaunchShape shape{};
        shape.written.grid = {1, 1, 1};
        shape.written.block = {256, 1, 1};
        shape.arguments = arguments.data();
        const ArgumentKey words(kernel_);
        std::vector<std::uint64_t> written(words.words());
        words.write(shape, 0, written.data());
        return written;
    };
    EXPECT_EQ(key(0x7f0000000000), key(0x7f0000000000));
    EXPECT_NE(key(0x7f0000000000), key(0x7f0000001000));
    kernel_.strides.clear();
    // Nor is any choice, where barriers were taken for nothing.
    kernel_.apart = std::exchange(kernel_.stride_accesses, {});
    EXPECT_NE(key(0x7f0000000000), key(0x7f0000001000));
    kernel_.apart.clear();
    EXPECT_EQ(key(0x7f0000000000), key(0x7f0000001000)) << "where they lie decides nothing";
}

// What a process of its own launches for one block of 256 threads, and how often its driver program is asked.
struct Launch {
    std::uint64_t threads = 0;
    int selects = 0;
};
Launch launch_in_new_process(const std::string& choices, const analysis::KernelDescription& description,
                             std::uint64_t out, std::uint64_t in) {
    testing::FakeFatBinary fat_binary{"a fat binary"};
    testing::FakeBundle bundle{description, fat_binary.hash()};
    testing::driver_script().selects = 0;
    int n = 1'000'000, step = 1, bound = 1;
    std::array<void*, 5> arguments{&n, &out, &step, &bound, &in};
    const LaunchShape shape = testing::launched_by_new_process(
        choices, description, fat_binary, bundle,
        {.written = {.grid = {1, 1, 1}, .block = {256, 1, 1}, .dynamic_shared_bytes = 0},
         .arguments = arguments.data()});
    Launch launched;
    launched.threads = std::uint64_t{shape.written.grid.x} * shape.written.block.x;
    launched.selects = testing::driver_script().selects;
    return launched;
}

TEST_F(OtherTotals, LaterProcessesTakeTheTotalUnlessTheirArraysMeet) {
    // for (i = g; i < n; i += total) out[i] = in[i];
    kernel_.parameters.push_back(kernel_.parameters[1]);
    kernel_.parameters[4].index = 4;
    kernel_.parameters[4].name = "in";
    kernel_.parameters[4].offset = 24;
    analysis::GridStrideAccess load = kernel_.stride_accesses[0];
    load.address.arguments[0].parameter = 4;
    load.writes = false;
    kernel_.stride_accesses.push_back(load);
    testing::DriverScript& driver = testing::driver_script();
    driver.predict = [](const double* data, trimtab_dim3) { return 1e9 / data[extent_datum]; };
    driver.doubt = 0;
    driver.select_result = 1;
    driver.best = {64, 1, 1};
    const std::string folder = ::testing::TempDir() + "totals_" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    const std::string path = folder + "/choices.sqlite";

    constexpr std::uint64_t out = 0x7f0000000000, far = 0x7f1000000000;
    const Launch first = launch_in_new_process(path, kernel_, out, far);
    EXPECT_GE(first.threads, 1'000'000u);
    EXPECT_GT(first.selects, 1);
    const Launch again = launch_in_new_process(path, kernel_, out, far);
    EXPECT_EQ(again.threads, first.threads);
    EXPECT_EQ(again.selects, 0);
    // Arrays lie where they like.
    const Launch elsewhere = launch_in_new_process(path, kernel_, far, out);
    EXPECT_EQ(elsewhere.threads, first.threads);
    EXPECT_EQ(elsewhere.selects, 0);
    // Here one turn reads what the next one writes: the number of threads shows.
    const Launch meeting = launch_in_new_process(path, kernel_, out, out + 4);
    EXPECT_EQ(meeting.threads, 256u);
    EXPECT_GT(meeting.selects, 0);
    std::filesystem::remove_all(folder);
}

TEST_F(OtherTotals, AStoredTotalThatMakesNoSenseIsNotTaken) {
    int n = 1'000'000, step = 1, bound = 1;
    std::uint64_t out = 0x7f0000000000;
    std::array<void*, 4> arguments{&n, &out, &step, &bound};
    LaunchShape shape{};
    shape.written.grid = {1, 1, 1};
    shape.written.block = {256, 1, 1};
    shape.arguments = arguments.data();
    const trimtab_image image = analysis::to_driver_image(kernel_.images[0]);
    const auto device = model::find_device("rtx2070super");
    const auto may = [&](trimtab_dim3 grid, trimtab_dim3 block) {
        return launch_of_total(kernel_, device->values, image, shape, {.grid = grid, .block = block})
            .has_value();
    };
    EXPECT_TRUE(may({100, 1, 1}, {128, 1, 1}));
    EXPECT_FALSE(may({0, 0, 0}, {128, 1, 1}));
    EXPECT_FALSE(may({100, 1, 1}, {0, 1, 1}));
    EXPECT_FALSE(may({100, 2, 1}, {128, 1, 1})) << "a dimension that the kernel does not read";
    EXPECT_FALSE(may({100, 1, 1}, {2048, 1, 1})) << "more threads than a block has";
    EXPECT_FALSE(may({0xffffffff, 1, 1}, {1024, 1, 1})) << "more threads than an index counts";
    EXPECT_FALSE(may({0x7fffffff, 1, 1}, {1, 1, 1})) << "whose loop's index would wrap";
    kernel_.dimensions[0].index = analysis::Index::in_block;
    EXPECT_FALSE(may({100, 1, 1}, {128, 1, 1})) << "a kernel of block-stride loops keeps its grid";
}

TEST_F(OtherTotals, KernelsWithoutSuchLoopsAreAsTheyWere) {
    kernel_.strides.clear();
    EXPECT_FALSE(decide(1, 256, 1'000'000).has_other_total);
}

}  // namespace
}  // namespace trimtab::runtime
