// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "core/analysis/annotations/annotation_parser.h"
#include "core/analysis/annotations/annotations.h"
#include "core/analysis/data_parameters.h"
#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/demangle.h"
#include "core/analysis/launches/parameters.h"
#include "core/analysis/pointees.h"
#include "core/analysis/proof/certify.h"
#include "core/analysis/proof/proof.h"
#include "core/analysis/register_estimate.h"
#include "core/checker/check.h"

namespace trimtab::analysis {
namespace {

std::uint32_t to_u32(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

KernelImage kernel_image(const Image& image, const ptx::Function& kernel) {
    KernelImage result;
    result.architecture = image.architecture;
    if (kernel.max_block) {
        const ptx::Dim3& block = *kernel.max_block;
        result.max_threads = to_u32(std::uint64_t{block.x} * block.y * block.z);
    }
    if (kernel.required_block) {
        const ptx::Dim3& block = *kernel.required_block;
        result.max_threads = to_u32(std::uint64_t{block.x} * block.y * block.z);
    }
    if (const auto at = image.resources.find(kernel.name); at != image.resources.end()) {
        const ptx::KernelResources& resources = at->second;
        result.registers = resources.registers_per_thread;
        result.registers_from = image.resources_from;
        result.shared_bytes = resources.static_shared_bytes;
        result.local_bytes = resources.local_bytes_per_thread;
        if (resources.max_threads_per_block != 0 &&
            (result.max_threads == 0 || resources.max_threads_per_block < result.max_threads))
            result.max_threads = resources.max_threads_per_block;
        return result;
    }
    result.registers = estimate_registers(*image.module, kernel);
    result.registers_from = "estimated from PTX";
    std::uint64_t shared = 0, local = 0;
    const auto count = [&](const ptx::Variable& variable) {
        if (variable.space == ptx::Space::shared) shared += variable.size_bytes;
        if (variable.space == ptx::Space::local) local += variable.size_bytes;
    };
    for (const ptx::Function* function : reachable_functions(*image.module, kernel))
        for (const ptx::Variable& variable : function->variables) count(variable);
    for (const ptx::Variable* variable : reachable_variables(*image.module, kernel)) count(*variable);
    result.shared_bytes = to_u32(shared);
    result.local_bytes = to_u32(local);
    return result;
}

std::string kernel_location(const ptx::Module& module, const ptx::Function& kernel,
                            const KernelSource* source) {
    if (source != nullptr && !source->file.empty()) {
        return source->line == 0 ? source->file : fmt::format("{}:{}", source->file, source->line);
    }
    for (const ptx::Instruction& instruction : kernel.body)
        if (std::string text = module.source_text(instruction.location); !text.empty()) return text;
    return {};
}

Expression combined(Operator op, ptx::Type type, Expression a, Expression b) {
    return applied(*operation_of(op, type), {std::move(a), std::move(b)});
}

Expression leaf(Expression::Kind kind, std::size_t dimension, std::uint64_t bits = 0) {
    Expression result;
    result.kind = kind;
    result.type = ptx::Type::s64;
    result.dimension = static_cast<Dimension>(dimension);
    result.bits = bits;
    return result;
}

// ceil(extent / block), and the grid as written where it stays: an extent counts blocks there.
void state_grid(KernelDescription& description) {
    for (std::size_t d = 0; d < 3; d++) {
        Expression extent = leaf(Expression::Kind::extent, d);
        if (!description.grid_stays(d)) {
            extent = combined(
                Operator::div, ptx::Type::s64,
                combined(Operator::add, ptx::Type::s64, std::move(extent),
                         combined(Operator::sub, ptx::Type::s64, leaf(Expression::Kind::block_size, d),
                                  leaf(Expression::Kind::constant, d, 1))),
                leaf(Expression::Kind::block_size, d));
        }
        description.annotated_grid[d] = std::move(extent);
    }
}

// Blocks are of whole warps.
void state_dynamic_shared(KernelDescription& description, const WarpBytes& needed) {
    const auto number = [](std::uint64_t value) { return leaf(Expression::Kind::constant, 0, value); };
    description.annotated_shared =
        combined(Operator::add, ptx::Type::s64,
                 combined(Operator::mul_lo, ptx::Type::s64, number(needed.a_warp),
                          combined(Operator::div, ptx::Type::s64, leaf(Expression::Kind::block_size, 0),
                                   number(warp_size))),
                 number(needed.a_block));
}

// Blocks of whole warps.
void state_warps(KernelDescription& description) {
    for (std::size_t d = 0; d < 3; d++) {
        if (description.verdict == Verdict::fixed || !description.is_of_warps(d)) continue;
        Expression rest = combined(Operator::rem, ptx::Type::s64, leaf(Expression::Kind::block_size, d),
                                   leaf(Expression::Kind::constant, d, warp_size));
        // x & (x - 1) is 0 of powers of two alone.
        if (description.dimensions[d].block == BlockWidth::powers)
            rest = combined(
                Operator::or_, ptx::Type::b64, std::move(rest),
                combined(Operator::and_, ptx::Type::b64, leaf(Expression::Kind::block_size, d),
                         combined(Operator::sub, ptx::Type::s64, leaf(Expression::Kind::block_size, d),
                                  leaf(Expression::Kind::constant, d, 1))));
        description.annotated_block =
            applied(*operation_of(Operator::setp, ptx::Type::s64, ptx::Comparison::eq),
                    {std::move(rest), leaf(Expression::Kind::constant, d, 0)});
    }
}

// What another room does not find in the kernel is not believed.
void check_proof(Proof& proof, const ptx::Function& kernel) {
    for (const checker::Certificate& certificate : certificates(proof, kernel)) {
        const auto objection = checker::check(certificate);
        if (!objection) continue;
        proof.verdict = Verdict::fixed;
        proof.reasons = {
            {1, objection->line == 0 ? std::string() : fmt::format("ptx:{}", objection->line),
             fmt::format(
                 "the checker rejects the proof of this kernel ({}): a bug in Trimtab; please report it",
                 objection->text)}};
        return;
    }
}

KernelDescription describe_kernel(const Image& image, const ptx::Function& kernel, const KernelSource* source,
                                  bool may_reassociate) {
    KernelDescription description;
    description.id = ptx::kernel_hash(*image.module, kernel);
    description.name = kernel.name;
    description.demangled =
        source != nullptr && !source->demangled.empty() ? source->demangled : demangle(kernel.name);
    description.source = kernel_location(*image.module, kernel, source);
    if (source != nullptr) description.variant = source->variant;
    description.images.push_back(kernel_image(image, kernel));
    description.parameters = kernel_parameters(kernel, source);

    SymbolTable table;
    Proof proof = prove(table, *image.module, kernel, may_reassociate);
    check_proof(proof, kernel);
    description.data = data_parameters(table, proof, description.parameters);
    infer_pointees(table, proof, description.parameters);
    description.dimensions = proof.dimensions;
    if (description.keeps_grid()) state_grid(description);
    if (proof.most_threads != 0) {
        std::uint32_t& most = description.images.front().max_threads;
        most = most == 0 ? proof.most_threads : std::min(most, proof.most_threads);
    }
    description.least_threads = proof.least_threads;
    if (proof.dynamic_shared) state_dynamic_shared(description, *proof.dynamic_shared);
    if (proof.dynamic_bytes) description.annotated_shared = std::move(proof.dynamic_bytes);
    description.guards = std::move(proof.guards);
    description.strides = std::move(proof.strides);
    description.apart = std::move(proof.apart);
    description.stride_accesses = std::move(proof.stride_accesses);
    description.needs_one_iteration_a_thread = proof.needs_one_iteration_a_thread;
    description.verdict = proof.verdict;
    description.race_free_proved = proof.race_free;
    description.uses_float_atomics = proof.uses_float_atomics;
    description.may_reassociate = proof.reassociates;
    description.reasons = std::move(proof.reasons);
    return description;
}

// One kernel of one image.
struct Question {
    const Image* image;
    const ptx::Function* kernel;
    const KernelSource* source;
    bool may_reassociate;
};

// In the questions' order.
std::vector<KernelDescription> answers(const std::vector<Question>& questions, unsigned threads) {
    std::vector<KernelDescription> out(questions.size());
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < questions.size(); i = next++) {
                const Question& asked = questions[i];
                out[i] = describe_kernel(*asked.image, *asked.kernel, asked.source, asked.may_reassociate);
            }
        } catch (...) {  // out of memory
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (std::size_t i = 1; i < std::min<std::size_t>(threads, questions.size()); ++i)
            helpers.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
    return out;
}

// Before the kernel is described: whether the clause is there. What else is wrong with the annotation is said
// where it is read.
bool allows_sums(const KernelSource& source) {
    return std::ranges::any_of(source.annotations, [](const KernelSource::Annotation& annotation) {
        return states_reassociate(annotation.text);
    });
}

// --- several images ---

std::vector<Guard> guards_of(const std::vector<Guard>& guards, Dimension dimension) {
    std::vector<Guard> result;
    std::ranges::copy_if(guards, std::back_inserter(result),
                         [dimension](const Guard& guard) { return guard.dimension == dimension; });
    return result;
}

std::optional<Expression> any_of(const std::vector<Guard>& guards) {
    std::optional<Expression> result;
    for (const Guard& guard : guards)
        result =
            result ? combined(Operator::or_, ptx::Type::pred, std::move(*result), guard.exits) : guard.exits;
    return result;
}

// A thread must exit in every image: equal guards stand, others hold together or not at all.
std::vector<Guard> common_guards(const std::vector<Guard>& a, const std::vector<Guard>& b) {
    std::vector<Guard> result;
    for (const Dimension dimension : {Dimension::x, Dimension::y, Dimension::z}) {
        const auto left = guards_of(a, dimension), right = guards_of(b, dimension);
        const std::size_t before = result.size();
        for (const Guard& guard : left)
            if (std::ranges::any_of(right, [&](const Guard& other) { return other.exits == guard.exits; }))
                result.push_back(guard);
        if (result.size() > before || left.empty() || right.empty()) continue;
        result.push_back({dimension, combined(Operator::and_, ptx::Type::pred, *any_of(left), *any_of(right)),
                          left.front().source});
    }
    return result;
}

// What ties one image to the total ties all; else every image's loops must allow it.
void conjoin_strides(KernelDescription& description, KernelDescription& other) {
    const auto append = [](auto& to, auto& from) {
        to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    append(description.apart, other.apart);
    description.least_threads = std::max(description.least_threads, other.least_threads);
    const auto index = [](const DimensionUse& use) { return use.index; };
    if (!std::ranges::equal(description.dimensions, other.dimensions, {}, index, index) ||
        description.strides.empty() || other.strides.empty()) {
        description.strides.clear();
        description.stride_accesses.clear();
        return;
    }
    const std::size_t before = description.strides.size();
    for (GridStrideAccess& access : other.stride_accesses) {
        const bool have_numbers =
            before < most_numbered_loops && access.loops << before >> before == access.loops;
        access.loops = have_numbers ? access.loops << before : 0;
    }
    append(description.strides, other.strides);
    append(description.stride_accesses, other.stride_accesses);
    description.needs_one_iteration_a_thread |= other.needs_one_iteration_a_thread;
}

void conjoin(KernelDescription& description, KernelDescription other) {
    description.images.push_back(std::move(other.images.front()));
    if (other.parameter_offsets() != description.parameter_offsets()) {
        description.verdict = Verdict::fixed;
        description.reasons.insert(
            description.reasons.begin(),
            {5, "",
             fmt::format("the images of the kernel for {} and {} take different parameters",
                         description.images.front().architecture, description.images.back().architecture)});
        return;
    }
    const auto in_block = [](const DimensionUse& use) { return use.index == Index::in_block; };
    if (!std::ranges::equal(description.dimensions, other.dimensions, {}, in_block, in_block)) {
        // What one image takes for an index in the grid is one in the block to the other.
        for (KernelDescription* image : {&description, &other}) {
            if (!image->keeps_grid()) continue;
            for (DimensionUse& use : image->dimensions)
                if (in_block(use)) use.index = Index::global;
            image->annotated_grid = {};
            image->strides.clear();
            image->stride_accesses.clear();
            image->verdict = Verdict::fixed;
            image->reasons = {
                {1, image->source,
                 "the kernel loops over threadIdx by blockDim in one image, and another one does "
                 "not allow it"}};
        }
    }
    description.guards = common_guards(description.guards, other.guards);
    conjoin_strides(description, other);
    for (std::size_t d = 0; d < 3; d++) {
        // What one has no index in has one thread; what one reads the total of, or takes a width of the block
        // for granted in, is so for all.
        DimensionUse &mine = description.dimensions[d], &its = other.dimensions[d];
        if (mine.index != its.index)
            mine.index =
                mine.index == Index::none || its.index == Index::none ? Index::none : Index::of_total;
        if (its.block == BlockWidth::one || mine.block == BlockWidth::any ||
            (its.block == BlockWidth::powers && mine.block == BlockWidth::warps))
            mine.block = its.block;
    }
    if (description.annotated_shared != other.annotated_shared && description.verdict != Verdict::fixed) {
        description.verdict = Verdict::fixed;
        description.annotated_shared.reset();
        description.reasons = {{5, "", "the images of the kernel need different dynamic shared memory"}};
        return;
    }
    description.race_free_proved = description.race_free_proved && other.race_free_proved;
    description.uses_float_atomics = description.uses_float_atomics || other.uses_float_atomics;
    description.may_reassociate = description.may_reassociate || other.may_reassociate;
    const bool is_worse = other.verdict > description.verdict;
    if (is_worse) {
        description.verdict = other.verdict;
        description.reasons.clear();
    }
    for (Reason& reason : other.reasons) {
        const bool known = std::ranges::any_of(description.reasons,
                                               [&](const Reason& mine) { return mine.text == reason.text; });
        if (known || other.verdict != description.verdict) continue;
        if (is_worse)
            reason.text += fmt::format(" (in the image for {})", description.images.back().architecture);
        description.reasons.push_back(std::move(reason));
    }
}

}  // namespace

std::expected<std::vector<KernelDescription>, Error> describe(std::span<const Image> images,
                                                              const KernelSources& sources,
                                                              const Permissions& allowed, unsigned threads) {
    std::vector<Question> questions;
    for (const Image& image : images)
        for (const ptx::Function* kernel : image.module->kernels()) {
            if (kernel->body.empty()) continue;
            const auto at = sources.find(kernel->name);
            const KernelSource* source = at == sources.end() ? nullptr : &at->second;
            questions.push_back(
                {&image, kernel, source, allowed.reassociate || (source != nullptr && allows_sums(*source))});
        }
    std::vector<KernelDescription> descriptions;
    for (KernelDescription& description : answers(questions, threads)) {
        const auto same = std::ranges::find(descriptions, description.name, &KernelDescription::name);
        if (same == descriptions.end())
            descriptions.push_back(std::move(description));
        else
            conjoin(*same, std::move(description));
    }
    // A body that cannot have other blocks either is of no use.
    std::erase_if(descriptions, [](const KernelDescription& description) {
        return description.verdict == Verdict::fixed && built_in_block(description);
    });
    complete_coarsened(descriptions);
    for (KernelDescription& description : descriptions) {
        state_warps(description);
        const auto at = sources.find(description.name);
        if (at == sources.end()) continue;
        for (const KernelSource::Annotation& annotation : at->second.annotations)
            if (auto done = annotate(description, annotation); !done) return std::unexpected(done.error());
    }
    return descriptions;
}

}  // namespace trimtab::analysis
