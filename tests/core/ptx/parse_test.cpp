// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <set>

#include "fixtures.h"

namespace trimtab::ptx {
namespace {

const Function& only_kernel(const Module& module) {
    static const Function none;
    const auto kernels = module.kernels();
    EXPECT_EQ(kernels.size(), 1u);
    return kernels.empty() ? none : *kernels[0];
}

std::string register_name(const Function& f, const Operand& operand) {
    return operand.reg == no_index ? "" : f.registers[operand.reg].name;
}

TEST(Parse, HeaderAndParameters) {
    const Module module = parse_ok(R"(
        // comment
        .version 8.8
        .target sm_90a, debug
        .address_size 64
        .visible .entry k(
            .param .u8 flag, .param .f64 x, .param .align 4 .b8 block[10], .param .u16 h,
            .param .u64 .ptr .global .align 16 p, .param .align 16 .b8 last[16])
        .maxntid 128, 2 .minnctapersm 3 .maxnreg 64
        { ret; }
        .weak .entry other() .reqntid 8, 8, 2 .explicitcluster .reqnctapercluster 2, 4 { ret; })");
    EXPECT_EQ(module.version, "8.8");
    EXPECT_EQ(module.target, "sm_90a");
    EXPECT_EQ(module.target_options, std::vector<std::string>{"debug"});
    ASSERT_EQ(module.functions.size(), 2u);
    const Function& k = module.functions[0];
    EXPECT_TRUE(k.is_entry && k.is_visible && !k.is_weak);
    ASSERT_EQ(k.parameters.size(), 6u);
    // As C lays out {char; double; align(4) char[10]; short; T*; align(16) char[16]}.
    const std::vector<std::uint32_t> offsets = {0, 8, 16, 26, 32, 48};
    for (std::size_t i = 0; i < offsets.size(); ++i) EXPECT_EQ(k.parameters[i].offset_bytes, offsets[i]) << i;
    EXPECT_EQ(k.parameter_bytes(), 64u);
    EXPECT_TRUE(k.parameter("p")->is_pointer);
    EXPECT_EQ(k.parameter("p")->pointer_space, Space::global);
    EXPECT_EQ(k.parameter("block")->size_bytes, 10u);
    EXPECT_TRUE(k.parameter("block")->is_array);
    EXPECT_EQ(k.max_block, (Dim3{128, 2, 1}));
    EXPECT_EQ(k.min_blocks_per_sm, 3u);
    EXPECT_EQ(k.max_registers, 64u);
    EXPECT_FALSE(k.required_block);
    EXPECT_EQ(module.functions[1].required_block, (Dim3{8, 8, 2}));
    EXPECT_TRUE(module.functions[1].requires_cluster && module.functions[1].is_weak);
    EXPECT_EQ(module.functions[1].required_cluster, (Dim3{2, 4, 1}));
    EXPECT_FALSE(k.required_cluster);
    EXPECT_TRUE(k.text.starts_with(".visible .entry k(") && k.text.ends_with("{ ret; }")) << k.text;
}

TEST(Parse, OperandsOfEveryKind) {
    const Module module = kernel_module(R"(
        @!%p1 add.s32 %r1, %r2, -5;
        mov.u32 %r3, %tid.x;
        mov.b64 {%r4, _}, %rd1;
        ld.global.u32 %r5, [%rd2+-4];
        ld.global.u32 %r5, [%rd2+0x10];
        ld.global.u32 %r5, [%rd2-8];
        ld.global.u32 %r5, [table+12];
        ld.shared.u32 %r5, [64];
        mov.u64 %rd3, table+8;
        ld.param.u32 %r6, [n];
        st.global.v2.f32 [%rd1], {%f1, 0f00000000};
        tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, %f6}];
        mov.u32 %r7, %envreg3;
        mov.u64 %rd4, %clock64;
        mov.u32 %r8, WARP_SZ;
        vote.sync.all.pred %p2, !%p1, -1;)");
    const Function& k = only_kernel(module);
    const auto op = [&](std::size_t i, std::size_t o) { return k.body.at(i).operands.at(o); };
    EXPECT_TRUE(k.body[0].guard_negated);
    EXPECT_EQ(k.registers[k.body[0].guard].name, "%p1");
    EXPECT_EQ(op(0, 2).kind, Operand::Kind::immediate);
    EXPECT_EQ(static_cast<std::int64_t>(op(0, 2).bits), -5);
    EXPECT_EQ(op(1, 1).special, SpecialRegister::tid_x);
    EXPECT_EQ(op(1, 1).type, Type::u32);
    ASSERT_EQ(op(2, 0).elements.size(), 2u);
    EXPECT_EQ(register_name(k, op(2, 0).elements[0]), "%r4");
    EXPECT_EQ(op(2, 0).elements[1].kind, Operand::Kind::sink);
    EXPECT_EQ(k.body[2].destination_count, 1u);
    for (const auto& [i, offset] : {std::pair(3, -4), {4, 16}, {5, -8}}) {
        EXPECT_EQ(register_name(k, op(i, 1)), "%rd2");
        EXPECT_EQ(op(i, 1).offset, offset);
    }
    EXPECT_EQ(op(6, 1).text, "table");
    EXPECT_EQ(op(6, 1).offset, 12);
    EXPECT_EQ(op(6, 1).reg, no_index);
    EXPECT_EQ(op(7, 1).bits, 64u);
    EXPECT_EQ(op(7, 1).kind, Operand::Kind::address);
    EXPECT_EQ(op(8, 1).kind, Operand::Kind::symbol);
    EXPECT_EQ(op(8, 1).offset, 8);
    EXPECT_EQ(op(9, 1).text, "n");
    EXPECT_EQ(op(10, 1).elements.at(1).kind, Operand::Kind::immediate);
    EXPECT_EQ(op(11, 1).elements.size(), 2u);
    EXPECT_EQ(register_name(k, op(11, 1)), "%rd1");
    EXPECT_EQ(op(12, 1).special, SpecialRegister::other);
    EXPECT_EQ(op(12, 1).text, "%envreg3");
    EXPECT_EQ(op(13, 1).type, Type::u64);
    EXPECT_EQ(op(14, 1).special, SpecialRegister::warp_size);
    EXPECT_TRUE(op(15, 1).negated);
}

