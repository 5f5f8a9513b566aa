// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/checker/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/checker/first_thread.h"
#include "core/checker/iteration_sums.h"
#include "core/checker/reading.h"
#include "core/checker/replay.h"
#include "core/ptx/opcodes.h"

namespace trimtab::checker {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::ValueIndex;

namespace {

// Made-up launches by which expressions are compared with the code that they stand for.
constexpr std::uint64_t trials = 100;

OpcodeClass class_of(const ptx::Instruction& made) {
    return ptx::info(made.opcode).opcode_class;
}

class Check {
  public:
    Check(const Certificate& certificate, Reading& reading)
        : certificate_(certificate),
          reading_(reading),
          flow_(reading.flow()),
          function_(*certificate.function) {}

    std::optional<Objection> run() {
        if (certificate_.labels.size() != reading_.ssa().values.size())
            return Objection{0, "it does not label each value"};
        for (ValueIndex v = 0; v < certificate_.labels.size(); v++)
            if ((reading_.required(v) & ~certificate_.labels[v]) != 0)
                object(at_value(v), "a value depends on more than it is said to");
        if (objection_) return objection_;
        if (!certificate_.fills.empty()) {
            for (const std::uint32_t i : certificate_.fills) check_fill(i);
            return objection_;
        }
        if (!certificate_.loops.empty() && !flow_.reducible) object(0, "its loops have several entries");
        if (const auto wrong = reading_.check_loops()) object(0, *wrong);
        for (std::size_t l = 0; l < certificate_.loops.size() && !objection_; l++) check_loop(l);
        // What follows asks what the loops test.
        if (objection_) return objection_;
        for (const FirstThread& first : certificate_.first_threads) check_first(first);
        for (const Exchange& exchange : certificate_.exchanges) check_exchange(exchange);
        for (const IterationSum& sum : certificate_.sums) check_sum(sum);
        for (std::uint32_t i = 0; i < function_.body.size() && !objection_; i++)
            if (reading_.is_reachable(flow_.block_of[i])) check_instruction(i);
        for (const Guard& guard : certificate_.guards) check_guard(guard);
        return objection_;
    }

  private:
    void object(std::uint32_t instruction, std::string text) {
        if (!objection_)
            objection_ = Objection{instruction < function_.body.size() ? function_.body[instruction].line : 0,
                                   std::move(text)};
    }
    std::uint32_t at_value(ValueIndex v) const {
        const ptx::Value& value = reading_.ssa().values[v];
        return value.kind == ptx::Value::Kind::instruction ? value.instruction
                                                           : flow_.blocks[reading_.block_of(v)].first;
    }
    std::uint32_t last_of(BlockIndex block) const { return flow_.blocks[block].last - 1; }

    // --- tables ---

    // What a block fills a table with, and where, is the loop's index, arguments, and what nobody writes.
    void check_fill(std::uint32_t i) {
        const BlockIndex block = flow_.block_of[i];
        const std::uint32_t l = reading_.home(0, block);
        Labels found = reading_.uses(i) & static_cast<Labels>(thread_block | all_shapes | others | rounding |
                                                              (l == no_index ? 0 : index_x));
        for (const auto& [branch, ways] : reading_.deciding(block))
            found |= reading_.decides(branch, block) &
                     static_cast<Labels>(thread_block | others |
                                         (l != no_index && reading_.home(0, branch) == l ? 0 : all_shapes));
        if (found != 0) object(i, "a table's contents depend on the block that fills it");
    }

    // --- loops ---

    static bool is_leaving(const ptx::Instruction& made) {
        return made.opcode == Opcode::ret || made.opcode == Opcode::exit;
    }
    bool is_conditional(BlockIndex block) const {
        const ptx::BasicBlock& body = flow_.blocks[block];
        return body.first != body.last && (function_.body[body.last - 1].guard != no_index ||
                                           function_.body[body.last - 1].opcode == Opcode::brx);
    }
    Labels thread_of(const StridedLoop& loop) const { return static_cast<Labels>(index_x << loop.dimension); }

