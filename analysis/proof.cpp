#include "analysis/proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/demangle.h"
#include "analysis/grid_stride.h"
#include "analysis/inlined_calls.h"
#include "analysis/instruction_rules.h"
#include "analysis/parameters.h"
#include "analysis/private_shared.h"
#include "analysis/promoted_stack.h"
#include "analysis/races.h"
#include "analysis/spinning.h"
#include "analysis/turn_values.h"
#include "ptx/inlined_places.h"

namespace trimtab::analysis {
namespace {

constexpr std::string_view dimension_names = "xyz";
// A kernel that breaks a rule breaks it often: the first few places are enough to act on.
constexpr std::ptrdiff_t max_reasons_of_a_rule = 3;

class Prover {
  public:
    // Proved for launches with one thread in each dimension of `one_thread`, by block-stride loops in those
    // of `grid_stays`.
    // With shared memory that is each thread's own, where `private_shared`.
    Prover(SymbolTable& table, const ptx::Module& module, const ptx::Function& kernel,
           const std::array<bool, 3>& one_thread, const std::array<bool, 3>& grid_stays, bool private_shared)
        : private_shared_(private_shared),
          one_thread_(one_thread),
          grid_stays_(grid_stays),
          table_(table),
          module_(module),
          kernel_(kernel),
          inlined_(with_inlined_calls(module, kernel)),
          reachable_(reachable_functions(module, inlined_.function)) {}

    Proof run() {
        LaunchReads reads = launch_reads(reachable_, one_thread_);
        proof_.grid_stays = reads.grid_stays = grid_stays_;
        for (std::size_t d = 0; d < 3; d++) {
            proof_.dimensions[d] = reads.reads(d);
            proof_.reads_total[d] = reads.grid_size[d] && !grid_stays_[d];
            proof_.block_stays_one[d] = reads.block_stays_one(d);
            proof_.may_keep_grid[d] = reads.thread_index[d] && reads.block_size[d];
        }
        check_attributes();
        if (!simplify(reads)) return std::move(proof_);
        if (follow(reads)) {
            check_instructions();
            check_loops();
            if (!private_shared_) check_variables();
            proof_.conditions = exit_conditions(table_, proof_.functions.front());
            if (proof_.reasons.empty()) judge();
        }
        return std::move(proof_);
    }

