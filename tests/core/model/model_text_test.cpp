// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models as texts: what they compute, against numbers worked by hand and the same model built in, and what is refused.
#include "core/model/model_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "core/base/read_text.h"
#include "core/model/chosen_model.h"
#include "core/model/device.h"
#include "core/model/performance_model.h"

namespace trimtab::model {
namespace {

using ::testing::HasSubstr;

constexpr trimtab_image text_image{.registers_per_thread = 20,
                                   .static_shared_bytes = 0,
                                   .local_bytes_per_thread = 0,
                                   .max_threads_per_block = 0};

// Every metric is 7, a footprint the threads of its box.
double metric_value(Metric metric, double x, double y, double z) {
    return metric == Metric::footprint_sectors ? x * y * z : 7;
}

RationalProgram::Result evaluated(const RationalProgram& program, const Launch& launch) {
    const Device device = *find_device("c2050");
    return program.evaluate(input_values(program, device.values, text_image, launch), metric_value);
}

// time_ns of a launch of 4 x 3 x 2 blocks of 32 x 4 x 1 on a C2050.
double value_of(const std::string& expression) {
    const auto program = parse_model("time_ns = " + expression, "m", "m");
    EXPECT_TRUE(program) << program.error().text();
    if (!program) return std::nan("");
    return evaluated(*program, {.extent = {128, 12, 2}, .block = {32, 4, 1}, .dynamic_shared_bytes = 64})
        .time_ns;
}

std::string fault_of(const std::string& text) {
    const auto program = parse_model(text, "mine.model", "mine");
    return program ? "" : program.error().text();
}

TEST(ModelText, ComputesWhatItSays) {
    EXPECT_EQ(value_of("1 + 2 * 3 - 8 / 4"), 5);
    EXPECT_EQ(value_of("(1 + 2) * 3 - 8 / 4 / 2"), 8);
    EXPECT_EQ(value_of("10 - 3 - 2"), 5);
    EXPECT_EQ(value_of("9 + -2 * -3"), 15);
    EXPECT_EQ(value_of("1.5e2"), 150);
    EXPECT_EQ(value_of("1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 == 1 && 1 != 2"), 1);
    EXPECT_EQ(value_of("1 < 0 || !(2 < 1)"), 1);
    EXPECT_EQ(value_of("1 || 0 && 0"), 1);  // && binds tighter
    EXPECT_EQ(value_of("if(2 < 1, 10, if(1, 20, 30))"), 20);
    EXPECT_EQ(value_of("min(4, 2, 3) + max(4, 9, 3)"), 11);
    EXPECT_EQ(value_of("floor(2.7) + ceil(2.2) + sqrt(16) + power(2, 5)"), 41);
    EXPECT_EQ(value_of("block.x + 10 * block.y + 100 * grid.x + 1000 * grid.y + 10000 * grid.z"), 23472);
    EXPECT_EQ(value_of("extent.x + extent.y + extent.z + dynamic_shared_bytes"), 206);
    EXPECT_EQ(value_of("device.sm_count + image.registers_per_thread"), 34);
    EXPECT_EQ(value_of("threads_per_block + warps_per_block"), 132);
    EXPECT_EQ(value_of("blocks_per_sm"), 8);  // of 128 threads: at most 8 blocks on Fermi
    EXPECT_EQ(value_of("load_sectors + footprint_sectors"), 7 + 128);
    EXPECT_EQ(value_of("footprint_sectors(2, 3, 4)"), 24);
}

TEST(ModelText, HasLinesNamesAndComments) {
    const auto program = parse_model(
        "# a model\n"
        "\n"
        "int = 3          # names may be words of C\n"
        "double = int +\n"
        "    4\r\n"
        "time_ns = int * double\n",
        "m", "mine");
    ASSERT_TRUE(program) << program.error().text();
    EXPECT_EQ(program->name, "mine");
    EXPECT_EQ(evaluated(*program, {.extent = {32, 1, 1}, .block = {32, 1, 1}}).time_ns, 21);
    EXPECT_EQ(program->irrational_operations(), 0U);
    EXPECT_EQ(parse_model("time_ns = sqrt(2) + power(2, 3) + floor(2.5)", "m", "m")->irrational_operations(),
              2U);
}

// Whatever a user writes, a launch of which no time is known is left alone.
TEST(ModelText, ATimeThatIsNoneIsNoLaunch) {
    const Launch launch{.extent = {32, 1, 1}, .block = {32, 1, 1}};
    for (const char* time : {"0 / 0", "1 / 0", "0 - 5", "1e300", "sqrt(0 - 1)"}) {
        const auto program = parse_model(std::string("time_ns = ") + time, "m", "m");
        ASSERT_TRUE(program);
        EXPECT_FALSE(evaluated(*program, launch).launchable) << time;
    }
    EXPECT_TRUE(evaluated(*parse_model("time_ns = 0", "m", "m"), launch).launchable);
    const Launch too_large{.extent = {4096, 1, 1}, .block = {2048, 1, 1}};
    EXPECT_FALSE(evaluated(*parse_model("time_ns = 5", "m", "m"), too_large).launchable);
}

TEST(ModelText, FaultsNameTheirPlace) {
    EXPECT_EQ(fault_of(""), "mine.model:1:1: no line says what time_ns is");
    EXPECT_EQ(fault_of("a = 1\n"), "mine.model:1:1: no line says what time_ns is");
    EXPECT_EQ(fault_of("time_ns = load_sector"),
              "mine.model:1:11: 'load_sector' is not known here; did you mean \"load_sectors\"?");
    EXPECT_EQ(fault_of("time_ns = device.sm_cont"),
              "mine.model:1:11: 'device.sm_cont' is not known here; did you mean \"device.sm_count\"?");
    EXPECT_EQ(fault_of("a = 1\na = 2"), "mine.model:2:1: 'a' is defined twice");
    EXPECT_EQ(fault_of("load_sectors = 1"), "mine.model:1:1: 'load_sectors' has a meaning already");
    EXPECT_EQ(fault_of("min = 1"), "mine.model:1:1: 'min' has a meaning already");
    EXPECT_EQ(fault_of("a.b = 1"), "mine.model:1:1: 'a.b' has a meaning already");
    EXPECT_EQ(fault_of("time_ns = b\nb = 1"), "mine.model:1:11: 'b' is not known here");
    EXPECT_EQ(fault_of("time_ns = mx(1, 2)"), "mine.model:1:11: 'mx' is no function; did you mean \"max\"?");
    EXPECT_EQ(fault_of("time_ns = max(1)"), "mine.model:1:11: max takes two numbers or more, not 1");
    EXPECT_EQ(fault_of("time_ns = if(1, 2)"), "mine.model:1:11: if takes 3, not 2");
    EXPECT_EQ(fault_of("time_ns = (1 + 2"), "mine.model:1:17: ')' is missing");
    EXPECT_EQ(fault_of("time_ns = 1 2"), "mine.model:1:13: the end of the line is expected before '2'");
    EXPECT_EQ(fault_of("time_ns = 1 +"), "mine.model:1:14: a number, a name or '(' is missing");
    EXPECT_EQ(fault_of("time_ns 1"), "mine.model:1:9: '=' is expected before '1'");
    EXPECT_EQ(fault_of("time_ns = 1 $ 2"), "mine.model:1:13: '$' is no part of a model");
    EXPECT_EQ(fault_of("time_ns = 1e999"), "mine.model:1:11: no number");
    EXPECT_EQ(fault_of("= 1"), "mine.model:1:1: a name is expected before '='");
    EXPECT_THAT(fault_of("time_ns = " + std::string(5000, '(')), HasSubstr("nested more than 100 deep"));
    EXPECT_THAT(fault_of("time_ns = " + std::string(5000, '-') + "1"),
                HasSubstr("nested more than 100 deep"));
    std::string long_sum = "time_ns = 1";
    for (int i = 0; i < 5000; ++i) long_sum += fmt::format(" + {}", i);
    EXPECT_THAT(fault_of(long_sum), HasSubstr("the model has more than 4000 terms"));
}

TEST(ModelText, BytesOfAnyKindAreAFaultOrAModel) {
    std::mt19937 random(5);
    const std::string alphabet = "time_ns=ab.1 +-*/(),<>!&|\n#\t\r\"\\\xff";
    for (int n = 0; n < 20000; ++n) {
        std::string text = n % 2 ? "time_ns = " : "";
        const std::size_t length = random() % 40;
        for (std::size_t i = 0; i < length; ++i) text += alphabet[random() % alphabet.size()];
        const auto program = parse_model(text, "m", "m");
        if (!program) EXPECT_GT(program.error().line, 0U) << text;
    }
}

// The sample is the model that is built in, written by other hands: the same but for the order of additions.
TEST(ModelText, TheSampleIsMwpCwp) {
    const auto sample = choose_model(TRIMTAB_SOURCE_DIR "/samples/models/mwp_cwp.model");
    ASSERT_TRUE(sample) << sample.error().text();
    const RationalProgram& built_in = **performance_model("mwp-cwp");
    std::mt19937 random(3);
    const auto pick = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
    for (const Device& device : devices())
        for (int n = 0; n < 200; ++n) {
            MetricValues values{};
            for (double& value : values) value = pick(n % 2 ? 100 : 3);
            const auto whole = [&](double most) { return 1 + static_cast<std::uint32_t>(pick(most)); };
            const Launch launch{.extent = {whole(1e6), whole(64), 1}, .block = {32 * whole(16), whole(2), 1}};
            // Local memory of no kernel here: spills are the built-in's alone.
            const auto metric = [&](Metric of, double, double, double) {
                return values[static_cast<std::size_t>(of)];
            };
            const auto one =
                built_in.evaluate(input_values(built_in, device.values, text_image, launch), metric);
            const auto other = sample->program->evaluate(
                input_values(*sample->program, device.values, text_image, launch), metric);
            ASSERT_EQ(one.launchable, other.launchable) << device.slug;
            if (one.launchable) ASSERT_NEAR(other.time_ns / one.time_ns, 1, 1e-9) << device.slug;
        }
}

TEST(Models, SayWhetherTheyAreRational) {
    for (const char* name : {"mwp-cwp", "sectors"})
        EXPECT_EQ((*performance_model(name))->irrational_operations(), 0U) << name;
    for (const char* name : {"trimtab", "waves", "gpuperf"})
        EXPECT_GT((*performance_model(name))->irrational_operations(), 0U) << name;
}

TEST(ChosenModel, IsBuiltInOrAFiles) {
    EXPECT_EQ(ChosenModel().program->name, "trimtab");
    EXPECT_EQ(choose_model("gpuperf")->program->name, "gpuperf");
    EXPECT_EQ(choose_model("gpupref").error().text(),
              "performance model \"gpupref\" is not known; did you mean \"gpuperf\"?");
    EXPECT_EQ(choose_model("./no.model").error().text(), "./no.model: cannot read the model");
    const auto recalled = recorded_model("mine", "time_ns = 5", "a record");
    ASSERT_TRUE(recalled);
    EXPECT_EQ(recalled->program->name, "mine");
    EXPECT_EQ(recorded_model("mine", "time_ns = ", "a record").error().file, "a record");
}

}  // namespace
}  // namespace trimtab::model
