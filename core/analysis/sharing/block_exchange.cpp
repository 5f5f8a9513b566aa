// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/block_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/analysis/sharing/exchange_piece.h"
#include "core/analysis/sharing/exchange_run.h"
#include "core/analysis/sharing/strided_accesses.h"
#include "core/analysis/values/first_thread.h"
#include "core/analysis/values/instruction_rules.h"

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::ValueIndex;

namespace {

bool is_exchange(const ptx::Instruction& made) {
    return made.opcode == Opcode::shfl || made.opcode == Opcode::redux;
}

}  // namespace

struct ExchangeFinder::Place {
    std::vector<std::uint32_t> operations;
    ExchangePiece piece;
    std::vector<ExchangeOutcome> outcomes;  // by number of threads
    std::vector<unsigned> threads;
    std::set<const ptx::Variable*> variables;
    ExchangeOutcome::Touches later;  // loads behind it
};

ExchangeFinder::ExchangeFinder(SymbolTable& table, const ptx::Module& module, const FunctionValues& kernel,
                               const ptx::ControlDependence& control, const LoopIndices& indices,
                               BlockWidth block)
    : table_(table), module_(module), kernel_(kernel), control_(control), indices_(indices), block_(block) {
    found_.agreed.by_all.resize(kernel.ssa().values.size());
    found_.agreed.by_first.resize(kernel.ssa().values.size());
    const FirstThread first(table, kernel, control, dimension());
    for (BlockIndex b = 0; b < kernel.flow().blocks.size(); b++)
        found_.agreed.of_first_only.push_back(!kernel.flow().blocks[b].predecessors.empty() &&
                                              first.has_alone(b));
    find_variables();
    find_places();
    for (ValueIndex v = 0; v < kernel.ssa().values.size(); v++) {
        const ptx::Value& value = kernel.ssa().values[v];
        found_.agreed.told.push_back(value.kind == ptx::Value::Kind::instruction &&
                                     found_.instructions.contains(value.instruction));
    }
}

ExchangeFinder::~ExchangeFinder() = default;

bool ExchangeFinder::has_more() const {
    return fault_.has_value() || next_ < places_.size();
}

// Shared memory that is stored to outside the loops, and not by one thread alone, is what threads exchange
// values through; the rest is tables that loops fill.
void ExchangeFinder::find_variables() {
    const auto& body = kernel_.function().body;
    const auto in_loop = [&](BlockIndex block) {
        return std::ranges::any_of(indices_.loops(), [&](const LoopIndices::Strided& loop) {
            return kernel_.flow().loops[loop.loop].contains(block);
        });
    };
    for (std::uint32_t i = 0; i < body.size(); i++) {
        const BlockIndex block = kernel_.flow().block_of[i];
        if (!kernel_.is_reachable(i) || !is_shared_access(body[i]) || !is_store(body[i]) || in_loop(block) ||
            found_.agreed.of_first_only[block])
            continue;
        if (const ptx::Variable* variable = shared_place(table_, kernel_, module_, indices_, i).variable)
            variables_.insert(variable);
    }
    for (std::uint32_t i = 0; i < body.size(); i++) {
        if (!kernel_.is_reachable(i)) continue;
        // It could be any of them.
        if (is_shared_access(body[i]) && !variables_.empty() &&
            shared_place(table_, kernel_, module_, indices_, i).variable == nullptr)
            fault_ = Fault{3, i, "uses shared memory at an unknown address"};
        const bool is_of_variable =
            is_shared_access(body[i]) &&
            variables_.contains(shared_place(table_, kernel_, module_, indices_, i).variable);
        if (is_of_variable && in_loop(kernel_.flow().block_of[i]))
            fault_ = Fault{3, i, "uses values that its threads exchange within a loop over elements"};
        if (is_of_variable || is_exchange(body[i])) found_.instructions.insert(i);
    }
    // Dynamic shared memory is one, whatever its names are.
    const auto is_dynamic = [](const ptx::Variable* variable) { return variable->size_bytes == 0; };
    if (std::ranges::count_if(variables_, is_dynamic) > 1)
        fault_ = Fault{3, 0, "exchanges values through dynamic shared memory of several names"};
    for (const ptx::Variable* variable : variables_)
        if (variable->size_bytes > 1 << 20)
            fault_ = Fault{3, 0, "exchanges values through more shared memory than there is"};
}

