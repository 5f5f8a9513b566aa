// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of opcodes against the emulator: every form of instruction runs with each register, the carry
// flag and the stack pointer changed in turn. What an instruction is not said to read changes nothing, and
// what it is not said to write stays as it was.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "core/ptx/instruction_registers.h"
#include "tests/emulation/emulator/fixture.h"
#include "tests/emulation/emulator/instruction_forms.h"

namespace trimtab::emulator::test {
namespace {

using ptx::OpcodeClass;
using ptx::State;

// What a thread has, in a record's order.
struct Place {
    std::string name;
    unsigned bits;  // 1: a predicate
};

std::vector<Place> all_places() {
    std::vector<Place> all;
    for (const auto& [bits, count] : {std::pair(16u, 8), {32u, 16}, {64u, 8}, {128u, 8}}) {
        for (int i = 0; i < count; i++) all.push_back({fmt::format("%x{}_{}", bits, i), bits});
    }
    for (const char* name : {"%p0", "%p1", "carry"}) all.push_back({name, 1});
    all.push_back({"stack", 64});
    return all;
}

struct alignas(16) Word {
    std::uint64_t low = 0, high = 0;
    friend bool operator==(const Word&, const Word&) = default;
};
using Record = std::vector<Word>;  // by place
using Places = std::set<std::size_t>;

class DeclaredStates : public ::testing::Test {
  protected:
    [[nodiscard]] std::size_t place(std::string_view name) const {
        return static_cast<std::size_t>(std::ranges::find(places_, name, &Place::name) - places_.begin());
    }
    [[nodiscard]] std::size_t place(State state) const {
        return place(state == State::carry ? "carry" : "stack");
    }

    [[nodiscard]] std::string kernel(const std::string& instruction) const {
        std::string before, after;
        for (std::size_t i = 0; i < places_.size(); i++) {
            const auto& [name, bits] = places_[i];
            const std::size_t at = sizeof(Word) * i;
            if (name == "carry") {  // set last and asked first
                before += fmt::format("ld.global.u32 %n, [%in+{}]; add.cc.u32 %n, %n, 0xffffffff;\n", at);
                after = fmt::format("addc.u32 %n, 0, 0; st.global.u32 [%out+{}], %n;\n", at) + after;
            } else if (name == "stack") {
                before = fmt::format("ld.global.u64 %at, [%in+{}]; alloca.u64 %at, %at, 16;\n", at) + before;
                after += fmt::format("stacksave.u64 %at; st.global.u64 [%out+{}], %at;\n", at);
            } else if (bits == 1) {
                before += fmt::format("ld.global.u32 %n, [%in+{}]; setp.ne.u32 {}, %n, 0;\n", at, name);
                after += fmt::format("selp.u32 %n, 1, 0, {}; st.global.u32 [%out+{}], %n;\n", name, at);
            } else {
                before += fmt::format("ld.global.b{} {}, [%in+{}];\n", bits, name, at);
                after += fmt::format("st.global.b{} [%out+{}], {};\n", bits, at, name);
            }
        }
        return fmt::format(R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out, .param .u32 by_thread) {{
{}.reg .b32 %n, %t, %by; .reg .b64 %in, %out, %at;
.shared .align 128 .b8 room[{}];
mov.u32 %n, %ctaid.x; mov.u32 %t, %tid.x; ld.param.u32 %by, [by_thread]; mad.lo.u32 %n, %t, %by, %n;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mad.wide.u32 %in, %n, {}, %in; mad.wide.u32 %out, %n, {}, %out;
{}{};
{}ret;
}})",
                           form_registers, room_bytes, sizeof(Word) * places_.size(),
                           sizeof(Word) * places_.size(), before, instruction, after);
    }

    // `lanes` threads for each record, or one after another in one block; nothing where it does not run.
    [[nodiscard]] std::optional<std::vector<Record>> run(Program& program, const std::vector<Record>& records,
                                                         unsigned lanes, bool in_one_block = false) {
        std::vector<Word> in, out(records.size() * places_.size());
        for (const Record& record : records) in.insert(in.end(), record.begin(), record.end());
        for (std::size_t i = 0; i < room_.size(); i++) room_[i] = {i * 29 % 251, i * 31 % 241};
        HostMemory memory;
        memory.add(room_);
        const auto count = static_cast<unsigned>(records.size());
        const Grid grid = in_one_block ? Grid{{1, 1, 1}, {count, 1, 1}} : Grid{{count, 1, 1}, {lanes, 1, 1}};
        if (!try_run(program, memory, "test", grid,
                     Parameters(memory.add(in), memory.add(out), in_one_block ? 1u : 0u)))
            return std::nullopt;
        std::vector<Record> results;
        for (std::size_t i = 0; i < records.size(); i++)
            results.emplace_back(out.begin() + static_cast<std::ptrdiff_t>(i * places_.size()),
                                 out.begin() + static_cast<std::ptrdiff_t>((i + 1) * places_.size()));
        return results;
    }

    [[nodiscard]] Record plain_record() {
        Record record(places_.size());
        for (std::size_t i = 0; i < places_.size(); i++) {
            const unsigned bits = places_[i].bits;
            record[i].low = bits == 1 ? i % 2 : bits == 16 ? 0x3c00 + 17 * i : 8 * (i % 16 + 1);
        }
        record[place("%x64_7")].low = reinterpret_cast<std::uint64_t>(room_.data());
        record[place("%x32_15")].low = room_bytes / 2;
        record[place("stack")].low = 64;
        return record;
    }
    void change(Record& record, std::size_t i) const {
        if (places_[i].bits == 1)
            record[i].low ^= 1;
        else
            record[i].low += 64;
        if (places_[i].bits == 128) record[i].high ^= 0x5555;
    }

