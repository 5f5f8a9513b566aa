// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/loops/grid_stride.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/loops/row_loops.h"
#include "core/analysis/sharing/block_exchange.h"
#include "core/analysis/sharing/phases.h"
#include "core/analysis/sharing/strided_accesses.h"
#include "core/analysis/values/first_thread.h"
#include "core/analysis/values/guards.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/iteration_sums.h"
#include "core/analysis/values/label_origin.h"
#include "core/analysis/values/labels.h"
#include "core/model/launch_configuration.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;

// Where rounding moves from one side to the other, results would not differ by rounding alone.
constexpr std::string_view decides_by_sum =
    "branches on a floating-point sum, or uses it as an address, and other blocks round that sum differently";

// One dimension's loops.
class DimensionProof {
  public:
    DimensionProof(SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices,
                   const ptx::ControlDependence& control, const Labels& labels, Dimension dimension,
                   bool may_reassociate, const BlockExchange* exchange = nullptr)
        : table_(table),
          kernel_(kernel),
          flow_(kernel.flow()),
          indices_(indices),
          control_(control),
          dimension_(dimension),
          exchange_(exchange),
          all_labels_(labels),
          labels_(labels, dimension),
          first_(table, kernel, control, dimension) {
        parts_.may_reassociate = may_reassociate;
        for (const LoopIndices::Strided& strided : indices_.loops())
            if (strided.dimension == dimension_) check_loop(strided.loop);
    }

    const IterationParts& parts() const { return parts_; }

    std::optional<Fault> run(std::vector<StridedLoop>& loops, Once& once) {
        once_ = &once;
        const auto& body = kernel_.function().body;
        for (std::uint32_t i = 0; i < body.size() && !fault_; i++)
            if (kernel_.is_reachable(i) && has_effect(kernel_, i)) check_effect(i);
        for (auto& [index, loop] : loops_) {
            // As a test that the launch looks at past the bound: further on such a sum wraps sooner.
            for (const Symbolic& granted : indices_.taken_for_granted(index))
                if (!loop.found.exits.empty())
                    loop.found.exits.push_back(
                        table_.logical(Operator::and_, loop.found.exits.front(), granted));
            loop.found.header = flow_.loops[index].header;
            loop.found.widens = !indices_.taken_for_granted(index).empty();
            loops.push_back(std::move(loop.found));
        }
        return fault_;
    }

  private:
    struct Checked {
        StridedLoop found;
        std::vector<BlockIndex> tested_heads;  // blocks that only iterations below the bound reach
        std::vector<BlockIndex> last_parts;  // blocks that only iterations reach after which there is another
        std::map<BlockIndex, bool> exits;    // by block that leaves the loop: is the iteration done there?
        bool ends = false;                   // every iteration meets a test
        bool tests_next = false;             // before another iteration is begun
        bool tests_first = false;            // before the first iteration
    };

