// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions against exact arithmetic: every interval answer is checked index by index.
#include "core/analysis/launches/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "core/analysis/launches/operation.h"

namespace trimtab::analysis {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Expression parsed(const std::string& text) {
    auto expression = expression_from_json(json::parse(text), "test");
    EXPECT_TRUE(expression.has_value()) << (expression ? "" : expression.error().text());
    return expression.value_or(Expression{});
}

struct Arguments {
    std::vector<std::byte> bytes;
    std::vector<std::uint32_t> offsets;

    template <typename... Values>
    static Arguments of(Values... values) {
        Arguments arguments;
        (arguments.add(values), ...);
        return arguments;
    }
    template <typename Value>
    void add(Value value) {
        while (bytes.size() % sizeof value != 0) bytes.push_back({});
        offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
        bytes.resize(bytes.size() + sizeof value);
        std::memcpy(bytes.data() + offsets.back(), &value, sizeof value);
    }
};

Truth in_x(const std::string& text, const Arguments& arguments, std::uint64_t first, std::uint64_t last) {
    return truth(parsed(text), arguments.bytes, arguments.offsets, {IndexRange{first, last}, {}, {}});
}

constexpr auto signed_guard = R"(["setp.ge.s32", {"g":"x","type":"u32"}, {"param":0,"type":"s32"}])";
constexpr auto unsigned_guard = R"(["setp.ge.u32", {"g":"x","type":"u32"}, {"param":0,"type":"u32"}])";
// i - 1 >= n, as `if (g - 1 < n)` leaves it
constexpr auto shifted_guard =
    R"(["setp.ge.u32", ["add.s32", {"g":"x","type":"u32"}, {"value":-1,"type":"s32"}], {"param":0,"type":"u32"}])";

TEST(Truth, KnowsTheTailOfAPlainGuard) {
    EXPECT_EQ(in_x(signed_guard, Arguments::of(1000), 1000, 2023), Truth::always);
    EXPECT_EQ(in_x(signed_guard, Arguments::of(1001), 1000, 2023), Truth::unknown);
    EXPECT_EQ(in_x(signed_guard, Arguments::of(4000), 1000, 2023), Truth::never);
}

TEST(Truth, KnowsSignAndWrapAround) {
    // n = -1 is the largest number to an unsigned comparison, and below every index to a signed one.
    EXPECT_EQ(in_x(unsigned_guard, Arguments::of(-1), 1000, 2023), Truth::never);
    EXPECT_EQ(in_x(signed_guard, Arguments::of(-1), 1000, 2023), Truth::always);
    // n = E lets index E through where the guard looks at g - 1.
    EXPECT_EQ(in_x(shifted_guard, Arguments::of(1000), 1000, 2023), Truth::unknown);
    EXPECT_EQ(in_x(shifted_guard, Arguments::of(999), 1000, 2023), Truth::always);
    // g = 0: g - 1 wraps to the largest number.
    EXPECT_EQ(in_x(shifted_guard, Arguments::of(7), 0, 0), Truth::always);
    EXPECT_EQ(in_x(shifted_guard, Arguments::of(7), 0, 8), Truth::unknown);
}

TEST(Truth, TruncatedIndicesAreNotTrusted) {
    // uint8_t i = g; exits where i >= 100
    const auto narrow =
        R"(["setp.ge.u32", ["and.b32", {"g":"x","type":"u32"}, {"value":255,"type":"u32"}], {"value":100,"type":"u32"}])";
    EXPECT_EQ(in_x(narrow, {}, 100, 255), Truth::always);
    EXPECT_EQ(in_x(narrow, {}, 100, 256), Truth::unknown);
    EXPECT_EQ(in_x(narrow, {}, 256, 300), Truth::never);
    const auto converted =
        R"(["setp.ge.u16", ["cvt.u16.u8", ["cvt.u8.u32", {"g":"x","type":"u32"}]], {"value":100,"type":"u16"}])";
    EXPECT_EQ(in_x(converted, {}, 100, 255), Truth::always);
    EXPECT_EQ(in_x(converted, {}, 100, 256), Truth::unknown);
    const auto product24 =
        R"(["setp.ge.u32", ["mul24.lo.u32", {"g":"x","type":"u32"}, {"value":4,"type":"u32"}], {"value":4096,"type":"u32"}])";
    EXPECT_EQ(in_x(product24, {}, 1024, 4096), Truth::always);
    EXPECT_EQ(in_x(product24, {}, 1024, 1u << 24), Truth::unknown);
}

TEST(Truth, KeepsRepeatedIndicesExact) {
    // g * n - g >= 9 * n with n = 11: 10 g >= 99
    const auto repeated =
        R"(["setp.ge.s32", ["sub.s32", ["mul.lo.s32", {"g":"x","type":"u32"}, {"param":0,"type":"s32"}], {"g":"x","type":"u32"}],
            ["mul.lo.s32", {"param":0,"type":"s32"}, {"value":9,"type":"s32"}]])";
    EXPECT_EQ(in_x(repeated, Arguments::of(11), 10, 1000000), Truth::always);
    EXPECT_EQ(in_x(repeated, Arguments::of(11), 9, 1000000), Truth::unknown);
}

