#include "tools/trimtab/report_html.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tools/trimtab/heat_map.h"
#include "tools/trimtab/report_advice.h"

namespace trimtab::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* gemm =
    R"({"kernel":"gemm<float>","device":"h100","data":{"NI":512,"NJ":256},"written":{"grid":[16,8,1],"block":[32,32,1]},)"
    R"("chosen":{"grid":[8,64,1],"block":[64,4,1]},"predicted_ns":{"written":3000,"chosen":2000},"by":"driver","reason":""})";
constexpr const char* other =
    R"({"kernel":"scan","device":"h100","data":{},"written":{"grid":[4,1,1],"block":[256,1,1]},)"
    R"("chosen":{"grid":[4,1,1],"block":[256,1,1]},"predicted_ns":{"written":0,"chosen":0},"by":"unchanged","reason":"reads shared memory & <barriers>"})";

TEST(ReportPage, HasARowForEveryDifferentLaunch) {
    const std::string page =
        report_page(std::string(gemm) + "\n" + gemm + "\n" + other + "\n", {"./a", "--n", "5"});
    EXPECT_THAT(page, HasSubstr("<code>./a --n 5</code>"));
    EXPECT_THAT(page, HasSubstr("3 launches, 2 different ones."));
    EXPECT_THAT(page,
                HasSubstr("<td>gemm&lt;float&gt;</td><td>h100</td><td>NI = 512, NJ = 256</td>"
                          "<td>16 × 8 × 1 blocks of 32 × 32 × 1</td><td>8 × 64 × 1 blocks of 64 × 4 × 1</td>"
                          "<td class=\"number\">3</td><td class=\"number\">2</td>"
                          "<td class=\"number\">1.50</td><td class=\"number\">2</td>"
                          "<td class=\"number\">0</td><td>driver</td>"));
    EXPECT_THAT(page, HasSubstr("reads shared memory &amp; &lt;barriers&gt;"));
    EXPECT_LT(page.find("gemm"), page.find("scan"));  // as they came
    EXPECT_THAT(page, Not(HasSubstr("http")));        // needs nothing beside it
}

TEST(ReportPage, SumsUpByKernelAndDrawsPredictedTimes) {
    const auto line = [](double time, const char* by, const char* remembered, const char* blocks) {
        return fmt::format(
            R"({{"time":{},"kernel":"_Z4gemmPfi","device":"h100","data":{{"n":64}},"written":{{"grid":[2,1,1],"block":[32,1,1]}},)"
            R"("chosen":{{"grid":[1,1,1],"block":[64,1,1]}},"predicted_ns":{{"written":3000,"chosen":1500}},"by":"{}",)"
            R"("remembered":{},"reason":"predicted fastest"{}}})"
            "\n",
            time, by, remembered, blocks);
    };
    const std::string page =
        report_page(line(1, "driver", "false",
                         R"(,"blocks":[[32,1,1,3000],[64,1,1,1500],[96,1,1,null],[128,1,1,6000]])") +
                        line(2, "remembered", "true", "") + line(3, "remembered", "true", ""),
                    {"./a"});
    EXPECT_THAT(page, HasSubstr("3 launches, 1 different ones."));
    // By kernel: launches, with another block, and the sums.
    EXPECT_THAT(
        page,
        HasSubstr("<td>gemm(float*, int)</td><td class=\"number\">3</td><td class=\"number\">3</td>"
                  "<td class=\"number\">9</td><td class=\"number\">4.5</td><td class=\"number\">2.00</td>"));
    EXPECT_THAT(page, HasSubstr("<td class=\"number\">3</td><td class=\"number\">2</td><td>driver</td>"));
    // Green for the chosen, half way for twice its time, red for four times.
    EXPECT_THAT(page, HasSubstr("<th>32</th><th>64</th><th>128</th>"));
    EXPECT_THAT(page, HasSubstr("class=\"cell written\" style=\"background:hsl(60,70%,72%)\""));
    EXPECT_THAT(
        page,
        HasSubstr(
            "class=\"cell chosen\" style=\"background:hsl(120,70%,72%)\" title=\"64 × 1 × 1: 1.5 µs\""));
    EXPECT_THAT(page, HasSubstr("background:hsl(0,70%,72%)"));
}

