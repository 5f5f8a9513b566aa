#include "tools/trimtab/flowchart.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "model/performance_model.h"

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

}  // namespace
}  // namespace trimtab::tools
