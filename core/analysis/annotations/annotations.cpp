// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/annotations/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/analysis/annotations/annotation_parser.h"
#include "core/analysis/launches/operation.h"
#include "core/analysis/launches/parameters.h"

namespace trimtab::analysis {
namespace {

// What a promise cannot take out of the way.
bool is_fixed_for_good(const Reason& reason) {
    return reason.rule == 5 || reason.text.contains("clusters");
}

// The annotation as the compiler saw it, macros expanded, and a caret under `place`; of a long one, what lies
// around.
std::string excerpt(std::string_view text, std::size_t place) {
    constexpr std::size_t before = 60, width = 100;
    const std::size_t from = place > before ? place - before : 0;
    std::string line(text.substr(from, width));
    std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
    return fmt::format("    {}\n    {}^", line, std::string(place - from, ' '));
}

// Before the extents, which come last in D.
void add_data(KernelDescription& description, DataParameter data) {
    const auto extents = std::ranges::find_if(description.data, &DataParameter::is_extent);
    description.data.insert(extents, std::move(data));
}

void add_size(KernelDescription& description, std::uint32_t index) {
    const KernelParameter& parameter = description.parameters[index];
    bool known = false;
    for (DataParameter& data : description.data) {
        if (data.is_extent || data.parameter != index) continue;
        data.in_memo = known = true;
        data.coarse_in_memo = false;
    }
    auto type = scalar_type(parameter.type);
    if (!type) type = type_from_name(parameter.ptx_type);
    if (known || parameter.is_pointer || !type) return;
    DataParameter data;
    data.name = parameter.name;
    data.parameter = index;
    data.type = type_name(*type);
    add_data(description, std::move(data));
}

// What an annotation reads sets the launch: it is in D, each argument as wide as it is read.
void add_leaves(KernelDescription& description, const Expression& expression) {
    for (const Expression& argument : expression.arguments) add_leaves(description, argument);
    if (expression.kind != Expression::Kind::parameter) return;
    bool same_place = false;
    for (DataParameter& data : description.data) {
        if (data.is_extent || data.parameter != expression.parameter || data.offset != expression.offset)
            continue;
        same_place = true;
        const auto type = type_from_name(data.type);
        if (!type || width_bits(*type) != width_bits(expression.type)) continue;
        data.in_memo = true;
        data.coarse_in_memo = false;
        return;
    }
    const KernelParameter& parameter = description.parameters[expression.parameter];
    const bool whole = expression.offset == 0 && width_bits(expression.type) == parameter.size * 8;
    DataParameter data;
    data.name = whole ? parameter.name : fmt::format("{}+{}", parameter.name, expression.offset);
    if (same_place) data.name += fmt::format(":{}", type_name(expression.type));
    data.parameter = expression.parameter;
    data.offset = expression.offset;
    data.type = type_name(expression.type);
    add_data(description, std::move(data));
}

bool reads_extent(const Expression& expression) {
    return expression.kind == Expression::Kind::extent ||
           std::ranges::any_of(expression.arguments, reads_extent);
}

// The grid of the launch as written: what is counted there is blocks, and the threads of one are its own.
void keep_grid(KernelDescription& description, const std::array<bool, 3>& stays) {
    for (std::size_t d = 0; d < stays.size(); d++) {
        if (!stays[d]) continue;
        const auto dimension = static_cast<Dimension>(d);
        Expression extent;
        extent.kind = Expression::Kind::extent;
        extent.type = ptx::Type::s64;
        extent.dimension = dimension;
        description.annotated_grid[d] = std::move(extent);
        DimensionUse& use = description.dimensions[d];
        if (use.index == Index::none || use.block == BlockWidth::one) continue;
        use.index = Index::in_block;
        std::erase_if(description.guards,
                      [dimension](const Guard& guard) { return guard.dimension == dimension; });
        description.strides.clear();
        description.stride_accesses.clear();
    }
}

}  // namespace

bool is_source_error(const Error& error) {
    return error.message.contains('\n');
}

std::expected<void, Error> annotate(KernelDescription& description,
                                    const KernelSource::Annotation& annotation) {
    auto parsed = parse_annotation(annotation.text, description);
    if (!parsed)
        return std::unexpected(Error{
            .message = fmt::format("annotation of '{}': {}\n{}", description.demangled,
                                   parsed.error().message, excerpt(annotation.text, parsed.error().place)),
            .file = annotation.file,
            .line = annotation.line});
    const std::string place =
        annotation.file.empty() ? std::string() : fmt::format("{}:{}", annotation.file, annotation.line);
    if (parsed->leave_alone) {
        description.verdict = Verdict::fixed;
        description.reasons.insert(description.reasons.begin(),
                                   {0, place, "the kernel's annotation says to leave it alone"});
        return {};
    }
    // What says more of a launch than which blocks it may have is in threads, and takes the place of the
    // proof that the grid may stay.
    const bool says_more =
        !parsed->grid.empty() || parsed->dynamic_shared || std::ranges::any_of(parsed->block, reads_extent);
    if (description.keeps_grid() && says_more) {
        for (DimensionUse& use : description.dimensions)
            if (use.index == Index::in_block) use.index = Index::global;
        description.annotated_grid = {};
        description.strides.clear();
        description.stride_accesses.clear();
        description.verdict = Verdict::fixed;
    }
    for (Expression& condition : parsed->block) {
        if (!description.annotated_block) {
            description.annotated_block = std::move(condition);
            continue;
        }
        description.annotated_block =
            applied(*operation_of(Operator::and_, ptx::Type::pred),
                    {std::move(*description.annotated_block), std::move(condition)});
    }
    const bool states_grid = !parsed->grid.empty();
    for (std::size_t d = 0; d < parsed->grid.size(); d++)
        description.annotated_grid[d] = std::move(parsed->grid[d]);
    keep_grid(description, parsed->grid_stays);
    const bool promises = states_grid || parsed->dynamic_shared ||
                          (description.annotated_block && description.verdict == Verdict::fixed);
    // What is proved to be needed stays where the proof does.
    if (promises) description.annotated_shared = std::move(parsed->dynamic_shared);
    for (const std::uint32_t index : parsed->sizes) add_size(description, index);
    for (const auto* stated :
         {&description.annotated_block, &description.annotated_shared, &description.annotated_grid[0],
          &description.annotated_grid[1], &description.annotated_grid[2]})
        if (*stated) add_leaves(description, **stated);

    if (promises && std::ranges::none_of(description.reasons, is_fixed_for_good)) {
        description.verdict = Verdict::annotated;
        // In the place of the proof, and of what it was allowed.
        description.may_reassociate = parsed->reassociate;
        description.apart.clear();  // the user answers for the barriers
    }
    return {};
}

}  // namespace trimtab::analysis