TEST(Parse, ScopesRenameApart) {
    const Module module = kernel_module(R"(
        .reg .pred p;
        { .reg .pred p; .param .b32 arg; setp.eq.s32 p, %r1, 0; @p bra DONE; st.param.b32 [arg], %r1; DONE: }
        { .reg .b32 p; .param .b64 arg; mov.u32 p, 1; @%p1 bra DONE; st.param.b64 [arg+0], %rd1; DONE: }
        @p bra OUT;
        { bra OUT; }
        OUT: ret;)");
    const Function& k = only_kernel(module);
    ASSERT_EQ(k.body.size(), 9u);
    std::set<std::string> names;
    for (const Register& reg : k.registers) EXPECT_TRUE(names.insert(reg.name).second) << reg.name;
    EXPECT_NE(k.body[0].operands[0].reg, k.body[3].operands[0].reg);
    EXPECT_EQ(k.registers[k.body[3].operands[0].reg].type, Type::b32);
    EXPECT_EQ(k.body[1].guard, k.body[0].operands[0].reg);
    EXPECT_NE(k.body[6].guard, k.body[1].guard);  // the outer p
    EXPECT_EQ(k.registers[k.body[6].guard].name, "p");
    // Each bra DONE goes to its own DONE, and the outer label is seen from inside.
    EXPECT_EQ(k.body[1].operands[0].target, 3u);
    EXPECT_EQ(k.body[4].operands[0].target, 6u);
    EXPECT_EQ(k.body[6].operands[0].target, 8u);
    EXPECT_EQ(k.body[7].operands[0].target, 8u);
    EXPECT_EQ(k.labels.size(), 3u);
    // Two parameters of calls, of two names and sizes.
    ASSERT_EQ(k.variables.size(), 2u);
    EXPECT_NE(k.variables[0].name, k.variables[1].name);
    EXPECT_EQ(k.variable(k.body[2].operands[0].text)->size_bytes, 4u);
    EXPECT_EQ(k.variable(k.body[5].operands[0].text)->size_bytes, 8u);
}