// Pieces of the kernel from the first such instruction to the last one before another loop over elements.
void ExchangeFinder::find_places() {
    const ptx::ControlFlow& flow = kernel_.flow();
    std::vector<std::uint32_t> order(flow.blocks.size());
    for (std::size_t i = 0; i < flow.reverse_post_order.size(); i++)
        order[flow.reverse_post_order[i]] = static_cast<std::uint32_t>(i);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> operations;  // by place in that order
    for (const std::uint32_t i : found_.instructions) {
        const ptx::Instruction& made = kernel_.function().body[i];
        // What stays in one place may be read later.
        if (ptx::is_load(made) && shared_place(table_, kernel_, module_, indices_, i).offset.is_constant() &&
            shared_place(table_, kernel_, module_, indices_, i).offset.width != 0)
            continue;
        operations.emplace_back(order[flow.block_of[i]], i);
    }
    std::ranges::sort(operations);
    std::vector<std::uint32_t> headers;
    for (const LoopIndices::Strided& loop : indices_.loops())
        headers.push_back(order[flow.loops[loop.loop].header]);
    for (std::size_t at = 0; at < operations.size(); at++) {
        const bool is_parted = at == 0 || std::ranges::any_of(headers, [&](std::uint32_t header) {
                                   return operations[at - 1].first < header && header <= operations[at].first;
                               });
        if (is_parted) places_.push_back(std::make_unique<Place>());
        places_.back()->operations.push_back(operations[at].second);
    }
}

namespace {

// What all outcomes agree on.
template <typename Key>
std::map<Key, Token> common(const std::vector<ExchangeOutcome>& outcomes, const Tokens& tokens,
                            std::map<Key, Token> ExchangeOutcome::* member) {
    std::map<Key, Token> result;
    for (const ExchangeOutcome& outcome : outcomes)
        for (const auto& [value, token] : outcome.*member) {
            const auto [at, is_new] = result.emplace(value, token);
            if (at->second != token || !tokens.is_fixed(token)) at->second = Tokens::unknown;
        }
    std::erase_if(result, [](const auto& entry) { return entry.second == Tokens::unknown; });
    return result;
}

// Is there something that they agree on, other than what they knew before?
bool tells(const std::vector<ExchangeOutcome>& outcomes, const Tokens& tokens) {
    const auto has_news = [&](const auto& agreed) {
        return std::ranges::any_of(agreed, [&](const auto& entry) { return tokens.is_news(entry.second); });
    };
    return has_news(common(outcomes, tokens, &ExchangeOutcome::by_first)) ||
           has_news(common(outcomes, tokens, &ExchangeOutcome::by_all)) ||
           has_news(common(outcomes, tokens, &ExchangeOutcome::memory));
}

// Is there a way from the end of the one block to the other that does not come by `past`?
bool leads_past(const ptx::ControlFlow& flow, BlockIndex from, BlockIndex past, BlockIndex to) {
    return ptx::reached_from(flow.blocks.size(), {from}, [&](BlockIndex at, const auto& go) {
        for (const BlockIndex next : flow.blocks[at].successors)
            if (next != past) go(next);
    })[to];
}

}  // namespace

