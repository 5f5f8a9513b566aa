// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/proof/prover.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/launches/demangle.h"
#include "core/analysis/launches/parameters.h"
#include "core/analysis/loops/exported_loops.h"
#include "core/analysis/loops/grid_stride.h"
#include "core/analysis/loops/spinning.h"
#include "core/analysis/loops/total_use.h"
#include "core/analysis/sharing/block_sums.h"
#include "core/analysis/sharing/block_tables.h"
#include "core/analysis/sharing/private_shared.h"
#include "core/analysis/sharing/races.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/loop_indices.h"
#include "core/analysis/values/promoted_stack.h"
#include "core/model/launch_configuration.h"

namespace trimtab::analysis {
namespace {

// A kernel that breaks a rule breaks it often: the first few places are enough to act on.
constexpr std::ptrdiff_t max_reasons_of_a_rule = 3;

class Prover {
  public:
    Prover(SymbolTable& table, const Code& code, const LaunchAssumption& assumed, Sharing sharing)
        : sharing_(sharing),
          table_(table),
          module_(code.module),
          kernel_(code.kernel),
          inlined_(code.inlined),
          reachable_(code.reachable),
          reads_(launch_reads(code.reachable, assumed)),
          keeps_grid_(assumed.any(Assumed::grid_stays)),
          may_reassociate_(assumed.may_reassociate) {
        proof_.assumed = assumed;
    }

    Proof run() {
        for (std::size_t d = 0; d < 3; d++) proof_.dimensions[d] = reads_.use(d);
        check_attributes();
        if (!simplify()) return std::move(proof_);
        if (follow()) {
            check_instructions();
            check_loops();
            if (sharing_ == Sharing::nothing) check_variables();
            proof_.conditions = exit_conditions(table_, proof_.functions.front(), &unknown_tests_);
            if (proof_.reasons.empty()) judge();
        }
        // How near it came.
        if (tables_ && proof_.verdict == Verdict::fixed) proof_.near_misses = proof_.reasons;
        return std::move(proof_);
    }

  private:
    void refuse(unsigned rule, std::string source, std::string text, bool is_of_warps = false) {
        (rule == 1     ? proof_.obstacles.indices
         : is_of_warps ? proof_.obstacles.warps
                       : proof_.obstacles.others) = true;
        const bool known =
            std::ranges::any_of(proof_.reasons, [&](const Reason& reason) { return reason.text == text; });
        if (known || std::ranges::count(proof_.reasons, rule, &Reason::rule) >= max_reasons_of_a_rule) return;
        proof_.reasons.push_back({rule, std::move(source), std::move(text)});
    }
    void refuse(const FunctionValues& values, const Fault& fault, bool is_of_warps = false) {
        const ptx::Function* written =
            values.function().is_entry ? inlined_.origins[fault.instruction].function : &values.function();
        refuse(fault.rule, place_of(values, fault.instruction),
               written == &kernel_ ? "the kernel " + fault.text
                                   : fmt::format("function '{}', which the kernel calls, {}",
                                                 demangle(written->name), fault.text),
               is_of_warps);
    }
    std::string place_of(const FunctionValues& values, std::uint32_t instruction) const {
        const ptx::Function& function = values.function();
        return function.is_entry ? place_in_kernel(instruction) : source_of(module_, function, instruction);
    }
    std::string place_in_kernel(std::uint32_t instruction) const {
        const ptx::Function& function = inlined_.function;
        const Inlined::Origin& origin = inlined_.origins[instruction];
        if (origin.function != &kernel_ && !is_user_source(module_, function.body[instruction].location))
            return source_of(module_, kernel_, origin.kernel_instruction);
        return source_of(module_, function, instruction);
    }

    std::string kernel_source() const { return fmt::format("ptx:{}", kernel_.line); }

