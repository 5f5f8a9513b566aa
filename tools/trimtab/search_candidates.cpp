// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/search_candidates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/annotations/annotation_parser.h"
#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/description.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/occupancy.h"
#include "tools/trimtab/ranking.h"

namespace trimtab::tools {

namespace {

constexpr std::size_t most_candidates = 200'000;
constexpr std::array<const char*, 3> block_names{"block_size_x", "block_size_y", "block_size_z"};

// A kernel whose parameters are the macros: what annotations are written over.
analysis::KernelDescription named(const std::vector<VariantParameter>& parameters) {
    analysis::KernelDescription names;
    std::uint32_t offset = 0;
    for (const VariantParameter& parameter : parameters) {
        names.parameters.push_back({.index = static_cast<std::uint32_t>(names.parameters.size()),
                                    .name = parameter.name,
                                    .offset = offset,
                                    .size = 8,
                                    .type = "s64",
                                    .ptx_type = "s64",
                                    .is_pointer = false,
                                    .pointee = {}});
        offset += 8;
    }
    return names;
}

std::expected<analysis::ParsedAnnotation, Error> parse(const std::string& clause, const std::string& text,
                                                       const std::string& option,
                                                       const analysis::KernelDescription& names) {
    const auto fault = [&](const std::string& what) {
        return std::unexpected(Error{.message = fmt::format("{} {}: {}", option, text, what)});
    };
    // A clause more would be taken for part of the annotation.
    int depth = 0;
    for (const char c : text) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0) break;
    }
    if (depth != 0) return fault("the brackets do not match");
    auto parsed = analysis::parse_annotation(fmt::format("{}({})", clause, text), names);
    if (parsed) return std::move(*parsed);
    const std::string& message = parsed.error().message;
    constexpr std::string_view of_kernel = "the kernel has no parameter";
    if (!message.starts_with(of_kernel)) return fault(message);
    std::vector<std::string> known;
    for (const auto& parameter : names.parameters) known.push_back(parameter.name);
    const std::string rest = message.substr(of_kernel.size());
    return fault(known.empty() ? fmt::format("there is no value{}", rest.substr(0, rest.find(',')))
                               : fmt::format("no --variants has{}", rest));
}

// The launch that the texts state for values of the names.
class StatedLaunch {
  public:
    static std::expected<StatedLaunch, Error> make(const std::vector<VariantParameter>& parameters,
                                                   const LaunchTexts& texts) {
        StatedLaunch out;
        out.block_ = named(parameters);
        out.launch_ = named(parameters);
        auto block = parse("grid", texts.block, "--block", out.block_);
        if (!block) return std::unexpected(block.error());
        for (std::size_t d = 0; d < block->grid.size(); ++d) {
            if (block->grid_stays[d])
                return std::unexpected(Error{.message = "--block as_written says nothing"});
            out.block_.annotated_grid[d] = std::move(block->grid[d]);
        }
        auto grid = parse("grid", texts.grid, "--grid", out.launch_);
        if (!grid) return std::unexpected(grid.error());
        for (std::size_t d = 0; d < grid->grid.size(); ++d) {
            if (grid->grid_stays[d])
                return std::unexpected(Error{.message = "--grid as_written says nothing"});
            out.launch_.annotated_grid[d] = std::move(grid->grid[d]);
        }
        if (!texts.dynamic_shared.empty()) {
            auto shared = parse("dynamic_shared", texts.dynamic_shared, "--dynamic-shared", out.launch_);
            if (!shared) return std::unexpected(shared.error());
            out.launch_.annotated_shared = std::move(shared->dynamic_shared);
        }
        for (const std::string& condition : texts.conditions) {
            auto parsed = parse("block", condition, "--where", out.launch_);
            if (!parsed) return std::unexpected(parsed.error());
            for (analysis::Expression& one : parsed->block) out.conditions_.push_back(std::move(one));
        }
        return out;
    }

    // Nothing: the conditions do not hold, or it is no launch.
    [[nodiscard]] std::optional<LaunchCandidate> of(const std::vector<std::int64_t>& values) const {
        std::vector<std::byte> bytes(values.size() * 8);
        if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
        const auto block = analysis::stated_launch(block_, bytes, {}, {1, 1, 1});
        if (!block) return std::nullopt;
        analysis::KernelDescription launch = launch_;
        for (const analysis::Expression& condition : conditions_) {
            launch.annotated_block = condition;
            if (!analysis::stated_launch(launch, bytes, {}, block->grid)) return std::nullopt;
        }
        const auto stated = analysis::stated_launch(launch, bytes, {}, block->grid);
        if (!stated) return std::nullopt;
        return LaunchCandidate{
            .values = values,
            .grid = stated->grid,
            .block = block->grid,
            .dynamic_shared_bytes = static_cast<std::uint32_t>(stated->dynamic_shared_bytes)};
    }