    void refuse(std::uint32_t instruction, std::string text) {
        if (!fault_) fault_ = Fault{3, instruction, std::move(text)};
    }
    // For what the instruction reads.
    void refuse_use(std::uint32_t instruction, std::string text, bool is_once = false) {
        if (fault_) return;
        fault_ = Fault{3, instruction, std::move(text)};
        const auto origin = label_origin(kernel_, all_labels_, instruction, dimension_, is_once);
        if (!origin) return;
        fault_->origin = origin->instruction;
        fault_->origin_text = origin->what;
    }
    bool is_in(std::uint32_t loop, BlockIndex block) const { return flow_.loops[loop].contains(block); }
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
            refuse(checked.found.instruction,
                   "has such a loop that does not test its index in every iteration");
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
            if (decides && labels_.uses(last).is_of_thread())
                refuse_use(last, "has a branch in the loop that depends on more than the loop's index");
            else if (decides && labels_.uses(last).is_rounded())
                refuse(last, std::string(decides_by_sum));
            return;
        }
        if (made.opcode != Opcode::bra && !leaves) return refuse(last, "leaves the loop by a jump table");
        // A guarded ret goes out where its guard is true.
        const bool out_if_taken = leaves || !is_in(l, body.successors[0]);
        check_exit(l, block, out_if_taken, checked);
    }

    void check_exit(std::uint32_t l, BlockIndex block, bool out_if_taken, Checked& checked) {
        constexpr const char* no_bound =
            "leaves the loop before its index reaches a bound that follows from the arguments";
        const std::uint32_t last = last_of(block);
        Symbolic out = kernel_.guard(last);
        if (out.width != 1 || !table_.is_small(out)) return refuse(last, no_bound);
        out = indices_.with_indices(out_if_taken ? out : table_.negate(out), block);
        // The test of i + total, at the end of the iteration of i, is that of the next iteration's index.
        const Symbolic index = table_.loop_index(dimension_, 64), total = table_.total(dimension_, 64);
        const Symbolic of_index = table_.substitute(out, replacing(total, SymbolTable::constant(0, 64)));
        const bool tests_next = of_index != out;
        // Where the thread began is no index of this iteration, nor of the next one.
        bool is_of_first = false;
        table_.for_each_atom(out, [&](AtomIndex at) {
            const Atom& atom = table_.atom(at);
            is_of_first |= atom.kind == Atom::Kind::global_index && atom.dimension == dimension_;
        });
        if (is_of_first) return refuse(last, no_bound);
        if (tests_next && table_.substitute(of_index, replacing(index, table_.add(index, total))) != out)
            return refuse(last, no_bound);
        if (!add_test(of_index, index, checked))
            return refuse(last, counts_iterations(l, out)
                                    ? "counts its iterations instead of testing its index, because the "
                                      "compiler unrolled it; put #pragma unroll 1 before it"
                                    : no_bound);
        checked.found.instruction = last;
        const bool is_always_met = std::ranges::all_of(
            flow_.loops[l].latches, [&](BlockIndex latch) { return flow_.dominates(block, latch); });
        checked.ends |= is_always_met;
        checked.tests_next |= is_always_met && tests_next;
        checked.exits[block] = tests_next;
        for (const BlockIndex to : flow_.blocks[block].successors) {
            if (!is_in(l, to)) continue;
            if (tests_next)
                add_rest_of_iteration(l, to, checked.last_parts);
            else if (flow_.blocks[to].predecessors.size() == 1)
                checked.tested_heads.push_back(to);
        }
    }
    // Does the test ask a register that goes up or down by a constant every iteration?
    bool counts_iterations(std::uint32_t l, const Symbolic& test) const {
        const BlockIndex header = flow_.loops[l].header;
        const auto& predecessors = flow_.blocks[header].predecessors;
        bool counts = false;
        table_.for_each_atom(test, [&](AtomIndex at) {
            const auto phi = kernel_.phi_of(table_.atom(at));
            if (!phi || kernel_.ssa().values[*phi].block != header ||
                indices_.function_at(at, header) != nullptr)
                return;
            for (std::size_t p = 0; p < predecessors.size(); p++) {
                const ptx::ValueIndex incoming = kernel_.ssa().values[*phi].incoming[p];
                counts |= is_in(l, predecessors[p]) && incoming != no_index &&
                          kernel_.value(incoming).width == kernel_.value(*phi).width &&
                          table_.subtract(kernel_.value(incoming), kernel_.value(*phi)).is_constant();
            }
        });
        return counts;
    }
    // The block and what is reached from it in the same iteration.
    void add_rest_of_iteration(std::uint32_t l, BlockIndex from, std::vector<BlockIndex>& blocks) const {
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
            "reaches the loop by a branch that depends on the thread, and not only on the loop's bound";
        if (labels_.home(branch) != Labels::outside || (ways != ptx::taken && ways != ptx::falls_through))
            return refuse(last, no_test);
        Symbolic way = kernel_.guard(last);
        if (way.width != 1 || !table_.is_small(way)) return refuse(last, no_test);
        way = indices_.with_indices(ways == ptx::taken ? table_.negate(way) : way, branch);
        if (mentions_index(way) || !add_test(way, table_.loop_index(dimension_, 64), checked))
            return refuse(last, no_test);
        checked.tests_first |= flow_.dominates(branch, flow_.loops[l].header);
        entries_[branch] = ways;
    }
    bool is_same_for_all(BlockIndex branch) const { return labels_.uses(last_of(branch)).is_exactly_same(); }
    // Of what the thread of index 0 decides there. Which way a jump table goes is no guard's to say.
    bool is_same_for_first(BlockIndex branch) const {
        const Symbolic taken = kernel_.guard(last_of(branch));
        if (kernel_.function().body[last_of(branch)].opcode == Opcode::brx || taken.width != 1 ||
            !table_.is_small(taken))
            return false;
        const auto zero = SymbolTable::constant(0, 64);
        return labels_
            .of(table_.substitute(taken, replacing(table_.global_index(dimension_, 64), zero)), branch)
            .is_exactly_same();
    }
    bool mentions_index(const Symbolic& value) const {
        bool found = false;
        table_.for_each_atom(value, [&](AtomIndex at) {
            found |=
                table_.atom(at).kind == Atom::Kind::loop_index && table_.atom(at).dimension == dimension_;
        });
        return found;
    }

    bool is_known(std::uint32_t instruction) const {
        return exchange_ != nullptr && exchange_->instructions.contains(instruction);
    }

    // Threads meet there as often as each other.
    void check_barrier(std::uint32_t instruction) {
        const BlockIndex block = flow_.block_of[instruction];
        bool is_met = labels_.home(block) == Labels::outside;
        for (const auto& [branch, ways] : control_.deciding(block)) is_met &= is_same_for_all(branch);
        if (!is_met) refuse(instruction, "has a barrier that not all threads are proved to reach");
    }

    void check_effect(std::uint32_t instruction) {
        if (is_known(instruction)) return;
        if (kernel_.blocks_are_units() && is_block_barrier(kernel_, instruction))
            return check_barrier(instruction);
        if (kernel_.blocks_are_units() && is_warp_exchange(kernel_.function().body[instruction]))
            return refuse(instruction, fmt::format("exchanges values within a warp ({}), and the outcome is "
                                                   "not proved to be the same in other blocks",
                                                   kernel_.function().body[instruction].mnemonic));
        const BlockIndex block = flow_.block_of[instruction];
        const std::uint32_t l = labels_.home(block);
        const ptx::Instruction& made = kernel_.function().body[instruction];
        for (std::size_t o = 0; o < made.operands.size(); ++o)
            if (const ptx::ValueIndex at = made.operands[o].kind == ptx::Operand::Kind::address
                                               ? kernel_.ssa().use(instruction, static_cast<std::uint16_t>(o))
                                               : no_index;
                at != no_index && labels_.at(at, block).is_rounded())
                return refuse(instruction, std::string(decides_by_sum));
        const bool is_once = l == Labels::outside && first_.has_alone(block);
        if (is_once) (*once_)[instruction][static_cast<std::size_t>(dimension_)] = true;
        const bool is_sum =
            l == Labels::outside && is_sum_of_iterations(kernel_, labels_, parts_, instruction);
        if (l == Labels::outside && made.opcode != Opcode::ld && !is_once && !is_sum)
            return refuse(instruction, fmt::format("has {} outside the loop, once a thread", made.mnemonic));
        if (labels_.uses(instruction).is_of_thread() && !is_sum)
            return refuse_use(
                instruction,
                fmt::format("has {} with values that depend on more than the loop's index", made.mnemonic));
        for (const auto& [branch, ways] : control_.deciding(block)) {
            if (l != Labels::outside && is_in(l, branch)) continue;  // checked with the loop
            const auto entry = entries_.find(branch);
            // Who makes no iteration of the one loop has no sum either.
            const bool may_skip = !is_sum || loops_.size() == 1;
            if (is_same_for_all(branch) || (may_skip && entry != entries_.end() && entry->second == ways))
                continue;
            if (is_once && is_same_for_first(branch)) continue;
            if (labels_.uses(last_of(branch)).is_same())
                return refuse(last_of(branch), std::string(decides_by_sum));
            return refuse_use(last_of(branch), "decides by the thread whether it works", is_once);
        }
        if (l == Labels::outside) return;
        if (!is_below_the_bound(block)) refuse(instruction, "works before it tests the loop's index");
        if (is_of_last_part(block)) refuse(instruction, "works only in iterations that another one follows");
    }
    bool is_of_last_part(BlockIndex block) const {
        const auto& blocks = loops_.at(labels_.home(block)).last_parts;
        return std::ranges::find(blocks, block) != blocks.end();
    }
    bool is_below_the_bound(BlockIndex block) const {
        const Checked& checked = loops_.at(labels_.home(block));
        return (checked.tests_first && checked.tests_next) ||
               std::ranges::any_of(checked.tested_heads,
                                   [&](BlockIndex head) { return flow_.dominates(head, block); });
    }

    SymbolTable& table_;
    const FunctionValues& kernel_;
    const ptx::ControlFlow& flow_;
    const LoopIndices& indices_;
    const ptx::ControlDependence& control_;
    Dimension dimension_;
    const BlockExchange* exchange_;
    const Labels& all_labels_;
    LabelsInDimension labels_;
    FirstThread first_;
    std::map<std::uint32_t, Checked> loops_;
    std::map<BlockIndex, std::uint8_t> entries_;
    IterationParts parts_{.counts =
                              [this](BlockIndex block) {
                                  return labels_.home(block) != Labels::outside &&
                                         is_below_the_bound(block) && !is_of_last_part(block);
                              },
                          .iteration_is_done = [this](BlockIndex block) -> std::optional<bool> {
                              const auto& exits = loops_.at(labels_.home(block)).exits;
                              const auto at = exits.find(block);
                              return at == exits.end() ? std::nullopt : std::optional(at->second);
                          }};
    Once* once_ = nullptr;
    std::optional<Fault> fault_;
};

