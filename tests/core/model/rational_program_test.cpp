// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/rational_program.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace trimtab::model {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::nan("");

double no_metric(Metric, double, double, double) {
    return 0;
}

// The value of an expression over two inputs.
template <typename Formula>
double value_of(Formula formula, double a, double b = 0) {
    RationalProgramBuilder builder("test");
    const Value x = builder.input("a"), y = builder.input("b");
    const Value result = formula(x, y);
    const RationalProgram program = std::move(builder).finish(result, builder.constant(0, ""));
    const std::vector<double> inputs{a, b};
    return program.evaluate(inputs, no_metric).time_ns;
}

TEST(RationalProgram, ComputesEachOperation) {
    const auto v = [](auto formula, double a, double b) { return value_of(formula, a, b); };
    EXPECT_EQ(v([](Value a, Value b) { return a + b; }, 3, 4), 7);
    EXPECT_EQ(v([](Value a, Value b) { return a - b; }, 3, 4), -1);
    EXPECT_EQ(v([](Value a, Value b) { return b - a; }, 3, 4), 1);
    EXPECT_EQ(v([](Value a, Value b) { return a * b; }, 3, 4), 12);
    EXPECT_EQ(v([](Value a, Value b) { return a / b; }, 3, 4), 0.75);
    EXPECT_EQ(v([](Value a, Value b) { return min(a, b); }, 3, 4), 3);
    EXPECT_EQ(v([](Value a, Value b) { return max(a, b); }, 3, 4), 4);
    EXPECT_EQ(v([](Value a, Value b) { return floor(a / b); }, -3, 4), -1);
    EXPECT_EQ(v([](Value a, Value b) { return ceil(a / b); }, 3, 4), 1);
    EXPECT_EQ(v([](Value a, Value b) { return square_root(a * b); }, 9, 4), 6);
    EXPECT_EQ(v([](Value a, Value b) { return power(a, b); }, 2, 10), 1024);
    EXPECT_EQ(v([](Value a, Value b) { return a < b; }, 3, 3), 0);
    EXPECT_EQ(v([](Value a, Value b) { return a <= b; }, 3, 3), 1);
    EXPECT_EQ(v([](Value a, Value b) { return a && b; }, 2, 0), 0);
    EXPECT_EQ(v([](Value a, Value b) { return a && b; }, 2, -1), 1);
    EXPECT_EQ(v([](Value a, Value b) { return a || b; }, 0, 5), 1);
    EXPECT_EQ(v([](Value a, Value) { return !a; }, 0, 0), 1);
    EXPECT_EQ(v([](Value a, Value b) { return select(a < b, a, b); }, 3, 4), 3);
    EXPECT_EQ(v([](Value a, Value b) { return select(b < a, a, b); }, 3, 4), 4);
}

// What a driver program in C computes with the same operands.
TEST(RationalProgram, TreatsNanAsCDoes) {
    const auto smaller = [](Value a, Value b) { return min(a, b); };
    const auto larger = [](Value a, Value b) { return max(a, b); };
    EXPECT_EQ(value_of(smaller, nan_value, 5), 5);
    EXPECT_EQ(value_of(larger, nan_value, 5), 5);
    EXPECT_TRUE(std::isnan(value_of(smaller, 5, nan_value)));
    EXPECT_TRUE(std::isnan(value_of(larger, 5, nan_value)));
    EXPECT_EQ(value_of([](Value a, Value b) { return a < b; }, nan_value, 5), 0);
    EXPECT_EQ(value_of([](Value a, Value b) { return a / b; }, 5, 0), inf);
    EXPECT_EQ(value_of([](Value a, Value b) { return select(a, b, a); }, nan_value, 5), 5);
}