  private:
    void refuse(unsigned rule, std::string source, std::string text) {
        const bool known =
            std::ranges::any_of(proof_.reasons, [&](const Reason& reason) { return reason.text == text; });
        if (known || std::ranges::count(proof_.reasons, rule, &Reason::rule) >= max_reasons_of_a_rule) return;
        proof_.reasons.push_back({rule, std::move(source), std::move(text)});
    }
    void refuse(const FunctionValues& values, const Fault& fault) {
        const ptx::Function* written =
            values.function().is_entry ? inlined_.origins[fault.instruction].function : &values.function();
        refuse(fault.rule, place_of(values, fault.instruction),
               written == &kernel_ ? "the kernel " + fault.text
                                   : fmt::format("function '{}', which the kernel calls, {}",
                                                 demangle(written->name), fault.text));
    }
    std::string place_of(const FunctionValues& values, std::uint32_t instruction) const {
        const ptx::Function& function = values.function();
        if (!function.is_entry) return source_of(module_, function, instruction);
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
    bool simplify(const LaunchReads& reads) {
        for (const ptx::Function* function : reachable_) {
            if (function->body.empty()) continue;  // a declaration: refused where it is called
            if (private_shared_ && !keep_to_threads(reads)) return false;
            const ptx::Function& whole = private_             ? private_->function
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
    bool keep_to_threads(LaunchReads reads) {
        reads.grid_stays = {};
        if (reachable_.size() == 1) private_ = with_private_shared(table_, module_, inlined_.function, reads);
        if (!private_) {
            refuse(2, kernel_source(), "the kernel shares memory");
            return false;
        }
        proof_.most_threads = private_->most_threads;
        return true;
    }

    bool follow(const LaunchReads& reads) {
        for (const ptx::Function& function : proof_.rewritten) {
            auto values = FunctionValues::make(table_, function,
                                               static_cast<std::uint32_t>(proof_.functions.size()), reads);
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
                if (auto text = refusal(values, module_, i)) refuse(values, {2, i, std::move(*text)});
                proof_.uses_float_atomics |= is_float_reduction(body[i]);
            }
            for (const Fault& fault : values.faults()) refuse(values, fault);
        }
    }

    void check_loops() {
        const MemoryRoots written = written_memory(table_, proof_.functions);
        for (const FunctionValues& values : proof_.functions)
            for (const Fault& fault : spinning_loops(table_, values, written)) refuse(values, fault);
    }

    // Nothing stands in the way: which dimensions have a guard?
    void judge() {
        follow_strides();
        const bool keeps_grid = std::ranges::any_of(grid_stays_, std::identity());
        if (keeps_grid && stride_fault_) {
            refuse(
                1, stride_place_,
                fmt::format("as a loop over threadIdx by blockDim, for which any block would do, the kernel "
                            "{}",
                            stride_fault_->text));
            if (!LoopIndices(table_, proof_.functions.front(), grid_stays_).loops().empty())
                proof_.near_misses = proof_.reasons;
            return;
        }
        // Where the grid stays, threadIdx stands for the index: other blocks have the same.
        proof_.race_free = !keeps_grid && is_race_free(table_, proof_.functions, proof_.dimensions);
        // A barrier orders what threads of a block do to memory. It is no matter where no two of them touch
        // what one of them writes; of loops over a block's threads, the launch shows that.
        if (private_ && private_->had_barriers && !proof_.race_free && proof_.dimensions != grid_stays_) {
            refuse(2, kernel_source(), "the kernel has barriers, and threads may talk through memory");
            return;
        }
        proof_.verdict = Verdict::covering;
        for (std::size_t d = 0; d < 3; d++) {
            if (!proof_.dimensions[d] || proof_.block_stays_one[d] || grid_stays_[d]) continue;
            if (proof_.reads_total[d] && stride_fault_) {
                dividing(
                    fmt::format("the kernel reads gridDim.{0}, so that the number of threads in {0} must "
                                "stay as it is: only blocks that divide it are used; it {1}",
                                dimension_names[d], stride_fault_->text),
                    stride_place_);
            }
            const std::size_t before = proof_.guards.size();
            add_guards(static_cast<Dimension>(d));
            if (proof_.reads_total[d] || proof_.guards.size() > before) continue;
            dividing(
                fmt::format("no test of the index in {0} takes the threads past the end away before the "
                            "first memory access, so that only blocks that divide the launch are used; "
                            "add a test such as if (i < n)",
                            dimension_names[d]));
        }
    }
    void dividing(std::string text, const std::string& place = {}) {
        proof_.verdict = Verdict::dividing;
        refuse(3, place.empty() ? first_effect() : place, std::move(text));
    }
    // Does the total do no more than stride loops?
    void follow_strides() {
        std::array<bool, 3> strided{};
        for (std::size_t d = 0; d < 3; d++) strided[d] = proof_.reads_total[d] || grid_stays_[d];
        if (std::ranges::none_of(strided, std::identity())) return;
        const FunctionValues& kernel = proof_.functions.front();
        auto found = proof_.functions.size() > 1
                         ? std::unexpected(Fault{3, 0, "calls functions that the compiler left as calls"})
                         : grid_strides(table_, kernel, strided);
        if (found) {
            auto fault = export_strides(kernel, *found);
            if (!fault) return;
            found = std::unexpected(std::move(*fault));
        }
        proof_.strides.clear();
        proof_.stride_accesses.clear();
        stride_fault_ = std::move(found.error());
        stride_place_ = place_of(kernel, stride_fault_->instruction);
    }
    std::optional<Fault> export_strides(const FunctionValues& kernel, const GridStrides& found) {
        for (const StridedLoop& loop : found.loops) {
            GridStrideLoop result{loop.dimension, {}, place_of(kernel, loop.instruction)};
            if (result.source.starts_with("ptx:")) result.source.clear();
            for (const Symbolic& test : loop.exits) {
                auto exits = to_expression(table_, test, ptx::Type::pred);
                if (!exits)
                    return Fault{3, loop.instruction, "has a loop bound that is too large to write out"};
                result.exits.push_back(std::move(*exits));
            }
            proof_.strides.push_back(std::move(result));
        }
        for (const StridedAccess& access : found.accesses) {
            auto address = to_expression(table_, access.address, ptx::Type::u64);
            if (!address) return Fault{3, 0, "has an address that is too large to write out"};
            GridStrideAccess result{std::move(*address), access.bytes, access.writes, access.reduction,
                                    access.once};
            if (std::ranges::find(proof_.stride_accesses, result) == proof_.stride_accesses.end())
                proof_.stride_accesses.push_back(std::move(result));
        }
        return std::nullopt;
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

    bool private_shared_ = false;
    std::array<bool, 3> one_thread_{}, grid_stays_{};
    SymbolTable& table_;
    const ptx::Module& module_;
    const ptx::Function& kernel_;
    Inlined inlined_;
    std::vector<const ptx::Function*> reachable_;
    std::optional<PrivateShared> private_;
    std::optional<Fault> stride_fault_;
    std::string stride_place_;
    Proof proof_;
};

Proof prove(SymbolTable& table, const ptx::Module& module, const ptx::Function& kernel, bool private_shared) {
    Proof proof = Prover(table, module, kernel, {}, {}, private_shared).run();
    // Kernels that flatten their index over all dimensions are mostly launched in one or two.
    const auto breaks_rule_1 = [](const Proof& tried) {
        return std::ranges::any_of(tried.reasons, [](const Reason& reason) { return reason.rule == 1; }) &&
               std::ranges::all_of(tried.reasons, [](const Reason& reason) { return reason.rule == 1; });
    };
    if (!breaks_rule_1(proof)) return proof;
    const std::array<bool, 3> reads = proof.dimensions;
    std::vector<Reason> near_misses;
    for (const std::array<bool, 3>& one_thread :
         {std::array{false, false, false}, std::array{false, false, true}, std::array{false, true, true}}) {
        const bool is_narrower = one_thread[2];
        if (is_narrower && !(reads[2] || (reads[1] && one_thread[1]))) continue;
        if (is_narrower) {
            Proof narrower = Prover(table, module, kernel, one_thread, {}, private_shared).run();
            if (!breaks_rule_1(narrower)) return narrower;
        }
        // Loops over a block's threads: of one dimension, or else of several.
        for (const unsigned set : {1u, 2u, 4u, 3u, 5u, 6u, 7u}) {
            std::array<bool, 3> grid_stays{};
            bool all_read = true;
            for (std::size_t d = 0; d < 3; d++) {
                grid_stays[d] = (set >> d & 1) != 0;
                all_read = all_read && (!grid_stays[d] || (proof.may_keep_grid[d] && !one_thread[d]));
            }
            if (!all_read) continue;
            Proof by_block = Prover(table, module, kernel, one_thread, grid_stays, private_shared).run();
            if (by_block.verdict != Verdict::fixed) return by_block;
            if (near_misses.empty()) near_misses = std::move(by_block.near_misses);
        }
    }
    proof.reasons.insert(proof.reasons.end(), near_misses.begin(), near_misses.end());
    return proof;
}

}  // namespace

Proof prove(SymbolTable& table, const ptx::Module& module, const ptx::Function& kernel) {
    Proof proof = prove(table, module, kernel, false);
    const bool shares =
        std::ranges::any_of(proof.reasons, [](const Reason& reason) { return reason.rule == 2; });
    if (proof.verdict != Verdict::fixed || !shares) return proof;
    Proof with_private = prove(table, module, kernel, true);
    return with_private.verdict != Verdict::fixed ? std::move(with_private) : std::move(proof);
}

bool is_user_source(const ptx::Module& module, const ptx::SourceLocation& location) {
    const auto file = module.files.find(location.file);
    if (file == module.files.end() || location.line == 0) return false;
    return ptx::is_user_file(file->second);
}

std::string source_of(const ptx::Module& module, const ptx::Function& function, std::uint32_t instruction) {
    const auto& body = function.body;
    // Code that comes from a compiler's own header stands between lines of the user's.
    for (std::uint32_t away = 0; away < body.size(); away++) {
        if (away <= instruction && is_user_source(module, body[instruction - away].location))
            return module.source_text(body[instruction - away].location);
        if (instruction + away < body.size() && is_user_source(module, body[instruction + away].location))
            return module.source_text(body[instruction + away].location);
    }
    std::string text = module.source_text(body[instruction].location);
    return text.empty() ? fmt::format("ptx:{}", body[instruction].line) : text;
}

}  // namespace trimtab::analysis
