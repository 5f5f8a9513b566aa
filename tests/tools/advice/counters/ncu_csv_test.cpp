// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of `ncu --csv`: values and places worked by hand, and what is no such file.
#include "tools/advice/counters/ncu_csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/read_text.h"
#include "tools/advice/counters/counted_device.h"
#include "tools/advice/counters/measured_advice.h"
#include "tools/advice/counters/names.h"
#include "tools/advice/counters/ncu_fields.h"
#include "tools/advice/report.h"

namespace trimtab::advice {
namespace {

std::string text_of_file(const std::string& name) {
    return base::read_text(TRIMTAB_SOURCE_DIR "/tests/tools/advice/counters/" + name).value();
}

std::vector<CountedLaunch> launches_in(const std::string& name) {
    auto read = read_ncu_csv(text_of_file(name), name);
    EXPECT_TRUE(read) << read.error().text();
    return read.value_or(std::vector<CountedLaunch>{});
}

std::string error_of(const std::string& text) {
    const auto read = read_ncu_csv(text, "a.csv");
    return read ? "no error" : read.error().text();
}

TEST(Units, AreScaledAsNsightComputeScales) {
    const auto factor = [](std::string_view text) { return parse_unit(text).value().factor; };
    const auto dimension = [](std::string_view text) { return parse_unit(text).value().dimension; };
    EXPECT_DOUBLE_EQ(factor("usecond"), 1e-6);
    EXPECT_DOUBLE_EQ(factor("ms"), 1e-3);
    EXPECT_DOUBLE_EQ(factor("nsecond"), 1e-9);
    EXPECT_DOUBLE_EQ(factor("second"), 1);
    EXPECT_DOUBLE_EQ(factor("Kbyte/block"), 1e3);
    EXPECT_EQ(dimension("Kbyte/block"), Dimension::bytes);
    EXPECT_DOUBLE_EQ(factor("Gbyte/second"), 1e9);
    EXPECT_DOUBLE_EQ(factor("byte/nsecond"), 1e9);
    EXPECT_EQ(dimension("Tbyte/s"), Dimension::bytes_per_second);
    EXPECT_DOUBLE_EQ(factor("cycle/nsecond"), 1e9);
    EXPECT_EQ(dimension("Mhz"), Dimension::hertz);
    EXPECT_EQ(dimension("%"), Dimension::percent);
    for (const char* count : {"", "inst", "sector/request", "register/thread", "inst/cycle", "block", "SM"})
        EXPECT_EQ(dimension(count), Dimension::count) << count;
    for (const char* wrong : {"us?", "second/byte", "1", "byte/7"}) EXPECT_FALSE(parse_unit(wrong)) << wrong;
}

TEST(Fields, AreReadAsNsightComputeWritesThem) {
    EXPECT_EQ(ncu_number("1,234,567.5"), 1234567.5);
    EXPECT_EQ(ncu_number("0"), 0);
    EXPECT_EQ(ncu_number("7 (3; 4)"), 7);
    for (const char* none : {"", "n/a", "nan", "(!) n/a"}) EXPECT_EQ(ncu_number(none), std::nullopt) << none;
    for (const char* wrong : {"1,23", "12x", "-1", "1e999", "inf", ",1"})
        EXPECT_FALSE(ncu_number(wrong)) << wrong;
    const trimtab_dim3 size = ncu_size("(32, 8, 2)").value();
    EXPECT_EQ((std::array{size.x, size.y, size.z}), (std::array{32u, 8u, 2u}));
    EXPECT_EQ(ncu_size("256").value().x, 256u);
    for (const char* wrong : {"", "()", "(0, 1, 1)", "(1, 2", "(1, 2, 3, 4)", "32 8", "(99999999999, 1, 1)"})
        EXPECT_FALSE(ncu_size(wrong)) << wrong;
    EXPECT_EQ(ncu_capability("12.0"), 120u);
    for (const char* wrong : {"", "7", "7.", "7.55", "x.y"}) EXPECT_FALSE(ncu_capability(wrong)) << wrong;
}

TEST(RawPage, HasEachLaunchsMetricsInSi) {
    const auto launches = launches_in("raw.csv");
    ASSERT_EQ(launches.size(), 3u);
    const CountedLaunch& first = launches.front();
    EXPECT_EQ(first.kernel, "row_sums(const float *, float *, int, int)");
    EXPECT_EQ(first.device, "NVIDIA GeForce RTX 2070 SUPER");
    EXPECT_EQ(first.compute_capability, 75u);
    EXPECT_EQ(first.grid.x, 256u);
    EXPECT_EQ(first.block.x, 256u);
    EXPECT_DOUBLE_EQ(first.values.at("gpu__time_duration.sum"), 3.1895e-3);
    EXPECT_DOUBLE_EQ(first.values.at("dram__bytes_read.sum"), 1.1995e9);
    EXPECT_DOUBLE_EQ(first.values.at("dram__bytes_write.sum"), 5e5);
    EXPECT_DOUBLE_EQ(first.values.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 67108864);
    EXPECT_DOUBLE_EQ(first.values.at("launch__registers_per_thread"), 24);
    EXPECT_DOUBLE_EQ(launches[1].values.at("launch__shared_mem_per_block_static"), 4096);
    EXPECT_EQ(launches[1].block.y, 32u);
    EXPECT_EQ(counted_device(first, "raw.csv").value().slug, "rtx2070super");
}

TEST(DetailsPage, HasTheSameLaunchByLabels) {
    const auto launches = launches_in("details.csv");
    ASSERT_EQ(launches.size(), 1u);
    const auto& values = launches.front().values;
    EXPECT_DOUBLE_EQ(values.at("gpu__time_duration.sum"), 3.19e-3);
    // Two figures of one label, told apart by their units.
    EXPECT_DOUBLE_EQ(values.at("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"), 84);
    EXPECT_DOUBLE_EQ(values.at("dram__bytes.sum.per_second"), 376.23e9);
    EXPECT_DOUBLE_EQ(values.at("gpc__cycles_elapsed.max"), 5645415);
    EXPECT_DOUBLE_EQ(values.at("gpc__cycles_elapsed.avg.per_second"), 1.77e9);
    EXPECT_DOUBLE_EQ(values.at("sm__warps_active.avg.pct_of_peak_sustained_active"), 93.75);
    EXPECT_DOUBLE_EQ(values.at("launch__occupancy_limit_registers"), 10);
    // It names no GPU; T4 has its compute capability and its SMs, too, but not 376.23 GB/s that are 84 % of the peak.
    EXPECT_EQ(counted_device(launches.front(), "details.csv").value().slug, "rtx2070super");
}

TEST(CountedDevice, IsNotGuessed) {
    CountedLaunch launch;
    EXPECT_NE(counted_device(launch, "a.csv").error().text().find("a.csv: does not say which GPU"),
              std::string::npos);
    launch.compute_capability = 75;
    const std::string several = counted_device(launch, "a.csv").error().text();
    for (const char* slug : {"rtx2070super", "rtx2080ti", "t4", "--device"})
        EXPECT_NE(several.find(slug), std::string::npos) << several;
    launch.values["launch__sm_count"] = 40;
    const std::string two = counted_device(launch, "a.csv").error().text();
    EXPECT_NE(two.find("as of rtx2070super, t4"), std::string::npos) << two;
    launch.compute_capability = 103;
    EXPECT_NE(
        counted_device(launch, "a.csv").error().text().find("10.3 with 40 SMs, which no description is of"),
        std::string::npos);
    launch.device = "H100";
    EXPECT_EQ(counted_device(launch, "a.csv").value().slug, "h100");
}

constexpr const char* head =
    "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"CC\",\"gpu__time_duration.sum\"\n";
constexpr const char* units = "\"\",\"\",\"\",\"\",\"\",\"usecond\"\n";

TEST(BadFiles, AreNamedWithLineAndColumn) {
    const std::string raw = std::string(head) + units;
    EXPECT_EQ(error_of(""), "a.csv: no line begins with \"ID\", as the header of `ncu --csv` does");
    EXPECT_EQ(error_of("==PROF== nothing\n"),
              "a.csv: no line begins with \"ID\", as the header of `ncu --csv` does");
    EXPECT_EQ(error_of(head),
              "a.csv:1:1: a raw page has a line of units, as many as columns, after its header");
    EXPECT_EQ(error_of(raw), "a.csv:1:1: the header is followed by no launch");
    EXPECT_EQ(error_of("PASS\n" + raw + "\"0\",\"k\",\"(1, 1, 1)\"\n"),
              "a.csv:4:1: 3 fields, where the header has 6");
    EXPECT_EQ(error_of(raw + "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"7.5\",\"1,23\"\n"),
              "a.csv:3:39: '1,23' is no number that a counter can have");
    EXPECT_EQ(error_of(raw + "\"0\",\"k\",\"(x, 1, 1)\",\"(1, 1, 1)\",\"7.5\",\"1\"\n"),
              "a.csv:3:9: '(x, 1, 1)' is no size, as (256, 1, 1) is");
    EXPECT_EQ(error_of(raw + "\"0\",\"k\",\"(64, 64, 1)\",\"(1, 1, 1)\",\"7.5\",\"1\"\n"),
              "a.csv:3:1: the launch's block is larger than CUDA allows");
    EXPECT_EQ(error_of(raw + "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"seven\",\"1\"\n"),
              "a.csv:3:33: 'seven' is no compute capability, as 7.5 is");
    EXPECT_EQ(error_of(raw + "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"7.5\",\"1\n"),
              "a.csv:3:39: the quote that begins this field has no end");
    EXPECT_EQ(error_of(raw + "\"0\"x,\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"7.5\",\"1\"\n"),
              "a.csv:3:4: a comma or the end of the line must follow a closing quote");
    EXPECT_EQ(error_of(std::string(head) +
                       "\"\",\"\",\"\",\"\",\"\",\"byte\"\n\"0\",\"k\",\"1\",\"1\",\"7.5\",\"1\"\n"),
              "a.csv:2:16: 'gpu__time_duration.sum' is a time, which 'byte' is no unit of");
    EXPECT_EQ(error_of("ID,Kernel Name,Metric Name,Metric Unit\n"),
              "a.csv:1:1: the header has no column 'Metric Value'");
    EXPECT_EQ(error_of("ID,Metric Name\n"), "a.csv:1:1: the header has no column 'Kernel Name'");
    EXPECT_EQ(error_of("ID,Kernel Name,x\n,,\n0,k,1\n"), "a.csv:3:1: the launch has no 'Block Size'");
}

// Without columns of sizes metrics have them, as in older releases.
TEST(RawPage, TakesSizesFromMetrics) {
    const auto read = read_ncu_csv(
        "ID,Kernel "
        "Name,launch__block_dim_x,launch__block_dim_y,launch__block_dim_z,launch__grid_size\r\n,,,,,\r\n"
        "0,k,16,4,2,\"1,000\"\r\n",
        "a.csv");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->front().block.y, 4u);
    EXPECT_EQ(read->front().grid.x, 1000u);
}

// Whatever becomes of a good file: read, or one line that names it; and advice of what was read.
TEST(BadFiles, NeverEndInACrash) {
    std::mt19937 random(20261128);
    const auto below = [&](std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    std::size_t read_count = 0, advised = 0;
    for (const char* name : {"raw.csv", "details.csv"}) {
        const std::string good = text_of_file(name);
        for (int turn = 0; turn < 300; ++turn) {
            std::string text = good;
            if (turn % 3 == 0) text.resize(below(text.size()));
            for (std::size_t i = 0, changes = turn % 3 == 1   ? 1 + below(8)
                                              : turn % 3 == 2 ? 1
                                                              : 0;
                 i < changes; ++i)
                switch (below(4)) {
                    case 0:
                        text[below(text.size())] = static_cast<char>(below(256));
                        break;
                    case 1:
                        text[below(text.size())] = "\",\n0%-."[below(7)];
                        break;
                    case 2:
                        text.erase(below(text.size()), 1 + below(20));
                        break;
                    default:
                        text.insert(below(text.size()), text.substr(below(text.size()), 1 + below(40)));
                        break;
                }
            const auto launches = read_ncu_csv(text, "a.csv");
            if (!launches) {
                const std::string said = launches.error().text();
                EXPECT_TRUE(said.starts_with("a.csv:")) << said;
                EXPECT_EQ(said.find('\n'), std::string::npos) << said;
                continue;
            }
            ++read_count;
            if (turn % 10 != 1) continue;
            ++advised;
            const Advice advice = advise_counted(*launches, *model::find_device("rtx2070super"));
            for (const KernelAdvice& kernel : advice.kernels)
                for (const Finding& finding : kernel.findings) {
                    EXPECT_TRUE(std::isfinite(finding.gain)) << finding.rule;
                    EXPECT_LE(finding.least, finding.gain);
                    EXPECT_GE(finding.most, finding.gain);
                }
            EXPECT_FALSE(to_json(advice).empty());
            EXPECT_FALSE(to_text(advice).empty());
        }
    }
    EXPECT_GT(read_count, 100u);
    EXPECT_GT(advised, 5u);
}

}  // namespace
}  // namespace trimtab::advice
