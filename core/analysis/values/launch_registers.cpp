// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threadIdx, blockIdx, blockDim and gridDim: who reads them, and who reads them otherwise than through global
// indices (re-blocking, rule 1).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/analysis/values/function_values.h"

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::Operand;

struct LaunchRegister {
    Atom::Kind kind;
    Dimension dimension;
};

std::optional<LaunchRegister> launch_register(ptx::SpecialRegister special) {
    using enum ptx::SpecialRegister;
    switch (special) {
        case tid_x:
            return LaunchRegister{Atom::Kind::thread_index, Dimension::x};
        case tid_y:
            return LaunchRegister{Atom::Kind::thread_index, Dimension::y};
        case tid_z:
            return LaunchRegister{Atom::Kind::thread_index, Dimension::z};
        case ntid_x:
            return LaunchRegister{Atom::Kind::block_size, Dimension::x};
        case ntid_y:
            return LaunchRegister{Atom::Kind::block_size, Dimension::y};
        case ntid_z:
            return LaunchRegister{Atom::Kind::block_size, Dimension::z};
        case ctaid_x:
            return LaunchRegister{Atom::Kind::block_index, Dimension::x};
        case ctaid_y:
            return LaunchRegister{Atom::Kind::block_index, Dimension::y};
        case ctaid_z:
            return LaunchRegister{Atom::Kind::block_index, Dimension::z};
        case nctaid_x:
            return LaunchRegister{Atom::Kind::grid_size, Dimension::x};
        case nctaid_y:
            return LaunchRegister{Atom::Kind::grid_size, Dimension::y};
        case nctaid_z:
            return LaunchRegister{Atom::Kind::grid_size, Dimension::z};
        default:
            return std::nullopt;
    }
}

}  // namespace

bool is_lane_register(ptx::SpecialRegister special) {
    using enum ptx::SpecialRegister;
    return special == laneid || special == lanemask_eq || special == lanemask_lt || special == lanemask_le ||
           special == lanemask_ge || special == lanemask_gt;
}

LaunchReads launch_reads(const std::vector<const ptx::Function*>& functions,
                         const LaunchAssumption& assumed) {
    LaunchReads reads;
    reads.assumed = assumed;
    const auto note = [&](const Operand& operand) {
        const auto found =
            operand.kind == Operand::Kind::special ? launch_register(operand.special) : std::nullopt;
        if (!found) return;
        const auto d = static_cast<std::size_t>(found->dimension);
        if (assumed.of[d] == Assumed::one_thread) return;
        switch (found->kind) {
            case Atom::Kind::thread_index:
                reads.thread_index[d] = true;
                break;
            case Atom::Kind::block_size:
                reads.block_size[d] = true;
                break;
            case Atom::Kind::block_index:
                reads.block_index[d] = true;
                break;
            default:
                reads.grid_size[d] = true;
                break;
        }
    };
    for (const ptx::Function* function : functions)
        for (const ptx::Instruction& instruction : function->body)
            for (const Operand& operand : instruction.operands) {
                note(operand);
                for (const Operand& element : operand.elements) note(element);
            }
    return reads;
}

DimensionUse LaunchReads::use(std::size_t d) const {
    if (!reads(d)) return {};
    const Index index = grid_stays(d) ? Index::in_block : grid_size[d] ? Index::of_total : Index::global;
    if (assumed.of[d] == Assumed::whole_warps) return {index, BlockWidth::warps};
    return {index, block_stays_one(d) ? BlockWidth::one : BlockWidth::any};
}

// The lane, and masks of it, where warps are units.
Symbolic FunctionValues::lane_register(ptx::SpecialRegister special, unsigned width) const {
    using enum ptx::SpecialRegister;
    Symbolic lane = table_->of(Atom::Kind::lane, Dimension::x, width);
    if (special == laneid) return lane;
    const auto bits = bits_type(width);
    if (!bits) return {};
    const auto above = [&](std::uint64_t ones) {  // ones << lane
        return table_->apply(
            *operation_of(Operator::shl, *bits),
            {SymbolTable::constant(ones, width), table_->of(Atom::Kind::lane, Dimension::x, 32)});
    };
    const Symbolic one = SymbolTable::constant(1, width);
    switch (special) {
        case lanemask_eq:
            return above(1);
        case lanemask_lt:
            return table_->subtract(above(1), one);
        case lanemask_le:
            return table_->subtract(above(2), one);
        case lanemask_ge:
            return above(~std::uint64_t{0});
        case lanemask_gt:
            return above(~std::uint64_t{1});
        default:
            return {};
    }
}

