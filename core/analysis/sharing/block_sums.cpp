// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/block_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/sharing/block_sweep.h"
#include "core/analysis/sharing/exchange_piece.h"
#include "core/analysis/sharing/left_out.h"
#include "core/analysis/sharing/phases.h"
#include "core/analysis/sharing/strided_accesses.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/iteration_sums.h"
#include "core/analysis/values/shared_addresses.h"

namespace trimtab::analysis {
namespace {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::ValueIndex;

// Values of the function as it is never meet those of the function as it becomes.
constexpr std::uint32_t sums_function_index = 0x7ffffffd;
constexpr std::uint64_t most_shared_bytes = 1 << 20;

class SumFinder {
  public:
    SumFinder(SymbolTable& table, const ptx::Module& module, const ptx::Function& function,
              const FunctionValues& values, bool may_reassociate)
        : table_(table),
          module_(module),
          function_(function),
          values_(values),
          flow_(values.flow()),
          may_reassociate_(may_reassociate),
          control_(function, values.flow()),
          indices_(table, values, {true, false, false}),
          labels_(table, values, indices_, control_) {}

    std::expected<BlockTables, Fault> run() {
        if (!find_operations()) return std::unexpected(Fault{});
        if (auto fault = find_flushes()) return std::unexpected(std::move(*fault));
        const std::uint32_t first = flushes_.front().instruction;
        std::vector<BlockIndex> held;
        for (const std::uint32_t i : operations_) held.push_back(flow_.block_of[i]);
        for (const Flush& flush : flushes_) held.push_back(flow_.block_of[flush.instruction]);
        auto piece = piece_around(flow_, held);
        if (!piece)
            return std::unexpected(Fault{2, first, "adds a sum that is not formed in one piece of code"});
        piece_ = std::move(*piece);
        // Once by each thread.
        if (flow_.innermost_loop[piece_.from] != no_index || !control_.deciding(piece_.from).empty())
            return std::unexpected(Fault{
                2, first, "adds a sum that its threads form in a loop, or that only some of them form"});
        if (auto fault = does_something_else()) return std::unexpected(std::move(*fault));
        std::optional<Shown> best;
        for (const BlockWidth block : {BlockWidth::warps, BlockWidth::powers})
            if (auto shown = runs(block); shown && (!best || shown->most > best->most))
                best = std::move(shown);
        if (!best)
            return std::unexpected(
                Fault{2, first,
                      "adds a sum that does not hold each thread's value exactly once in blocks of "
                      "several sizes"});
        auto result = rewritten(*best);
        if (!result)
            return std::unexpected(
                Fault{2, first, "uses a sum of its threads for something other than an atomic addition"});
        return std::move(*result);
    }

  private:
    // An atomic that adds what came together.
    struct Flush {
        std::uint32_t instruction = 0;
        IterationSum sum;
        ValueIndex of = no_index;  // what each thread has
    };
    // Blocks of which all is shown.
    struct Shown {
        BlockWidth block = BlockWidth::any;
        unsigned most = 0;
        std::vector<Flush> flushes;
        WarpBytes dynamic_shared;
    };

    static bool is_exchange(const ptx::Instruction& made) {
        return made.opcode == Opcode::shfl || made.opcode == Opcode::redux;
    }
    // Is the block in the piece, and done by every thread, once?
    bool is_done_by_all(BlockIndex block) const {
        return piece_.blocks[block] && flow_.innermost_loop[block] == no_index &&
               flow_.dominates(block, piece_.to) && flow_.post_dominates(block, piece_.from);
    }

