// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The printed C against the interpreter: the same bits.
#include "driver_gen/c_driver.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <random>

#include "compiled_driver.h"
#include "core/model/device.h"
#include "core/model/model_text.h"
#include "core/model/performance_model.h"

namespace trimtab::driver_gen {
namespace {

using model::Metric;
using model::RationalProgram;
using testing::CompiledDriver;

std::uint64_t bits(double value) {
    return std::bit_cast<std::uint64_t>(value);
}

analysis::KernelDescription describe() {
    analysis::KernelDescription description;
    description.id = "0123456789abcdef";
    description.name = "_Z4gemmPfiii";
    description.demangled = "gemm(float*, int, int, int) */ /* not a comment";
    description.source = "gemm.cu:6";
    description.dimensions[0].index = description.dimensions[1].index = analysis::Index::global;
    const auto scalar = [](const char* name) {
        return analysis::DataParameter{.name = name, .type = "s32", .bounds = {}};
    };
    const auto extent = [](const char* name, analysis::Dimension dimension) {
        return analysis::DataParameter{
            .name = name, .is_extent = true, .dimension = dimension, .type = "u32", .bounds = {}};
    };
    description.data = {scalar("NJ"), scalar("args+8"), extent("extent.x", analysis::Dimension::x),
                        extent("extent.y", analysis::Dimension::y)};
    description.verdict = analysis::Verdict::covering;
    return description;
}

// Every metric gets pieces, powers and a quotient at random, over all kinds of variables.
KernelFits random_fits(std::mt19937& random) {
    KernelFits fits;
    fits.data_names = {"NJ", "args+8", "extent.x", "extent.y"};
    fits.profiled = {{64, 256, true}, {64, 256, true}, {64, 256, true}, {64, 256, true}};
    fits.ranges.first[0].constant = 1;
    fits.ranges.end[0] = {.constant = -1, .terms = {{0, 1}}};
    fits.ranges.end[1].terms = {{3, 1}};
    fits.ranges.end[2].constant = 1;
    fits.ranges.extent = {2, 3, profiler::no_data};
    for (int kind = 0; kind <= static_cast<int>(VariableKind::halvings); ++kind) {
        Variable variable{.kind = static_cast<VariableKind>(kind)};
        if (variable.kind == VariableKind::data) variable.data = 1;
        if (variable.kind >= VariableKind::alignment) {
            variable.unit = 8;
            if (variable.kind < VariableKind::remainder) fits.variables.push_back(variable);
            variable.data = 0;
            variable.offset = kind % 3 - 1;
        }
        fits.variables.push_back(variable);
    }
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    const auto variable = [&] {
        return static_cast<std::uint32_t>(pick(0, static_cast<int>(fits.variables.size()) - 1));
    };
    const auto sum = [&](bool denominator) {
        std::vector<Monomial> out;
        if (denominator) out.push_back({.coefficient = 1, .exponents = {}});
        for (int n = pick(1, 5); n > 0; --n) {
            Monomial& monomial = out.emplace_back();
            monomial.coefficient = std::ldexp(pick(denominator ? 0 : -999, 999), -pick(0, 12)) / 3;
            for (int f = pick(0, 2); f > 0; --f)
                monomial.exponents.emplace_back(variable(), denominator ? pick(1, 2) : pick(0, 1) * 3 - 1);
        }
        return out;
    };
    const auto fit_of = [&](std::size_t m) {
        FittedMetric fit;
        fit.metric = static_cast<Metric>(m);
        for (int pieces = pick(0, 2); pieces > 0; --pieces)
            fit.pieces.push_back(
                {.when = Condition{.variable = variable(), .below = std::ldexp(1, pick(0, 7))},
                 .numerator = sum(false),
                 .denominator = {}});
        fit.pieces.push_back({.when = {}, .numerator = sum(false), .denominator = {}});
        if (pick(0, 2) == 0) fit.pieces.back().denominator = sum(true);
        fit.least = m % 3 == 0 ? -1e6 : 0;
        if (m % 4 == 0) fit.most = 1e5;
        return fit;
    };
    for (std::size_t m = 0; m < model::metric_count; ++m) fits.metrics.push_back(fit_of(m));
    // Where args+8 is 1, some are other functions.
    fits.profiled[1].is_stride = true;
    fits.layouts.push_back({.values = {{.data = 1, .value = 1}}, .metrics = {}});
    for (std::size_t m = 0; m < model::metric_count; m += 2) fits.layouts[0].metrics.push_back(fit_of(m));
    // Where it is 3, all are; where args+0 is 8, nothing is known.
    fits.special = {{.data = 0, .value = 8}, {.data = 1, .value = 3}};
    fits.layouts.push_back({.values = {fits.special[1]}, .metrics = {}});
    for (std::size_t m = 0; m < model::metric_count; ++m) fits.layouts[1].metrics.push_back(fit_of(m));
    return fits;
}

// A program of every operation.
RationalProgram random_program(std::mt19937& random) {
    model::RationalProgramBuilder b("random");
    const auto pick = [&](std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    std::vector<model::Value> values{b.input("block.x"),
                                     b.input("block.y"),
                                     b.input("grid.x"),
                                     b.input("extent.y"),
                                     b.input("device.l2_bytes"),
                                     b.input("device.compute_capability"),
                                     b.input("image.registers_per_thread"),
                                     b.input("dynamic_shared_bytes"),
                                     b.constant(-0.75, "a */ comment"),
                                     b.constant(3, "")};
    const auto any = [&] { return values[pick(values.size())]; };
    for (int n = 0; n < 200; ++n) {
        switch (pick(18)) {
            case 0:
                values.push_back(any() + any());
                break;
            case 1:
                values.push_back(any() - any());
                break;
            case 2:
                values.push_back(any() * any());
                break;
            case 3:
                values.push_back(any() / any());
                break;
            case 4:
                values.push_back(min(any(), any()));
                break;
            case 5:
                values.push_back(max(any(), any()));
                break;
            case 6:
                values.push_back(floor(any()));
                break;
            case 7:
                values.push_back(ceil(any()));
                break;
            case 8:
                values.push_back(square_root(max(any(), b.constant(0, ""))));
                break;
            case 9:
                values.push_back(power(max(any(), b.constant(1, "")), b.constant(0.75, "exponent")));
                break;
            case 10:
                values.push_back(any() < any());
                break;
            case 11:
                values.push_back(any() <= any());
                break;
            case 12:
                values.push_back((any() < any()) && any());
                break;
            case 13:
                values.push_back((any() <= any()) || any());
                break;
            case 14:
                values.push_back(!any());
                break;
            case 15:
                values.push_back(select(any() < any(), any(), any()));
                break;
            case 16:
                values.push_back(b.metric(static_cast<Metric>(pick(model::metric_count)), values[0],
                                          values[1], values[9]));
                break;
            default:
                values.push_back(
                    b.metric(Metric::footprint_sectors, values[0] * b.constant(1.5, ""), values[2], any()));
                break;
        }
        if (pick(5) == 0)
            values.back() = values.back().named("while label " + std::to_string(n % 7), "cycles", "eq. 1");
    }
    // Brought to finite numbers, and with all that was computed in it.
    model::Value total = b.constant(1, "");
    for (std::size_t i = 10; i < values.size(); i += 7)
        total = total + min(max(values[i], b.constant(-1e6, "")), b.constant(1e6, ""));
    return std::move(b).finish(total, b.constant(64, "") < values[0]);
}

void expect_same(const KernelFits& fits, const RationalProgram& program, const trimtab_driver& driver,
                 std::mt19937& random, int trials) {
    const model::Device device = *model::find_device("rtx2080ti");
    int launched = 0;
    for (int t = 0; t < trials; ++t) {
        const auto pick = [&](int low, int high) {
            return std::uniform_int_distribution<int>(low, high)(random);
        };
        // At values of their own: some each, some together.
        const std::vector<double> data{t % 8 == 0 ? 8 : double(pick(2, 5000)),
                                       t % 3 == 0   ? 1
                                       : t % 3 == 1 ? 3
                                                    : double(pick(1, 300)),
                                       double(pick(2, 5000)), double(pick(1, 4000))};
        const trimtab_dim3 block{std::uint32_t(pick(1, 128)), std::uint32_t(1 << pick(0, 4)), 1};
        const trimtab_image image{.registers_per_thread = double(pick(16, 64)),
                                  .static_shared_bytes = 0,
                                  .local_bytes_per_thread = 0,
                                  .max_threads_per_block = 0};
        const model::Launch launch{.extent = {std::uint32_t(data[2]), std::uint32_t(data[3]), 1},
                                   .block = block,
                                   .dynamic_shared_bytes = 512};
        const auto inputs = model::input_values(program, device.values, image, launch);
        const auto expected = program.evaluate(inputs, metric_function(fits, data));
        trimtab_prediction prediction{};
        const int answer = driver.evaluate(&device.values, &image, data.data(), block, 512, &prediction);
        ASSERT_EQ(answer == 0, expected.launchable && std::isfinite(expected.time_ns));
        for (std::size_t m = 0; answer == 0 && m < fits.metrics.size(); ++m)
            ASSERT_EQ(bits(prediction.metrics[m]),
                      bits(fits.evaluate(fits.metrics[m].metric, data, block.x, block.y, block.z)))
                << driver.metric_names[m];
        if (answer != 0) continue;
        ++launched;
        if (fits.outside(data) != 0) ASSERT_NE(prediction.uncertain, 0u);
        ASSERT_EQ(bits(prediction.predicted_ns), bits(expected.time_ns))
            << prediction.predicted_ns << " " << expected.time_ns;
    }
    EXPECT_GT(launched, trials / 4);
}

class BothCompilers : public ::testing::TestWithParam<const char*> {};

TEST_P(BothCompilers, GiveTheInterpretersBitsForRandomPrograms) {
    std::mt19937 random(7);
    for (int n = 0; n < 3; ++n) {
        const KernelFits fits = random_fits(random);
        const RationalProgram program = random_program(random);
        const auto text = print_driver(describe(), fits, program);
        ASSERT_TRUE(text) << text.error().text();
        const CompiledDriver compiled(*text, "0123456789abcdef", GetParam());
        ASSERT_NE(compiled.driver(), nullptr);
        expect_same(fits, program, *compiled.driver(), random, 300);
    }
}

TEST_P(BothCompilers, GiveTheInterpretersBitsForTheModels) {
    std::mt19937 random(11);
    for (const std::string_view name : model::performance_model_names()) {
        const KernelFits fits = random_fits(random);
        const RationalProgram& program = **model::performance_model(name);
        const auto text = print_driver(describe(), fits, program);
        ASSERT_TRUE(text) << text.error().text();
        const CompiledDriver compiled(*text, "0123456789abcdef", GetParam());
        ASSERT_NE(compiled.driver(), nullptr);
        expect_same(fits, program, *compiled.driver(), random, 300);
    }
}

// Names as users choose them: words of C, names of the generated text, another name for an input or a number.
TEST_P(BothCompilers, GiveTheInterpretersBitsForAModelInATextForm) {
    std::mt19937 random(13);
    const auto program = model::parse_model(
        "int = load_sectors + store_sectors * 0.7\n"
        "double = device.sm_count\n"
        "same = double\n"
        "trimtab_max = 3\n"
        "v = max(active_warps, 1) * max(active_blocks, 1) / same\n"
        "box = footprint_sectors(min(block.x, 32), 1, 1) - -trimtab_max\n"
        "context = if(grid.x > double && !(int < 1), sqrt(int) + power(v, 1.5), floor(v / 3) + ceil(int))\n"
        "time_ns = (context * v + box) / device.sm_clock_hz * 1e9\n"
        "    + device.launch_overhead_ns\n",
        "m", "mine");
    ASSERT_TRUE(program) << program.error().text();
    const KernelFits fits = random_fits(random);
    const auto text = print_driver(describe(), fits, *program);
    ASSERT_TRUE(text) << text.error().text();
    const CompiledDriver compiled(*text, "0123456789abcdef", GetParam());
    ASSERT_NE(compiled.driver(), nullptr) << *text;
    expect_same(fits, *program, *compiled.driver(), random, 300);
}

INSTANTIATE_TEST_SUITE_P(Compilers, BothCompilers, ::testing::Values("clang-22", "gcc"),
                         [](const auto& info) { return std::string(info.param) == "gcc" ? "gcc" : "clang"; });

TEST(Driver, SaysWhatItIs) {
    std::mt19937 random(3);
    const KernelFits fits = random_fits(random);
    const auto text = print_driver(describe(), fits, **model::performance_model(model::default_model));
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, ::testing::HasSubstr("defined at gemm.cu:6"));
    EXPECT_THAT(*text, ::testing::HasSubstr("static double metric_load_sectors("));
    const CompiledDriver compiled(*text, "0123456789abcdef", "clang-22");
    ASSERT_NE(compiled.driver(), nullptr);
    const trimtab_driver& driver = *compiled.driver();
    EXPECT_EQ(driver.abi, TRIMTAB_DRIVER_ABI);
    EXPECT_EQ(driver.struct_bytes, sizeof(trimtab_driver));
    EXPECT_STREQ(driver.id, "0123456789abcdef");
    EXPECT_STREQ(driver.kernel, "_Z4gemmPfiii");
    ASSERT_EQ(driver.data_count, 4u);
    EXPECT_STREQ(driver.data_names[1], "args+8");
    EXPECT_EQ(driver.metric_count, model::metric_count);
    EXPECT_STREQ(driver.metric_names[0], "warp_instructions");

    const model::Device device = *model::find_device("rtx2080ti");
    const trimtab_image image{.registers_per_thread = 32,
                              .static_shared_bytes = 0,
                              .local_bytes_per_thread = 0,
                              .max_threads_per_block = 0};
    const double data[] = {256, 256, 256, 256};
    trimtab_prediction out{};
    EXPECT_LT(driver.evaluate(nullptr, &image, data, {32, 8, 1}, 0, &out), 0);
    EXPECT_LT(driver.evaluate(&device.values, &image, data, {0, 8, 1}, 0, &out), 0);
    EXPECT_LT(driver.evaluate(&device.values, &image, data, {4096, 8, 1}, 0, &out), 0);  // no such block
    const double no_number[] = {256, std::nan(""), 256, 256};
    EXPECT_LT(driver.evaluate(&device.values, &image, no_number, {32, 8, 1}, 0, &out), 0);
}

TEST(Driver, RefusesFitsOfAnotherKernel) {
    std::mt19937 random(3);
    KernelFits fits = random_fits(random);
    const RationalProgram& program = **model::performance_model(model::default_model);
    fits.data_names[1] = "NK";
    EXPECT_EQ(print_driver(describe(), fits, program).error().text(),
              "data parameter 1 of kernel _Z4gemmPfiii is args+8, in its fits NK");
    analysis::KernelDescription description = describe();
    description.data.pop_back();
    fits.data_names = {"NJ", "args+8", "extent.x"};
    fits.profiled.pop_back();
    EXPECT_EQ(print_driver(description, fits, program).error().text(),
              "kernel _Z4gemmPfiii reads dimension y, but its extent is no data parameter");
}

}  // namespace
}  // namespace trimtab::driver_gen
