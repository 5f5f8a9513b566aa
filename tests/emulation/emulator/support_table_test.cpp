// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// docs/ptx-support.md says which instructions run: it is written from this table, each form of which is
// lowered here. TRIMTAB_WRITE_DOCS=1 writes it anew.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/emulation/emulator/fixture.h"
#include "tests/emulation/emulator/instruction_forms.h"

namespace trimtab::emulator::test {
namespace {

// Empty: it runs. Else why not.
std::string refusal(const std::string& instruction) {
    const std::string text = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry test() {
)" + std::string(form_registers) +
                             instruction + ";\nret;\n}";
    auto module = ptx::parse(text, "table");
    if (!module) return module.error().text();
    const auto program = load_program(std::move(*module));
    if (!program) return program.error().text();
    return kernel_info(**program, "test")->error;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
}

std::string table() {
    std::string out =
        "# PTX that the emulator runs\n\n"
        "Written by `tests/emulation/emulator/support_table_test.cpp`, which lowers every form below; "
        "registers are "
        "left\n"
        "out. What is refused is so when the kernel is loaded, with the instruction, its line and its "
        "kernel.\n"
        "A form stands for its relatives: other roundings, comparisons, cache operators, scopes and state "
        "spaces\n"
        "go the same way. `$` stands for each of the types or words beside it.\n";
    std::string group;
    for (const Form& form : instruction_forms()) {
        if (group != form.group) {
            group = form.group;
            out += fmt::format("\n## {}\n\n| instruction | runs | refused |\n| --- | --- | --- |\n", group);
        }
        std::vector<std::string> runs, refused;
        for (const std::string& type : split(form.types)) {
            const bool good = refusal(instantiated(form.text, type)).empty();
            (good ? runs : refused).push_back(type.empty() ? "yes" : type);
        }
        std::string shown = form.text;
        shown = shown.substr(0, shown.find(' '));
        for (std::size_t at = 0; (at = shown.find("$t", at)) != std::string::npos; at++)
            shown.erase(at + 1, 1);
        if (std::string(form.text).starts_with("mov.u") && shown.find('$') == std::string::npos)
            shown += " %$";
        out += fmt::format("| `{}` | {} | {} |\n", shown, joined(runs), joined(refused));
    }
    return out;
}

TEST(SupportTable, IsCurrent) {
    const std::string path = TRIMTAB_SOURCE_FOLDER "/docs/ptx-support.md";
    const std::string now = table();
    if (std::getenv("TRIMTAB_WRITE_DOCS") != nullptr) std::ofstream(path) << now;
    std::stringstream written;
    written << std::ifstream(path).rdbuf();
    EXPECT_EQ(written.str(), now) << "write it anew with TRIMTAB_WRITE_DOCS=1";
}

// What is refused says what and where, whatever it is.
TEST(SupportTable, RefusalsNameTheInstructionAndItsLine) {
    unsigned refused = 0, all = 0;
    for (const Form& form : instruction_forms()) {
        for (const std::string& type : split(form.types)) {
            const std::string instruction = instantiated(form.text, type);
            const std::string why = refusal(instruction);
            all++;
            if (why.empty()) continue;
            refused++;
            EXPECT_NE(why.find("PTX line 6"), std::string::npos) << instruction << ": " << why;
        }
    }
    RecordProperty("forms", static_cast<int>(all));
    RecordProperty("refused", static_cast<int>(refused));
    EXPECT_GT(all, 400u);
}

TEST(SupportTable, OperandsThatAreMissingAreNoticed) {
    unsigned tried = 0;
    for (const Form& form : instruction_forms()) {
        const std::string group = form.group;
        if (group != "Integers" && group != "Bits" && group != "Reals" && group != "Halves" &&
            group != "Comparisons")
            continue;
        for (const std::string& type : split(form.types)) {
            std::string text = instantiated(form.text, type);
            if (!refusal(text).empty()) continue;
            text.resize(text.rfind(", "));
            EXPECT_NE(refusal(text), "") << text;
            tried++;
        }
    }
    EXPECT_GT(tried, 200u);
}

// The operands of an instruction, brackets and braces kept together.
std::vector<std::string> operands_of(const std::string& text) {
    std::vector<std::string> out(1);
    int depth = 0;
    for (const char c : text.substr(std::min(text.find(' '), text.size()))) {
        if (c == '[' || c == '{' || c == '(') depth++;
        if (c == ']' || c == '}' || c == ')') depth--;
        if (c == ',' && depth == 0)
            out.emplace_back();
        else
            out.back() += c;
    }
    return out;
}

// Whatever operands an instruction comes with, it runs or is refused by its line; the sanitizers see the
// rest.
TEST(SupportTable, OperandsOfAnyKindAreTakenOrRefused) {
    const std::string kinds[] = {"%x16_1",           "%x32_1",   "%x64_1", "%p1",    "_",       "7",
                                 "{%x32_1, %x32_2}", "[%x64_7]", "{}",     "%tid.x", "unknown", "",
                                 "0f3F800000"};
    unsigned tried = 0;
    for (const Form& form : instruction_forms()) {
        const std::string text = instantiated(form.text, split(form.types).back());
        const std::string name = text.substr(0, text.find(' '));
        const std::vector<std::string> own = operands_of(text);
        std::vector<std::vector<std::string>> lists = {{}, own};
        lists.back().push_back(own.back());
        for (std::size_t i = 0; i < own.size(); i++) {
            lists.push_back(own);
            lists.back().erase(lists.back().begin() + static_cast<std::ptrdiff_t>(i));
            for (const std::string& kind : kinds) {
                lists.push_back(own);
                lists.back()[i] = " " + kind;
            }
        }
        for (const auto& list : lists) {
            const std::string instruction = fmt::format("{} {}", name, fmt::join(list, ","));
            const std::string why = refusal(instruction);
            EXPECT_TRUE(why.empty() || why.contains(":6") || why.contains("line 6"))
                << instruction << ": " << why;
            tried++;
        }
    }
    EXPECT_GT(tried, 10000u);
}

}  // namespace
}  // namespace trimtab::emulator::test