TEST(Truth, LooksAtEveryDimension) {
    const Expression guard = parsed(
        R"(["setp.ge.s32", ["mad.lo.s32", {"g":"y","type":"u32"}, {"param":0,"type":"s32"}, {"g":"x","type":"u32"}], {"param":1,"type":"s32"}])");
    const Arguments arguments = Arguments::of(64, 64 * 48);
    const auto over = [&](IndexRange x, IndexRange y) {
        return truth(guard, arguments.bytes, arguments.offsets, {x, y, {}});
    };
    EXPECT_EQ(over({0, 2000}, {48, 1071}), Truth::always);
    EXPECT_EQ(over({64, 1087}, {0, 47}), Truth::unknown);
    EXPECT_EQ(over({0, 63}, {0, 47}), Truth::never);
}

TEST(Truth, NeedsItsArguments) {
    EXPECT_EQ(in_x(signed_guard, {}, 1000, 2023), Truth::unknown);
    Arguments cut = Arguments::of(1000);
    cut.bytes.pop_back();
    EXPECT_EQ(in_x(signed_guard, cut, 1000, 2023), Truth::unknown);
    EXPECT_EQ(in_x(signed_guard, Arguments::of(1000), 5, 4), Truth::unknown);
}

// --- random trees, judged index by index ---

class RandomExpressions {
  public:
    explicit RandomExpressions(unsigned seed) : random_(seed) {}

    Expression predicate(unsigned depth) {
        if (depth > 1 && pick(3) == 0) {
            const char* const logic[] = {"and.pred", "or.pred", "xor.pred"};
            return node(logic[pick(3)], {predicate(depth - 1), predicate(depth - 1)});
        }
        if (depth > 1 && pick(8) == 0) return node("not.pred", {predicate(depth - 1)});
        const char* const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
        const unsigned width = random_width();
        return node(std::string("setp.") + comparisons[pick(6)] + typed(width),
                    {value(width, depth - 1), value(width, depth - 1)});
    }

    std::uint64_t interesting_bits() {
        switch (pick(5)) {
            case 0:
                return pick(20);
            case 1:
                return std::uint64_t{0} - pick(20);
            case 2:
                return std::uint64_t{1} << pick(64);
            case 3:
                return (std::uint64_t{1} << pick(64)) - 1 - pick(3);
            default:
                return random_();
        }
    }
    unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  private:
    unsigned random_width() { return 16u << pick(3); }
    std::string typed(unsigned width) {
        return std::string(pick(2) == 0 ? ".s" : ".u") + std::to_string(width);
    }
    static Expression node(const std::string& operation, std::vector<Expression> arguments) {
        return applied(decode_operation(operation).value(), std::move(arguments));
    }
    Expression leaf(unsigned width) {
        Expression result;
        const auto type = type_from_name(typed(width).substr(1));
        result.type = type.value_or(ptx::Type::none);
        if (width >= 32 && pick(2) == 0) {
            result.kind = Expression::Kind::global_index;
            result.dimension = static_cast<Dimension>(pick(3));
            return result;
        }
        if (pick(2) == 0) {
            result.kind = Expression::Kind::parameter;
            result.parameter = pick(3);
            return result;
        }
        result.bits = truncate_bits(interesting_bits(), width);
        return result;
    }
    Expression value(unsigned width, unsigned depth) {
        if (depth == 0) return leaf(width);
        const unsigned below = depth - 1;
        switch (pick(9)) {
            case 0:
                return leaf(width);
            case 1: {
                const char* const unary[] = {"not.b", "neg.s"};
                return node(unary[pick(2)] + std::to_string(width), {value(width, below)});
            }
            case 2:
                return node("abs.s" + std::to_string(width), {value(width, below)});
            case 3: {
                const char* const shifts[] = {"shl", "shr"};
                Expression amount = leaf(32);
                if (pick(4) != 0) {
                    amount = Expression{};
                    amount.type = ptx::Type::u32;
                    amount.bits = pick(70);
                }
                return node(shifts[pick(2)] + typed(width), {value(width, below), amount});
            }
            case 4: {
                if (width == 16) return node("cvt.u16.u8", {node("cvt.u8.s32", {value(32, below)})});
                return node("cvt" + typed(width) + typed(width / 2), {value(width / 2, below)});
            }
            case 5: {
                if (width == 16) return node("cvt" + typed(16) + typed(32), {value(32, below)});
                const std::string half = typed(width / 2);
                if (pick(2) == 0)
                    return node("mad.wide" + half,
                                {value(width / 2, below), value(width / 2, below), value(width, below)});
                return node("mul.wide" + half, {value(width / 2, below), value(width / 2, below)});
            }
            case 6:
                return node("selp" + typed(width),
                            {value(width, below), value(width, below), predicate(depth)});
            default: {
                const char* const binary[] = {"add", "sub", "mul.lo", "mul.hi", "and", "or",
                                              "xor", "min", "max",    "div",    "rem"};
                return node(binary[pick(11)] + typed(width), {value(width, below), value(width, below)});
            }
        }
    }