    bool find_operations() {
        bool exchanges = false;
        for (std::uint32_t i = 0; i < function_.body.size(); i++) {
            const ptx::Instruction& made = function_.body[i];
            if (!values_.is_reachable(i)) continue;
            if (made.opcode == Opcode::call || is_warp_barrier(values_, i)) return false;
            if (is_block_barrier(values_, i)) {
                operations_.insert(i);
            } else if (is_exchange(made)) {
                operations_.insert(i);
                exchanges = true;
            } else if (is_warp_exchange(made)) {
                return false;
            } else if (is_shared_access(made)) {
                const ptx::Variable* variable = shared_place(table_, values_, module_, indices_, i).variable;
                if ((made.opcode != Opcode::ld && made.opcode != Opcode::st) || variable == nullptr ||
                    made.modifiers.space != ptx::Space::shared ||
                    made.modifiers.semantics != ptx::MemorySemantics::weak)
                    return false;
                variables_.insert(variable);
                operations_.insert(i);
                exchanges |= made.opcode == Opcode::st;
            }
        }
        // Dynamic shared memory is one, whatever its names are.
        return exchanges &&
               std::ranges::count_if(variables_, [](const auto* v) { return v->size_bytes == 0; }) <= 1 &&
               std::ranges::all_of(variables_,
                                   [](const auto* v) { return v->size_bytes <= most_shared_bytes; }) &&
               !SharedAddresses(values_, module_).escape([&](std::uint32_t i) {
                   return operations_.contains(i);
               });
    }

    // Atomics that operations come before.
    std::optional<Fault> find_flushes() {
        for (std::uint32_t i = 0; i < function_.body.size(); i++) {
            const ptx::Instruction& made = function_.body[i];
            if (!values_.is_reachable(i) || !is_reduction(made) ||
                std::ranges::none_of(operations_,
                                     [&](std::uint32_t operation) { return flow_.precedes(operation, i); }))
                continue;
            const auto sum = sum_of_atomic(made, may_reassociate_);
            if (!sum && ptx::is_float(made.type) && !may_reassociate_)
                return Fault{
                    2, i,
                    fmt::format("adds a sum of its threads by {}, which rounds differently in other blocks; "
                                "TRIMTAB_REASSOCIATE=1 allows that",
                                made.mnemonic)};
            if (!sum || made.modifiers.space != ptx::Space::global || made.guard != no_index ||
                refusal(values_, module_, i) || made.operands.size() != made.destination_count + 2u ||
                made.operands[made.destination_count].kind != Operand::Kind::address)
                return Fault{2, i,
                             fmt::format("has {} after its threads have exchanged values", made.mnemonic)};
            if (!is_set_by_arguments(table_, values_.address(i)))
                return Fault{
                    2, i, "adds a sum of its threads to an address that does not follow from the arguments"};
            flushes_.push_back({i, *sum});
        }
        return flushes_.empty() ? std::optional(Fault{}) : std::nullopt;
    }
    bool is_flush(std::uint32_t i) const {
        return std::ranges::find(flushes_, i, &Flush::instruction) != flushes_.end();
    }

    // What the piece does besides is what each thread does once.
    std::optional<Fault> does_something_else() const {
        for (std::uint32_t i = 0; i < function_.body.size(); i++) {
            const BlockIndex block = flow_.block_of[i];
            if (values_.is_reachable(i) && piece_.blocks[block] && !operations_.contains(i) && !is_flush(i) &&
                has_effect(values_, i) && !is_done_by_all(block))
                return Fault{2, i,
                             fmt::format("has {} under a condition while its threads form a sum",
                                         function_.body[i].mnemonic)};
        }
        return std::nullopt;
    }

    // --- what comes together ---

    // Every thread's value of one kind, each once, is in what threads added.
    bool is_whole(Flush& flush, const ExchangeOutcome& outcome, const Tokens& tokens,
                  unsigned threads) const {
        const ThreadSet all = ThreadSet().set() >> (ThreadSet().size() - threads);
        ThreadSet added;
        for (const auto& [thread, token] : outcome.watched) {
            if (const auto bits = tokens.as_number(token);
                bits &&
                (flush.sum.is_rounded() ? flush.sum.is_rounded_zero(*bits) : *bits == flush.sum.identity))
                continue;
            const Tokens::Sum* sum = tokens.as_sum(token);
            if (sum == nullptr || sum->constant || (flush.of != no_index && flush.of != sum->of))
                return false;
            flush.of = sum->of;
            const ThreadSet& of = sum->is_full ? all : sum->threads;
            if (!flush.sum.is_idempotent() && (of & added).any()) return false;
            added |= of;
        }
        return added == all;
    }

