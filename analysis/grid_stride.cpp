#include "analysis/grid_stride.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/guards.h"
#include "analysis/instruction_rules.h"
#include "analysis/memory_roots.h"
#include "analysis/turn_sums.h"
#include "analysis/turn_values.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;

constexpr std::string_view dimension_names = "xyz";
constexpr std::string_view keeps_a_stack =
    "keeps an array on the stack, which may carry values from turn to turn";

std::map<AtomIndex, Symbolic> replacing(const Symbolic& from, const Symbolic& to) {
    return {{from.terms[0].atoms[0], to}};
}

// Parameters, constants, the stack as registers: what no turn can tell from another.
bool has_effect(const FunctionValues& kernel, std::uint32_t instruction) {
    return !is_pure(kernel.function().body[instruction]) && !kernel.parameter_load(instruction) &&
           !kernel.is_frame_access(instruction);
}

// One dimension's loops.
class DimensionProof {
  public:
    DimensionProof(SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices,
                   const ptx::ControlDependence& control, Dimension dimension)
        : table_(table),
          kernel_(kernel),
          flow_(kernel.flow()),
          indices_(indices),
          control_(control),
          dimension_(dimension),
          values_(table, kernel, indices, control, dimension) {}

    // By instruction: in which dimensions the thread of index 0 alone comes by.
    using Once = std::map<std::uint32_t, std::array<bool, 3>>;

    std::optional<Fault> run(std::vector<StridedLoop>& loops, Once& once) {
        once_ = &once;
        for (const LoopIndices::Strided& strided : indices_.loops())
            if (strided.dimension == dimension_) check_loop(strided.loop);
        const auto& body = kernel_.function().body;
        for (std::uint32_t i = 0; i < body.size() && !fault_; i++)
            if (kernel_.is_reachable(i) && has_effect(kernel_, i)) check_effect(i);
        for (auto& [index, loop] : loops_) loops.push_back(std::move(loop.found));
        return fault_;
    }

  private:
    struct Checked {
        StridedLoop found;
        std::vector<BlockIndex> tested_heads;  // blocks that only turns below the bound reach
        std::vector<BlockIndex> last_parts;    // blocks that only turns reach after which there is another
        std::map<BlockIndex, bool> exits;      // by block that leaves the loop: is the turn done there?
        bool ends = false;                     // every turn meets a test
        bool tests_next = false;               // before another turn is begun
        bool tests_first = false;              // before the first turn
    };

    void refuse(std::uint32_t instruction, std::string text) {
        if (!fault_) fault_ = Fault{3, instruction, std::move(text)};
    }
    bool is_in(std::uint32_t loop, BlockIndex block) const {
        return std::ranges::find(flow_.loops[loop].blocks, block) != flow_.loops[loop].blocks.end();
    }
    std::uint32_t last_of(BlockIndex block) const { return flow_.blocks[block].last - 1; }

    void check_loop(std::uint32_t l) {
        const ptx::Loop& loop = flow_.loops[l];
        for (const LoopIndices::Strided& other : indices_.loops())
            if (other.dimension == dimension_ && other.loop != l && is_in(l, flow_.loops[other.loop].header))
                return refuse(flow_.blocks[loop.header].first, "has such a loop in another one");
        Checked& checked = loops_[l];
        checked.found.dimension = dimension_;
        checked.found.instruction = flow_.blocks[loop.header].first;
        for (const BlockIndex block : loop.blocks) check_branch(l, block, checked);
        if (fault_) return;
        for (const auto& [branch, ways] : control_.deciding(loop.header))
            if (!is_in(l, branch)) check_entry(l, branch, ways, checked);
        if (!checked.ends)
            refuse(checked.found.instruction, "has such a loop that does not test its index in every turn");
    }

    void check_branch(std::uint32_t l, BlockIndex block, Checked& checked) {
        const ptx::BasicBlock& body = flow_.blocks[block];
        if (body.first == body.last) return;
        const std::uint32_t last = body.last - 1;
        const ptx::Instruction& made = kernel_.function().body[last];
        const bool leaves = made.opcode == Opcode::ret || made.opcode == Opcode::exit;
        const bool goes_out =
            std::ranges::any_of(body.successors, [&](BlockIndex to) { return !is_in(l, to); });
        if (!leaves && !goes_out) {
            const bool decides =
                made.opcode == Opcode::brx || (made.opcode == Opcode::bra && made.guard != no_index);
            if (decides && values_.uses(last).on_launch)
                refuse(last, "has a branch in the loop that depends on more than the loop's index");
            return;
        }
        if (made.opcode != Opcode::bra && !leaves) return refuse(last, "leaves the loop by a jump table");
        // A guarded ret goes out where its guard is true.
        const bool out_if_taken = leaves || !is_in(l, body.successors[0]);
        check_exit(l, block, out_if_taken, checked);
    }