    // Is it one of the tests that the launch looks at, of the index less `back`?
    bool is_exported(std::size_t l, BlockIndex branch, bool if_taken, bool is_of_next) const {
        const StridedLoop& loop = certificate_.loops[l];
        const ValueIndex guard = reading_.ssa().guard(last_of(branch));
        const bool is_negated = function_.body[last_of(branch)].guard_negated;
        return std::ranges::any_of(loop.exits, [&](const Expression& exits) {
            for (std::uint64_t seed = 1; seed <= trials; seed++) {
                Trial made = trial(certificate_, seed);
                std::uint64_t& index = made.index[loop.dimension];
                index = made.seed % 16;
                std::uint64_t total = made.registers[ntid + loop.dimension];
                if (certificate_.dimensions[loop.dimension].scheme == Scheme::free_total)
                    total *= made.registers[nctaid + loop.dimension];
                // Before the loop the index is the thread's own.
                if (reading_.home(loop.dimension, branch) == no_index)
                    index = trial(certificate_, seed).index[loop.dimension];
                const auto is = Values(reading_, made, l, is_of_next ? index - total : index).of(guard);
                const auto said = value(exits, made);
                if (!is || !said || ((*is != 0) != is_negated) != ((*said != 0) == if_taken)) return false;
            }
            return true;
        });
    }

    struct LoopTests {
        std::vector<BlockIndex> tested;              // reached below the bound alone
        std::vector<BlockIndex> last;                // reached in iterations that another one follows
        std::map<BlockIndex, std::uint8_t> entries;  // branches before the loop, and their ways to it
        bool tests_first = false, tests_next = false;
    };

    void check_loop(std::size_t l) {
        const StridedLoop& loop = certificate_.loops[l];
        const ptx::Loop& blocks = reading_.loop_at(loop.header);
        if (!certificate_.dimensions[loop.dimension].is_strided())
            return object(0, "it has a loop of a dimension that has none");
        LoopTests& tests = tests_[l];
        const auto shape = static_cast<Labels>(shape_x << loop.dimension);
        for (std::size_t other = 0; other < certificate_.loops.size(); other++)
            if (other != l && certificate_.loops[other].dimension == loop.dimension &&
                std::ranges::find(blocks.blocks, certificate_.loops[other].header) != blocks.blocks.end())
                return object(flow_.blocks[loop.header].first, "a loop over threads is in another one");
        bool ends = false;
        for (const BlockIndex block : blocks.blocks) {
            if (!is_conditional(block)) {
                if (flow_.blocks[block].successors.empty())
                    object(flow_.blocks[block].first, "a loop is left without a test");
                continue;
            }
            const ptx::Instruction& made = function_.body[last_of(block)];
            const auto& successors = flow_.blocks[block].successors;
            const bool goes_out = is_leaving(made) || std::ranges::any_of(successors, [&](BlockIndex to) {
                                      return !reading_.is_in(loop, to);
                                  });
            const Labels decided = reading_.decides(block, block);
            if (!goes_out) {
                if ((decided & (shape | others | rounding | thread_of(loop))) != 0)
                    object(last_of(block), "a branch in a loop depends on more than its index");
                continue;
            }
            if (made.opcode == Opcode::brx)
                return object(last_of(block), "a loop is left by a table of branches");
            const bool if_taken = is_leaving(made) || !reading_.is_in(loop, successors[0]);
            const bool is_of_next = (decided & shape) != 0;
            if (!is_exported(l, block, if_taken, is_of_next))
                return object(last_of(block), "a loop is left otherwise than where the launch looks");
            const bool always = std::ranges::all_of(
                blocks.latches, [&](BlockIndex latch) { return flow_.dominates(block, latch); });
            ends |= always;
            tests.tests_next |= always && is_of_next;
            for (const BlockIndex to : successors) {
                if (!reading_.is_in(loop, to)) continue;
                if (is_of_next)
                    add_rest_of_iteration(loop, to, tests.last);
                else if (flow_.blocks[to].predecessors.size() == 1)
                    tests.tested.push_back(to);
            }
        }
        if (!ends)
            return object(flow_.blocks[loop.header].first,
                          "a loop does not test its index in every iteration");
        for (const auto& [branch, ways] : reading_.deciding(loop.header)) {
            if (reading_.is_in(loop, branch) || (ways != ptx::taken && ways != ptx::falls_through)) continue;
            if ((reading_.decides(branch, loop.header) &
                 (all_indices | all_iterations | all_shapes | others | rounding)) == 0 ||
                !is_conditional(branch))
                continue;
            if (!is_exported(l, branch, ways != ptx::taken, false)) continue;
            tests.entries[branch] = ways;
            tests.tests_first |= flow_.dominates(branch, loop.header);
        }
    }
    void add_rest_of_iteration(const StridedLoop& loop, BlockIndex from,
                               std::vector<BlockIndex>& blocks) const {
        if (from == loop.header || !reading_.is_in(loop, from) ||
            std::ranges::find(blocks, from) != blocks.end())
            return;
        blocks.push_back(from);
        for (const BlockIndex to : flow_.blocks[from].successors) add_rest_of_iteration(loop, to, blocks);
    }
    bool is_once_an_iteration(std::uint32_t l, BlockIndex block) const {
        const LoopTests& tests = tests_.at(l);
        const bool is_below =
            (tests.tests_first && tests.tests_next) ||
            std::ranges::any_of(tests.tested, [&](BlockIndex head) { return flow_.dominates(head, block); });
        return is_below && std::ranges::find(tests.last, block) == tests.last.end();
    }