    std::optional<Shown> runs(BlockWidth block) const {
        Shown shown{block, 0, flushes_, {}};
        std::vector<ExchangeOutcome> outcomes;
        std::vector<unsigned> sizes;
        for (unsigned threads = warp_size; threads <= most_block_threads;
             threads = block == BlockWidth::powers ? 2 * threads : threads + warp_size) {
            for (Flush& flush : shown.flushes) {
                auto outcome = run(flush, threads);
                if (!outcome)
                    return shown.most > warp_size ? std::optional(finished(shown, outcomes, sizes))
                                                  : std::nullopt;
                if (&flush == &shown.flushes.front()) {
                    outcomes.push_back(std::move(*outcome));
                    sizes.push_back(threads);
                }
            }
            shown.most = threads;
        }
        return finished(shown, outcomes, sizes);
    }
    static Shown finished(Shown shown, std::vector<ExchangeOutcome>& outcomes, std::vector<unsigned>& sizes) {
        while (!sizes.empty() && sizes.back() > shown.most) {
            sizes.pop_back();
            outcomes.pop_back();
        }
        shown.dynamic_shared = dynamic_shared_of(outcomes, sizes);
        return shown;
    }
    // Floating-point additions flush what is denormal, or none does.
    std::optional<ExchangeOutcome> run(Flush& flush, unsigned threads) const {
        for (const bool ftz : {false, true}) {
            if (ftz && !flush.sum.is_rounded()) break;
            Flush tried = flush;
            if (tried.sum.is_rounded()) tried.sum.ftz = ftz;
            Tokens tokens;
            std::map<ValueIndex, std::optional<IterationSum>> sums;
            const IterationParts no_iterations{
                .counts = [](BlockIndex) { return false; },
                .iteration_is_done = [](BlockIndex) -> std::optional<bool> { return {}; }};
            ExchangeContext context{table_,        module_,  values_,    {labels_, Dimension::x},
                                    no_iterations, indices_, variables_, tokens,
                                    sums};
            context.any_part = tried.sum;
            context.watched = tried.instruction;
            std::string why;
            auto outcome = run_exchange(context, piece_, threads, why);
            if (!outcome || !is_whole(tried, *outcome, tokens, threads)) continue;
            flush = tried;
            return outcome;
        }
        return std::nullopt;
    }

    // --- the kernel as if each thread added its own ---

    // An operation that every thread comes by once, with the value at hand; its place is taken by the atomic.
    struct Place {
        std::uint32_t instruction = 0;
        std::size_t operand = 0;
    };
    // Is it the other value, moved on, as compilers do between registers of numbers and of bits?
    bool is_moved_from(ValueIndex value, ValueIndex from) const {
        while (value != from && value != no_index) {
            const ptx::Value& made = values_.ssa().values[value];
            if (made.kind != ptx::Value::Kind::instruction || made.previous != no_index) break;
            const ptx::Instruction& move = function_.body[made.instruction];
            if (move.opcode != Opcode::mov || move.operands.size() != 2 ||
                move.operands[1].kind != Operand::Kind::reg || !move.operands[1].text.empty() ||
                !move.operands[0].elements.empty() ||
                values_.value(value).width != values_.value(values_.ssa().use(made.instruction, 1)).width)
                break;
            value = values_.ssa().use(made.instruction, 1);
        }
        return value == from;
    }
    std::optional<Place> place_of(const Flush& flush, const std::set<std::uint32_t>& taken) const {
        for (const std::uint32_t i : operations_) {
            const ptx::Instruction& made = function_.body[i];
            if (taken.contains(i) || made.guard != no_index || !is_done_by_all(flow_.block_of[i])) continue;
            for (std::size_t o = made.destination_count; o < made.operands.size(); o++)
                if (made.operands[o].kind == Operand::Kind::reg && !made.operands[o].negated &&
                    made.operands[o].text.empty() &&
                    is_moved_from(values_.ssa().use(i, static_cast<std::uint16_t>(o)), flush.of))
                    return Place{i, o};
        }
        return std::nullopt;
    }

    // One way through the piece, for all threads.
    void go_straight_through(LeftOut& left) const {
        std::map<BlockIndex, BlockIndex> from;
        std::vector<BlockIndex> work{piece_.from};
        for (std::size_t at = 0; at < work.size() && !from.contains(piece_.to); at++)
            for (const BlockIndex to : flow_.blocks[work[at]].successors)
                if (piece_.blocks[to] && to != piece_.from && from.emplace(to, work[at]).second)
                    work.push_back(to);
        for (BlockIndex to = piece_.to; to != piece_.from; to = from.at(to)) {
            const auto& successors = flow_.blocks[from.at(to)].successors;
            if (successors.size() == 2)
                left.leave_out(from.at(to), successors[0] == to ? ptx::falls_through : ptx::taken);
        }
    }