    void check_exit(std::uint32_t l, BlockIndex block, bool out_if_taken, Checked& checked) {
        constexpr const char* no_bound =
            "leaves the loop otherwise than where its index reaches a bound that arguments set";
        const std::uint32_t last = last_of(block);
        Symbolic out = kernel_.guard(last);
        if (out.width != 1 || !table_.is_small(out)) return refuse(last, no_bound);
        out = indices_.with_indices(out_if_taken ? out : table_.negate(out), block);
        // The test of i + total, at the end of the turn of i, is that of the next turn's index.
        const Symbolic index = table_.loop_index(dimension_, 64), total = table_.total(dimension_, 64);
        const Symbolic of_index = table_.substitute(out, replacing(total, SymbolTable::constant(0, 64)));
        const bool tests_next = of_index != out;
        if (tests_next && table_.substitute(of_index, replacing(index, table_.add(index, total))) != out)
            return refuse(last, no_bound);
        if (!add_test(of_index, index, checked)) return refuse(last, no_bound);
        checked.found.instruction = last;
        const bool is_always_met = std::ranges::all_of(
            flow_.loops[l].latches, [&](BlockIndex latch) { return flow_.dominates(block, latch); });
        checked.ends |= is_always_met;
        checked.tests_next |= is_always_met && tests_next;
        checked.exits[block] = tests_next;
        for (const BlockIndex to : flow_.blocks[block].successors) {
            if (!is_in(l, to)) continue;
            if (tests_next)
                add_rest_of_turn(l, to, checked.last_parts);
            else if (flow_.blocks[to].predecessors.size() == 1)
                checked.tested_heads.push_back(to);
        }
    }
    // The block and what is reached from it in the same turn.
    void add_rest_of_turn(std::uint32_t l, BlockIndex from, std::vector<BlockIndex>& blocks) const {
        std::vector<BlockIndex> work{from};
        while (!work.empty()) {
            const BlockIndex block = work.back();
            work.pop_back();
            if (block == flow_.loops[l].header || !is_in(l, block) ||
                std::ranges::find(blocks, block) != blocks.end())
                continue;
            blocks.push_back(block);
            work.insert(work.end(), flow_.blocks[block].successors.begin(),
                        flow_.blocks[block].successors.end());
        }
    }

    // A predicate of the index alone: which index, the loop's or g, it is of becomes one here.
    bool add_test(const Symbolic& exits, const Symbolic& index, Checked& checked) {
        const Symbolic g = table_.global_index(dimension_, 64);
        const Symbolic test = table_.substitute(exits, replacing(index, g));
        if (!is_expressible(table_, test) || trend(table_, test, dimension_) != Trend::rises) return false;
        bool other_index = false;
        table_.for_each_atom(test, [&](AtomIndex at) {
            const Atom& atom = table_.atom(at);
            other_index |= (atom.kind == Atom::Kind::global_index && atom.dimension != dimension_) ||
                           atom.kind == Atom::Kind::row_index || atom.kind == Atom::Kind::warp_index ||
                           atom.kind == Atom::Kind::lane;
        });
        if (other_index) return false;
        if (std::ranges::find(checked.found.exits, test) == checked.found.exits.end())
            checked.found.exits.push_back(test);
        return true;
    }

    // A branch before the loop: the same for all threads, or a test of the first index.
    void check_entry(std::uint32_t l, BlockIndex branch, std::uint8_t ways, Checked& checked) {
        const std::uint32_t last = last_of(branch);
        if (is_same_for_all(branch)) return;
        constexpr const char* no_test =
            "reaches the loop by a branch that depends on the thread otherwise than by the loop's bound";
        if (values_.home(branch) != TurnValues::outside || (ways != ptx::taken && ways != ptx::falls_through))
            return refuse(last, no_test);
        Symbolic way = kernel_.guard(last);
        if (way.width != 1 || !table_.is_small(way)) return refuse(last, no_test);
        way = indices_.with_indices(ways == ptx::taken ? table_.negate(way) : way, branch);
        if (mentions_index(way) || !add_test(way, table_.loop_index(dimension_, 64), checked))
            return refuse(last, no_test);
        checked.tests_first |= flow_.dominates(branch, flow_.loops[l].header);
        entries_[branch] = ways;
    }
    bool is_same_for_all(BlockIndex branch) const { return values_.uses(last_of(branch)) == Dependence{}; }
    bool mentions_index(const Symbolic& value) const {
        bool found = false;
        table_.for_each_atom(value, [&](AtomIndex at) {
            found |=
                table_.atom(at).kind == Atom::Kind::loop_index && table_.atom(at).dimension == dimension_;
        });
        return found;
    }