    // What it adds is added once an iteration, in each dimension with loops.
    void check_sum(const IterationSum& sum) {
        bool is_sum = is_iteration_sum(reading_, sum) &&
                      (certificate_.may_reassociate || !ptx::is_float(function_.body[sum.atomic].type));
        for (const ValueIndex v : sum.values) {
            const ptx::Value& value = reading_.ssa().values[v];
            if (!is_sum || value.kind != ptx::Value::Kind::instruction ||
                function_.body[value.instruction].opcode == Opcode::mov)
                continue;
            for (std::size_t d = 0; d < 3; d++) {
                const std::uint32_t l = reading_.home(d, reading_.block_of(v));
                if (certificate_.dimensions[d].is_strided())
                    is_sum &= l != no_index && is_once_an_iteration(l, reading_.block_of(v));
            }
        }
        if (!is_sum)
            object(sum.atomic, "what an atomic adds is not shown to be the sum of the thread's iterations");
    }

    // --- the first thread ---

    void check_first(const FirstThread& first) {
        if (!is_conditional(first.branch)) return object(0, "no branch sends the first thread alone");
        if (!goes_first(reading_, first))
            object(last_of(first.branch), "a branch is not shown to send the first thread alone");
    }
    bool is_once(BlockIndex block, std::size_t d) const {
        return std::ranges::any_of(certificate_.first_threads, [&](const FirstThread& first) {
            if (first.dimension != d || !is_conditional(first.branch)) return false;
            const ptx::Instruction& made = function_.body[last_of(first.branch)];
            const auto& successors = flow_.blocks[first.branch].successors;
            if (is_leaving(made) && first.if_taken) return false;
            const BlockIndex to = first.if_taken ? successors.front() : successors.back();
            return flow_.blocks[to].predecessors.size() == 1 && flow_.dominates(to, block);
        });
    }

    // --- exchanges ---