    std::mt19937_64 random_;
};

TEST(Truth, IsNeverWrongOverRandomExpressions) {
    RandomExpressions random(20240607);
    int decided = 0;
    for (int round = 0; round < 20000; round++) {
        const Expression guard = random.predicate(1 + random.pick(5));
        Arguments arguments;
        for (int i = 0; i < 3; i++) arguments.add(random.interesting_bits());
        IndexBox box;
        for (IndexRange& range : box) {
            range.first =
                random.pick(3) == 0 ? random.interesting_bits() >> (1 + random.pick(40)) : random.pick(300);
            range.last = range.first + random.pick(6);
        }
        const Truth answer = truth(guard, arguments.bytes, arguments.offsets, box);
        if (answer == Truth::unknown) continue;
        decided++;
        for (std::uint64_t x = box[0].first; x <= box[0].last; x++)
            for (std::uint64_t y = box[1].first; y <= box[1].last; y++)
                for (std::uint64_t z = box[2].first; z <= box[2].last; z++)
                    ASSERT_EQ(evaluate(guard, arguments.bytes, arguments.offsets, {x, y, z}),
                              answer == Truth::always ? 1u : 0u)
                        << to_json(guard).dump() << " at " << x << ", " << y << ", " << z;
    }
    // Intervals that widen at every operation would be sound and useless.
    EXPECT_GT(decided, 10000);
}

TEST(ExpressionJson, ComesBackAsItWas) {
    RandomExpressions random(7);
    for (int round = 0; round < 500; round++) {
        const Expression expression = random.predicate(1 + random.pick(5));
        const auto again = expression_from_json(json::parse(to_json(expression).dump()), "test");
        ASSERT_TRUE(again.has_value()) << again.error().text();
        EXPECT_EQ(*again, expression);
    }
}

TEST(ExpressionJson, RefusesWhatIsNoExpression) {
    const auto error_of = [](const std::string& text) {
        const auto expression = expression_from_json(json::parse(text), "gemm.json");
        return expression ? std::string() : expression.error().text();
    };
    EXPECT_THAT(error_of("3"), HasSubstr("gemm.json: expression is neither a list nor a leaf: 3"));
    EXPECT_THAT(error_of("[]"), HasSubstr("does not begin with an operator"));
    EXPECT_THAT(error_of(R"(["frobnicate.s32"])"), HasSubstr("unknown operator 'frobnicate.s32'"));
    EXPECT_THAT(error_of(R"(["add.f32", 1, 2])"), HasSubstr("unknown operator 'add.f32'"));
    EXPECT_THAT(error_of(R"(["add.s32", {"value":1,"type":"s32"}])"),
                HasSubstr("gives operator 'add.s32' 1 operands, which takes 2"));
    EXPECT_THAT(error_of(R"(["not.b32", {"value":1,"type":"s64"}])"),
                HasSubstr("expression[1] has type s64, as an operand of 'not.b32'"));
    EXPECT_THAT(error_of(R"({"value":4294967296,"type":"u32"})"), HasSubstr("does not fit u32"));
    EXPECT_THAT(error_of(R"({"value":1.5,"type":"u32"})"), HasSubstr("expression.value is no whole number"));
    EXPECT_THAT(error_of(R"({"g":"w","type":"u32"})"),
                HasSubstr("expression.g is \"w\", which is none of x, y, z"));
    EXPECT_THAT(error_of(R"({"param":-1,"type":"u32"})"),
                HasSubstr("expression.param is not a whole number"));
    EXPECT_THAT(error_of(R"({"param":0,"type":"texref"})"), HasSubstr("no integer type"));
    std::string deep = R"({"value":1,"type":"s32"})";
    for (int i = 0; i < 300; i++) deep = R"(["neg.s32",)" + deep + "]";
    EXPECT_THAT(error_of(deep), HasSubstr("nested too deep"));
}

TEST(ExpressionText, ReadsLikeSource) {
    const std::vector<std::string> names{"n", "args"};
    EXPECT_EQ(to_text(parsed(signed_guard), names), "g.x >= n");
    EXPECT_EQ(to_text(parsed(shifted_guard), names), "unsigned(g.x - 1) >= n");
    EXPECT_EQ(
        to_text(parsed(R"(["or.pred", ["setp.lt.s64", ["cvt.s64.s32", {"param":1,"offset":8,"type":"s32"}],
        ["mul.wide.s32", ["add.s32", {"g":"y","type":"u32"}, {"param":0,"type":"s32"}], {"value":4,"type":"s32"}]],
        ["not.pred", ["setp.eq.b32", {"g":"z","type":"u32"}, {"value":0,"type":"u32"}]]])"),
                names),
        "args+8 < (g.y + n) * 4 || !(g.z == 0)");
}

}  // namespace
}  // namespace trimtab::analysis
