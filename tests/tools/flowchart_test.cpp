// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/flowchart.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "core/model/performance_model.h"
#include "tools/trimtab/flowchart_pages.h"

namespace trimtab::tools {
namespace {

using model::Metric;
using model::RationalProgram;
using model::RationalProgramBuilder;
using model::Value;
using testing::HasSubstr;
using testing::Not;

// The formula of `make`'s result over inputs a, b and c.
template <typename Make>
std::string formula_of(Make make) {
    RationalProgramBuilder builder("test");
    const Value a = builder.input("a"), b = builder.input("b"), c = builder.input("c");
    const Value result = make(a, b, c);
    const RationalProgram program = std::move(builder).finish(result, a);
    return formula(program, program.time_ns);
}

TEST(Formula, PutsParenthesesWhereTheyAreNeededAndNowhereElse) {
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return a + b * c; }), "a + b * c");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return (a + b) * c; }), "c * (a + b)");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return a - (b - c); }), "a - (b - c)");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return a - b - c; }), "a - b - c");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return a / (b * c); }), "a / (b * c)");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return a / b / c; }), "a / b / c");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return min(a, max(b, c)); }), "min(a, max(b, c))");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return a < b && b <= c; }), "a < b and b <= c");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return (a && b) || c; }), "c or (a and b)");
    EXPECT_EQ(formula_of([](Value a, Value b, Value) { return !(a < b); }), "not (a < b)");
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return select(a < b, b, c); }), "b if a < b else c");
}

TEST(Formula, RefersToNamedNodesByName) {
    EXPECT_EQ(formula_of([](Value a, Value b, Value c) { return (a + b).named("sum", "", "") * c; }),
              "c * sum");
}

RationalProgram small_program() {
    RationalProgramBuilder builder("small");
    const Value x = builder.input("block.x"), one = builder.constant(1, "");
    const Value loads =
        builder.metric(Metric::load_sectors, x, one, one).named("loads", "sectors", "profile");
    const Value cycles = (loads * builder.constant(2, "made up")).named("cycles", "cycles", "equation \"9\"");
    const Value time = select(cycles < builder.constant(100, ""), cycles, loads).named("time", "ns", "");
    const Value unused = (x + one).named("unused", "", "");
    EXPECT_NE(unused.index(), time.index());
    return std::move(builder).finish(time, (builder.constant(1024, "CUDA") < x).named("too large", "", ""));
}

TEST(Flowchart, DrawsNamedNodesDecisionsAndFittedMetrics) {
    const std::string dot = to_dot(small_program(), "a \"title\"", [](Metric metric) {
        return metric == Metric::load_sectors ? std::string("0.125 NK lanes_x") : std::string();
    });
    EXPECT_THAT(dot, HasSubstr("label=\"a \\\"title\\\"\""));
    EXPECT_THAT(dot, HasSubstr("cycles [cycles]"));
    EXPECT_THAT(dot, HasSubstr("= loads * 2"));
    EXPECT_THAT(dot, HasSubstr("equation \\\"9\\\""));
    EXPECT_THAT(dot, HasSubstr("= load_sectors(block.x, 1, 1)"));
    EXPECT_THAT(dot, HasSubstr("0.125 NK lanes_x"));
    EXPECT_THAT(dot, HasSubstr("shape=diamond"));
    EXPECT_THAT(dot, HasSubstr("cycles < 100 ?"));
    EXPECT_THAT(dot, HasSubstr("[label=\"yes\"]"));
    EXPECT_THAT(dot, HasSubstr("[label=\"no\"]"));
    EXPECT_THAT(dot, Not(HasSubstr("unused")));  // no result needs it
}

// Every edge joins two nodes that are drawn.
void check_edges(const std::string& dot) {
    std::set<std::string> drawn;
    const std::regex node(R"(^  ([ndb][0-9]+(?:yes|no)?) \[)"),
        edge(R"(([ndb][0-9]+(?:yes|no)?) -> ([ndb][0-9]+(?:yes|no)?))");
    std::istringstream lines(dot);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_search(line, match, node)) drawn.insert(match[1]);
    }
    for (std::sregex_iterator i(dot.begin(), dot.end(), edge), end; i != end; ++i) {
        EXPECT_TRUE(drawn.contains((*i)[1])) << (*i)[0];
        EXPECT_TRUE(drawn.contains((*i)[2])) << (*i)[0];
    }
    EXPECT_GT(drawn.size(), 3u);
}