  private:
    analysis::KernelDescription block_, launch_;
    std::vector<analysis::Expression> conditions_;
};

std::uint32_t component(const trimtab_dim3& value, std::size_t d) {
    return d == 0 ? value.x : d == 1 ? value.y : value.z;
}

}  // namespace

std::expected<std::vector<VariantParameter>, Error> parse_variants(const std::vector<std::string>& texts) {
    std::vector<VariantParameter> out;
    for (const std::string& text : texts) {
        const auto fault = [&](std::string_view what) {
            return std::unexpected(Error{.message = fmt::format("--variants {}: {}", text, what)});
        };
        const std::size_t equals = text.find('=');
        VariantParameter parameter{.name = text.substr(0, equals), .values = {}};
        const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
        if (equals == std::string::npos || parameter.name.empty() ||
            std::isdigit(static_cast<unsigned char>(parameter.name.front())) ||
            !std::ranges::all_of(parameter.name, is_letter))
            return fault("give NAME=VALUE,VALUE...");
        if (std::ranges::find(out, parameter.name, &VariantParameter::name) != out.end())
            return fault("the name stands twice");
        for (std::size_t at = equals; at != std::string::npos;) {
            const std::size_t end = text.find(',', at + 1);
            const std::string one = text.substr(at + 1, end == std::string::npos ? end : end - at - 1);
            std::int64_t value = 0;
            const auto [rest, error] = std::from_chars(one.data(), one.data() + one.size(), value);
            if (error != std::errc() || rest != one.data() + one.size() || value < 0)
                return fault(fmt::format("'{}' is no whole number", one));
            if (std::ranges::find(parameter.values, value) != parameter.values.end())
                return fault(fmt::format("{} stands twice", value));
            parameter.values.push_back(value);
            at = end;
        }
        std::ranges::sort(parameter.values);
        out.push_back(std::move(parameter));
    }
    return out;
}

schedule::SearchSpace CandidateSpace::to_search(const model::Device& device,
                                                const trimtab_image* image) const {
    schedule::SearchSpace out{.dimensions = dimensions, .candidates = {}};
    const double sms = std::max(1.0, device.values.sm_count);
    for (const LaunchCandidate& one : candidates) {
        const std::uint32_t block_threads = one.block.x * one.block.y * one.block.z;
        const double threads = block_threads;
        const double blocks = double(one.grid.x) * one.grid.y * one.grid.z;
        schedule::Candidate candidate{.values = {one.values.begin(), one.values.end()},
                                      .width = double(one.block.x),
                                      .threads = threads,
                                      .threads_on_sm = std::ceil(blocks / sms) * threads};
        if (image != nullptr)
            candidate.resident_warps =
                model::occupancy(device.values, *image, block_threads, one.dynamic_shared_bytes).warps_per_sm;
        out.candidates.push_back(std::move(candidate));
    }
    return out;
}

std::expected<CandidateSpace, Error> variant_launches(const std::vector<VariantParameter>& parameters,
                                                      const LaunchTexts& texts) {
    const auto stated = StatedLaunch::make(parameters, texts);
    if (!stated) return std::unexpected(stated.error());
    CandidateSpace space;
    space.variants.clear();
    double count = 1;
    for (const VariantParameter& parameter : parameters) {
        space.dimensions.push_back(parameter.name);
        count *= static_cast<double>(parameter.values.size());
    }
    if (count > most_candidates)
        return std::unexpected(Error{
            .message = fmt::format("--variants: {:.0f} combinations, more than {}", count, most_candidates)});
    std::vector<std::size_t> place(parameters.size(), 0);
    for (bool more = true; more;) {
        std::vector<std::int64_t> values;
        for (std::size_t d = 0; d < parameters.size(); ++d) values.push_back(parameters[d].values[place[d]]);
        if (auto launch = stated->of(values)) {
            std::vector<std::string> flags;
            for (std::size_t d = 0; d < parameters.size(); ++d)
                flags.push_back(fmt::format("-D{}={}", parameters[d].name, values[d]));
            launch->variant = space.variants.size();
            space.variants.push_back(std::move(flags));
            space.candidates.push_back(std::move(*launch));
        }
        more = false;
        for (std::size_t d = parameters.size(); d-- > 0 && !more;) {
            more = ++place[d] < parameters[d].values.size();
            if (!more) place[d] = 0;
        }
    }
    if (space.candidates.empty())
        return std::unexpected(
            Error{.message = "no combination of --variants is a launch that --where allows"});
    return space;
}