    void check_attributes() {
        if (kernel_.required_block) {
            const ptx::Dim3& block = *kernel_.required_block;
            refuse(5, kernel_source(),
                   fmt::format("the kernel is compiled for blocks of {} x {} x {} (.reqntid)", block.x,
                               block.y, block.z));
        }
        if (kernel_.requires_cluster) refuse(2, kernel_source(), "the kernel works in clusters of blocks");
        if (kernel_.body.empty()) refuse(2, kernel_source(), "the image has no code for the kernel");
    }
    void check_variables() {
        for (const ptx::Function* function : reachable_)
            for (const ptx::Variable& variable : function->variables) check_variable(variable);
        for (const ptx::Variable* variable : reachable_variables(module_, kernel_)) check_variable(*variable);
    }
    void check_variable(const ptx::Variable& variable) {
        if (variable.space != ptx::Space::shared && variable.space != ptx::Space::shared_cluster) return;
        refuse(2, fmt::format("ptx:{}", variable.line),
               fmt::format("the kernel uses {}shared memory, which belongs to one block; its block is best "
                           "chosen by hand",
                           variable.size_bytes == 0 ? "dynamic " : ""));
    }

    // The functions as the proof looks at them: calls written out, stack slots as registers.
    bool simplify() {
        for (const ptx::Function* function : reachable_) {
            if (function->body.empty()) continue;  // a declaration: refused where it is called
            if (sharing_ == Sharing::own_slots && !keep_to_threads()) return false;
            if ((sharing_ == Sharing::tables || sharing_ == Sharing::sums) && !leave_out_tables())
                return false;
            const ptx::Function& whole = private_             ? private_->function
                                         : tables_            ? tables_->function
                                         : function->is_entry ? inlined_.function
                                                              : *function;
            auto promoted = with_promoted_stack(whole);
            if (promoted)
                proof_.rewritten.push_back(std::move(*promoted));
            else
                proof_.rewritten.push_back(whole);
        }
        return true;
    }
    // Shared memory as each thread's own.
    bool keep_to_threads() {
        LaunchReads reads = reads_;
        for (Assumed& what : reads.assumed.of)
            if (what == Assumed::grid_stays) what = Assumed::nothing;
        if (reachable_.size() == 1) private_ = with_private_shared(table_, module_, inlined_.function, reads);
        if (!private_) {
            refuse(2, kernel_source(), "the kernel shares memory");
            return false;
        }
        proof_.most_threads = private_->most_threads;
        return true;
    }

    // Tables as constant memory, bins as what they are added to.
    bool leave_out_tables() {
        if (reachable_.size() == 1) {
            auto found =
                sharing_ == Sharing::sums
                    ? with_block_sums(table_, module_, inlined_.function, reads_, may_reassociate_)
                    : with_block_tables(table_, module_, inlined_.function, reads_, may_reassociate_);
            if (found)
                tables_ = std::move(*found);
            else if (const Fault& fault = found.error(); !fault.text.empty())
                proof_.shared_miss =
                    Reason{fault.rule, place_in_kernel(fault.instruction), "the kernel " + fault.text};
        }
        if (!tables_) {
            refuse(2, kernel_source(), "the kernel shares memory");
            return false;
        }
        proof_.least_threads = tables_->least_threads;
        proof_.tables = {inlined_.function, tables_->fills, tables_->fill_loops};
        proof_.most_threads = tables_->most_threads;
        proof_.dynamic_shared = tables_->dynamic_shared;
        if (tables_->dynamic_bytes.width != 0) {
            proof_.dynamic_bytes = to_expression(table_, tables_->dynamic_bytes, ptx::Type::s64);
            if (!proof_.dynamic_bytes) {
                refuse(2, kernel_source(), "the kernel shares memory");
                return false;
            }
        }
        if (tables_->block != BlockWidth::any) proof_.dimensions[0].block = tables_->block;
        beside_ = {tables_->bin_atomics, tables_->ranges, !tables_->orders_others, {}};
        return true;
    }