    void check_effect(std::uint32_t instruction) {
        const BlockIndex block = flow_.block_of[instruction];
        const std::uint32_t l = values_.home(block);
        const ptx::Instruction& made = kernel_.function().body[instruction];
        const bool is_once = l == TurnValues::outside && is_of_first_thread(block);
        if (is_once) (*once_)[instruction][static_cast<std::size_t>(dimension_)] = true;
        const bool is_sum =
            l == TurnValues::outside && is_sum_of_turns(kernel_, values_, parts_, instruction);
        if (l == TurnValues::outside && made.opcode != Opcode::ld && !is_once && !is_sum)
            return refuse(instruction, fmt::format("has {} outside the loop, once a thread", made.mnemonic));
        if (values_.uses(instruction).on_launch && !is_sum)
            return refuse(
                instruction,
                fmt::format("has {} with values that depend on more than the loop's index", made.mnemonic));
        for (const auto& [branch, ways] : control_.deciding(block)) {
            if (l != TurnValues::outside && is_in(l, branch)) continue;  // checked with the loop
            const auto entry = entries_.find(branch);
            // Who makes no turn of the one loop has no sum either.
            const bool may_skip = !is_sum || loops_.size() == 1;
            if (is_same_for_all(branch) || (may_skip && entry != entries_.end() && entry->second == ways))
                continue;
            if (is_once && first_thread_goes_to(branch, block)) continue;
            return refuse(last_of(branch), "decides by the thread whether it works");
        }
        if (l == TurnValues::outside) return;
        if (!is_below_the_bound(block)) refuse(instruction, "works before it tests the loop's index");
        if (is_of_last_part(block))
            refuse(instruction, "works only in turns after which there is another one");
    }
    bool is_of_last_part(BlockIndex block) const {
        const auto& blocks = loops_.at(values_.home(block)).last_parts;
        return std::ranges::find(blocks, block) != blocks.end();
    }
    bool is_below_the_bound(BlockIndex block) const {
        const Checked& checked = loops_.at(values_.home(block));
        return (checked.tests_first && checked.tests_next) ||
               std::ranges::any_of(checked.tested_heads,
                                   [&](BlockIndex head) { return flow_.dominates(head, block); });
    }

    // if (g == 0): there is one such thread whatever the total is, and all that it does there comes in the
    // order of the program.
    bool is_of_first_thread(BlockIndex block) {
        const auto deciding = control_.deciding(block);
        return std::ranges::any_of(deciding,
                                   [&](const auto& by) { return first_thread_goes_to(by.first, block); });
    }
    // Is the block reached by a way out of the branch that only index 0 takes, and by no other way?
    bool first_thread_goes_to(BlockIndex branch, BlockIndex block) {
        const auto& successors = flow_.blocks[branch].successors;
        const bool jumps = kernel_.function().body[last_of(branch)].opcode == Opcode::bra;
        for (std::size_t i = 0; i < successors.size(); i++) {
            if (flow_.blocks[successors[i]].predecessors.size() != 1 ||
                !flow_.dominates(successors[i], block))
                continue;
            const Symbolic taken = kernel_.guard(last_of(branch));
            if (taken.width != 1 || !table_.is_small(taken)) return false;
            return is_first_index(jumps && i == 0 ? taken : table_.negate(taken));
        }
        return false;
    }
    bool is_first_index(const Symbolic& predicate) {
        const Atom* made = table_.as_operation(predicate);
        if (made == nullptr) return false;
        const std::vector<Symbolic>& operands = made->operands;
        if (made->operation.op == Operator::and_)
            return std::ranges::any_of(operands, [&](const Symbolic& part) { return is_first_index(part); });
        if (made->operation.op != Operator::setp || made->operation.comparison != ptx::Comparison::eq ||
            operands[0].width < 32)
            return false;
        // An index is below 2^31: as a word it is 0 where it is.
        const Symbolic difference = table_.subtract(operands[0], operands[1]);
        return is_zero_where_first(difference) ||
               is_zero_where_first(SymbolTable::scaled(difference, ~std::uint64_t{0}));
    }
    // The index itself; or it and others, where none has a bit set.
    bool is_zero_where_first(const Symbolic& value) {
        if (value == table_.global_index(dimension_, value.width)) return true;
        const Atom* made = table_.as_operation(value);
        return made != nullptr && made->operation.op == Operator::or_ &&
               std::ranges::any_of(made->operands,
                                   [&](const Symbolic& part) { return is_zero_where_first(part); });
    }