TEST(Flowchart, EveryModelsChartIsWhole) {
    check_edges(to_dot(small_program(), "t", {}));
    for (const std::string_view name : model::performance_model_names()) {
        const RationalProgram& program = **model::performance_model(name);
        const std::string dot = to_dot(program, "t", {});
        check_edges(dot);
        std::size_t diamonds = 0, decisions = 0;
        for (std::size_t at = dot.find("shape=diamond"); at != std::string::npos;
             at = dot.find("shape=diamond", at + 1))
            ++diamonds;
        for (const model::Node& n : program.nodes) decisions += n.op == model::Op::select ? 1 : 0;
        EXPECT_EQ(diamonds, decisions);
    }
}

TEST(Flowchart, GraphvizAcceptsIt) {
    if (std::system("dot -V >/dev/null 2>&1") != 0) GTEST_SKIP() << "Graphviz is not installed";
    const std::string path = testing::TempDir() + "trimtab_flowchart_test.dot";
    std::ofstream(path) << to_dot(**model::performance_model(model::default_model), "t", {});
    EXPECT_EQ(std::system(("dot -Tsvg '" + path + "' -o '" + path + ".svg'").c_str()), 0);
    std::ifstream svg(path + ".svg");
    const std::string text{std::istreambuf_iterator<char>(svg), std::istreambuf_iterator<char>()};
    EXPECT_THAT(text, HasSubstr("AMAT"));
    EXPECT_THAT(text, HasSubstr("</svg>"));
    EXPECT_THAT(text, Not(HasSubstr("choice_")));  // every decision of the model has a name of its own
}

// Every box is in one subject, no subject is too large to read, and every link of the page leads somewhere.
TEST(FlowchartPages, FoldEveryModelIntoSubjectsWithLinks) {
    for (const std::string name : {"trimtab", "gpuperf-benefits"}) {
        const RationalProgram& program = **model::performance_model(name);
        const std::vector<Subject> subjects = subjects_of(program);
        EXPECT_GE(subjects.size(), 3) << name;
        EXPECT_EQ(subjects.front().head, program.time_ns);
        std::set<model::NodeIndex> seen;
        for (const Subject& subject : subjects) {
            EXPECT_LE(subject.nodes.size(), 14) << name << " " << subject.head;
            EXPECT_EQ(subject.nodes.back(), subject.head);
            for (const model::NodeIndex node : subject.nodes) EXPECT_TRUE(seen.insert(node).second) << node;
        }
        for (const Subject& subject : subjects)
            for (const model::NodeIndex input : subject.inputs) EXPECT_TRUE(seen.contains(input)) << input;
        std::string charts;
        const auto page = flowchart_pages(
            program, "a <title>", [](Metric metric) { return "fit of " + std::string(model::name(metric)); },
            [&](const std::string& dot) -> std::expected<std::string, Error> {
                charts += dot;
                return "<?xml?><svg>drawn</svg>";
            });
        ASSERT_TRUE(page);
        EXPECT_THAT(*page, HasSubstr("a &lt;title&gt;"));
        EXPECT_THAT(*page, Not(HasSubstr("<?xml")));
        // GPUPerf's benefits read more than its time does.
        for (const model::Metric metric : program.metrics_used())
            EXPECT_TRUE(page->contains("fit of " + std::string(model::name(metric))) || name != "trimtab")
                << model::name(metric);
        const std::regex link(R"re((?:href|URL)="#([^"]*)")re");
        const std::string all = *page + charts;
        std::size_t links = 0;
        for (std::sregex_iterator found(all.begin(), all.end(), link), none; found != none; ++found, ++links)
            EXPECT_THAT(*page, HasSubstr("id=\"" + (*found)[1].str() + "\""));
        EXPECT_GT(links, subjects.size());
    }
    const auto failed = flowchart_pages(small_program(), "t", {},
                                        [](const std::string&) -> std::expected<std::string, Error> {
                                            return std::unexpected(Error{.message = "dot failed"});
                                        });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "dot failed");
}

}  // namespace
}  // namespace trimtab::tools