    bool follow() {
        for (const ptx::Function& function : proof_.rewritten) {
            auto values = FunctionValues::make(table_, function,
                                               static_cast<std::uint32_t>(proof_.functions.size()), reads_);
            if (!values) {
                refuse(2, fmt::format("ptx:{}", values.error().line), values.error().message);
                return false;
            }
            proof_.functions.push_back(std::move(*values));
        }
        return !proof_.functions.empty();
    }

    void check_instructions() {
        for (const FunctionValues& values : proof_.functions) {
            const auto& body = values.function().body;
            for (std::uint32_t i = 0; i < body.size(); i++) {
                if (!values.is_reachable(i)) continue;
                // clang puts a fence before atomicCAS, of which the source says nothing: the atomic comes first.
                if (i + 1 < body.size() && body[i].opcode == ptx::Opcode::fence)
                    if (auto text = refusal(values, module_, i + 1))
                        refuse(values, {2, i + 1, std::move(*text)});
                if (auto text = refusal(values, module_, i))
                    refuse(values, {2, i, std::move(*text)}, is_warp_exchange(body[i]));
                proof_.uses_float_atomics |= is_float_reduction(body[i]);
            }
            for (const Fault& fault : values.faults()) refuse(values, fault);
        }
    }

    void check_loops() {
        const MemoryRoots written = written_memory(table_, proof_.functions);
        for (std::size_t f = 0; f < proof_.functions.size(); f++) {
            const FunctionValues& values = proof_.functions[f];
            for (const Fault& fault : spinning_loops(table_, values, written)) refuse(values, fault);
            for (const Fault& fault : waiting_by_recursion(table_, proof_.functions, f, written))
                refuse(values, fault);
        }
    }

