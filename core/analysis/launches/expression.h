// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one expression grammar of guards, annotations and grids: typed trees over kernel arguments and global
// thread indices, with the machine's own arithmetic (width, sign, wrap-around).
//
// In JSON a node is a prefix list ["mad.lo.s32", a, b, c], a leaf {"param": 3, "offset": 0, "type": "s32"},
// {"g": "x", "type": "u32"}, {"value": 4, "type": "s32"}, in addresses {"row": "x", "type": "u32"}, or in
// annotations {"block": "x", "type": "s64"} and
// {"extent": "x", "type": "s64"}. Operators are PTX mnemonics of pure integer
// instructions (add, sub, mul.lo, mul.hi, mul.wide, mad.*, shl, shr, and, or, xor, not, neg, abs, min, max,
// div, rem, cvt.<to>.<from>, setp.<comparison>, selp, and.pred, or.pred, not.pred ...).
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/launches/operation.h"
#include "core/ptx/types.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::analysis {

enum class Dimension : std::uint8_t { x, y, z };

struct Expression {
    enum class Kind : std::uint8_t {
        operation,
        parameter,
        global_index,
        block_index,  // of a dimension whose grid stays: there the global index is the one in the block
        constant,
        block_size,  // annotations alone: the block, and the threads of the launch as written
        extent
    };
    Kind kind = Kind::constant;
    ptx::Type type = ptx::Type::s32;  // of the value; pred for comparisons
    Operation operation;
    std::uint32_t parameter = 0;  // index, and byte `offset` inside it
    std::uint32_t offset = 0;
    Dimension dimension = Dimension::x;
    std::uint64_t bits = 0;  // constant, zero-extended from its width
    std::vector<Expression> arguments;

    friend bool operator==(const Expression&, const Expression&) = default;
};

[[nodiscard]] Expression applied(const Operation& operation, std::vector<Expression> arguments);

// A kernel's actual arguments: the parameter buffer, laid out by Variable::offset_bytes.
using ArgumentBytes = std::span<const std::byte>;

// The values that an index takes, both ends included.
struct IndexRange {
    std::uint64_t first = 0, last = 0;
};
// Global indices first, then block indices.
using IndexBox = std::array<IndexRange, 6>;

enum class Truth : std::uint8_t { never, always, unknown };

// Is a pred expression true for every / no index of the box? Interval arithmetic that knows wrap-around: an
// operation that may wrap over the box widens to its whole type, so the answer is never wrong, only sometimes
// `unknown`. `parameter_offsets[i]` is where parameter i lies in `arguments`.
[[nodiscard]] Truth truth(const Expression& expression, ArgumentBytes arguments,
                          std::span<const std::uint32_t> parameter_offsets, const IndexBox& box);

// The value at one index, exactly as the machine computes it.
[[nodiscard]] std::uint64_t evaluate(const Expression& expression, ArgumentBytes arguments,
                                     std::span<const std::uint32_t> parameter_offsets,
                                     const std::array<std::uint64_t, 3>& index);

// base + sum of slope * index, mod 2^width, for every index of the box. Nothing: it has no such form.
struct AffineForm {
    std::uint64_t base = 0;
    std::array<std::uint64_t, 6> slope{};  // as an IndexBox
};
[[nodiscard]] std::optional<AffineForm> affine_form(const Expression& expression, ArgumentBytes arguments,
                                                    std::span<const std::uint32_t> parameter_offsets,
                                                    const IndexBox& box);

// "i < n * 4": for people. `names` are the parameters' names.
[[nodiscard]] std::string to_text(const Expression& expression, std::span<const std::string> names);
[[nodiscard]] nlohmann::json to_json(const Expression& expression);
[[nodiscard]] std::expected<Expression, Error> expression_from_json(const nlohmann::json& json,
                                                                    const std::string& origin);

}  // namespace trimtab::analysis