std::uint32_t first_read_of_total(const FunctionValues& kernel, std::size_t dimension) {
    const auto& body = kernel.function().body;
    for (std::uint32_t i = 0; i < body.size(); i++)
        for (const ptx::Operand& operand : body[i].operands)
            if (operand.kind == ptx::Operand::Kind::special && operand.text.starts_with("%nctaid") &&
                operand.text.ends_with(model::axis_names[dimension]))
                return i;
    return 0;
}

struct Kernel {
    SymbolTable& table;
    const ptx::Module& module;
    const FunctionValues& values;
    const std::array<bool, 3>& reads_total;
    bool orders_nothing = false, may_reassociate = false;
    const BesideIterations& beside;
};

std::expected<GridStrides, Fault> with_exchange(const Kernel& kernel, const LoopIndices& indices,
                                                const ptx::ControlDependence& control,
                                                const BlockExchange& exchange) {
    GridStrides result;
    Once once;
    const Labels labels(kernel.table, kernel.values, indices, control, exchange.agreed);
    for (std::size_t d = 0; d < 3; d++) {
        if (!kernel.reads_total[d]) continue;
        DimensionProof proof(kernel.table, kernel.values, indices, control, labels, static_cast<Dimension>(d),
                             kernel.may_reassociate, &exchange);
        if (auto fault = proof.run(result.loops, once)) return std::unexpected(std::move(*fault));
    }
    const Phases phases = kernel.beside.barriers.empty() ? Phases(kernel.values)
                                                         : Phases(kernel.values, kernel.beside.barriers);
    AccessRules rules;
    if (!kernel.beside.barriers.empty()) rules.phases = &phases;
    rules.trusts_read_only = !kernel.orders_nothing && kernel.beside.accesses.empty();
    rules.beside = kernel.beside.accesses;
    rules.is_known = [&](std::uint32_t i) { return kernel.beside.instructions.contains(i); };
    // What two threads touch of one place is a race where no barrier is between, and where there was one in
    // the launch as written, it may have been what kept them from it.
    if (!kernel.orders_nothing) rules.iterations_of = kernel.reads_total;
    if (kernel.values.blocks_are_units()) {
        rules.module = &kernel.module;
        rules.phases = &phases;
        rules.is_known = [&](std::uint32_t i) { return exchange.instructions.contains(i); };
    }
    auto accesses = strided_accesses(kernel.table, kernel.values, indices, once, rules);
    if (!accesses) return std::unexpected(std::move(accesses.error()));
    result.accesses = std::move(accesses->known);
    result.need_one_iteration_a_thread = accesses->need_one_iteration_a_thread;
    auto rows = row_loops(kernel.table, kernel.values, indices);
    if (!rows) return std::unexpected(std::move(rows.error()));
    result.loops.insert(result.loops.end(), rows->begin(), rows->end());
    return result;
}