Symbolic FunctionValues::special(ptx::SpecialRegister special, unsigned width) const {
    if (warps_are_units() && is_lane_register(special)) return lane_register(special, width);
    if (special == ptx::SpecialRegister::warp_size) return SymbolTable::constant(warp_size, width);
    const auto found = launch_register(special);
    if (!found) return {};
    const Dimension dimension = found->dimension;
    const auto d = static_cast<std::size_t>(dimension);
    if (reads_.assumed.of[d] == Assumed::one_thread) {
        const bool is_size = found->kind == Atom::Kind::block_size || found->kind == Atom::Kind::grid_size;
        return SymbolTable::constant(is_size ? 1 : 0, width);
    }
    if (reads_.grid_stays(d)) {
        switch (found->kind) {
            case Atom::Kind::thread_index:
                return table_->global_index(dimension, width);
            case Atom::Kind::block_size:
                return table_->total(dimension, width);
            case Atom::Kind::block_index:
                return table_->row_index(dimension, width);
            default:
                return table_->row_count(dimension, width);
        }
    }
    if (reads_.assumed.of[d] == Assumed::whole_warps) {
        const auto part = [&](Atom::Kind kind) { return table_->of(kind, dimension, width); };
        const Symbolic block = part(Atom::Kind::block_index), warps = part(Atom::Kind::block_warps);
        switch (found->kind) {
            case Atom::Kind::thread_index: {
                const Symbolic first = *table_->multiply(block, warps);
                return table_->add(
                    SymbolTable::scaled(table_->subtract(part(Atom::Kind::warp_index), first), warp_size),
                    part(Atom::Kind::lane));
            }
            case Atom::Kind::block_size:
                return SymbolTable::scaled(warps, warp_size);
            default:
                return part(found->kind);
        }
    }
    // In a dimension whose block stays 1, blockIdx is the index itself.
    const bool one = reads_.block_stays_one(d);
    switch (found->kind) {
        case Atom::Kind::thread_index:
            return table_->thread_index(dimension, width);
        case Atom::Kind::block_size:
            return one ? SymbolTable::constant(1, width) : table_->block_size(dimension, width);
        case Atom::Kind::block_index:
            return one ? table_->global_index(dimension, width) : table_->block_index(dimension, width);
        default:
            return one ? table_->total(dimension, width) : table_->grid_size(dimension, width);
    }
}

bool FunctionValues::operands_are_clean(std::uint32_t instruction) {
    bool clean = true;
    const auto check = [&](const Symbolic& used) {
        if (table_->is_clean(used)) return;
        if (clean) fault(instruction, used);
        clean = false;
    };
    for (const ptx::Ssa::Use& use : ssa_.uses[instruction])
        if (use.value != no_index && evaluated_[use.value]) check(values_[use.value]);
    const ptx::Instruction& made = function_->body[instruction];
    for (const Operand& operand : made.sources()) {
        if (operand.kind == Operand::Kind::special) check(special(operand.special, 32));
        for (const Operand& element : operand.elements)
            if (element.kind == Operand::Kind::special) check(special(element.special, 32));
    }
    return clean;
}

void FunctionValues::fault(std::uint32_t instruction, const Symbolic& value) {
    if (!faults_.empty() && faults_.back().instruction == instruction) return;
    Symbolic shown = value;
    if (!table_->is_small(value)) shown = table_->unclean_part(value);
    if (auto in_thread_indices = table_->with_thread_index(shown)) shown = std::move(*in_thread_indices);
    std::set<std::string> registers;
    std::optional<std::uint64_t> built_in;
    bool tainted = false;
    table_->for_each_atom(shown, [&](AtomIndex index) {
        const Atom& atom = table_->atom(index);
        std::string name;
        switch (atom.kind) {
            case Atom::Kind::thread_index:
            case Atom::Kind::thread_warp:
                name = "threadIdx";
                break;
            case Atom::Kind::block_index:
                name = "blockIdx";
                break;
            case Atom::Kind::block_size:
            case Atom::Kind::block_warps:
                name = "blockDim";
                break;
            case Atom::Kind::grid_size:
                name = "gridDim";
                break;
            case Atom::Kind::tainted:
                tainted = true;
                return;
            default:
                return;
        }
        // Where the block stays 1 the kernel reads blockIdx alone.
        if (name != "blockIdx" && name != "gridDim" &&
            reads_.block_stays_one(static_cast<std::size_t>(atom.dimension)))
            return;
        registers.insert(fmt::format("{}.{}", name, "xyz"[static_cast<std::size_t>(atom.dimension)]));
    });
    std::string names = fmt::format("{}", fmt::join(registers, " and "));
    // blockIdx.x * 256 + threadIdx.x, or four times that: say which number the source has built in.
    const auto coefficient = [&](Atom::Kind kind, Dimension dimension) -> std::uint64_t {
        for (const Term& term : shown.terms) {
            const Atom* atom = term.atoms.size() == 1 ? &table_->atom(term.atoms[0]) : nullptr;
            if (atom != nullptr && atom->kind == kind && atom->dimension == dimension)
                return term.coefficient;
        }
        return 0;
    };
    for (const Dimension dimension : {Dimension::x, Dimension::y, Dimension::z}) {
        const std::uint64_t of_blocks = coefficient(Atom::Kind::block_index, dimension),
                            of_threads = coefficient(Atom::Kind::thread_index, dimension);
        if (of_threads == 0 || of_blocks % of_threads != 0) continue;
        if (const std::uint64_t size = of_blocks / of_threads; size > 1 && size <= most_block_threads)
            built_in = size;
    }
    // What follows from a value that was blamed already is no news.
    if (tainted && names.empty()) {
        if (!faults_.empty()) return;
        names = "the position in the block";
    }
    std::string text = fmt::format("uses {} outside blockIdx * blockDim + threadIdx", names);
    if (built_in)
        text +=
            fmt::format("; a block of {} threads seems to be hard-coded: write blockDim instead", *built_in);
    else
        text += "; index only by the global thread index";
    faults_.push_back({1, instruction, std::move(text)});
}

}  // namespace trimtab::analysis