    void check(const std::string& text, const std::string& guard);

    static constexpr unsigned room_bytes = 8192;
    const std::vector<Place> places_ = all_places();
    std::vector<Word> room_ = std::vector<Word>(room_bytes / sizeof(Word));
    std::shared_ptr<Program> nothing_ = load(kernel(""));
    unsigned checked_ = 0;
};

void DeclaredStates::check(const std::string& text, const std::string& guard) {
    auto module = ptx::parse(kernel(guard + text), "form.ptx");
    ASSERT_TRUE(module) << module.error().text();
    const auto& body = module->functions.at(0).body;
    const auto behind = std::ranges::find_if(body, [](const auto& one) {
        return one.mnemonic == "addc.u32" && one.operands.size() == 3 &&
               one.operands[1].kind == ptx::Operand::Kind::immediate;
    });
    ASSERT_NE(behind, body.end());
    const ptx::Instruction instruction = *(behind - 1);
    const OpcodeClass own = ptx::info(instruction.opcode).opcode_class;
    if (own == OpcodeClass::control || own == OpcodeClass::trap)
        return;  // nothing is seen of the thread after it
    const auto& registers = module->functions.at(0).registers;
    Places reads, writes;
    visit_reads(instruction, [&](ptx::RegisterIndex reg) { reads.insert(place(registers[reg].name)); });
    visit_writes(instruction, [&](ptx::RegisterIndex reg) { writes.insert(place(registers[reg].name)); });
    for (const State state : {State::carry, State::stack}) {
        if (ptx::reads(instruction, state)) reads.insert(place(state));
        if (ptx::writes(instruction, state)) writes.insert(place(state));
    }
    const bool is_special = std::ranges::any_of(instruction.operands, [](const ptx::Operand& operand) {
        return operand.kind == ptx::Operand::Kind::special;
    });

    Record plain = plain_record();
    const bool is_collective = own == OpcodeClass::warp || text.starts_with("bar.warp");
    // Whoever exchanges does so with all.
    if (is_collective && instruction.modifiers.sync && !instruction.operands.empty() &&
        instruction.operands.back().kind == ptx::Operand::Kind::reg)
        plain[place(registers[instruction.operands.back().reg].name)].low = 0xffffffffu;
    std::vector<Record> records = {plain};
    for (std::size_t i = 0; i < places_.size(); i++) {
        if (reads.contains(i) || (!guard.empty() && writes.contains(i))) continue;
        records.push_back(plain);
        change(records.back(), i);
    }
    const auto program = load_program(std::move(*module));
    if (!program || !kernel_info(**program, "test")->error.empty()) return;  // the support table says so
    const unsigned lanes = is_collective ? 32 : 1;
    const bool may_write = own != OpcodeClass::pure && own != OpcodeClass::load && own != OpcodeClass::hint;
    std::vector<Record> results;
    if (may_write) {
        std::vector<Word> first_room;
        for (const Record& record : records) {
            const auto one = run(**program, {record}, lanes);
            if (!one) break;
            results.push_back(one->front());
            if (first_room.empty()) first_room = room_;
            EXPECT_EQ(room_, first_room) << guard << text << " writes by what it does not read";
        }
    } else if (auto all = run(**program, records, lanes)) {
        results = std::move(*all);
        for (std::size_t i = 0; i < room_.size(); i++)
            ASSERT_EQ(room_[i], (Word{i * 29 % 251, i * 31 % 241})) << guard << text << " writes memory";
    }
    // Some want another thread at a barrier, or an object to be made first.
    if (results.size() != records.size()) {
        EXPECT_TRUE(own == OpcodeClass::barrier || own == OpcodeClass::copy || own == OpcodeClass::texture ||
                    own == OpcodeClass::image_query || own == OpcodeClass::surface_load ||
                    own == OpcodeClass::surface_store || instruction.opcode == ptx::Opcode::wmma)
            << guard << text << " does not run";
        return;
    }
    checked_++;
    const auto untouched = run(*nothing_, records, 1);
    ASSERT_TRUE(untouched);
    for (std::size_t r = 0; r < records.size(); r++) {
        for (std::size_t i = 0; i < places_.size(); i++) {
            if (!writes.contains(i)) {
                EXPECT_EQ(results[r][i], (*untouched)[r][i])
                    << guard << text << " changes " << places_[i].name;
            } else if (!is_special) {
                EXPECT_EQ(results[r][i], results[0][i])
                    << guard << text << ": " << places_[i].name << " depends on what is not read";
            }
        }
    }
    if (!is_elementwise(instruction) || is_special || !guard.empty()) return;
    // Lanes with other values beside it change nothing.
    const auto together = run(**program, records, 1, true);
    ASSERT_TRUE(together) << text;
    for (std::size_t r = 0; r < records.size(); r++) {
        for (const std::size_t i : writes) EXPECT_EQ((*together)[r][i], results[r][i]) << text;
    }
}

// Every form is a kernel of its own, some thousands. Where all kernels are compiled before they run, each takes LLVM a
// sixth of a second, eleven minutes in all: then one in 16 is checked, with each guard in turn.
TEST_F(DeclaredStates, AreThoseThatTheEmulatorReadsAndWrites) {
    const char* mode = std::getenv("TRIMTAB_EMULATOR");
    const unsigned one_in = mode != nullptr && std::string_view(mode) == "compiled" ? 16 : 1;
    unsigned number = 0;
    for (const Form& form : instruction_forms()) {
        for (const std::string& type : split(form.types)) {
            const std::string text = instantiated(form.text, type);
            for (const char* guard : {"", "@%p0 ", "@!%p0 "})
                if (number++ % one_in == 0) check(text, guard);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
    EXPECT_GT(checked_, 1000u / one_in);
}

}  // namespace
}  // namespace trimtab::emulator::test
