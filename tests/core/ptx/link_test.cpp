// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "fixtures.h"

namespace trimtab::ptx {
namespace {

const std::string linked_head = ".version 8.0 .target sm_75 .address_size 64 ";

Module parse_as(const std::string& text, const std::string& origin) {
    auto module = parse(linked_head + text, origin);
    EXPECT_TRUE(module) << (module ? "" : module.error().text());
    return module ? std::move(*module) : Module{};
}

Module link_ok(std::vector<Module> modules) {
    auto linked = link(std::move(modules));
    EXPECT_TRUE(linked) << (linked ? "" : linked.error().text());
    return linked ? std::move(*linked) : Module{};
}

std::string link_error(std::vector<Module> modules) {
    const auto linked = link(std::move(modules));
    EXPECT_FALSE(linked);
    return linked ? "" : linked.error().text();
}

TEST(Link, ResolvesWhatIsExtern) {
    Module a = parse_as(R"(.extern .func (.param .b32 r) f (.param .b32 x); .extern .global .u32 counter;
        .extern .const .f32 never; .visible .entry k() { .reg .b32 %r<2>; .param .b32 x; .param .b32 r;
        call (r), f, (x); ld.global.u32 %r1, [counter]; ret; })",
                        "a.ptx");
    Module b = parse_as(R"(.visible .global .u32 counter = 5;
        .visible .func (.param .b32 r) f (.param .b32 x) { ret; })",
                        "b.ptx");
    b.version = "8.8";
    b.target = "sm_90";
    const Module linked = link_ok({a, b});
    EXPECT_EQ(linked.functions.size(), 2u);
    EXPECT_FALSE(linked.function("f")->body.empty());
    EXPECT_EQ(linked.variable("counter")->initial.at(0), std::byte{5});
    EXPECT_TRUE(linked.variable("never")->is_extern);
    EXPECT_EQ(linked.version, "8.8");
    EXPECT_EQ(linked.target, "sm_90");
    const auto reached = reachable_functions(linked, *linked.function("k"));
    ASSERT_EQ(reached.size(), 2u);
    EXPECT_EQ(reached[1], linked.function("f"));
    // The order of the modules does not matter.
    EXPECT_FALSE(link_ok({b, a}).function("f")->body.empty());
}

TEST(Link, KeepsLocalNamesApart) {
    const std::string text =
        R"(.global .u32 state = %; .func helper() { .reg .b32 r; ld.global.u32 r, [state+4]; ret; }
        .global .u64 table = helper; .global .u64 pointer = generic(state);
        .visible .entry k@() { .reg .b64 d; mov.u64 d, table; call helper; ret; })";
    const auto instance = [&](char value, char name) {
        std::string out = text;
        out[out.find('%')] = value;
        out[out.find('@')] = name;
        return parse_as(out, std::string(1, name) + ".ptx");
    };
    const Module linked = link_ok({instance('1', 'a'), instance('2', 'b')});
    EXPECT_EQ(linked.functions.size(), 4u);
    EXPECT_EQ(linked.variables.size(), 6u);
    for (const char name : {'a', 'b'}) {
        const Function* kernel = linked.function(std::string("k") + name);
        const auto functions = reachable_functions(linked, *kernel);
        ASSERT_EQ(functions.size(), 2u);
        const auto& state_name = functions[1]->body[0].operands[1].text;
        EXPECT_EQ(linked.variable(state_name)->initial.at(0), std::byte(name == 'a' ? 1 : 2));
        const Variable* table = linked.variable(kernel->body[0].operands[1].text);
        EXPECT_EQ(table->relocations.at(0).symbol, functions[1]->name);
    }
}

TEST(Link, MergesWeakAndCommonSymbols) {
    const Module linked = link_ok(
        {parse_as(".weak .func f() { ret; } .common .global .b8 c[4]; .weak .global .u32 w = 1;"
                  ".extern .shared .align 4 .b8 dyn[]; .weak .func g() { ret; }",
                  "a.ptx"),
         parse_as(".visible .func f() { trap; ret; } .common .global .b8 c[12]; .weak .global .u32 w = 2;"
                  ".extern .shared .align 16 .b8 dyn[]; .weak .func g() { trap; }",
                  "b.ptx")});
    EXPECT_EQ(linked.function("f")->body.size(), 2u);                 // the strong one
    EXPECT_EQ(linked.function("g")->body.at(0).opcode, Opcode::ret);  // the first of two weak ones
    EXPECT_EQ(linked.variable("c")->size_bytes, 12u);
    EXPECT_EQ(linked.variable("w")->initial.at(0), std::byte{1});
    EXPECT_EQ(linked.variable("dyn")->alignment_bytes, 16u);
    EXPECT_TRUE(linked.variable("dyn")->is_extern);
    EXPECT_EQ(linked.variables.size(), 3u);
}