std::optional<Fault> ExchangeFinder::next(const Labels& all_labels, const IterationParts& parts) {
    if (fault_) return fault_;
    Place& place = *places_[next_++];
    const ptx::ControlFlow& flow = kernel_.flow();
    const std::uint32_t at = place.operations.front();
    std::vector<BlockIndex> held;
    for (const std::uint32_t i : place.operations) held.push_back(flow.block_of[i]);
    const auto piece = piece_around(flow, held);
    const auto refused = [&](std::string_view why) {
        return Fault{3, at, fmt::format("has an exchange of values between its threads that {}", why)};
    };
    if (!piece) return refused("is not one piece of code");
    place.piece = *piece;
    const LabelsInDimension labels(all_labels, dimension());
    bool is_met = labels.home(piece->from) == Labels::outside;
    for (const auto& [branch, ways] : control_.deciding(piece->from))
        is_met &= labels.uses(flow.blocks[branch].last - 1).is_exactly_same();
    if (!is_met) return refused("not all threads are proved to reach");

    Tokens tokens;
    std::map<ValueIndex, std::optional<IterationSum>> sums;
    const ExchangeContext context{table_,   module_,    kernel_, labels, parts,
                                  indices_, variables_, tokens,  sums};
    std::string why;
    unsigned most = 0;
    for (unsigned threads = warp_size; threads <= most_block_threads;
         threads = block_ == BlockWidth::powers ? 2 * threads : threads + warp_size) {
        auto outcome = run_exchange(context, place.piece, threads, why);
        if (!outcome) break;
        // Where sizes differ in what comes out, more of them tell nothing.
        place.outcomes.push_back(std::move(*outcome));
        place.threads.push_back(threads);
        most = threads;
        if (place.outcomes.size() == 4 && !tells(place.outcomes, tokens)) break;
    }
    if (std::ranges::any_of(place.outcomes,
                            [](const ExchangeOutcome& outcome) { return outcome.dynamic_bytes != 0; }))
        add_dynamic_shared(place);
    if (place.outcomes.size() < 2) return refused(why.empty() ? "is not followed" : why);
    if (most < most_block_threads)
        found_.most_threads = found_.most_threads == 0 ? most : std::min(found_.most_threads, most);
    found_.agreed.rounded.resize(kernel_.ssa().values.size());
    end_agreements(place);
    for (const auto& [value, token] : common(place.outcomes, tokens, &ExchangeOutcome::by_all)) {
        found_.agreed.by_all[value] = true;
        agreed_in_[value] = next_ - 1;
        if (tokens.is_rounded(token)) found_.agreed.rounded[value] = true;
    }
    for (const auto& [value, token] : common(place.outcomes, tokens, &ExchangeOutcome::by_first)) {
        found_.agreed.by_first[value] = true;
        agreed_in_[value] = next_ - 1;
        if (tokens.is_rounded(token)) found_.agreed.rounded[value] = true;
    }
    // What a loop in the piece makes is that behind the loop.
    found_.agreed.within.resize(kernel_.ssa().values.size(), no_index);
    for (ValueIndex v = 0; v < found_.agreed.within.size(); v++) {
        if (!found_.agreed.by_all[v] && !found_.agreed.by_first[v]) continue;
        const ptx::Value& value = kernel_.ssa().values[v];
        const BlockIndex made =
            value.kind == ptx::Value::Kind::phi ? value.block : flow.block_of[value.instruction];
        if (!place.piece.blocks[made]) continue;
        for (std::uint32_t l = flow.innermost_loop[made]; l != no_index; l = flow.loops[l].parent) {
            if (!flow.loops[l].contains(place.piece.from)) found_.agreed.within[v] = l;
        }
    }
    // The barriers in it are met by all, as the runs have shown.
    for (std::uint32_t i = 0; i < kernel_.function().body.size(); i++)
        if (place.piece.blocks[flow.block_of[i]] && is_block_barrier(kernel_, i))
            found_.instructions.insert(i);
    for (const std::uint32_t i : place.operations)
        if (const ptx::Variable* variable = shared_place(table_, kernel_, module_, indices_, i).variable;
            variables_.contains(variable))
            place.variables.insert(variable);
    // Loads behind it, of a place that is known.
    for (const std::uint32_t i : found_.instructions) {
        const BlockIndex block = flow.block_of[i];
        const ptx::Instruction& made = kernel_.function().body[i];
        const SharedPlace read = shared_place(table_, kernel_, module_, indices_, i);
        if (!ptx::is_load(made) || place.piece.blocks[block] || read.offset.width == 0 ||
            !read.offset.is_constant() || !place.variables.contains(read.variable) ||
            !flow.dominates(place.piece.to, block))
            continue;
        const std::uint64_t cell = *exchange_address(variables_, read.variable) +
                                   truncate_bits(read.offset.constant(), read.offset.width);
        std::map<ValueIndex, Token> contents;
        bool agrees = made.guard == no_index && made.modifiers.vector_width == 1;
        std::optional<Token> content;
        for (const ExchangeOutcome& outcome : place.outcomes) {
            const auto found = outcome.memory.find(cell);
            agrees &= found != outcome.memory.end() && tokens.is_fixed(found->second) &&
                      content.value_or(found->second) == found->second;
            if (agrees) content = found->second;
        }
        const ValueIndex value = kernel_.ssa().definition(i);
        if (value == no_index) continue;
        // What was taken from an earlier piece is not what is read.
        if (found_.agreed.by_all[value] && !agrees)
            fault_ = refused("leaves what is read later to another one");
        found_.agreed.by_all[value] = agrees;
        if (agrees) agreed_in_[value] = next_ - 1;
        if (agrees && content && tokens.is_rounded(*content)) found_.agreed.rounded[value] = true;
        add_touch(place.later, {cell, i, false}, found_.agreed.of_first_only[block] ? 0 : many_threads);
    }
    return fault_;
}