TEST(Parse, AVariableOfABodyNeverTakesAModulesName) {
    const Module module =
        kernel_module("{ .shared .b8 table[4]; ld.shared.u8 %rs1, [table]; } ld.global.u8 %rs1, [table];");
    const Function& k = only_kernel(module);
    EXPECT_NE(k.body[0].operands[1].text, "table");
    EXPECT_EQ(k.variable(k.body[0].operands[1].text)->space, Space::shared);
    EXPECT_EQ(k.body[1].operands[1].text, "table");
    EXPECT_EQ(k.variable("table"), nullptr);
}

TEST(Parse, RegisterRangesAndVectors) {
    const Module module = kernel_module(R"(.reg .b32 t<4294967295>, t9x; .reg .v4 .f32 v;
        mov.u32 t17, t4294967294; mov.u32 t9x, 1; mov.f32 v.y, v.w; st.global.v4.f32 [%rd1], v;)");
    const Function& k = only_kernel(module);
    EXPECT_EQ(register_name(k, k.body[0].operands[0]), "t17");
    EXPECT_EQ(register_name(k, k.body[2].operands[0]), "v.y");
    ASSERT_EQ(k.body[3].operands[1].elements.size(), 4u);
    EXPECT_EQ(k.body[3].operands[1].elements[1].reg, k.body[2].operands[0].reg);
    EXPECT_LT(k.registers.size(), 12u);  // a range takes no room
}

TEST(Parse, CallsAndTables) {
    const Module module = parse_ok(R"(.version 8.8 .target sm_80 .address_size 64
        .extern .func (.param .b32 r) ext (.param .b64 a, .param .b64 b);
        .func (.reg .b32 out) old (.reg .b32 in) { add.u32 out, in, 1; ret; }
        .func leaf () { ret; }
        .visible .func stop () .noreturn;
        .visible .func alias_of_leaf (); .alias alias_of_leaf, leaf;
        .entry k () { .reg .b64 %rd<4>; .reg .b32 %r<4>;
          { .param .b64 p0; .param .b64 p1; .param .b32 r0;
            call.uni (r0), ext, (p0, p1); }
          call (%r1), old, (%r2);
          call leaf;
          proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]);
          { .param .b64 p0; .param .align 8 .b8 p1[16]; .param .b32 r0; call (r0), %rd1, (p0, p1), proto; }
          list: .calltargets leaf, stop;
          call %rd2, list;
          targets: .branchtargets A, B, A;
          brx.idx %r3, targets;
          A: call alias_of_leaf;
          B: ret; })");
    const Function& k = only_kernel(module);
    const auto& call = k.body[0];
    EXPECT_EQ(call.destination_count, 1u);
    EXPECT_TRUE(call.modifiers.uniform);
    ASSERT_EQ(call.operands.size(), 4u);
    EXPECT_EQ(call.operands[0].text, "r0");
    EXPECT_EQ(call.operands[1].text, "ext");
    EXPECT_EQ(call.operands[3].text, "p1");
    EXPECT_EQ(k.body[1].operands[0].kind, Operand::Kind::reg);
    EXPECT_EQ(k.body[2].operands.size(), 1u);
    const auto& indirect = k.body[3];
    EXPECT_EQ(indirect.operands[1].kind, Operand::Kind::reg);
    EXPECT_EQ(indirect.operands.back().kind, Operand::Kind::label);
    const CallPrototype& prototype = k.call_prototypes.at(indirect.operands.back().text);
    EXPECT_EQ(prototype.parameters.size(), 2u);
    EXPECT_EQ(prototype.parameters[1].size_bytes, 16u);
    EXPECT_EQ(prototype.parameters[1].offset_bytes, 8u);
    EXPECT_EQ(k.call_targets.at(k.body[4].operands.back().text), (std::vector<std::string>{"leaf", "stop"}));
    EXPECT_EQ(k.branch_targets.at(k.body[5].operands[1].text), (std::vector<std::uint32_t>{6, 7, 6}));
    const Function* alias = module.function("alias_of_leaf");
    ASSERT_NE(alias, nullptr);
    EXPECT_EQ(alias->body.size(), 1u);
    EXPECT_TRUE(module.function("ext")->is_extern && module.function("ext")->body.empty());
    const Function* old = module.function("old");
    EXPECT_EQ(register_name(*old, old->body[0].operands[1]), "in");
    EXPECT_EQ(old->registers.size(), 2u);
}