TEST(RationalProgramBuilder, SharesEqualNodes) {
    RationalProgramBuilder builder("test");
    const Value a = builder.input("a"), b = builder.input("b");
    EXPECT_EQ(builder.input("a").index(), a.index());
    EXPECT_EQ((a + b).index(), (b + a).index());
    EXPECT_EQ((a * b).index(), (b * a).index());
    EXPECT_NE((a - b).index(), (b - a).index());
    EXPECT_NE((a / b).index(), (a * b).index());
    EXPECT_EQ(builder.constant(2, "").index(), builder.constant(2, "").index());
    EXPECT_NE(builder.constant(2, "measured").index(), builder.constant(2, "").index());
    EXPECT_NE(builder.constant(0.0, "").index(), builder.constant(-0.0, "").index());
    const Value m = builder.metric(Metric::load_sectors, a, b, a);
    EXPECT_EQ(builder.metric(Metric::load_sectors, a, b, a).index(), m.index());
    EXPECT_NE(builder.metric(Metric::load_sectors, b, a, a).index(), m.index());
    EXPECT_NE(builder.metric(Metric::store_sectors, a, b, a).index(), m.index());
}

TEST(RationalProgramBuilder, KeepsEveryName) {
    RationalProgramBuilder builder("test");
    const Value a = builder.input("a"), b = builder.input("b");
    const Value first = (a + b).named("sum", "cycles", "by hand");
    const Value again = (a + b).named("sum", "cycles", "by hand");
    const Value second = (a + b).named("other", "bytes", "");
    EXPECT_EQ(first.index(), again.index());
    EXPECT_NE(first.index(), second.index());
    const RationalProgram program = std::move(builder).finish(first * second, builder.constant(0, ""));
    EXPECT_EQ(program.nodes[first.index()].label, "sum");
    EXPECT_EQ(program.nodes[first.index()].unit, "cycles");
    EXPECT_EQ(program.nodes[first.index()].comment, "by hand");
    EXPECT_EQ(program.nodes[second.index()].label, "other");
    const std::vector<double> inputs{2, 3};
    EXPECT_EQ(program.evaluate(inputs, no_metric).time_ns, 25);
}

TEST(RationalProgram, AsksForMetricsAtTheBoxesOfItsNodes) {
    RationalProgramBuilder builder("test");
    const Value x = builder.input("block.x"), one = builder.constant(1, "");
    const Value two = builder.constant(2, "");
    const Value block = builder.metric(Metric::footprint_sectors, x, one, one);
    const Value wave = builder.metric(Metric::footprint_sectors, x * two, two, one);
    const Value loads = builder.metric(Metric::load_requests, x, one, one);
    const RationalProgram program = std::move(builder).finish(block + wave + loads, builder.constant(0, ""));
    EXPECT_THAT(program.metrics_used(),
                testing::ElementsAre(Metric::footprint_sectors, Metric::load_requests));
    const auto metric = [](Metric m, double bx, double by, double bz) {
        return m == Metric::footprint_sectors ? bx * by * bz : 1000;
    };
    const std::vector<double> inputs{32};
    EXPECT_EQ(program.evaluate(inputs, metric).time_ns, 32 + 128 + 1000);
    EXPECT_EQ(program.trace(inputs, metric)[wave.index()], 128);
}

TEST(RationalProgram, SaysWhatCannotBeLaunched) {
    RationalProgramBuilder builder("test");
    const Value x = builder.input("block.x");
    const RationalProgram program = std::move(builder).finish(x, builder.constant(1024, "CUDA") < x);
    EXPECT_TRUE(program.evaluate(std::vector<double>{1024}, no_metric).launchable);
    EXPECT_FALSE(program.evaluate(std::vector<double>{1025}, no_metric).launchable);
}

TEST(MetricTable, IsInTheOrderOfTheEnumerationAndNamesEachOnce) {
    for (std::size_t i = 0; i < metric_count; ++i) {
        EXPECT_EQ(static_cast<std::size_t>(metric_table()[i].metric), i);
        EXPECT_EQ(metric_named(metric_table()[i].name), metric_table()[i].metric);
        EXPECT_EQ(name(metric_table()[i].metric), metric_table()[i].name);
        EXPECT_FALSE(metric_table()[i].unit.empty());
    }
    EXPECT_EQ(metric_named("load_sektors"), std::nullopt);
}

}  // namespace
}  // namespace trimtab::model
