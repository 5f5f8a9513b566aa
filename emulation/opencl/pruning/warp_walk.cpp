// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/warp_walk.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulation/emulator/exec/program.h"

namespace trimtab::pruning {

namespace {

using ptx::no_index;
using ptx::SpecialRegister;
using ValueKind = WarpValue::Kind;

}  // namespace

WarpWalk::WarpWalk(const KernelCode& code, std::span<const std::byte> arguments, const WalkSettings& walk)
    : settings(walk),
      code_(code),
      arguments_(arguments),
      slot_instructions_(code.program->kernel(code.name)->code(true, true).slot_instructions) {
    const std::size_t blocks = code.blocks.size(), loops = code.flow.loops.size();
    notes_.undecided_branches.resize(blocks);
    notes_.undecided_loops.resize(loops);
    notes_.unknown_addresses.resize(code.accesses.size());
    values_.resize(code.ssa.values.size());
    lane_numbers_.resize(values_.size());
    std::uint32_t edges = 0;
    for (const ptx::BasicBlock& block : code.flow.blocks) {
        first_edge_.push_back(edges);
        edges += static_cast<std::uint32_t>(block.predecessors.size());
    }
    edges_.resize(edges);
    exits_.resize(loops), branches_.resize(loops), entry_edges_.resize(loops), back_edges_.resize(loops);
    known_exit_.resize(loops), unknown_exit_.resize(loops), skips_.resize(loops);
    header_of_.assign(blocks, no_index);
    comparisons_.assign(blocks, no_index);
    for (std::uint32_t l = 0; l < loops; ++l) header_of_[code.flow.loops[l].header] = l;
    for (ptx::BlockIndex b = 0; b < blocks; ++b) {
        const CodeBlock& block = code.blocks[b];
        if (block.loop != no_index &&
            (block.end == CodeBlock::End::branches || block.end == CodeBlock::End::may_return))
            branches_[block.loop].push_back(b);
        for (std::size_t s = 0; s < block.steps.size(); ++s)
            if (block.steps[s].kind == Step::Kind::operation && block.condition != no_index &&
                block.steps[s].result == block.condition)
                comparisons_[b] = static_cast<std::uint32_t>(s);
        for (std::size_t s = 0; s < block.slots.size(); ++s) {
            const ptx::BlockIndex to = code.flow.blocks[b].successors[s];
            const std::uint32_t edge = first_edge_[to] + block.slots[s];
            if (block.leaves[s] != no_index)
                for (std::uint32_t l = block.loop; l != no_index; l = code.flow.loops[l].parent) {
                    exits_[l].push_back({.edge = edge, .leaves = block.leaves[s]});
                    if (l == block.leaves[s]) break;
                }
            if (header_of_[to] != no_index)
                (block.goes_back[s] ? back_edges_ : entry_edges_)[header_of_[to]].push_back(edge);
        }
    }
}

std::uint64_t WarpWalk::walk(const WalkPlace& place, const WarpLanes& lanes, schedule::TraceWriter* writer,
                             schedule::TraceWriter::Place at) {
    if (place.warp == 0 || place.index != place_.index) unknown_bytes_ = 0;
    place_ = place;
    lanes_ = lanes;
    writer_ = writer;
    at_ = at;
    iterations_ = instructions_ = 0;
    std::ranges::fill(edges_, 0u);
    std::ranges::fill(values_, WarpValue{});
    run_items(code_.items);
    return instructions_;
}

WarpOperand WarpWalk::operand(const ValueOperand& operand) const {
    if (operand.value == no_index)
        return {.value = WarpValue::number(static_cast<std::int64_t>(operand.bits))};
    return {.value = values_[operand.value], .lanes = &lane_numbers_[operand.value]};
}

ptx::Type WarpWalk::type_of(ptx::ValueIndex value) const {
    const ptx::RegisterIndex reg = code_.ssa.values[value].reg;
    const ptx::Type type =
        reg < code_.function.registers.size() ? code_.function.registers[reg].type : ptx::Type::none;
    return type;
}

std::uint32_t WarpWalk::incoming(ptx::BlockIndex block) const {
    std::uint32_t mask = 0;
    for (std::size_t p = 0; p < code_.flow.blocks[block].predecessors.size(); ++p)
        mask |= edges_[first_edge_[block] + p];
    return mask;
}

void WarpWalk::run_items(const std::vector<CodeItem>& items) {
    for (const CodeItem& item : items) {
        if (item.is_loop)
            run_loop(item.index);
        else
            run_block(item.index);
    }
}

void WarpWalk::run_block(ptx::BlockIndex b) {
    const CodeBlock& block = code_.blocks[b];
    const std::uint32_t mask = b == 0 ? lanes_.present : incoming(b);
    if (mask == 0) {
        for (std::size_t s = 0; s < block.slots.size(); ++s)
            if (block.leaves[s] == no_index) pass(b, s, 0);
        return;
    }
    if (blocks != nullptr) blocks->push_back(b);
    join_phis(b);
    for (const Step& step : block.steps) run_step(step, mask);
    end_block(b, mask);
}

void WarpWalk::join_phis(ptx::BlockIndex b) {
    const CodeBlock& block = code_.blocks[b];
    if (block.phis.empty()) return;
    const std::size_t predecessors = code_.flow.blocks[b].predecessors.size();
    joined_.resize(std::max(joined_.size(), block.phis.size()));
    for (std::size_t i = 0; i < block.phis.size(); ++i) {
        const ptx::Value& phi = code_.ssa.values[block.phis[i]];
        auto& [joined, numbers] = joined_[i];
        std::uint32_t covered = 0;
        for (std::size_t p = 0; p < predecessors; ++p) {
            const std::uint32_t lanes = edges_[first_edge_[b] + p];
            if (lanes == 0) continue;
            const ptx::ValueIndex in = p < phi.incoming.size() ? phi.incoming[p] : no_index;
            const WarpOperand value = operand({.value = in, .bits = 0});
            const WarpValue known = in == no_index ? WarpValue{} : value.value;
            if (covered == 0) {
                joined = known;
                if (known.kind == ValueKind::lanes) numbers = *value.lanes;
            } else if ((covered & lanes) != 0 && !(joined == known && known.kind != ValueKind::lanes)) {
                joined = {};  // who came by which way is not known
            } else {
                const WarpValue both =
                    merged({.value = joined, .lanes = &numbers}, {.value = known, .lanes = value.lanes},
                           covered, type_of(block.phis[i]), lanes_, numbers);
                joined = both;
            }
            covered |= lanes;
        }
    }
    const std::uint32_t loop = header_of_[b];
    for (std::size_t i = 0; i < block.phis.size(); ++i) {
        const ptx::ValueIndex v = block.phis[i];
        values_[v] = joined_[i].first;
        if (values_[v].kind == ValueKind::lanes) lane_numbers_[v] = joined_[i].second;
        if (loop == no_index || skips_[loop].iterations == 0 || !values_[v].is_sum()) continue;
        values_[v].base += static_cast<std::int64_t>(skips_[loop].iterations) * skips_[loop].steps[i].base;
    }
    if (loop != no_index) skips_[loop].iterations = 0;
}

WarpValue WarpWalk::special(SpecialRegister special, LaneNumbers& lanes_out) const {
    const auto number = [](std::uint32_t value) { return WarpValue::number(value); };
    switch (special) {
        case SpecialRegister::tid_x:
            return {.kind = ValueKind::sum, .base = 0, .x = 1, .y = 0, .z = 0};
        case SpecialRegister::tid_y:
            return {.kind = ValueKind::sum, .base = 0, .x = 0, .y = 1, .z = 0};
        case SpecialRegister::tid_z:
            return {.kind = ValueKind::sum, .base = 0, .x = 0, .y = 0, .z = 1};
        case SpecialRegister::ntid_x:
            return number(place_.group[0]);
        case SpecialRegister::ntid_y:
            return number(place_.group[1]);
        case SpecialRegister::ntid_z:
            return number(place_.group[2]);
        case SpecialRegister::ctaid_x:
            return number(place_.index[0]);
        case SpecialRegister::ctaid_y:
            return number(place_.index[1]);
        case SpecialRegister::ctaid_z:
            return number(place_.index[2]);
        case SpecialRegister::nctaid_x:
            return number(place_.groups[0]);
        case SpecialRegister::nctaid_y:
            return number(place_.groups[1]);
        case SpecialRegister::nctaid_z:
            return number(place_.groups[2]);
        case SpecialRegister::warp_size:
            return number(warp_lanes);
        case SpecialRegister::warpid:
            return number(place_.warp);
        case SpecialRegister::laneid:
            for (unsigned lane = 0; lane < warp_lanes; ++lane) lanes_out[lane] = lane;
            return compressed(lanes_out, lanes_);
        default:
            return {};
    }
}

WarpValue WarpWalk::argument(const Step& step) const {
    std::uint64_t bits = 0;
    if (step.argument_offset + step.argument_bytes > arguments_.size()) return {};
    std::memcpy(&bits, arguments_.data() + step.argument_offset, step.argument_bytes);
    return WarpValue::number(step.argument_signed ? analysis::sign_extend(bits, step.argument_bytes * 8)
                                                  : static_cast<std::int64_t>(bits));
}

void WarpWalk::run_step(const Step& step, std::uint32_t mask) {
    switch (step.kind) {
        case Step::Kind::region:
            run_region(step, mask);
            return;
        case Step::Kind::access:
            run_access(step, mask);
            return;
        default:
            break;
    }
    LaneNumbers& own = lane_numbers_[step.result];
    const bool is_guarded = step.guard != no_index && step.previous != no_index;
    LaneNumbers apart;
    LaneNumbers& numbers = is_guarded ? apart : own;
    WarpValue result;
    switch (step.kind) {
        case Step::Kind::copy: {
            const WarpOperand from = operand(step.operands[0]);
            result = from.value;
            if (result.kind == ValueKind::lanes) numbers = *from.lanes;
            break;
        }
        case Step::Kind::special:
            result = special(step.special, numbers);
            break;
        case Step::Kind::argument:
            result = argument(step);
            break;
        case Step::Kind::operation: {
            result = apply(step.operation,
                           {operand(step.operands[0]), operand(step.operands[1]), operand(step.operands[2])},
                           lanes_, numbers);
            if (step.combined == ptx::BooleanOp::none) break;
            WarpValue other = operand(step.operands[2]).value;
            if (step.combined_negated && other.kind == ValueKind::predicate)
                other = WarpValue::bits(~other.mask());
            const auto op = step.combined == ptx::BooleanOp::and_  ? analysis::Operator::and_
                            : step.combined == ptx::BooleanOp::or_ ? analysis::Operator::or_
                                                                   : analysis::Operator::xor_;
            result = apply({.op = op, .type = ptx::Type::pred, .result = ptx::Type::pred, .arity = 2},
                           {WarpOperand{.value = result}, WarpOperand{.value = other}, WarpOperand{}}, lanes_,
                           numbers);
            break;
        }
        default:
            break;
    }
    if (is_guarded) {
        bool is_known = false;
        const std::uint32_t taken = lanes_of(step.guard, step.guard_negated, ~0u, is_known);
        if (is_known)
            result = merged({.value = result, .lanes = &numbers},
                            {.value = values_[step.previous], .lanes = &lane_numbers_[step.previous]}, taken,
                            type_of(step.result), lanes_, own);
        else
            result = {};
    }
    values_[step.result] = result;
}

std::uint32_t WarpWalk::lanes_of(ptx::ValueIndex condition, bool negated, std::uint32_t mask,
                                 bool& is_known) const {
    const WarpValue& value = values_[condition];
    is_known = value.kind == ValueKind::predicate;
    if (!is_known) return mask;
    return (negated ? ~value.mask() : value.mask()) & mask;
}

// Code under a guard of its own is come to where that holds for a lane.
void WarpWalk::run_region(const Step& step, std::uint32_t mask) {
    if (step.guard != no_index) {
        bool is_known = false;
        mask = lanes_of(step.guard, step.guard_negated, mask, is_known);
    }
    if ((mask & lanes_.present) == 0) return;
    instructions_ += slot_instructions_[step.slot];
    if (writer_ != nullptr) writer_->enter(at_, step.slot);
}

void WarpWalk::run_access(const Step& step, std::uint32_t mask) {
    const MemoryAccess& access = code_.accesses[step.access];
    if (step.guard != no_index) {
        bool is_known = false;
        mask = lanes_of(step.guard, step.guard_negated, mask, is_known);
    }
    mask &= lanes_.present;
    WarpOperand address;
    if (access.has_address) {
        address = operand(access.base);
        if (address.value.is_sum()) address.value.base += access.offset;
        if (address.value.kind == ValueKind::lanes && access.offset != 0) {
            LaneNumbers& moved = operand_numbers_[0];
            for (unsigned lane = 0; lane < warp_lanes; ++lane)
                moved[lane] = (*address.lanes)[lane] + access.offset;
            address.lanes = &moved;
        }
    }
    const bool is_known = address.value.is_known();
    const bool one_place =
        (address.value.is_sum() || address.value.kind == ValueKind::offset) && address.value.is_uniform();
    for (const ptx::ValueIndex v : access.results)
        values_[v] = {.kind = one_place ? ValueKind::offset : ValueKind::unknown};
    if (mask == 0) return;
    if (!is_known && access.has_address) notes_.unknown_addresses[step.access] = true;
    if (writer_ != nullptr && access.has_address && writer_->wants(at_, access.instruction))
        write_access(access, address, mask);
}

// Where memory decides, data lie that no other warp touches.
std::uint64_t WarpWalk::unknown_place(std::uint64_t bytes) {
    constexpr std::uint64_t first = std::uint64_t{1} << 60, of_group = std::uint64_t{1} << 24, line = 128;
    const std::uint64_t at = unknown_bytes_ % of_group;
    unknown_bytes_ += (bytes + line - 1) / line * line;
    return first + place_.linear() * of_group + at;
}

void WarpWalk::write_access(const MemoryAccess& access, const WarpOperand& address, std::uint32_t mask) {
    LaneNumbers numbers{};
    const WarpValue& value = address.value;
    const bool is_known = value.is_known();
    if (value.kind == ValueKind::unknown) {
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
            numbers[static_cast<unsigned>(std::countr_zero(left))] =
                static_cast<std::int64_t>(unknown_place(access.bytes));
    } else if (value.kind == ValueKind::offset) {
        WarpValue sum = value;
        sum.kind = ValueKind::sum;
        sum.base = 0;
        const ValueRange range = range_of(sum, lanes_);
        sum.base = static_cast<std::int64_t>(
                       unknown_place(static_cast<std::uint64_t>(range.most - range.least) + access.bytes)) -
                   range.least;
        numbers_of({.value = sum}, ptx::Type::s64, lanes_, numbers);
    } else {
        numbers_of(address, ptx::Type::s64, lanes_, numbers);
    }
    schedule::LaneAccess lanes;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        lanes.add(lane, static_cast<std::uint64_t>(numbers[lane]));
        if (access.is_shared && is_known && code_.local_end != 0 &&
            static_cast<std::uint64_t>(numbers[lane]) + access.bytes > code_.local_end)
            beyond_local_ = static_cast<std::uint32_t>(&access - code_.accesses.data());
    }
    writer_->access(at_, access.instruction, lanes, access.bytes, access.is_atomic);
}

