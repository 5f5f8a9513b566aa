// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers, constant expressions and initial values, against the PTX ISA's rules and C++'s own arithmetic.
#include <bit>
#include <cstdint>
#include <cstring>

#include "fixtures.h"

namespace trimtab::ptx {
namespace {

Operand immediate_of(const std::string& instruction) {
    const Module module = kernel_module(instruction + " ret;");
    if (module.functions.empty()) return {};
    return module.functions[0].body[0].operands[1];
}

std::uint64_t integer(const std::string& expression) {
    return immediate_of("mov.b64 %rd1, " + expression + ";").bits;
}

TEST(Constants, Literals) {
    EXPECT_EQ(integer("0"), 0u);
    EXPECT_EQ(integer("42"), 42u);
    EXPECT_EQ(integer("-1"), ~std::uint64_t{0});
    EXPECT_EQ(integer("0x1F"), 31u);
    EXPECT_EQ(integer("0XffU"), 255u);
    EXPECT_EQ(integer("017"), 15u);
    EXPECT_EQ(integer("0b1011"), 11u);
    EXPECT_EQ(integer("18446744073709551615U"), ~std::uint64_t{0});
    EXPECT_EQ(immediate_of("mov.b64 %rd1, 3;").type, Type::s64);
    EXPECT_EQ(immediate_of("mov.b64 %rd1, 3U;").type, Type::u64);
    EXPECT_EQ(immediate_of("mov.b64 %rd1, 0x8000000000000000;").type, Type::u64);
}

TEST(Constants, FloatingPointKeepsItsBits) {
    const Operand one = immediate_of("mov.f32 %f1, 0f3F800000;");
    EXPECT_EQ(one.type, Type::f32);
    EXPECT_EQ(one.bits, 0x3f800000u);
    const Operand two = immediate_of("mov.f64 %fd1, 0d4000000000000000;");
    EXPECT_EQ(two.type, Type::f64);
    EXPECT_EQ(std::bit_cast<double>(two.bits), 2.0);
    // A bit type with a float's literal, as clang writes it.
    EXPECT_EQ(immediate_of("mov.b32 %r1, 0fFF800000;").bits, 0xff800000u);
    const Operand negative = immediate_of("mov.f32 %f1, -0f3F800000;");
    EXPECT_EQ(negative.bits, 0xbf800000u);
}

TEST(Constants, ADecimalFractionTakesTheInstructionsWidth) {
    const Operand single = immediate_of("mov.f32 %f1, 0.1;");
    EXPECT_EQ(single.type, Type::f32);
    EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(single.bits)), 0.1f);
    const Operand wide = immediate_of("mov.f64 %fd1, 1.5e-3;");
    EXPECT_EQ(wide.type, Type::f64);
    EXPECT_EQ(std::bit_cast<double>(wide.bits), 1.5e-3);
    EXPECT_EQ(std::bit_cast<double>(immediate_of("cvt.rn.f32.f64 %f1, 2.5;").bits), 2.5);
}

TEST(Constants, ExpressionsFollowC) {
    EXPECT_EQ(integer("2+3*4"), 14u);
    EXPECT_EQ(integer("(2+3)*4"), 20u);
    EXPECT_EQ(static_cast<std::int64_t>(integer("-7/2")), -3);
    EXPECT_EQ(static_cast<std::int64_t>(integer("-7 % 3")), -1);
    EXPECT_EQ(integer("1<<4|1"), 17u);
    EXPECT_EQ(static_cast<std::int64_t>(integer("-8>>1")), -4);
    EXPECT_EQ(integer("(.u64)-8>>1"), 0x7ffffffffffffffcu);
    EXPECT_EQ(integer("3 > 2 ? 10 : 20"), 10u);
    EXPECT_EQ(integer("-1 < 0U ? 1 : 2"), 2u);  // unsigned wins
    EXPECT_EQ(integer("~0 & 0xff ^ 1"), 254u);
    EXPECT_EQ(integer("!0 + !5"), 1u);
    EXPECT_EQ(integer("WARP_SZ*2"), 64u);
    EXPECT_EQ(integer("5 == 5 && 3 != 3 || 1"), 1u);
    EXPECT_EQ(integer("0x8000000000000000/-1"), integer("0x8000000000000000/0xffffffffffffffffU"));
}