    SymbolTable& table_;
    const FunctionValues& kernel_;
    const ptx::ControlFlow& flow_;
    const LoopIndices& indices_;
    const ptx::ControlDependence& control_;
    Dimension dimension_;
    TurnValues values_;
    std::map<std::uint32_t, Checked> loops_;
    std::map<BlockIndex, std::uint8_t> entries_;
    TurnParts parts_{.counts =
                         [this](BlockIndex block) {
                             return values_.home(block) != TurnValues::outside && is_below_the_bound(block) &&
                                    !is_of_last_part(block);
                         },
                     .turn_is_done = [this](BlockIndex block) -> std::optional<bool> {
                         const auto& exits = loops_.at(values_.home(block)).exits;
                         const auto at = exits.find(block);
                         return at == exits.end() ? std::nullopt : std::optional(at->second);
                     }};
    Once* once_ = nullptr;
    std::optional<Fault> fault_;
};

// What the turns touch. Whether two of them meet is decided at the launch, where pointers and bounds are
// known.
class Accesses {
  public:
    // A stack outlives a turn, and belongs to a thread. What is read past the coherent caches is written by
    // nobody, where no barrier was there to order it.
    Accesses(SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices,
             const DimensionProof::Once& once, bool may_keep_stack, bool trusts_read_only)
        : table_(table),
          kernel_(kernel),
          indices_(indices),
          once_(once),
          may_keep_stack_(may_keep_stack),
          trusts_read_only_(trusts_read_only) {}

    std::expected<std::vector<StridedAccess>, Fault> run() {
        const auto& body = kernel_.function().body;
        for (std::uint32_t i = 0; i < body.size(); i++) {
            if (!kernel_.is_reachable(i)) continue;
            // What is not a register by now is memory that outlives a turn.
            if (!may_keep_stack_ && kernel_.is_frame_access(i) && body[i].opcode == Opcode::ld)
                return std::unexpected(Fault{3, i, std::string(keeps_a_stack)});
            if (!has_effect(kernel_, i)) continue;
            if (auto fault = add(i)) return std::unexpected(std::move(*fault));
        }
        const bool changes =
            std::ranges::any_of(accesses_, [](const StridedAccess& access) { return access.writes; });
        // Atomics of one kind leave the same sum, or the same extreme, in any order.
        const bool one_kind = std::ranges::all_of(accesses_, [&](const StridedAccess& access) {
            return !access.reduction.empty() && access.reduction == accesses_.front().reduction;
        });
        if (!changes || one_kind) return std::vector<StridedAccess>();
        if (unknown_) return std::unexpected(std::move(*unknown_));
        return std::move(accesses_);
    }