TEST(HeatMap, ManySizesShowPowersOfTwoAndTheBlocksOfTheLaunch) {
    std::vector<MappedBlock> blocks;
    for (std::uint32_t y = 1; y <= 32; ++y)
        for (std::uint32_t x = 1; x * y <= 1024; ++x)
            if (x * y % 32 == 0) blocks.push_back({.block = {x, y, 1}, .ns = 100.0 + x});
    const std::string map = heat_map(blocks, {96, 2, 1}, {160, 4, 1});
    for (const char* column : {"<th>96</th>", "<th>160</th>", "<th>1024</th>", "<th>1, 3</th>"})
        EXPECT_THAT(map, HasSubstr(column));
    EXPECT_THAT(map, Not(HasSubstr("<th>224</th>")));
    EXPECT_THAT(map, HasSubstr("cell written"));
    EXPECT_THAT(map, HasSubstr("cell chosen"));
    EXPECT_EQ(heat_map({}, {1, 1, 1}, {1, 1, 1}), "");
}

TEST(ReportPage, OutlivesLinesThatAreDamaged) {
    const std::string page =
        report_page(std::string(gemm) + "\n{\"kernel\":\n[1]\n{}\n{\"data\":5,\"written\":7}", {});
    EXPECT_THAT(page, HasSubstr("3 launches, 3 different ones; 2 lines could not be read."));
    EXPECT_THAT(report_page("", {"./a"}), HasSubstr("0 launches"));
}

TEST(ReportPage, HasAdviceThatNeedsNothingBesideIt) {
    const auto device = model::find_device("rtx2070super");
    ASSERT_TRUE(device);
    emulator::LaunchProfile profile;
    profile.kernel = "reduce<" + std::string(80, 'x') + ">";
    profile.block = {.x = 256, .y = 1, .z = 1};
    profile.grid = {.x = 1000, .y = 1, .z = 1};
    profile.image.registers_per_thread = 20;
    profile.time_ns = profile.total_ns = 1e6;
    profile.counted_blocks = profile.counted_active_blocks = 1000;
    profile.counted_active_warps = 8000;
    using enum model::Metric;
    for (const auto& [metric, value] :
         {std::pair(warp_instructions, 200.0), std::pair(load_requests, 10.0), std::pair(load_sectors, 320.0),
          std::pair(load_lines, 320.0), std::pair(dependent_rounds, 10.0), std::pair(active_lanes, 32.0),
          std::pair(active_warps, 8.0), std::pair(active_blocks, 1000.0),
          std::pair(instruction_parallelism, 2.0), std::pair(footprint_sectors, 320.0)})
        profile.values[static_cast<std::size_t>(metric)] = value;
    emulator::InstructionProfile load;
    load.source = "a<b>.cu:7";
    load.text = "ld.global.f32 %f1, [%rd1]";
    load.kind = emulator::InstructionClass::global_load;
    load.count.warp = load.count.requests = 80000;
    load.count.thread = 32 * 80000;
    load.count.sectors = load.count.lines = 32 * 80000;
    load.count.bytes = 128 * 80000;
    profile.instructions.push_back(load);
    const advice::Advice advice = advice::advise({profile}, *device, {});
    ASSERT_EQ(advice.kernels.size(), 1);
    ASSERT_FALSE(advice.kernels[0].findings.empty());
    EXPECT_EQ(advice.kernels[0].findings[0].rule, "uncoalesced-load");
    const std::string page =
        report_page("", {"./a"}, {.style = advice_style(), .body = advice_sections(advice, *device)});
    EXPECT_THAT(page, HasSubstr("<details class=\"name\"><summary>reduce&lt;xx"));
    EXPECT_THAT(page, HasSubstr("<code>a&lt;b&gt;.cu:7</code> this load moves 32 sectors a request"));
    EXPECT_THAT(page, HasSubstr("<circle class=\"point\""));
    EXPECT_THAT(page, HasSubstr("B_memlp"));
    EXPECT_THAT(page, Not(HasSubstr("http")));
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_THAT(page, Not(HasSubstr("inf\"")));
}

}  // namespace
}  // namespace trimtab::tools