    // Nothing stands in the way: which dimensions have a guard?
    void judge() {
        leave_out_totals();
        follow_strides();
        if (keeps_grid_ && stride_fault_) {
            refuse(1, stride_place_,
                   fmt::format(
                       "read as a loop over threadIdx by blockDim, which any block could run, the kernel {}",
                       stride_fault_->text));
            if (!LoopIndices(table_, proof_.functions.front(), strided()).loops().empty())
                proof_.near_misses = proof_.reasons;
            return;
        }
        // Where the grid stays, threadIdx stands for the index: other blocks have the same.
        proof_.race_free = !keeps_grid_ && is_race_free(table_, proof_.functions, proof_.dimensions);
        // A barrier orders what threads of a block do to memory. It is no matter where no two of them touch
        // what one of them writes; of loops over a block's threads, the launch shows that.
        if (private_ && private_->had_barriers && !has_loops_everywhere() &&
            !(proof_.race_free && export_apart())) {
            refuse(2, kernel_source(),
                   "the kernel has barriers, and its threads may exchange values through memory");
            return;
        }
        if (tables_ && !judge_tables()) {
            // How near it came: what is shared would do.
            proof_.shared_miss = proof_.reasons.back();
            return;
        }
        proof_.verdict = Verdict::covering;
        for (std::size_t d = 0; d < 3; d++) {
            const auto [index, block] = proof_.dimensions[d];
            if (index == Index::none || index == Index::in_block || block == BlockWidth::one) continue;
            if (index == Index::of_total && stride_fault_) {
                dividing(fmt::format("the kernel reads gridDim.{0}, so the number of threads in {0} must "
                                     "stay: only blocks that divide it are used; it {1}",
                                     model::axis_names[d], stride_fault_->text),
                         stride_place_);
            }
            const std::size_t before = proof_.guards.size();
            add_guards(static_cast<Dimension>(d));
            if (index == Index::of_total || proof_.guards.size() > before) continue;
            if (const auto test = unknown_tests_[d])
                dividing(
                    fmt::format(
                        "the test of the index in {} reads its bound from memory, which is unknown at the "
                        "launch: only blocks that divide the launch are used; pass the bound by value",
                        model::axis_names[d]),
                    place_of(proof_.functions.front(), *test));
            else
                dividing(fmt::format(
                    "no test of the index in {0} stops threads past the end before the first memory access: "
                    "only blocks that divide the launch are used; add a test such as if (i < n)",
                    model::axis_names[d]));
        }
    }
    // Whatever the threads do is to be shown apart from what blocks read and add as wholes; and apart from what
    // other threads do where barriers may have ordered it.
    bool judge_tables() {
        if (stride_fault_) {
            refuse(3, stride_place_,
                   fmt::format("the kernel {}, and {}",
                               sharing_ == Sharing::sums ? "adds up over its blocks"
                                                         : "fills tables in shared memory",
                               stride_fault_->text));
            return false;
        }
        const auto found = all_accesses(table_, proof_.functions.front(), strided(), beside_);
        if (!found) {
            refuse(2, place_of(proof_.functions.front(), found.error().instruction),
                   fmt::format("the kernel {}", found.error().text));
            return false;
        }
        if (export_accesses(table_, *found, {}, proof_.apart)) return true;
        refuse(2, kernel_source(), "the kernel has an address that is too large to write out");
        return false;
    }
    void dividing(std::string text, const std::string& place = {}) {
        proof_.verdict = Verdict::dividing;
        refuse(3, place.empty() ? first_effect() : place, std::move(text));
    }
    // Over the threads of a block, in each dimension that has several.
    bool has_loops_everywhere() const {
        return std::ranges::all_of(proof_.dimensions, [](const DimensionUse& use) {
            return use.index == Index::in_block || use.index == Index::none;
        });
    }
    // The dimensions whose total, of the grid or of a block, is read.
    std::array<bool, 3> strided() const {
        std::array<bool, 3> result{};
        for (std::size_t d = 0; d < 3; d++)
            result[d] = proof_.dimensions[d].index == Index::of_total ||
                        proof_.dimensions[d].index == Index::in_block;
        return result;
    }
    // Where nothing comes of the total it is as if it were not read.
    void leave_out_totals() {
        if (proof_.functions.size() != 1) return;
        for (std::size_t d = 0; d < 3; d++)
            if (proof_.dimensions[d].index == Index::of_total &&
                !total_matters(table_, proof_.functions.front(), static_cast<Dimension>(d)))
                proof_.dimensions[d].index = Index::global;
    }
    // Does the total do no more than stride loops?
    void follow_strides() {
        const std::array<bool, 3> strides = strided();
        if (std::ranges::none_of(strides, std::identity())) return;
        const FunctionValues& kernel = proof_.functions.front();
        // Their barriers are no matter only where the launch shows it: what they part need not be shown.
        if (private_ && has_loops_everywhere()) beside_.barriers = private_->barriers;
        auto found =
            proof_.functions.size() > 1
                ? std::unexpected(Fault{3, 0, "calls functions that the compiler left as calls"})
                : grid_strides(table_, module_, kernel, strides,
                               (private_ && private_->had_barriers) || (tables_ && tables_->orders_others),
                               may_reassociate_, beside_);
        if (found) {
            auto fault = export_strides(kernel, *found);
            proof_.needs_one_iteration_a_thread = found->need_one_iteration_a_thread;
            if (!fault) {
                proof_.exchanges = found->exchanges;
                proof_.exchanging = found->exchanging;
                return take_block(*found);
            }
            found = std::unexpected(std::move(*fault));
        }
        proof_.strides.clear();
        proof_.loops.clear();
        proof_.stride_accesses.clear();
        proof_.needs_one_iteration_a_thread = false;
        stride_fault_ = std::move(found.error());
        stride_place_ = place_of(kernel, stride_fault_->instruction);
        if (!stride_fault_->origin_text.empty())
            stride_fault_->text +=
                fmt::format(" ({}, {})", stride_fault_->origin_text, place_of(kernel, stride_fault_->origin));
    }
    // The blocks that what threads tell each other allows.
    void take_block(const GridStrides& found) {
        if (found.block == BlockWidth::any) return;
        proof_.dynamic_shared = found.dynamic_shared;
        for (DimensionUse& use : proof_.dimensions)
            if (use.index == Index::in_block) use.block = found.block;
        if (found.most_threads != 0)
            proof_.most_threads = proof_.most_threads == 0
                                      ? found.most_threads
                                      : std::min(proof_.most_threads, found.most_threads);
    }
    std::optional<Fault> export_strides(const FunctionValues& kernel, const GridStrides& found) {
        for (const StridedLoop& loop : found.loops) {
            auto written = export_loop(table_, loop);
            if (!written)
                return Fault{3, loop.instruction, "has a loop bound that is too large to write out"};
            written->source = place_of(kernel, loop.instruction);
            if (written->source.starts_with("ptx:")) written->source.clear();
            proof_.strides.push_back(std::move(*written));
            proof_.loops.push_back({loop.header, loop.widens});
        }
        if (!export_accesses(table_, found.accesses, found.loops, proof_.stride_accesses))
            return Fault{3, 0, "has an address that is too large to write out"};
        return std::nullopt;
    }
    // What the proof that there are no races took for read-only, for the launch to look at: a pointer that is
    // const and __restrict__ may point to what another thread writes all the same, and the barrier is gone
    // that put the one before the other.
    bool export_apart() {
        const auto found = all_accesses(table_, proof_.functions.front());
        return found && export_accesses(table_, *found, {}, proof_.apart);
    }
    std::string first_effect() const {
        const FunctionValues& kernel = proof_.functions.front();
        for (const ptx::BlockIndex block : kernel.flow().reverse_post_order) {
            const ptx::BasicBlock& body = kernel.flow().blocks[block];
            for (std::uint32_t i = body.first; i < body.last; i++)
                if (!is_pure(kernel.function().body[i]) && !kernel.parameter_load(i) &&
                    !kernel.is_frame_access(i))
                    return place_of(kernel, i);
        }
        return kernel_source();
    }