  private:
    std::optional<Fault> add(std::uint32_t i) {
        const ptx::Instruction& made = kernel_.function().body[i];
        switch (ptx::info(made.opcode).opcode_class) {
            case ptx::OpcodeClass::texture:
            case ptx::OpcodeClass::image_query:
            case ptx::OpcodeClass::hint:
                return std::nullopt;
            case ptx::OpcodeClass::load:
            case ptx::OpcodeClass::store:
            case ptx::OpcodeClass::atomic:
                break;
            default:
                return Fault{3, i, fmt::format("has {} in the loop", made.mnemonic)};
        }
        const bool is_global = made.modifiers.space == ptx::Space::global || made.modifiers.nc;
        if (reads_constant_memory(kernel_, i) && (trusts_read_only_ || !is_global)) return std::nullopt;
        const MemoryRoots roots = memory_roots(table_, kernel_, i);
        if (roots.is_private && may_keep_stack_ && roots.bases.empty() && !roots.is_unknown)
            return std::nullopt;
        if (roots.is_private) return Fault{3, i, std::string(keeps_a_stack)};
        const bool is_load = ptx::is_load(made);
        StridedAccess access;
        access.bytes = ptx::size_bytes(made.type) * std::max<unsigned>(1, made.modifiers.vector_width);
        access.writes = !is_load;
        if (is_reduction(made))
            access.reduction =
                fmt::format("{} {}", static_cast<unsigned>(made.modifiers.atomic), type_name_of(made));
        Symbolic address = kernel_.address(i);
        if (address.width == 64) address = indices_.with_indices(address, kernel_.flow().block_of[i]);
        for (const Dimension dimension : {Dimension::x, Dimension::y, Dimension::z})
            if (address.width == 64 && table_.is_small(address))
                address = table_.substitute(
                    address, replacing(table_.loop_index(dimension, 64), table_.global_index(dimension, 64)));
        if (address.width != 64 || !is_expressible(table_, address) || !moves_evenly(address) ||
            access.bytes == 0) {
            if (!unknown_)
                unknown_ =
                    Fault{3, i,
                          fmt::format("{} memory in the loop at places that are not known "
                                      "beforehand, which other turns may {}{}",
                                      is_load                    ? "reads"
                                      : access.reduction.empty() ? "writes"
                                                                 : "updates",
                                      is_load ? "write" : "use",
                                      is_load || !access.reduction.empty()
                                          ? "; declare pointers that are only read const and __restrict__"
                                          : "")};
        }
        access.address = std::move(address);
        if (const auto once = once_.find(i); once != once_.end()) access.once = once->second;
        accesses_.push_back(std::move(access));
        return std::nullopt;
    }
    bool mentions_index(const Symbolic& value) const {
        bool found = false;
        table_.for_each_atom(value, [&](AtomIndex index) {
            const Atom::Kind kind = table_.atom(index).kind;
            found |= kind == Atom::Kind::global_index || kind == Atom::Kind::row_index ||
                     kind == Atom::Kind::warp_index || kind == Atom::Kind::lane;
        });
        return found;
    }
    // pointer + sum of stride * index: what else two turns may do with an address is not told apart.
    bool moves_evenly(const Symbolic& value) const {
        return std::ranges::all_of(value.terms, [&](const Term& term) {
            unsigned factors = 0;
            for (const AtomIndex index : term.atoms) {
                const Atom& atom = table_.atom(index);
                if (!mentions_index({64, {{{index}, 1}}})) continue;
                factors++;
                if (atom.kind != Atom::Kind::operation) continue;
                if (atom.operation.op != Operator::cvt || !moves_evenly(atom.operands[0])) return false;
            }
            return factors <= 1;
        });
    }
    static std::string type_name_of(const ptx::Instruction& made) {
        return std::to_string(static_cast<unsigned>(made.type)) + " " +
               std::to_string(made.modifiers.vector_width);
    }

    SymbolTable& table_;
    const FunctionValues& kernel_;
    const LoopIndices& indices_;
    const DimensionProof::Once& once_;
    bool may_keep_stack_ = false, trusts_read_only_ = false;
    std::vector<StridedAccess> accesses_;
    std::optional<Fault> unknown_;
};

std::uint32_t first_read_of_total(const FunctionValues& kernel, std::size_t dimension) {
    const auto& body = kernel.function().body;
    for (std::uint32_t i = 0; i < body.size(); i++)
        for (const ptx::Operand& operand : body[i].operands)
            if (operand.kind == ptx::Operand::Kind::special && operand.text.starts_with("%nctaid") &&
                operand.text.ends_with(dimension_names[dimension]))
                return i;
    return 0;
}

}  // namespace

std::expected<GridStrides, Fault> grid_strides(SymbolTable& table, const FunctionValues& kernel,
                                               const std::array<bool, 3>& reads_total, bool orders_nothing) {
    GridStrides result;
    if (!kernel.flow().reducible) return std::unexpected(Fault{3, 0, "has loops with several entries"});
    const LoopIndices indices(table, kernel, reads_total);
    const ptx::ControlDependence control(kernel.function(), kernel.flow());
    DimensionProof::Once once;
    for (std::size_t d = 0; d < 3; d++) {
        if (!reads_total[d]) continue;
        const bool strides = std::ranges::any_of(indices.loops(), [&](const LoopIndices::Strided& strided) {
            return static_cast<std::size_t>(strided.dimension) == d;
        });
        if (!strides)
            return std::unexpected(Fault{3, first_read_of_total(kernel, d),
                                         "has no loop that begins at the index and goes on by the total"});
        DimensionProof proof(table, kernel, indices, control, static_cast<Dimension>(d));
        if (auto fault = proof.run(result.loops, once)) return std::unexpected(std::move(*fault));
    }
    auto accesses = Accesses(table, kernel, indices, once, false, !orders_nothing).run();
    if (!accesses) return std::unexpected(std::move(accesses.error()));
    result.accesses = std::move(*accesses);
    return result;
}

std::expected<std::vector<StridedAccess>, Fault> all_accesses(SymbolTable& table,
                                                              const FunctionValues& kernel) {
    return Accesses(table, kernel, LoopIndices(table, kernel, {}), {}, true, false).run();
}

}  // namespace trimtab::analysis