std::expected<LaunchCandidate, Error> plain_launch(const LaunchTexts& texts) {
    const auto stated = StatedLaunch::make({}, texts);
    if (!stated) return std::unexpected(stated.error());
    if (auto launch = stated->of({})) return std::move(*launch);
    return std::unexpected(
        Error{.message = fmt::format("--grid {} --block {} is no launch", texts.grid, texts.block)});
}

namespace {

// The launches of one code that may take the place of the one written.
struct LegalOfCode {
    std::size_t variant = 0;
    std::uint32_t elements = 1;
    const analysis::KernelDescription* kernel = nullptr;
    trimtab_limits limits{};
    std::vector<trimtab_dim3> blocks;
};

std::expected<trimtab_limits, std::string> limits_of(const LaunchQuestion& question, const LaunchQuestion& of,
                                                     const WrittenBlocks& written) {
    const analysis::KernelDescription &kernel = question.description(), &body = of.description();
    if (!analysis::coarsening(body))
        return analysis::legal_blocks(kernel, question.arguments.bytes, written.grid, written.block,
                                      question.device.values, question.image);
    const auto launch = analysis::coarsened_launch(kernel, body, question.arguments.bytes, written.grid,
                                                   written.block, question.device.values, of.image);
    if (!launch) return std::unexpected(launch.error());
    return launch->limits;
}

}  // namespace

std::expected<CandidateSpace, std::string> legal_launches(const LaunchQuestion& question,
                                                          const WrittenBlocks& written,
                                                          const std::vector<SearchedBody>& bodies) {
    const analysis::LaunchConfiguration base{
        .grid = written.grid,
        .block = written.block,
        .dynamic_shared_bytes = static_cast<std::uint64_t>(written.dynamic_shared_bytes)};
    std::vector<LegalOfCode> codes;
    std::string why_not = "no block of whole warps is legal on this device";
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        auto limits = limits_of(question, bodies[i].question, written);
        if (!limits) {
            why_not = limits.error();
            continue;
        }
        limits->max_dynamic_shared_bytes = std::max(limits->max_dynamic_shared_bytes,
                                                    static_cast<std::uint32_t>(written.dynamic_shared_bytes));
        LegalOfCode& code = codes.emplace_back(i, bodies[i].elements, &bodies[i].question.description(),
                                               *limits, legal_candidates(*limits, written.blocks));
        if (written.blocks.empty())
            std::erase_if(code.blocks, [](const trimtab_dim3& block) {
                return std::uint64_t{block.x} * block.y * block.z % analysis::warp_size != 0 ||
                       (block.x > 2 && block.x % 4 != 0);
            });
    }
    CandidateSpace space;
    space.variants.assign(bodies.size(), {});
    std::array<bool, 3> varies{};
    const trimtab_dim3* first = nullptr;
    for (const LegalOfCode& code : codes)
        for (const trimtab_dim3& block : code.blocks) {
            if (first == nullptr) first = &block;
            for (std::size_t d = 0; d < 3; ++d) varies[d] |= component(block, d) != component(*first, d);
        }
    varies[0] = varies[0] || !(varies[1] || varies[2]);
    for (std::size_t d = 0; d < 3; ++d)
        if (varies[d]) space.dimensions.emplace_back(block_names[d]);
    if (bodies.size() > 1) space.dimensions.emplace_back("elements");
    for (const LegalOfCode& code : codes)
        for (const trimtab_dim3& block : code.blocks) {
            LaunchCandidate one{
                .values = {},
                .variant = code.variant,
                .grid = analysis::covering_grid(code.limits, block),
                .block = block,
                .dynamic_shared_bytes = static_cast<std::uint32_t>(written.dynamic_shared_bytes)};
            if (analysis::has_shape_annotations(*code.kernel)) {
                const auto launch = analysis::launch_with_block(*code.kernel, question.arguments.bytes,
                                                                code.limits, base, block);
                if (!launch) continue;
                one.grid = launch->grid;
                one.dynamic_shared_bytes = static_cast<std::uint32_t>(launch->dynamic_shared_bytes);
            }
            for (std::size_t d = 0; d < 3; ++d)
                if (varies[d]) one.values.push_back(component(block, d));
            if (bodies.size() > 1) one.values.push_back(code.elements);
            space.candidates.push_back(std::move(one));
        }
    if (space.candidates.empty()) return std::unexpected(why_not);
    return space;
}

}  // namespace trimtab::tools