    // Of a dimension whose grid stays: guards are over indices of threads.
    bool mentions_block(const Symbolic& value) const {
        bool found = false;
        table_.for_each_atom(value,
                             [&](AtomIndex at) { found |= table_.atom(at).kind == Atom::Kind::row_index; });
        return found;
    }
    void add_guards(Dimension dimension) {
        for (const ExitCondition& condition : proof_.conditions) {
            if (trend(table_, condition.predicate, dimension) != Trend::rises) continue;
            auto exits = to_expression(table_, condition.predicate, ptx::Type::pred);
            if (!exits || mentions_block(condition.predicate)) continue;
            const FunctionValues& kernel = proof_.functions.front();
            std::string source;
            if (condition.instruction < kernel.function().body.size())
                source = place_of(kernel, condition.instruction);
            if (source.starts_with("ptx:")) source.clear();
            proof_.guards.push_back({dimension, std::move(*exits), std::move(source)});
        }
    }

    Sharing sharing_ = Sharing::nothing;
    SymbolTable& table_;
    const ptx::Module& module_;
    const ptx::Function& kernel_;
    const Inlined& inlined_;
    const std::vector<const ptx::Function*>& reachable_;
    LaunchReads reads_;
    bool keeps_grid_ = false, may_reassociate_ = false;
    std::optional<PrivateShared> private_;
    std::optional<BlockTables> tables_;
    BesideIterations beside_;
    std::optional<Fault> stride_fault_;
    std::string stride_place_;
    UnknownTests unknown_tests_;
    Proof proof_;
};

}  // namespace

Proof try_proof(SymbolTable& table, const Code& code, const LaunchAssumption& assumed, Sharing sharing) {
    return Prover(table, code, assumed, sharing).run();
}

}  // namespace trimtab::analysis
