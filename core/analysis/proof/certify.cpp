// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/proof/certify.h"

#include <algorithm>
#include <optional>

#include "core/checker/complete.h"

namespace trimtab::analysis {
namespace {

struct Written {
    ptx::Opcode opcode = ptx::Opcode::unknown;
    ptx::MultiplyPart part = ptx::MultiplyPart::none;
};
Written written(Operator op) {
    using enum ptx::Opcode;
    using enum ptx::MultiplyPart;
    switch (op) {
        case Operator::add:
            return {add};
        case Operator::sub:
            return {sub};
        case Operator::mul_lo:
            return {mul, lo};
        case Operator::mul_hi:
            return {mul, hi};
        case Operator::mul_wide:
            return {mul, wide};
        case Operator::mul24_lo:
            return {mul24, lo};
        case Operator::mad_lo:
            return {mad, lo};
        case Operator::mad_hi:
            return {mad, hi};
        case Operator::mad_wide:
            return {mad, wide};
        case Operator::shl:
            return {shl};
        case Operator::shr:
            return {shr};
        case Operator::and_:
            return {and_};
        case Operator::or_:
            return {or_};
        case Operator::xor_:
            return {xor_};
        case Operator::not_:
            return {not_};
        case Operator::neg:
            return {neg};
        case Operator::abs:
            return {abs};
        case Operator::min:
            return {min};
        case Operator::max:
            return {max};
        case Operator::div:
            return {div};
        case Operator::rem:
            return {rem};
        case Operator::cvt:
            return {cvt};
        case Operator::setp:
            return {setp};
        case Operator::selp:
            return {selp};
    }
    return {};
}

checker::Expression expression(const Expression& from, const ptx::Function& kernel) {
    checker::Expression result;
    result.type = from.type;
    result.bits = from.bits;
    result.dimension = static_cast<std::uint8_t>(from.dimension);
    switch (from.kind) {
        case Expression::Kind::operation: {
            result.kind = checker::Expression::Kind::operation;
            const auto [opcode, part] = written(from.operation.op);
            result.operation.opcode = opcode;
            result.operation.type = from.operation.type;
            result.operation.source_type = from.operation.source;
            result.operation.modifiers.comparison = from.operation.comparison;
            result.operation.modifiers.multiply_part = part;
            for (const Expression& argument : from.arguments)
                result.arguments.push_back(expression(argument, kernel));
            break;
        }
        case Expression::Kind::parameter:
            result.kind = checker::Expression::Kind::parameter;
            result.offset = kernel.parameters[from.parameter].offset_bytes + from.offset;
            break;
        case Expression::Kind::global_index:
            result.kind = checker::Expression::Kind::index;
            break;
        default:
            break;
    }
    return result;
}

std::array<checker::DimensionRule, 3> rules(const Proof& proof) {
    std::array<checker::DimensionRule, 3> result;
    for (std::size_t d = 0; d < 3; d++) {
        const auto [use, block] = proof.dimensions[d];
        const bool has_loops = std::ranges::any_of(proof.strides, [&](const GridStrideLoop& loop) {
            return !loop.is_of_rows && static_cast<std::size_t>(loop.dimension) == d;
        });
        using enum checker::Scheme;
        result[d].scheme = proof.assumed.of[d] == Assumed::one_thread || use == Index::none ? single
                           : use == Index::in_block                                         ? in_block
                           : use == Index::global                                           ? index
                           : has_loops                                                      ? free_total
                                                                                            : fixed_total;
        result[d].has_blocks_of_one = block == BlockWidth::one;
        result[d].has_whole_warps = proof.assumed.of[d] == Assumed::whole_warps;
    }
    return result;
}

// Conversions to 64 bits by which the loop's registers are made.
std::vector<ptx::ValueIndex> widened(const FunctionValues& values, ptx::BlockIndex header) {
    std::vector<ptx::ValueIndex> result, work;
    std::vector<bool> seen(values.ssa().values.size());
    for (const ptx::ValueIndex phi : values.phis(header)) work.push_back(phi);
    while (!work.empty()) {
        const ptx::ValueIndex at = work.back();
        work.pop_back();
        if (at == ptx::no_index || seen[at]) continue;
        seen[at] = true;
        const ptx::Value& value = values.ssa().values[at];
        work.insert(work.end(), value.incoming.begin(), value.incoming.end());
        if (value.kind != ptx::Value::Kind::instruction) continue;
        const ptx::Instruction& made = values.function().body[value.instruction];
        // A shift to the right may bring back what one to the left has brought to the upper half.
        if (made.opcode == ptx::Opcode::cvt || made.opcode == ptx::Opcode::shr ||
            made.modifiers.multiply_part == ptx::MultiplyPart::wide)
            result.push_back(at);
        for (const ptx::Ssa::Use& use : values.ssa().uses[value.instruction]) work.push_back(use.value);
    }
    return result;
}

std::vector<checker::StridedLoop> loops(const Proof& proof, const ptx::Function& kernel, bool of_rows) {
    std::vector<checker::StridedLoop> result;
    const FunctionValues& values = proof.functions.front();
    for (std::size_t i = 0; i < proof.strides.size(); i++) {
        const GridStrideLoop& loop = proof.strides[i];
        if (loop.is_of_rows != of_rows) continue;
        checker::StridedLoop found;
        found.header = proof.loops[i].header;
        found.dimension = static_cast<std::uint8_t>(loop.dimension);
        if (proof.loops[i].widens) found.widened = widened(values, found.header);
        if (!of_rows)
            for (const Expression& exits : loop.exits) found.exits.push_back(expression(exits, kernel));
        result.push_back(std::move(found));
    }
    return result;
}

// A block's fill of its tables, as a loop over its threads.
checker::Certificate of_tables(const Proof::Tables& tables) {
    checker::Certificate result;
    result.function = &tables.function;
    result.dimensions[0].scheme = checker::Scheme::in_block;
    result.fills.assign(tables.fills.begin(), tables.fills.end());
    for (const ptx::BlockIndex header : tables.loops) {
        checker::StridedLoop loop;
        loop.header = header;
        result.loops.push_back(std::move(loop));
    }
    checker::complete(result);
    return result;
}

}  // namespace

std::vector<checker::Certificate> certificates(const Proof& proof, const ptx::Function& kernel) {
    std::vector<checker::Certificate> result;
    if (proof.verdict == Verdict::fixed) return result;
    for (const FunctionValues& values : proof.functions) {
        checker::Certificate one;
        one.function = &values.function();
        one.dimensions = rules(proof);
        one.blocks_are_units = proof.assumed.blocks_are_units;
        one.may_reassociate = proof.assumed.may_reassociate;
        if (result.empty()) {
            one.loops = loops(proof, kernel, false);
            one.rows = loops(proof, kernel, true);
            one.exchanging.assign(proof.exchanging.begin(), proof.exchanging.end());
            one.exchanges = proof.exchanges;
            for (const Guard& guard : proof.guards)
                one.guards.push_back(
                    {static_cast<std::uint8_t>(guard.dimension), expression(guard.exits, kernel)});
        }
        checker::complete(one);
        result.push_back(std::move(one));
    }
    if (proof.tables && !proof.tables->fills.empty()) result.push_back(of_tables(*proof.tables));
    return result;
}

}  // namespace trimtab::analysis
