// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/report_html.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/trimtab/charts.h"
#include "tools/trimtab/heat_map.h"
#include "tools/trimtab/page_scripts.h"
#include "tools/trimtab/report_advice.h"
#include "tools/trimtab/source_text.h"

namespace trimtab::tools {
namespace {

using Json = nlohmann::ordered_json;
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
    EXPECT_THAT(page, HasSubstr("3 launches, 2 different."));
    EXPECT_THAT(page,
                HasSubstr("<td>gemm&lt;float&gt;</td><td>h100</td><td>NI = 512, NJ = 256</td>"
                          "<td>16 × 8 × 1 blocks of 32 × 32 × 1</td><td>8 × 64 × 1 blocks of 64 × 4 × 1</td>"
                          "<td class=\"number\">3.0</td><td class=\"number\">2.0</td>"
                          "<td class=\"number\">1.50</td><td class=\"number\">2</td>"
                          "<td class=\"number\">0</td><td>driver</td>"));
    EXPECT_THAT(page, HasSubstr("reads shared memory &amp; &lt;barriers&gt;"));
    EXPECT_LT(page.find("gemm"), page.find("scan"));  // as they came
    EXPECT_THAT(page, Not(HasSubstr("http")));        // needs nothing beside it
    EXPECT_THAT(page, Not(HasSubstr("<script")));     // nor what draws charts, without any
    EXPECT_THAT(page, HasSubstr("<title>a on h100</title>"));
    EXPECT_THAT(page, HasSubstr("<h1>a on h100</h1>\n<p class=\"lead\">Trimtab changed the block of 2 of 3 "
                                "launches: 4.0 &micro;s instead of 6.0 &micro;s, 1.50&times; as fast; "
                                "modelled, not measured.</p>"));
    AdviceParts as_written;
    as_written.ran_as_written = true;
    const std::string observed =
        report_page(std::string(gemm) + "\n" + gemm + "\n" + other, {"./a"}, as_written);
    EXPECT_THAT(observed, HasSubstr("Trimtab would change the block of 2 of 3 launches: 4.0 &micro;s"));
    // Every column is explained.
    for (std::size_t at = page.find("<th"); at != std::string::npos; at = page.find("<th", at + 1))
        EXPECT_EQ(page.substr(at, 11), "<th title=\"") << page.substr(at, 60);
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
    EXPECT_THAT(page, HasSubstr("3 launches, 1 different."));
    // By kernel: launches, with another block, and the sums.
    EXPECT_THAT(
        page,
        HasSubstr(
            "<td>gemm(float*, int)</td><td class=\"number\">3</td><td class=\"number\">3</td>"
            "<td class=\"number\">9.0</td><td class=\"number\">4.5</td><td class=\"number\">2.00</td>"));
    EXPECT_THAT(page, HasSubstr("<td class=\"number\">3</td><td class=\"number\">2</td><td>driver</td>"));
    EXPECT_THAT(page, HasSubstr("<h3>gemm(float*, int) on h100: n = 64</h3>"));
    EXPECT_THAT(page, HasSubstr("<figure data-chart=\"threads\""));
    EXPECT_THAT(
        page,
        HasSubstr("Least: 64 × 1 × 1: 1.5 &micro;s; most: 128 × 1 × 1: 6.0 &micro;s; as written: 32 × 1 × "
                  "1: 3.0 &micro;s; chosen: 64 × 1 × 1: 1.5 &micro;s."));
    for (const std::string_view part : {page::vega, page::vega_lite, page::draw, page::chart_specs})
        EXPECT_TRUE(page.contains(part));
}

// The data sets of the page's only chart of a kind.
Json data_of(const std::string& page, const std::string& chart) {
    const std::string opening = "<figure data-chart=\"" + chart + "\"";
    const std::size_t figure = page.find(opening);
    EXPECT_NE(figure, std::string::npos) << chart;
    EXPECT_EQ(page.find(opening, figure + 1), std::string::npos) << chart;
    if (figure == std::string::npos) return {};
    const std::size_t from = page.find("json\">", figure) + 6;
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(HeatMap, HasEveryBlock) {
    std::vector<MappedBlock> blocks;
    for (std::uint32_t y = 1; y <= 1024; ++y)
        for (std::uint32_t x = 1; x * y <= 1024; ++x) blocks.push_back({.block = {x, y, 1}, .ns = 100.0 + x});
    const Json data = data_of(heat_map(blocks, {96, 2, 1}, {160, 4, 1}), "blocks");
    EXPECT_EQ(data["blocks"].size(), blocks.size());
    ASSERT_EQ(data["marks"].size(), 2);
    EXPECT_EQ(data["marks"][0]["is"], "as written");
    EXPECT_EQ(data["marks"][1]["block"], "160 × 4 × 1");
    EXPECT_EQ(data["depths"].size(), 1);
    EXPECT_EQ(heat_map({}, {1, 1, 1}, {1, 1, 1}), "");
}

TEST(HeatMap, HasNoGapsBetweenTheLegalWidthsOfARow) {
    const std::vector<MappedBlock> blocks{
        {{32, 1, 1}, 5}, {{64, 1, 1}, 4}, {{16, 2, 1}, 3}, {{32, 2, 1}, 2}, {{48, 2, 1}, 1}};
    const Json cells = data_of(heat_map(blocks, {32, 1, 1}, {32, 1, 1}), "blocks")["blocks"];
    ASSERT_EQ(cells.size(), 5);
    for (std::size_t i = 1; i < cells.size(); ++i)
        if (cells[i]["y1"] == cells[i - 1]["y1"]) {
            EXPECT_EQ(cells[i]["x1"], cells[i - 1]["x2"]) << i;
        }
    for (const Json& cell : cells) EXPECT_GT(cell["x1"].get<double>(), 0);
}

TEST(HeatMap, ShowsOneDepthAtATimeTheChosenOnesFirst) {
    const std::vector<MappedBlock> blocks{{{32, 1, 1}, 5}, {{16, 2, 2}, 4}, {{8, 2, 4}, 3}};
    const Json data = data_of(heat_map(blocks, {32, 1, 1}, {16, 2, 2}), "blocks");
    ASSERT_EQ(data["depths"].size(), 3);
    EXPECT_EQ(data["depths"][0]["z"], 2);
}

TEST(Charts, NamesAreShortAndToldApart) {
    const std::vector<std::string> names =
        short_names({"void scan<int, (Op)3>(int*, int)", "gemm(float*)", "gemm(double*)",
                     "void thrust::detail::kernel_agent<cub::DeviceReduce<float>, 256>(float*)",
                     "(anonymous namespace)::f(int)"});
    EXPECT_EQ(names[0], "scan<int, (Op)3>");
    EXPECT_EQ(names[1], "gemm");
    EXPECT_EQ(names[2], "gemm #2");
    EXPECT_THAT(names[3], HasSubstr("…"));
    EXPECT_LE(names[3].size(), 40);
    EXPECT_EQ(names[4], "(anonymous namespace)::f");
}

TEST(SourceText, IsTheLineWithoutItsIndentation) {
    const std::string path = testing::TempDir() + "source_text.cu";
    std::ofstream(path) << "first\n    second();  \r\n";
    SourceText sources;
    EXPECT_EQ(sources.at(path + ":1"), "first");
    EXPECT_EQ(sources.at(path + ":2"), "second();");
    for (const std::string& place :
         {path + ":3", path + ":0", path + ":-1", std::string("nowhere.cu:1"), path})
        EXPECT_EQ(sources.at(place), "") << place;
    EXPECT_EQ(sources.at("/dev/zero:1"), "");
}

TEST(ReportPage, OutlivesLinesThatAreDamaged) {
    const std::string page =
        report_page(std::string(gemm) + "\n{\"kernel\":\n[1]\n{}\n{\"data\":5,\"written\":7}", {});
    EXPECT_THAT(page, HasSubstr("3 launches, 3 different; 2 lines could not be read."));
    EXPECT_THAT(report_page("", {"./a"}), HasSubstr("0 launches"));
}

TEST(ReportPage, HasAdviceThatNeedsNothingBesideIt) {
    const auto device = model::find_device("rtx2070super");
    ASSERT_TRUE(device);
    emulator::LaunchProfile profile;
    profile.kernel = "reduce<" + std::string(80, 'x') + "></script>";
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
    std::string page = report_page(
        "", {"./a"},
        {.style = advice_style(), .body = advice_sections(advice, *device), .device = device->name});
    EXPECT_THAT(page, HasSubstr("<h1>a on " + device->name + "</h1>"));
    EXPECT_THAT(page, HasSubstr("<li><a href=\"#rule-uncoalesced-load\"><b>uncoalesced loads</b></a>"));
    EXPECT_THAT(page, HasSubstr("<dt id=\"rule-uncoalesced-load\">"));
    EXPECT_THAT(page, HasSubstr("<details class=\"name\"><summary>reduce&lt;xx"));
    EXPECT_THAT(page, HasSubstr("<code>a&lt;b&gt;.cu:7</code> this load moves 32 sectors per request"));
    // Every chart has its data.
    const Json roofline = data_of(page, "roofline");
    ASSERT_EQ(roofline["points"].size(), 2);
    EXPECT_EQ(roofline["points"][1]["level"], "L2");
    EXPECT_NEAR(roofline["points"][1]["x"].get<double>(),
                32.0 * 200 * 8000 / advice.kernels[0].rooflines.of("l2").work, 1e-9);
    EXPECT_NEAR(roofline["points"][0]["y"].get<double>(), 32 * 200 * 8000 / 1e-3, 1);
    EXPECT_EQ(data_of(page, "gains")["gains"][0]["title"], "uncoalesced loads");
    EXPECT_EQ(data_of(page, "kernels")["kernels"].size(), 1);
    EXPECT_EQ(data_of(page, "strip")["lines"][0]["from"], 6.5);
    EXPECT_EQ(data_of(page, "occupancy")["occupancy"].size(), 32);
    EXPECT_GT(data_of(page, "resources")["resources"].size(), 1);
    double parts = 0;
    const Json benefits = data_of(page, "benefits");
    for (const Json& part : benefits["parts"]) parts += part["us"].get<double>();
    const Json costs = data_of(page, "costs")["costs"][0];
    const auto term = [&](const char* name) { return costs[name].get<double>(); };
    EXPECT_NEAR(parts, term("T_comp") + std::max(0.0, term("T_mem") - term("T_overlap")), 1e-6);
    // A name that looks like markup ends no element.
    EXPECT_THAT(page, Not(HasSubstr("x></script>")));
    page.resize(page.find("chart-specs"));  // the libraries have words of their own
    for (const char* beside : {"src=", "<link", "http"}) EXPECT_THAT(page, Not(HasSubstr(beside)));
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_THAT(page, Not(HasSubstr("inf\"")));
}

}  // namespace
}  // namespace trimtab::tools