    std::optional<BlockTables> rewritten(const Shown& shown) const {
        std::set<std::uint32_t> gone = operations_, taken;
        std::vector<Place> places;
        std::vector<ValueIndex> used;
        for (const Flush& flush : shown.flushes) {
            const auto place = place_of(flush, taken);
            if (!place) return std::nullopt;
            places.push_back(*place);
            taken.insert(place->instruction);
            used.push_back(values_.ssa().use(place->instruction, static_cast<std::uint16_t>(place->operand)));
            gone.insert(flush.instruction);
        }
        LeftOut left(values_);
        if (piece_.from != piece_.to) go_straight_through(left);
        if (!left.is_clean(gone, {}, used) ||
            std::ranges::any_of(gone, [&](std::uint32_t i) { return left.needs(i); }))
            return std::nullopt;

        BlockTables result;
        result.function = function_;
        result.block = shown.block;
        result.most_threads = shown.most < most_block_threads ? shown.most : 0;
        result.orders_others = left.has_order(Phases(values_), gone);
        if (std::ranges::any_of(variables_, [](const auto* v) { return v->size_bytes == 0; }))
            result.dynamic_shared = shown.dynamic_shared;
        left.take_out(result.function, gone);
        for (std::size_t i = 0; i < places.size(); i++) add_own(shown.flushes[i], places[i], result);
        return result;
    }
    // To a place of its own: where it really goes is in the ranges.
    void add_own(const Flush& flush, const Place& place, BlockTables& result) const {
        const ptx::Instruction& written = function_.body[flush.instruction];
        ptx::Variable to;
        to.name = fmt::format("$sum${}", flush.instruction);
        to.space = ptx::Space::global;
        to.type = written.type;
        to.alignment_bytes = ptx::size_bytes(written.type);
        to.size_bytes = ptx::size_bytes(written.type);
        ptx::Instruction& made = result.function.body[place.instruction];
        const ptx::RegisterIndex unused = made.operands[0].reg;  // of what does nothing
        made = written;
        if (made.destination_count > 0) {
            made.operands[0] = {};
            made.operands[0].kind = Operand::Kind::reg;
            made.operands[0].reg = unused;
        }
        Operand& address = made.operands[made.destination_count];
        address = {};
        address.kind = Operand::Kind::address;
        address.text = to.name;
        made.operands.back() = function_.body[place.instruction].operands[place.operand];
        result.function.variables.push_back(std::move(to));
        result.bin_atomics.insert(place.instruction);
        result.has_bins = true;
        StridedAccess added;
        added.address = values_.address(flush.instruction);
        added.bytes = ptx::size_bytes(written.type);
        added.writes = true;
        // Two of one kind may go to one place.
        added.reduction = fmt::format("sums {} {}", static_cast<unsigned>(written.modifiers.atomic),
                                      static_cast<unsigned>(written.type));
        result.ranges.push_back(std::move(added));
    }

    SymbolTable& table_;
    const ptx::Module& module_;
    const ptx::Function& function_;
    const FunctionValues& values_;
    const ptx::ControlFlow& flow_;
    bool may_reassociate_ = false;
    ptx::ControlDependence control_;
    LoopIndices indices_;
    Labels labels_;
    ExchangePiece piece_;
    std::set<std::uint32_t> operations_;
    std::set<const ptx::Variable*> variables_;
    std::vector<Flush> flushes_;
};

}  // namespace

std::expected<BlockTables, Fault> with_block_sums(SymbolTable& table, const ptx::Module& module,
                                                  const ptx::Function& function, const LaunchReads& reads,
                                                  bool may_reassociate) {
    const auto values = values_of_block(table, function, sums_function_index, reads);
    if (!values) return std::unexpected(Fault{});
    return SumFinder(table, module, function, *values, may_reassociate).run();
}

}  // namespace trimtab::analysis