TEST(Parse, ModuleVariables) {
    const Module module = parse_ok(R"(.version 8.8 .target sm_80 .address_size 64
        .extern .shared .align 16 .b8 dynamic[]; .visible .const .align 8 .f64 c[2];
        .global .attribute(.managed) .align 4 .b8 m[12]; .common .global .u32 shared_name; .weak .global .u32 w = 4;
        .extern .global .u32 later; .visible .global .u32 later = 9;
        .global .texref tex; .global .samplerref smp = { addr_mode_0 = wrap, filter_mode = nearest };)");
    EXPECT_EQ(module.variable("dynamic")->size_bytes, 0u);
    EXPECT_TRUE(module.variable("dynamic")->is_extern && module.variable("dynamic")->is_array);
    EXPECT_EQ(module.variable("dynamic")->alignment_bytes, 16u);
    EXPECT_EQ(module.variable("c")->space, Space::constant);
    EXPECT_EQ(module.variable("c")->size_bytes, 16u);
    EXPECT_TRUE(module.variable("m")->is_managed);
    EXPECT_TRUE(module.variable("shared_name")->is_common);
    EXPECT_TRUE(module.variable("w")->is_weak);
    EXPECT_FALSE(module.variable("later")->is_extern);
    EXPECT_EQ(module.variable("later")->initial.at(0), std::byte{9});
    EXPECT_EQ(module.variable("tex")->type, Type::texref);
    EXPECT_EQ(module.variable("tex")->size_bytes, 0u);
}

TEST(Parse, LocationsAndSections) {
    const Module module = parse_ok(
        ".version 8.8\n.target sm_80\n.address_size 64\n.func g() { ret; }\n.entry k() {\n.reg .b32 %r<4>;\n"
        "mov.u32 %r1, 1;\n.loc 2 17 5\nmov.u32 %r1, 2;\n"
        ".loc\t1 66 27, function_name $L__info_string0, inlined_at 2 18 3 // note\nret;\n}\n"
        ".entry after() { ret; }\n.file 1 \"a%C3%a4%41%.h\"\n.file 2 \"b.cu\", 1234, 99\n"
        ".section .debug_str { $L__info_string0:\n.b8 95,90\n.b8 0\n{ } }\n.section .debug_macinfo { }\n");
    const Function& k = *module.function("k");
    EXPECT_EQ(k.line, 5u);
    EXPECT_EQ(k.body[0].line, 7u);
    EXPECT_EQ(k.body[0].location.line, 0u);
    EXPECT_EQ(module.source_text(k.body[0].location), "");
    EXPECT_EQ(module.source_text(k.body[1].location), "b.cu:17");
    EXPECT_EQ(k.body[1].location.column, 5u);
    EXPECT_EQ(module.source_text(k.body[2].location), "a\xc3\xa4%41%.h:66") << "bytes beyond ASCII alone";
    EXPECT_EQ(module.function("after")->body[0].location.line, 0u);  // a location ends with its function
}