    bool is_piece(const Exchange& exchange, std::vector<bool>& inside) const {
        std::vector<BlockIndex> work{exchange.from};
        inside[exchange.from] = true;
        while (!work.empty()) {
            const BlockIndex at = work.back();
            work.pop_back();
            if (at == exchange.to) continue;
            if (flow_.blocks[at].successors.empty()) return false;
            for (const BlockIndex to : flow_.blocks[at].successors)
                if (!inside[to]) inside[to] = true, work.push_back(to);
        }
        if (!inside[exchange.to]) return false;
        for (BlockIndex block = 0; block < inside.size(); block++)
            if (inside[block] && block != exchange.from)
                for (const BlockIndex from : flow_.blocks[block].predecessors)
                    if (!inside[from] || (from == exchange.to && block != exchange.from)) return false;
        return true;
    }
    void check_exchange(const Exchange& exchange) {
        std::vector<bool> inside(flow_.blocks.size());
        const std::uint32_t first = flow_.blocks[exchange.from].first;
        if (!is_piece(exchange, inside))
            return object(first, "an exchange of values is not one piece of code");
        check_met_by_all(first, exchange.from);
        for (const Exchange::Agreed& agreed : exchange.agreed) {
            if (agreed.is_rounded && !certificate_.may_reassociate)
                object(first, "a sum of floating-point numbers is grouped otherwise");
            const BlockIndex at = reading_.block_of(agreed.value);
            if (inside[at]) continue;
            const ptx::Value& value = reading_.ssa().values[agreed.value];
            // A load behind the piece of what it left; no other store comes between.
            if (value.kind != ptx::Value::Kind::instruction || !reading_.is_exchanging(value.instruction) ||
                !ptx::is_load(function_.body[value.instruction]) || !flow_.dominates(exchange.to, at))
                object(at_value(agreed.value),
                       "a value is said to be agreed on by an exchange that does not make it");
            for (const std::uint32_t i : certificate_.exchanging)
                if (class_of(function_.body[i]) == OpcodeClass::store && !inside[flow_.block_of[i]] &&
                    leads(i, value.instruction, exchange.from))
                    object(value.instruction,
                           "a load behind an exchange of values may find what a later one wrote");
        }
        // Nobody reads what a loop in the piece has not finished but that loop.
        for (const Exchange::Agreed& agreed : exchange.agreed)
            if (agreed.within == no_index && inside[reading_.block_of(agreed.value)])
                for (std::uint32_t l = flow_.innermost_loop[reading_.block_of(agreed.value)]; l != no_index;
                     l = flow_.loops[l].parent)
                    if (std::ranges::find(flow_.loops[l].blocks, exchange.from) ==
                        flow_.loops[l].blocks.end())
                        object(at_value(agreed.value), "a value is agreed on before its loop is done");
    }
    // Is there a way from the one instruction to the other that does not come by `past`?
    bool leads(std::uint32_t from, std::uint32_t to, BlockIndex past) const {
        const BlockIndex target = flow_.block_of[to];
        if (flow_.block_of[from] == target && from < to) return true;
        std::vector<bool> seen(flow_.blocks.size());
        std::vector<BlockIndex> work{flow_.block_of[from]};
        while (!work.empty()) {
            const BlockIndex at = work.back();
            work.pop_back();
            for (const BlockIndex next : flow_.blocks[at].successors) {
                if (next == past || seen[next]) continue;
                if (next == target) return true;
                seen[next] = true;
                work.push_back(next);
            }
        }
        return false;
    }
    void check_met_by_all(std::uint32_t i, BlockIndex block) {
        Labels found = 0;
        for (const auto& [branch, ways] : reading_.deciding(block)) found |= reading_.decides(branch, block);
        for (std::size_t d = 0; d < 3; d++)
            found |= reading_.home(d, block) != no_index ? all_shapes : Labels{0};
        if ((found & static_cast<Labels>(~thread_block)) != 0)
            object(i, "not all threads of a block are shown to meet");
    }

    // --- effects ---

    void check_instruction(std::uint32_t i) {
        const ptx::Instruction& made = function_.body[i];
        const ptx::Modifiers& how = made.modifiers;
        const bool of_warps = certificate_.dimensions[0].has_whole_warps;
        const bool of_shared = how.space == ptx::Space::shared || how.space == ptx::Space::shared_cluster;
        if (of_shared && !certificate_.blocks_are_units) return object(i, "threads of a block share memory");
        if (how.cache == ptx::CacheOp::cv) object(i, "it waits for what other threads write");
        switch (class_of(made)) {
            case OpcodeClass::pure:
            case OpcodeClass::control:
            case OpcodeClass::texture:
            case OpcodeClass::image_query:
            case OpcodeClass::surface_load:
            case OpcodeClass::hint:
                return;
            case OpcodeClass::load:
                if (how.semantics != ptx::MemorySemantics::weak)
                    object(i, "it waits for what other threads write");
                return;
            case OpcodeClass::store:
                if (how.semantics != ptx::MemorySemantics::weak) object(i, "it signals other threads");
                break;
            case OpcodeClass::atomic:
                check_atomic(i);
                break;
            case OpcodeClass::call:
                if (!certificate_.loops.empty() || made.operands.size() <= made.destination_count ||
                    made.operands[made.destination_count].kind != ptx::Operand::Kind::symbol)
                    object(i, "it calls what is not looked at");
                break;
            case OpcodeClass::surface_store:
                break;
            case OpcodeClass::barrier:
                if (of_warps && ptx::has(made, "warp")) break;
                if (!certificate_.blocks_are_units)
                    object(i, "threads of a block wait for each other");
                else if (!is_in_piece(flow_.block_of[i]))
                    check_met_by_all(i, flow_.block_of[i]);
                return;
            case OpcodeClass::warp:
                if (of_warps && ptx::has(made, "sync") &&
                    (made.opcode == Opcode::shfl || made.opcode == Opcode::vote ||
                     made.opcode == Opcode::match || made.opcode == Opcode::redux))
                    break;
                if (!reading_.is_exchanging(i)) object(i, "threads of a warp exchange values");
                return;
            default:
                return object(i, fmt::format("it has {}, which no rule allows", made.mnemonic));
        }
        if (reading_.is_exchanging(i) && is_in_piece(flow_.block_of[i])) return;
        if (!reading_.is_of_stack(i)) check_effect(i);
    }
    void check_atomic(std::uint32_t i) {
        const ptx::Modifiers& how = function_.body[i].modifiers;
        using enum ptx::AtomicOp;
        if (how.atomic != add && how.atomic != min && how.atomic != max && how.atomic != and_ &&
            how.atomic != or_ && how.atomic != xor_)
            object(i, "the outcome of an atomic depends on the order of threads");
        const bool is_in_block = certificate_.blocks_are_units && how.space == ptx::Space::shared;
        if (how.semantics != ptx::MemorySemantics::relaxed ||
            (how.scope == ptx::Scope::cta && !is_in_block) || how.scope == ptx::Scope::cluster)
            object(i, "an atomic is one of a block, or orders memory");
    }
    bool is_in_piece(BlockIndex block) const {
        return std::ranges::any_of(certificate_.exchanges, [&](const Exchange& exchange) {
            return flow_.dominates(exchange.from, block) && flow_.post_dominates(exchange.to, block);
        });
    }