TEST(Link, RefusesWhatDoesNotFit) {
    EXPECT_EQ(link_error({}), "there is nothing to link");
    EXPECT_EQ(link_error({parse_as(".visible .func f() { ret; }", "a.ptx"),
                          parse_as("\n.visible .func f() { ret; }", "b.ptx")}),
              "b.ptx:2: 'f' is defined already in a.ptx");
    EXPECT_EQ(link_error({parse_as(".visible .global .u32 v;", "a.ptx"),
                          parse_as(".visible .global .u32 v;", "b.ptx")}),
              "b.ptx:1: 'v' is defined already in a.ptx");
    EXPECT_EQ(link_error({parse_as(".extern .func f(.param .b64 a);", "a.ptx"),
                          parse_as(".visible .func f(.param .b32 a) { ret; }", "b.ptx")}),
              "b.ptx:1: 'f' is declared differently in a.ptx");
    EXPECT_EQ(link_error({parse_as(".extern .global .u32 v;", "a.ptx"),
                          parse_as(".visible .const .u32 v;", "b.ptx")}),
              "b.ptx:1: 'v' is declared differently in a.ptx");
    EXPECT_EQ(link_error({parse_as(".visible .func f() { ret; }", "a.ptx"),
                          parse_as(".visible .global .u32 f;", "b.ptx")}),
              "b.ptx:1: 'f' is a function here and a variable there: see a.ptx");
    Module narrow = parse_as("", "b.ptx");
    narrow.address_bits = 32;
    EXPECT_EQ(link_error({parse_as("", "a.ptx"), narrow}),
              "b.ptx: its addresses have 32 bits, those of a.ptx 64");
}

TEST(Link, NumbersFilesAnew) {
    const Module linked = link_ok(
        {parse_as(".visible .entry a() { .loc 1 10 0 ret; } .file 1 \"a.cu\" .file 2 \"common.h\"", "a.ptx"),
         parse_as(".visible .entry b() { .loc 1 20 0 ret; } .visible .entry c() { .loc 2 30 0 ret; }"
                  ".file 1 \"common.h\" .file 2 \"b.cu\"",
                  "b.ptx")});
    EXPECT_EQ(linked.source_text(linked.function("a")->body[0].location), "a.cu:10");
    EXPECT_EQ(linked.source_text(linked.function("b")->body[0].location), "common.h:20");
    EXPECT_EQ(linked.source_text(linked.function("c")->body[0].location), "b.cu:30");
}

TEST(Reachable, FollowsCallsInOrderAndVariablesThroughAddresses) {
    const Module module = parse_as(
        R"(.global .u32 deep; .global .u64 pointer = generic(deep); .global .u32 unused; .const .u32 c;
        .shared .b8 mine[4];
        .func leaf() { .reg .b32 r; ld.const.u32 r, [c]; ret; } .func second() { ret; }
        .func first() { call leaf; ret; } .func never() { call second; ret; }
        .visible .entry k(.param .u64 c2) { .reg .b64 d; .shared .b8 own[4]; call first; call second; call first; call leaf;
          mov.u64 d, pointer; mov.u64 d, own; ret; })",
        "m.ptx");
    std::vector<std::string> names;
    for (const Function* f : reachable_functions(module, *module.function("k"))) names.push_back(f->name);
    EXPECT_EQ(names, (std::vector<std::string>{"k", "first", "leaf", "second"}));
    names.clear();
    for (const Variable* v : reachable_variables(module, *module.function("k"))) names.push_back(v->name);
    EXPECT_EQ(names, (std::vector<std::string>{"pointer", "c", "deep"}));
}

TEST(Reachable, RecursionEnds) {
    const Module module = parse_as(
        ".func b(); .func a() { call b; ret; } .func b() { call a; ret; } .entry k() { call a; ret; }",
        "m.ptx");
    EXPECT_EQ(reachable_functions(module, *module.function("k")).size(), 3u);
}

}  // namespace
}  // namespace trimtab::ptx