// What the compiler's own headers do is where its user wrote the call, whichever way the compiler says so.
TEST(Parse, InlinedCodeIsWhereItsUserCallsIt) {
    const Module module = parse_ok(
        ".version 8.8\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 %r<4>;\n"
        ".loc 2 10 5, function_name $L__info_string0, inlined_at 1 20 3\nmov.u32 %r1, 1;\n"
        ".loc 3 30 5, function_name $L__info_string0, inlined_at 2 10 5\nmov.u32 %r1, 2;\n"
        ".loc 3 31 5, function_name $L__info_string0, inlined_at 4 40 5\nmov.u32 %r1, 3;\n"
        ".loc 3 32 5, function_name $L__info_string0, inlined_at 3 32 5\nmov.u32 %r1, 4;\n"
        ".loc 4 50 1 // /usr/lib/llvm-22/lib/clang/22/include/x.h:50:1 @[ 3.h:7:1 @[ k.cu:60:9 ] ]\nmov.u32 "
        "%r1, 5;\n"
        ".loc 4 51 1 // x.h:51:1 @[ /usr/include/y.h:7:1 @[ unseen.cu:70:9 ] ]\nmov.u32 %r1, 6;\n"
        ".loc 4 52 1 // x.h:52:1 @[ nothing ]\nmov.u32 %r1, 7;\n"
        ".loc 4 53 1\nmov.u32 %r1, 8;\nret;\n}\n"
        ".file 1 \"/home/u/k.cu\"\n.file 2 \"/usr/local/cuda/include/2.h\"\n.file 3 \"/usr/include/3.h\"\n"
        ".file 4 \"/usr/lib/llvm-22/lib/clang/22/include/x.h\"\n");
    const auto at = [&](std::size_t i) { return module.source_text(module.functions[0].body[i].location); };
    EXPECT_EQ(at(0), "/home/u/k.cu:20");
    EXPECT_EQ(at(1), "/home/u/k.cu:20") << "by two calls";
    EXPECT_EQ(at(2), "/usr/include/3.h:31") << "no call of a user's";
    EXPECT_EQ(at(3), "/usr/include/3.h:32") << "into itself";
    EXPECT_EQ(at(4), "3.h:7") << "another file than that of the toolkit";
    EXPECT_EQ(at(5), "unseen.cu:70");
    EXPECT_EQ(at(6), "/usr/lib/llvm-22/lib/clang/22/include/x.h:52");
    EXPECT_EQ(at(7), "/usr/lib/llvm-22/lib/clang/22/include/x.h:53");
}

TEST(Parse, AnEmptyBodyIsADefinition) {
    const Module module =
        parse_ok(".version 8.8 .target sm_80 .visible .func f(); .entry k() { } .visible .func f() {}");
    ASSERT_EQ(module.functions.size(), 2u);
    EXPECT_EQ(module.function("k")->body.size(), 1u);
    EXPECT_EQ(module.function("k")->body[0].opcode, Opcode::ret);
    EXPECT_FALSE(module.function("f")->is_extern);
}

// What the source says, in whatever PTX a compiler makes of it.
void expect_features(const Module& module) {
    ASSERT_FALSE(module.functions.empty());
    EXPECT_EQ(module.kernels().size(), 8u);
    for (const Function& f : module.functions) {
        for (const Instruction& i : f.body)
            EXPECT_NE(i.opcode, Opcode::unknown) << i.mnemonic << " in " << f.name;
        if (f.body.empty()) continue;
        const auto flow = control_flow(f);
        EXPECT_TRUE(flow) << (flow ? "" : flow.error().text());
    }
    const Function* saxpy = module.function("_Z5saxpyifPKfPf");
    ASSERT_NE(saxpy, nullptr);
    ASSERT_EQ(saxpy->parameters.size(), 4u);
    EXPECT_EQ(saxpy->parameters[1].type, Type::f32);
    EXPECT_EQ(saxpy->parameters[2].offset_bytes, 8u);
    EXPECT_EQ(saxpy->parameter_bytes(), 24u);
    const auto reads = [&](SpecialRegister special) {
        return std::any_of(saxpy->body.begin(), saxpy->body.end(), [&](const Instruction& i) {
            return i.opcode == Opcode::mov && i.operands[1].special == special &&
                   i.operands[1].kind == Operand::Kind::special;
        });
    };
    const bool inlined = module.function("_ZL9atomicAddPii") == nullptr;
    EXPECT_TRUE(!inlined || (reads(SpecialRegister::ctaid_x) && reads(SpecialRegister::ntid_x)));

    const Function* shared = module.function("_Z16shared_and_calls8SettingsPf");
    ASSERT_NE(shared, nullptr);
    EXPECT_EQ(shared->parameters[0].size_bytes, 16u);
    EXPECT_EQ(shared->parameters[0].alignment_bytes, 8u);
    EXPECT_EQ(shared->parameters[1].offset_bytes, 16u);
    EXPECT_EQ(shared->max_block, (Dim3{256, 1, 1}));
    EXPECT_EQ(shared->min_blocks_per_sm, 2u);
    std::uint64_t shared_bytes = 0;
    for (const Variable& v : shared->variables) shared_bytes += v.space == Space::shared ? v.size_bytes : 0;
    for (const Variable& v : module.variables) shared_bytes += v.space == Space::shared ? v.size_bytes : 0;
    EXPECT_EQ(shared_bytes, 1024u);
    const auto barriers = std::count_if(shared->body.begin(), shared->body.end(), [](const Instruction& i) {
        return i.opcode == Opcode::bar || i.opcode == Opcode::barrier;
    });
    EXPECT_EQ(barriers, 2);
    EXPECT_EQ(control_flow(*shared)->loops.size(), shared->body.size() > 110 && inlined ? 2u : 1u);

    const Variable* constants = module.variable("coefficients");
    ASSERT_NE(constants, nullptr);
    EXPECT_EQ(constants->space, Space::constant);
    const std::vector<int> first = {0, 0, 0x80, 0x3f};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(std::to_integer<int>(constants->initial[i]), first[i]);
    const Variable* pointer = module.variable("third_counter");
    ASSERT_EQ(pointer->relocations.size(), 1u);
    EXPECT_EQ(pointer->relocations[0].symbol, "counter");
    EXPECT_EQ(pointer->relocations[0].addend, 4);
    EXPECT_EQ(module.variable("operations")->relocations.size(), 2u);

    const Function* indirect = module.function("_Z8indirectPfi");
    const auto call = std::find_if(indirect->body.begin(), indirect->body.end(), [](const Instruction& i) {
        return i.opcode == Opcode::call && i.operands[i.destination_count].kind == Operand::Kind::reg;
    });
    ASSERT_NE(call, indirect->body.end());
    EXPECT_TRUE(indirect->call_prototypes.contains(call->operands.back().text));

    const Function* warp = module.function("_Z15warp_operationsPi");
    const auto guarded = std::count_if(warp->body.begin(), warp->body.end(), [](const Instruction& i) {
        return i.guard != no_index && i.opcode == Opcode::mov && i.operands[1].kind == Operand::Kind::special;
    });
    EXPECT_EQ(guarded, 2);
}

