// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What trimtab suggest makes of what the runtime found.
#include "tools/trimtab/suggestions.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/analysis/annotations/annotation_file.h"

namespace trimtab::tools {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

std::vector<Block> line(const std::vector<std::uint32_t>& sizes) {
    std::vector<Block> blocks;
    for (const std::uint32_t size : sizes) blocks.push_back({size, 1, 1});
    return blocks;
}

TEST(BlockCondition, SaysInFewWordsWhatHeld) {
    EXPECT_EQ(block_condition(line({32, 64, 128, 256, 512, 1024}), line({96, 160})), "ispow2(bx)");
    EXPECT_EQ(block_condition(line({64, 128, 256}), line({32, 96, 512, 1024})),
              "ispow2(bx), bx >= 64, bx <= 256");
    EXPECT_EQ(block_condition(line({32, 64, 96, 128, 1024}), {}), "bx % 32 == 0");
    EXPECT_EQ(block_condition(line({128}), line({256})), "bx == 128");
    // No words say just that.
    EXPECT_EQ(block_condition(line({32, 96, 256}), line({64, 128})), "bx == 32 || bx == 96 || bx == 256");
}

TEST(BlockCondition, KnowsTilesFromRows) {
    EXPECT_EQ(block_condition({{8, 8, 1}, {16, 16, 1}, {32, 32, 1}}, {{8, 4, 1}, {4, 8, 1}, {32, 16, 1}}),
              "ispow2(bx), ispow2(by), bx == by, bx * by >= 64");
    EXPECT_EQ(block_condition({{32, 8, 1}, {64, 8, 1}, {128, 8, 1}}, {{32, 4, 1}, {16, 16, 1}}),
              "ispow2(bx), by == 8, bx * by >= 256");
    EXPECT_EQ(block_condition({{2, 16, 1}, {4, 8, 1}}, {{8, 4, 1}, {1, 32, 1}, {16, 2, 1}, {2, 8, 1}}),
              "ispow2(bx), ispow2(by), bx >= 2, bx <= 4, bx * by >= 32, bx * by <= 32");
}

Json cell(std::uint32_t size, const std::string& found, double ns = 900) {
    Json out = {{"block", {size, 1, 1}}, {"found", found}, {"ns", ns}};
    if (found == "wrong")
        out["why"] = "3 words differ";
    else
        out["watched"] = true;
    return out;
}
Json hypothesis(const std::string& grid, unsigned rank, std::vector<Json> cells,
                const std::string& fallen = "") {
    return {
        {"grid", grid}, {"dynamic_shared", "4 * bx"}, {"rank", rank}, {"fallen", fallen}, {"blocks", cells}};
}
Json kernel(int process, std::vector<Json> hypotheses) {
    return {{"kernel", "_Z3sumPfi"},
            {"object", "app"},
            {"device", "A100"},
            {"parameters", {"out", "n"}},
            {"skipped", ""},
            {"refused", ""},
            {"launches", 3},
            {"kinds", 2},
            {"runs", 40},
            {"changed_bytes", 4096},
            {"written_blocks", {{256, 1, 1}}},
            {"written_ns", 1000.0},
            {"hypotheses", hypotheses},
            {"process", process}};
}
SuggestedFor only(const std::vector<Json>& lines) {
    std::string text;
    for (const Json& one : lines) text += one.dump() + "\n";
    const Suggestions suggestions = read_suggestions(text);
    EXPECT_EQ(suggestions.kernels.size(), 1u);
    return suggestions.kernels.empty() ? SuggestedFor{} : suggestions.kernels.front();
}

TEST(Suggestions, TakeTheGuessThatMostBlocksStand) {
    const auto found =
        only({kernel(1, {hypothesis("as_written", 6, {cell(512, "same")}),
                         hypothesis("ceil(n / bx)", 0, {cell(128, "same"), cell(512, "same", 700)}),
                         hypothesis("ceil(ex / bx)", 5, {cell(128, "same"), cell(512, "same")}),
                         hypothesis("n", 2, {cell(128, "same")}, "it does not describe a launch")})});
    ASSERT_TRUE(found.exact);
    EXPECT_EQ(found.exact->text,
              "block(ispow2(bx), bx >= 128, bx <= 512), grid(ceil(n / bx)), dynamic_shared(4 * bx)");
    EXPECT_EQ(found.exact->best, (Block{512, 1, 1}));
    EXPECT_EQ(found.exact->best_ns, 700);
    EXPECT_FALSE(found.exact->reassociates || found.summed);
}

TEST(Suggestions, FallWithWhatOneRunRefuses) {
    const auto right = hypothesis("ceil(n / bx)", 0, {cell(128, "same"), cell(512, "same")});
    const auto wrong = hypothesis("ceil(n / bx)", 0, {cell(128, "same"), cell(512, "wrong")});
    auto found = only({kernel(1, {right}), kernel(2, {wrong})});
    ASSERT_TRUE(found.exact);
    EXPECT_EQ(found.exact->blocks, line({128}));
    EXPECT_EQ(found.launches, 6u);
    // Of one process the last line holds.
    found = only({kernel(1, {wrong}), kernel(1, {right})});
    EXPECT_EQ(found.exact->blocks, line({128, 512}));
    // A guess that another run has not.
    found = only({kernel(1, {right}), kernel(2, {hypothesis("m", 2, {cell(128, "wrong")})})});
    EXPECT_FALSE(found.exact || found.summed);
    auto racing = kernel(2, {right});
    racing["refused"] = "it has a race";
    racing["launches"] = 0;
    found = only({kernel(1, {right}), racing});
    EXPECT_FALSE(found.exact);
    EXPECT_EQ(found.why_none, "it has a race");
}

TEST(Suggestions, SetWhatRoundsApart) {
    // That 512 came out alike is chance: sums of the same kernel round otherwise with 128.
    const auto found =
        only({kernel(1, {hypothesis("as_written", 6, {cell(128, "rounded"), cell(512, "same")})})});
    EXPECT_FALSE(found.exact);
    ASSERT_TRUE(found.summed);
    EXPECT_TRUE(found.summed->reassociates);
    EXPECT_THAT(found.summed->text, HasSubstr("grid(as_written), dynamic_shared(4 * bx), reassociate"));
    const Suggestions all{.kernels = {found}};
    EXPECT_TRUE(annotation_file(all, false)["kernels"].empty());
    EXPECT_EQ(annotation_file(all, false)["but_for_rounding"].size(), 1u);
    const std::string file = annotation_file(all, true).dump();
    const auto read = analysis::parse_annotation_file(file, "a.json");
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(read->size(), 1u);
    EXPECT_EQ(read->front().kernel, "_Z3sumPfi");
    EXPECT_EQ(read->front().text, found.summed->text);
    EXPECT_EQ(read->front().parameters, (std::vector<std::string>{"out", "n"}));
}

TEST(Suggestions, OfBodiesNameEachWithItsValue) {
    auto other = cell(128, "same", 700);
    other["kernel"] = "_Z3sumPfi$BLOCK$128";
    auto of_bodies = hypothesis("ceil(n / bx)", 0, {other});
    of_bodies["block"] = "bx == variant";
    auto line = kernel(1, {of_bodies});
    line["variants"] = {{"_Z3sumPfi", {{"of", "sum(float*, int)"}, {"value", 256}}},
                        {"_Z3sumPfi$BLOCK$128", {{"of", "sum(float*, int)"}, {"value", 128}}},
                        {"_Z3sumPfi$BLOCK$64", {{"of", "sum(float*, int)"}, {"value", 64}}}};
    const Suggestions all{.kernels = {only({line})}};
    const auto read = analysis::parse_annotation_file(annotation_file(all, false).dump(), "a.json");
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(read->size(), 2u);  // the body of 64 was not tried
    EXPECT_EQ(read->at(0).variant, (analysis::Variant{.of = "sum(float*, int)", .value = 256}));
    EXPECT_EQ(read->at(1).kernel, "_Z3sumPfi$BLOCK$128");
    EXPECT_EQ(read->at(1).text, "block(bx == variant), grid(ceil(n / bx)), dynamic_shared(4 * bx)");
    EXPECT_EQ(read->at(1).variant, (analysis::Variant{.of = "sum(float*, int)", .value = 128}));
    EXPECT_THAT(annotation_file(all, false)["kernels"][1]["demangled"].get<std::string>(),
                HasSubstr("sum(float*, int) [BLOCK=128]"));
    // What needs no other body has no value.
    const Suggestions alone{
        .kernels = {only({kernel(1, {hypothesis("ceil(n / bx)", 0, {cell(64, "same")})})})}};
    EXPECT_FALSE(annotation_file(alone, false)["kernels"][0].contains("variant"));
}

TEST(Suggestions, NeedWatchedBlocks) {
    auto unwatched = cell(128, "same");
    unwatched["watched"] = false;
    const auto found = only({kernel(1, {hypothesis("ceil(n / bx)", 0, {unwatched})})});
    EXPECT_FALSE(found.exact);
    EXPECT_THAT(found.why_none, HasSubstr("too large to watch"));
}

TEST(Suggestions, OfDamagedLinesAreNone) {
    EXPECT_TRUE(read_suggestions("").kernels.empty());
    EXPECT_TRUE(read_suggestions("{\"kernel\": \"_Z1\n[1]\n7\n").kernels.empty());
    auto odd = kernel(1, {});
    odd.erase("hypotheses");
    const auto found = only({odd});
    EXPECT_FALSE(found.exact);
    EXPECT_THAT(found.why_none, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace trimtab::tools
