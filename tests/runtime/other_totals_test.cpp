// Grids of other sizes for grid-stride loops: against a driver program that does what the test says.
#include "runtime/other_totals.h"

#include <gtest/gtest.h>

#include <functional>

#include "analysis/legal_blocks.h"
#include "model/device.h"
#include "runtime/argument_key.h"
#include "tests/runtime/fake_backend.h"

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
    analysis::Expression node;
    node.kind = analysis::Expression::Kind::operation;
    node.type = ptx::Type::u64;
    node.operation = name;
    node.arguments = {std::move(a), std::move(b)};
    return node;
}

// for (i = g; i < n; i += total) out[i] = ...
class OtherTotals : public ::testing::Test {
  protected:
    OtherTotals() {
        kernel_ = testing::guarded_kernel();
        kernel_.reads_total = {true, false, false};
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

    Decision decide(std::uint32_t grid, std::uint32_t block, int n, std::uint64_t out = 0x7f0000000000) {
        int step = 1, bound = 1;
        std::array<void*, 4> arguments{&n, &out, &step, &bound};
        LaunchShape shape{};
        shape.grid = {grid, 1, 1};
        shape.block = {block, 1, 1};
        shape.arguments = arguments.data();
        Decision decision = as_written(shape, "the block as written is predicted fastest");
        decision.by = By::driver;
        decision.written_ns = decision.chosen_ns = script().ns(double(grid) * block);
        const trimtab_image image = analysis::to_driver_image(kernel_.images[0]);
        return with_best_total(decision, kernel_, driver_, model::find_device("rtx2070super")->values, image,
                               shape);
    }
    static std::uint64_t threads(const Decision& decision) {
        return std::uint64_t{decision.grid.x} * decision.block.x;
    }

    analysis::KernelDescription kernel_;
    trimtab_driver driver_{};
};

TEST_F(OtherTotals, OneBlockBecomesManyWhereThatIsFaster) {
    const Decision decision = decide(1, 256, 1'000'000);
    EXPECT_TRUE(decision.has_other_total);
    EXPECT_EQ(decision.block.x, 64u);
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
    EXPECT_EQ(decision.grid.x, 1u);
    EXPECT_EQ(decision.block.x, 256u);
}

TEST_F(OtherTotals, UncertainPredictionsChangeNothing) {
    script().uncertain = true;
    EXPECT_FALSE(decide(1, 256, 1'000'000).has_other_total);
    script().uncertain = false;
    script().ns = [](double extent) { return extent <= 256 ? 1000 : NAN; };
    EXPECT_FALSE(decide(1, 256, 1'000'000).has_other_total);
}

TEST_F(OtherTotals, ThreadsWithoutATurnAreLeftOut) {
    // Whatever is predicted of more threads than turns.
    script().ns = [](double extent) { return extent > 2000 ? 10 : 1000; };
    const Decision decision = decide(4096, 256, 1500);
    EXPECT_TRUE(decision.has_other_total);
    EXPECT_EQ(threads(decision), 2048u);
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
        shape.grid = {1, 1, 1};
        shape.block = {256, 1, 1};
        shape.arguments = arguments.data();
        const ArgumentKey words(kernel_);
        std::vector<std::uint64_t> written(words.words());
        words.write(shape, 0, written.data());
        return written;
    };
    EXPECT_EQ(key(0x7f0000000000), key(0x7f0000000000));
    EXPECT_NE(key(0x7f0000000000), key(0x7f0000001000));
    kernel_.strides.clear();
    kernel_.stride_accesses.clear();
    EXPECT_EQ(key(0x7f0000000000), key(0x7f0000001000)) << "where they lie decides nothing";
}

TEST_F(OtherTotals, KernelsWithoutSuchLoopsAreAsTheyWere) {
    kernel_.strides.clear();
    EXPECT_FALSE(decide(1, 256, 1'000'000).has_other_total);
}

}  // namespace
}  // namespace trimtab::runtime