TEST(ParseCompilers, NvccWithLineInformation) {
    const Module module = parse_ok(read_text(data_path("features_nvcc_lineinfo.ptx")));
    expect_features(module);
    // The line of saxpy's store is the line where the source stores.
    const std::string source = read_text(data_path("features.cu"));
    const auto offset = static_cast<std::ptrdiff_t>(source.find("y[i] = a * x[i]"));
    const auto line = std::count(source.begin(), source.begin() + offset, '\n') + 1;
    const Function* saxpy = module.function("_Z5saxpyifPKfPf");
    const auto store = std::find_if(saxpy->body.begin(), saxpy->body.end(),
                                    [](const Instruction& i) { return i.opcode == Opcode::st; });
    ASSERT_NE(store, saxpy->body.end());
    EXPECT_TRUE(module.source_text(store->location).ends_with("features.cu:" + std::to_string(line)));
}

TEST(ParseCompilers, NvccForDebugging) {
    const Module module = parse_ok(read_text(data_path("features_nvcc_debug.ptx")));
    EXPECT_EQ(module.kernels().size(), 8u);
    EXPECT_EQ(module.target_options, std::vector<std::string>{"debug"});
    EXPECT_EQ(module.function("_Z5saxpyifPKfPf")->parameter_bytes(), 24u);
    EXPECT_EQ(module.files.at(1), "/tmp/features/features.cu");
}

TEST(ParseCompilers, ClangAtEveryLevel) {
    const TemporaryDirectory scratch;
    for (const std::string_view flags :
         {"-O0", "-O1", "-O2 -gline-tables-only", "-O3 -g", "-O2 --cuda-gpu-arch=sm_90"}) {
        SCOPED_TRACE(flags);
        const std::string arch = flags.contains("gpu-arch") ? "" : " --cuda-gpu-arch=sm_75";
        const std::string out = scratch.path("features.ptx");
        const CommandResult compiled = run_command(clang(
            std::string(flags) + arch + " --cuda-device-only -S -o " + out + " " + data_path("features.cu")));
        ASSERT_EQ(compiled.status, 0) << compiled.output;
        const Module module = parse_ok(read_text(out));
        if (flags == "-O0") {
            EXPECT_EQ(module.kernels().size(), 8u);
        } else {
            expect_features(module);
        }
    }
}

}  // namespace
}  // namespace trimtab::ptx