    void check_effect(std::uint32_t i) {
        const BlockIndex block = flow_.block_of[i];
        const bool is_sum =
            std::ranges::find(certificate_.sums, i, &IterationSum::atomic) != certificate_.sums.end();
        Labels thread = 0;  // what must not be told, of strided dimensions
        for (std::size_t d = 0; d < 3; d++)
            if (certificate_.dimensions[d].is_strided() && !is_once(block, d))
                thread |= static_cast<Labels>(index_x << d);
        if (!is_sum && (reading_.uses(i) & (all_shapes | others | thread)) != 0)
            return object(i, "an effect depends on the block");
        if ((reading_.uses(i, true) & rounding) != 0)
            return object(i, "a place in memory depends on rounding");
        for (const auto& [branch, ways] : reading_.deciding(block)) {
            Labels decided = reading_.decides(branch, block) & (all_shapes | others | rounding | thread);
            for (std::size_t d = 0; d < 3; d++) {
                const std::uint32_t l = reading_.home(d, block);
                // The test before the loop, in which the thread's own index is the first one.
                if (l != no_index && tests_.at(l).entries.contains(branch) &&
                    tests_.at(l).entries.at(branch) == ways)
                    decided &= static_cast<Labels>(~(index_x << d));
                // And those that leave it, of this index and the next.
                if (l != no_index && reading_.is_in(certificate_.loops[l], branch) && is_exit(l, branch))
                    decided &= static_cast<Labels>(~(shape_x << d));
                if (is_sum && certificate_.loops.size() == 1 && tests_.at(0).entries.contains(branch) &&
                    tests_.at(0).entries.at(branch) == ways)
                    decided &= static_cast<Labels>(~(index_x << d));
            }
            if (decided != 0)
                return object(last_of(branch), "whether there is an effect depends on the block");
        }
        for (std::size_t d = 0; d < 3; d++) {
            if (!certificate_.dimensions[d].is_strided()) continue;
            const std::uint32_t l = reading_.home(d, block);
            if (l == no_index ? !is_sum && !is_once(block, d) : !is_once_an_iteration(l, block))
                return object(i, "an effect is not one of each iteration");
        }
    }
    bool is_exit(std::uint32_t l, BlockIndex branch) const {
        return is_leaving(function_.body[last_of(branch)]) ||
               std::ranges::any_of(flow_.blocks[branch].successors,
                                   [&](BlockIndex to) { return !reading_.is_in(certificate_.loops[l], to); });
    }

    // --- guards ---

    void check_guard(const Guard& guard) {
        for (std::uint64_t seed = 1; seed <= 3 * trials && !objection_; seed++) {
            const Trial made = trial(certificate_, seed);
            const auto exits = value(guard.exits, made);
            if (!exits) return object(0, "a guard is not followed");
            if (*exits == 0) continue;
            if (!ends_without_effect(reading_, made)) object(0, "a guard does not send threads to their end");
        }
    }

    const Certificate& certificate_;
    Reading& reading_;
    const ptx::ControlFlow& flow_;
    const ptx::Function& function_;
    std::map<std::size_t, LoopTests> tests_;
    std::optional<Objection> objection_;
};

}  // namespace

std::optional<Objection> check(const Certificate& certificate) {
    auto reading = Reading::make(certificate);
    if (!reading) return Objection{0, reading.error().message};
    return Check(certificate, *reading).run();
}

}  // namespace trimtab::checker