// What the threads of a block tell each other, one place after the other: what one gives, the next may start
// from.
struct Exchanged {
    BlockExchange found;
    std::vector<checker::Exchange> claims;
};
std::expected<Exchanged, Fault> exchanged(const Kernel& kernel, const LoopIndices& indices,
                                          const ptx::ControlDependence& control, BlockWidth block) {
    ExchangeFinder finder(kernel.table, kernel.module, kernel.values, control, indices, block);
    while (finder.has_more()) {
        const Labels labels(kernel.table, kernel.values, indices, control, finder.found().agreed);
        const DimensionProof proof(kernel.table, kernel.values, indices, control, labels, finder.dimension(),
                                   kernel.may_reassociate, &finder.found());
        if (auto fault = finder.next(labels, proof.parts())) return std::unexpected(std::move(*fault));
    }
    if (auto fault = finder.finish()) return std::unexpected(std::move(*fault));
    return Exchanged{finder.found(), finder.claims()};
}

}  // namespace

std::expected<GridStrides, Fault> grid_strides(SymbolTable& table, const ptx::Module& module,
                                               const FunctionValues& kernel,
                                               const std::array<bool, 3>& reads_total, bool orders_nothing,
                                               bool may_reassociate, const BesideIterations& beside) {
    if (!kernel.flow().reducible) return std::unexpected(Fault{3, 0, "has loops with several entries"});
    const LoopIndices indices(table, kernel, reads_total);
    for (std::size_t d = 0; d < 3; d++) {
        const bool strides = std::ranges::any_of(indices.loops(), [&](const LoopIndices::Strided& strided) {
            return static_cast<std::size_t>(strided.dimension) == d;
        });
        if (reads_total[d] && !strides)
            return std::unexpected(
                Fault{3, first_read_of_total(kernel, d),
                      kernel.warps_are_units()
                          ? "exchanges values within warps, and loops of warps keep the number of threads"
                          : "has no loop that begins at the index and goes on by the total"});
    }
    const ptx::ControlDependence control(kernel.function(), kernel.flow());
    const Kernel all{table, module, kernel, reads_total, orders_nothing, may_reassociate, beside};
    if (!kernel.blocks_are_units()) return with_exchange(all, indices, control, {});
    // Of whole warps first, then of powers of two: where both stand, with the larger blocks.
    std::optional<Fault> first;
    std::optional<GridStrides> best;
    const auto most = [](const GridStrides& of) {
        return of.most_threads == 0 ? UINT32_MAX : of.most_threads;
    };
    for (const BlockWidth block : {BlockWidth::warps, BlockWidth::powers}) {
        const auto exchange = exchanged(all, indices, control, block);
        auto found = exchange ? with_exchange(all, indices, control, exchange->found)
                              : std::unexpected(exchange.error());
        if (exchange && exchange->found.instructions.empty()) return found;
        if (!found) {
            if (!first) first = std::move(found.error());
            continue;
        }
        found->block = block;
        found->most_threads = exchange->found.most_threads;
        found->dynamic_shared = exchange->found.dynamic_shared;
        found->exchanges = exchange->claims;
        found->exchanging = exchange->found.instructions;
        if (!best || most(*found) > most(*best)) best = std::move(*found);
    }
    if (best) return std::move(*best);
    return std::unexpected(std::move(*first));
}

}  // namespace trimtab::analysis
