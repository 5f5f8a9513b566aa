// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/suggested_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <tuple>

#include "choosing/choices/argument_key.h"
#include "core/analysis/annotations/annotations.h"
#include "core/analysis/launches/legal_blocks.h"

namespace trimtab::runtime {
namespace {

using analysis::KernelDescription;
using analysis::Verdict;
using nlohmann::ordered_json;

// A hypothesis that has failed with so many blocks and stood with none is not tried with more of them.
constexpr unsigned hopeless = 4;
// With so many blocks all are tried; so many go on to the others.
constexpr std::size_t probed_blocks = 6, likeliest = 4;

std::array<std::uint32_t, 3> sizes(const trimtab_dim3& value) {
    return {value.x, value.y, value.z};
}

// What the hypothesis makes of the kernel's description; nothing where a promise cannot lift what stands in
// the way.
std::optional<KernelDescription> supposing(KernelDescription description, const std::string& text) {
    if (!analysis::annotate(description, {.text = text, .file = {}, .line = 0})) return std::nullopt;
    if (description.verdict != Verdict::annotated) return std::nullopt;
    return description;
}

// Equal launches in what the blocks may depend on: shape and scalars, not where arrays lie.
std::string kind_of(const LaunchToVerify& launch, analysis::ArgumentBytes arguments) {
    const choosing::LaunchShape& shape = launch.shape;
    std::string key = fmt::format("{} {} {} {} {} {} {}", shape.written.grid.x, shape.written.grid.y,
                                  shape.written.grid.z, shape.written.block.x, shape.written.block.y,
                                  shape.written.block.z, shape.written.dynamic_shared_bytes);
    for (const analysis::KernelParameter& parameter : launch.description->parameters) {
        if (parameter.is_pointer || parameter.offset + parameter.size > arguments.size()) continue;
        key += ' ';
        for (std::uint32_t i = 0; i < parameter.size; ++i)
            key += fmt::format("{:02x}", static_cast<unsigned>(arguments[parameter.offset + i]));
    }
    return key;
}

}  // namespace

SuggestedKernel::SuggestedKernel(const LaunchToVerify& launch, std::uint64_t launches_of_a_kind,
                                 std::uint64_t number)
    : kernel_(launch.kernel),
      object_(launch.object),
      device_(launch.device == nullptr ? "" : launch.device->name),
      launches_of_a_kind_(launches_of_a_kind),
      number_(number) {
    if (launch.description == nullptr) return;
    for (const analysis::KernelParameter& parameter : launch.description->parameters)
        parameters_.push_back(parameter.name);
    if (launch.description->variant) variants_.emplace(kernel_, *launch.description->variant);
}

std::string SuggestedKernel::why_not(const LaunchToVerify& launch) const {
    if (!launch.kept.empty()) return launch.kept;
    if (launch.description == nullptr) return launch.left_alone;
    const KernelDescription& description = *launch.description;
    if (launch.device == nullptr) return "the device cannot be described";
    if (description.verdict == Verdict::annotated) return "an annotation answers for it";
    if (launch.shape.arguments == nullptr && !description.parameters.empty())
        return "it is launched without its arguments";
    // Some proofs hang on the launch: this one may have too few threads for its turns.
    if (description.verdict == Verdict::covering && launch.shape.written.dynamic_shared_bytes == 0 &&
        limits_of(description, choosing::argument_bytes(description, launch.shape.arguments),
                  launch.device->values, launch.image, launch.shape))
        return "it is proved: any block will do";
    if (!description.varies(0) && !description.varies(1) && !description.varies(2))
        return "it reads no index of a thread";
    return {};
}

void SuggestedKernel::skip(const std::string& why) {
    if (skipped_.empty()) skipped_ = why;
}

bool SuggestedKernel::is_due(const LaunchToVerify& launch) {
    const auto arguments = choosing::argument_bytes(*launch.description, launch.shape.arguments);
    const std::uint64_t number = ++kinds_[kind_of(launch, arguments)];
    return launches_of_a_kind_ == 0 || number <= launches_of_a_kind_ || std::has_single_bit(number);
}

bool SuggestedKernel::is_hopeless() const {
    return has_begun_ &&
           std::ranges::all_of(supposed_, [](const Supposed& supposed) { return !supposed.fallen.empty(); });
}

SuggestedKernel::Shape SuggestedKernel::shape_of(const Supposed& supposed, const Block& block) {
    const model::LaunchConfiguration& launch = supposed.launches.at(block);
    const auto body = supposed.bodies.find(block);
    const void* function = body == supposed.bodies.end() ? nullptr : body->second.second;
    return {launch.grid.x,
            launch.grid.y,
            launch.grid.z,
            launch.block.x,
            launch.block.y,
            launch.block.z,
            launch.dynamic_shared_bytes,
            reinterpret_cast<std::uintptr_t>(function)};
}

// Where there are other bodies, what would make launches theirs comes beside what would change the kernel's own.
void SuggestedKernel::suppose(const LaunchToVerify& launch, analysis::ArgumentBytes arguments) {
    const KernelDescription& description = *launch.description;
    const std::array<bool, 3> varies{description.varies(0), description.varies(1), description.varies(2)};
    for (Hypothesis& hypothesis : hypotheses(description, arguments, launch.shape.written)) {
        Supposed& own = supposed_.emplace_back();
        own.hypothesis = std::move(hypothesis);
        if (launch.relatives.empty()) continue;
        const Hypothesis plain = own.hypothesis;
        for (BlockOfVariant& blocks :
             blocks_of_variants(launch.shape.written.block, varies, description.variant->value)) {
            Supposed& of_bodies = supposed_.emplace_back();
            of_bodies.hypothesis = plain;
            of_bodies.hypothesis.block = blocks.text;
            of_bodies.blocks = std::move(blocks);
        }
    }
}

void SuggestedKernel::add_bodies(Supposed& supposed, const LaunchToVerify& launch,
                                 analysis::ArgumentBytes arguments, std::vector<trimtab_dim3>& blocks) {
    for (const LaunchToVerify::Relative& relative : launch.relatives) {
        const KernelDescription& body = relative.kernel->description;
        const trimtab_dim3 block = supposed.blocks.block(body.variant->value);
        const auto known = supposed.tried.find(sizes(block));
        if (known != supposed.tried.end() && known->second.cell == Cell::wrong) continue;
        if (block.x == 0 || (launches_ > 0 && known == supposed.tried.end())) continue;
        const auto annotated = supposing(body, supposed.hypothesis.text());
        if (!annotated) continue;
        const auto limits =
            analysis::legal_blocks_of_body(*annotated, arguments, launch.shape.written.grid,
                                           launch.shape.written.block, launch.device->values, relative.image);
        if (!limits) continue;
        const auto with =
            analysis::launch_with_block(*annotated, arguments, *limits, launch.shape.written, block);
        if (!with) continue;
        supposed.launches.emplace(sizes(block), *with);
        supposed.bodies[sizes(block)] = {body.name, relative.function};
        variants_.emplace(body.name, *body.variant);
        if (std::ranges::none_of(blocks,
                                 [&](const trimtab_dim3& other) { return choosing::same(other, block); }))
            blocks.push_back(block);
    }
}

std::uint64_t SuggestedKernel::begin(const LaunchToVerify& launch, analysis::ArgumentBytes arguments) {
    const KernelDescription& description = *launch.description;
    const model::LaunchConfiguration written = launch.shape.written;
    if (!has_begun_) {
        has_begun_ = true;
        written_block_ = launch.shape.written.block;
        suppose(launch, arguments);
    }
    written_blocks_.insert(sizes(launch.shape.written.block));
    const std::array<bool, 3> varies{description.varies(0), description.varies(1), description.varies(2)};
    std::vector<trimtab_dim3> blocks = blocks_to_suppose(
        written_block_, varies,
        static_cast<std::uint32_t>(std::max(1.0, launch.device->values.max_threads_per_block)));
    std::erase_if(
        blocks, [&](const trimtab_dim3& block) { return choosing::same(block, launch.shape.written.block); });
    order_.clear();
    at_ = 0;
    outcomes_.clear();
    noted_.clear();
    bool any = false;
    for (Supposed& supposed : supposed_) {
        supposed.launches.clear();
        supposed.right = supposed.wrong = 0;
        if (!supposed.fallen.empty()) continue;
        const auto annotated = supposing(description, supposed.hypothesis.text());
        if (!annotated) {
            supposed.fallen = "an annotation cannot lift what stands in the way";
            continue;
        }
        const auto limits =
            limits_of(*annotated, arguments, launch.device->values, launch.image, launch.shape);
        if (!limits) {
            supposed.fallen = limits.error();
            continue;
        }
        any = true;
        if (!supposed.hypothesis.block.empty()) {
            add_bodies(supposed, launch, arguments, blocks);
            continue;
        }
        for (const trimtab_dim3& block : blocks) {
            const auto known = supposed.tried.find(sizes(block));
            if (known != supposed.tried.end() && known->second.cell == Cell::wrong) continue;
            if (launches_ > 0 && known == supposed.tried.end()) continue;
            if (const auto with = analysis::launch_with_block(*annotated, arguments, *limits, written, block))
                supposed.launches.emplace(sizes(block), *with);
        }
    }
    probes_ = 0;
    std::size_t blocks_in_order = 0;
    for (const trimtab_dim3& block : blocks) {
        const std::size_t before = order_.size();
        for (std::size_t i = 0; i < supposed_.size(); ++i)
            if (supposed_[i].launches.contains(sizes(block))) order_.emplace_back(sizes(block), i);
        if (order_.size() > before && ++blocks_in_order == probed_blocks) probes_ = order_.size();
    }
    if (!any && skipped_.empty() && !supposed_.empty()) skipped_ = supposed_.front().fallen;
    under_way_ = any ? ++begun_ : 0;
    return under_way_;
}

void SuggestedKernel::note(const Block& block, const cuda::ShapeOutcome& outcome, std::size_t index) {
    noted_.insert_or_assign({block, index}, outcome);
    Supposed& supposed = supposed_[index];
    ++(outcome.kind == cuda::ShapeOutcome::Kind::wrong ? supposed.wrong : supposed.right);
}

void SuggestedKernel::keep_the_likeliest() {
    std::vector<std::size_t> standing;
    for (std::size_t i = 0; i < supposed_.size(); ++i)
        if (supposed_[i].right > 0) standing.push_back(i);
    std::ranges::sort(standing, {}, [this](std::size_t i) {
        return std::tuple(supposed_[i].wrong, supposed_[i].hypothesis.rank, i);
    });
    // What they make of the blocks so far.
    std::set<std::vector<Shape>> known;
    for (const std::size_t i : standing) {
        std::vector<Shape> shapes;
        for (std::size_t at = 0; at < probes_; ++at)
            if (order_[at].second == i) shapes.push_back(shape_of(supposed_[i], order_[at].first));
        if (known.contains(shapes)) continue;
        if (known.size() < likeliest)
            known.insert(std::move(shapes));
        else
            supposed_[i].fallen = "others are as likely";
    }
}

std::optional<cuda::LaunchShapeToCheck> SuggestedKernel::next(std::uint64_t number,
                                                              const cuda::ShapeOutcome* before) {
    if (number != under_way_) return std::nullopt;
    if (before != nullptr && at_ < order_.size()) {
        const auto& [block, index] = order_[at_++];
        outcomes_[shape_of(supposed_[index], block)] = *before;
        note(block, *before, index);
    }
    for (; at_ < order_.size(); ++at_) {
        if (launches_ == 0 && at_ > 0 && at_ == probes_) keep_the_likeliest();
        const auto& [block, index] = order_[at_];
        const Supposed& supposed = supposed_[index];
        if (!supposed.fallen.empty()) continue;
        if (supposed.right == 0 && supposed.wrong >= hopeless) continue;
        const model::LaunchConfiguration& launch = supposed.launches.at(block);
        if (const auto known = outcomes_.find(shape_of(supposed, block)); known != outcomes_.end()) {
            note(block, known->second, index);
            continue;
        }
        cuda::LaunchShapeToCheck shape{
            .grid = launch.grid, .block = launch.block, .dynamic_shared_bytes = launch.dynamic_shared_bytes};
        if (const auto body = supposed.bodies.find(block); body != supposed.bodies.end())
            shape.function = body->second.second;
        return shape;
    }
    return std::nullopt;
}

void SuggestedKernel::finish(std::uint64_t number, const cuda::LaunchCheckResult& result) {
    if (number != under_way_) return;
    under_way_ = 0;
    if (!result.ran) return skip("a launch as written faults");
    if (!result.not_tried.empty()) {
        // What is wrong with one launch as written says nothing good of the kernel.
        refused_ = result.not_tried;
        return;
    }
    ++launches_;
    runs_ += result.runs;
    changed_bytes_ += result.changed_bytes;
    const bool is_longest = result.written_ns > longest_ns_;
    if (is_longest) {
        longest_ns_ = result.written_ns;
        for (Supposed& supposed : supposed_)
            for (auto& [block, tried] : supposed.tried) tried.duration_ns = 0;
    }
    for (const auto& [cell, outcome] : noted_) {
        const auto& [block, index] = cell;
        Tried& tried = supposed_[index].tried[block];
        tried.is_watched |= outcome.is_watched;
        if (is_longest) tried.duration_ns = outcome.duration_ns;
        if (outcome.kind == cuda::ShapeOutcome::Kind::wrong) {
            tried.cell = Cell::wrong;
            tried.why = outcome.why;
        } else if (outcome.kind == cuda::ShapeOutcome::Kind::rounded && tried.cell == Cell::same) {
            tried.cell = Cell::rounded;
        }
    }
}

ordered_json SuggestedKernel::to_json() const {
    constexpr std::array names{"same", "rounded", "wrong"};
    ordered_json supposed = ordered_json::array();
    for (const Supposed& one : supposed_) {
        ordered_json entry = {{"block", one.hypothesis.block},
                              {"grid", one.hypothesis.grid},
                              {"dynamic_shared", one.hypothesis.dynamic_shared},
                              {"rank", one.hypothesis.rank},
                              {"fallen", one.fallen},
                              {"blocks", ordered_json::array()}};
        for (const auto& [block, tried] : one.tried) {
            ordered_json cell = {{"block", block}, {"found", names[static_cast<std::size_t>(tried.cell)]}};
            if (tried.cell == Cell::wrong)
                cell["why"] = tried.why;
            else
                cell["watched"] = tried.is_watched;
            cell["ns"] = tried.duration_ns;
            if (const auto body = one.bodies.find(block); body != one.bodies.end())
                cell["kernel"] = body->second.first;
            entry["blocks"].push_back(std::move(cell));
        }
        supposed.push_back(std::move(entry));
    }
    ordered_json variants = ordered_json::object();
    for (const auto& [name, variant] : variants_)
        variants[name] = {{"of", variant.of}, {"value", variant.value}};
    return {{"kernel", kernel_},
            {"object", object_},
            {"device", device_},
            {"parameters", parameters_},
            {"variants", std::move(variants)},
            {"skipped", skipped_},
            {"refused", refused_},
            {"launches", launches_},
            {"kinds", kinds_.size()},
            {"runs", runs_},
            {"changed_bytes", changed_bytes_},
            {"written_blocks", written_blocks_},
            {"written_ns", longest_ns_},
            {"hypotheses", std::move(supposed)}};
}

}  // namespace trimtab::runtime