void WarpWalk::pass(ptx::BlockIndex from, std::size_t successor, std::uint32_t mask) {
    const CodeBlock& block = code_.blocks[from];
    std::uint32_t& edge =
        edges_[first_edge_[code_.flow.blocks[from].successors[successor]] + block.slots[successor]];
    // Lanes leave a loop in several iterations.
    edge = block.leaves[successor] == no_index ? mask : edge | mask;
}

void WarpWalk::note_exit(ptx::BlockIndex b, std::size_t successor, bool is_known) {
    const std::uint32_t outermost = code_.blocks[b].leaves[successor];
    if (outermost == no_index) return;
    for (std::uint32_t l = code_.blocks[b].loop; l != no_index; l = code_.flow.loops[l].parent) {
        (is_known ? known_exit_ : unknown_exit_)[l] = true;
        if (l == outermost) break;
    }
}

void WarpWalk::end_block(ptx::BlockIndex b, std::uint32_t mask) {
    const CodeBlock& block = code_.blocks[b];
    bool is_known = true;
    switch (block.end) {
        case CodeBlock::End::returns:
            return;
        case CodeBlock::End::branches: {
            const std::uint32_t taken = lanes_of(block.condition, block.condition_negated, mask, is_known);
            notes_.undecided_branches[b] = notes_.undecided_branches[b] || !is_known;
            pass(b, 0, taken);
            pass(b, 1, is_known ? mask & ~taken : mask);
            break;
        }
        case CodeBlock::End::may_return: {
            const std::uint32_t gone = lanes_of(block.condition, block.condition_negated, mask, is_known);
            notes_.undecided_branches[b] = notes_.undecided_branches[b] || !is_known;
            for (std::uint32_t l = block.loop; l != no_index; l = code_.flow.loops[l].parent)
                (is_known ? known_exit_ : unknown_exit_)[l] = true;
            if (!block.slots.empty()) pass(b, 0, is_known ? mask & ~gone : mask);
            break;
        }
        default:
            is_known = block.end == CodeBlock::End::falls;
            for (std::size_t s = 0; s < block.slots.size(); ++s) pass(b, s, mask);
            break;
    }
    if (block.end == CodeBlock::End::falls) return;
    for (std::size_t s = 0; s < block.slots.size(); ++s) note_exit(b, s, is_known);
}

}  // namespace trimtab::pruning