const Variable* variable(const Module& module, std::string_view name) {
    const Variable* out = module.variable(name);
    EXPECT_NE(out, nullptr) << name;
    return out;
}

std::vector<int> bytes(const Variable& v) {
    std::vector<int> out;
    for (const std::byte byte : v.initial) out.push_back(std::to_integer<int>(byte));
    return out;
}

TEST(Initialisers, NumbersOfEveryWidth) {
    const Module module = parse_ok(R"(.version 8.8 .target sm_80 .address_size 64
        .global .align 2 .u16 a[4] = {1, 0x203, -1};
        .const .f32 f = 1.5; .const .f64 d[2] = {0d3FF0000000000000, 2};
        .global .b8 open[] = {1, 2, 3};
        .global .s32 grid[2][3] = { {1, 2}, {3, 4, 5} };
        .global .v4 .f32 v = {0f3F800000, 2.0, 3.0, 4.0};
        .global .u32 x = 3, y, z = 1 + 2 * 3;)");
    EXPECT_EQ(bytes(*variable(module, "a")), (std::vector{1, 0, 3, 2, 255, 255, 0, 0}));
    EXPECT_EQ(bytes(*variable(module, "f")), (std::vector{0, 0, 0xc0, 0x3f}));
    double d[2];
    ASSERT_EQ(variable(module, "d")->initial.size(), sizeof d);
    std::memcpy(d, variable(module, "d")->initial.data(), sizeof d);
    EXPECT_EQ(d[0], 1.0);
    EXPECT_EQ(d[1], 2.0);
    EXPECT_EQ(variable(module, "open")->size_bytes, 3u);
    // A row that is short is filled with zeros.
    EXPECT_EQ(bytes(*variable(module, "grid")),
              (std::vector{1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0}));
    EXPECT_EQ(variable(module, "v")->size_bytes, 16u);
    EXPECT_EQ(variable(module, "v")->alignment_bytes, 16u);
    EXPECT_EQ(bytes(*variable(module, "x")), (std::vector{3, 0, 0, 0}));
    EXPECT_TRUE(variable(module, "y")->initial.empty());
    EXPECT_EQ(bytes(*variable(module, "z")), (std::vector{7, 0, 0, 0}));
}

TEST(Initialisers, Addresses) {
    const Module module = parse_ok(R"(.version 8.8 .target sm_80 .address_size 64
        .func f(); .global .u32 cell[8];
        .global .u64 plain = cell; .global .u64 later = generic(cell)+8; .global .u64 earlier = cell-4;
        .global .u64 inside = generic(cell+12);
        .global .u64 mixed[3] = {5, f, generic(cell)};
        .global .align 1 .b8 packed[10] = {9, 0xFF(generic(cell)), 0xFF00(generic(cell)), 0xFF0000(generic(cell)),
            0xFF000000(generic(cell)), 0xFF00000000(generic(cell)), 0xFF0000000000(generic(cell)),
            0xFF000000000000(generic(cell)), 0xFF00000000000000(generic(cell)), 7};)");
    const auto relocation = [&](std::string_view name, std::size_t index = 0) {
        const Variable* v = variable(module, name);
        EXPECT_LT(index, v->relocations.size()) << name;
        return index < v->relocations.size() ? v->relocations[index] : Variable::Relocation{};
    };
    EXPECT_FALSE(relocation("plain").generic);
    EXPECT_EQ(relocation("plain").symbol, "cell");
    EXPECT_TRUE(relocation("later").generic);
    EXPECT_EQ(relocation("later").addend, 8);
    EXPECT_EQ(relocation("earlier").addend, -4);
    EXPECT_EQ(relocation("inside").addend, 12);
    EXPECT_EQ(variable(module, "mixed")->relocations.size(), 2u);
    EXPECT_EQ(relocation("mixed").symbol, "f");
    EXPECT_EQ(relocation("mixed").offset_bytes, 8u);
    EXPECT_EQ(relocation("mixed", 1).offset_bytes, 16u);
    EXPECT_EQ(variable(module, "mixed")->initial[0], std::byte{5});
    ASSERT_EQ(variable(module, "packed")->relocations.size(), 1u);
    EXPECT_EQ(relocation("packed").offset_bytes, 1u);
    EXPECT_EQ(bytes(*variable(module, "packed")), (std::vector{9, 0, 0, 0, 0, 0, 0, 0, 0, 7}));
}

}  // namespace
}  // namespace trimtab::ptx