// What was agreed of a load behind an earlier piece is of what that piece left in memory. It ends where this piece
// has stored to the variable: what is then read, its own run tells.
void ExchangeFinder::end_agreements(const Place& place) {
    const auto is_overwritten = [&](std::uint32_t load) {
        const ptx::Variable* variable = shared_place(table_, kernel_, module_, indices_, load).variable;
        return std::ranges::any_of(place.operations, [&](std::uint32_t operation) {
            return is_store(kernel_.function().body[operation]) &&
                   shared_place(table_, kernel_, module_, indices_, operation).variable == variable &&
                   kernel_.flow().leads(operation, load);
        });
    };
    for (const std::uint32_t i : found_.instructions) {
        const BlockIndex block = kernel_.flow().block_of[i];
        const ValueIndex value = kernel_.ssa().definition(i);
        const auto earlier = std::span(places_).first(next_ - 1);
        const bool was_run =
            std::ranges::any_of(earlier, [&](const auto& before) { return before->piece.blocks[block]; });
        if (!place.piece.blocks[block] || was_run || value == no_index ||
            !ptx::is_load(kernel_.function().body[i]) || !is_overwritten(i))
            continue;
        found_.agreed.by_all[value] = found_.agreed.by_first[value] = found_.agreed.rounded[value] = false;
        for (const auto& before : earlier)
            std::erase_if(before->later, [&](const auto& touch) { return touch.first.instruction == i; });
    }
}

// In the order of the places, each with what was last agreed on in it.
std::vector<checker::Exchange> ExchangeFinder::claims() const {
    std::vector<checker::Exchange> result;
    for (const auto& place : places_) result.push_back({place->piece.from, place->piece.to, {}});
    for (const auto& [value, place] : agreed_in_) {
        const bool by_all = found_.agreed.by_all[value];
        if (!by_all && !found_.agreed.by_first[value]) continue;
        result[place].agreed.push_back(
            {value, !by_all, found_.agreed.rounded[value], found_.agreed.within[value]});
    }
    return result;
}

void ExchangeFinder::add_dynamic_shared(const Place& place) {
    const WarpBytes needed = dynamic_shared_of(place.outcomes, place.threads);
    if (!found_.dynamic_shared) found_.dynamic_shared = WarpBytes{};
    found_.dynamic_shared->a_warp = std::max(found_.dynamic_shared->a_warp, needed.a_warp);
    found_.dynamic_shared->a_block = std::max(found_.dynamic_shared->a_block, needed.a_block);
}

std::optional<Fault> ExchangeFinder::finish() const {
    if (fault_) return fault_;
    const ptx::ControlFlow& flow = kernel_.flow();
    const auto unordered = [](std::uint32_t at) {
        return Fault{3, at, "lets two threads use one address with no barrier between them"};
    };
    const Phases phases(kernel_);
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> leads;
    const auto conflict = [&](const ExchangeOutcome::Touches& tail,
                              const ExchangeOutcome::Touches& head) -> std::optional<Fault> {
        for (const auto& [a, a_thread] : tail)
            for (auto at = head.lower_bound({a.cell, 0, false}); at != head.end() && at->first.cell == a.cell;
                 ++at) {
                const auto& [b, b_thread] = *at;
                if ((!a.writes && !b.writes) || (a_thread == b_thread && a_thread != many_threads)) continue;
                const auto [way, is_new] = leads.try_emplace({a.instruction, b.instruction});
                if (is_new) way->second = phases.leads(a.instruction, b.instruction);
                if (way->second) return unordered(b.instruction);
            }
        return std::nullopt;
    };
    // In one launch, both have as many threads.
    for (const auto& before : places_)
        for (const auto& after : places_)
            for (std::size_t at = 0; at < std::min(before->outcomes.size(), after->outcomes.size()); at++)
                for (const auto* tail : {&before->outcomes[at].tail, &before->later})
                    if (auto fault = conflict(*tail, after->outcomes[at].head)) return fault;
    // Every access is of one piece, or a load behind the last one that uses the variable.
    for (const std::uint32_t i : found_.instructions) {
        const BlockIndex block = flow.block_of[i];
        const ptx::Variable* variable = shared_place(table_, kernel_, module_, indices_, i).variable;
        if (!is_shared_access(kernel_.function().body[i])) variable = nullptr;
        const auto holds = [&](const auto& place) { return place->piece.blocks[block]; };
        const auto leaves = [&](const auto& place) {
            return std::ranges::any_of(place->later,
                                       [&](const auto& touch) { return touch.first.instruction == i; });
        };
        if (std::ranges::any_of(places_, holds) && std::ranges::none_of(places_, leaves)) continue;
        const Place* last = nullptr;
        for (const auto& place : places_)
            if (place->variables.contains(variable) && flow.dominates(place->piece.to, block))
                last = place.get();
        // No other one that uses the variable comes between it and here.
        const bool is_last = last != nullptr && std::ranges::all_of(places_, [&](const auto& place) {
                                 return place.get() == last || !place->variables.contains(variable) ||
                                        !leads_past(flow, place->piece.to, last->piece.from, block);
                             });
        if (!is_last) return Fault{3, i, "reads exchanged values where they may not be the last ones"};
    }
    return std::nullopt;
}

}  // namespace trimtab::analysis
