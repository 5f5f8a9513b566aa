// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/active_indices.h"

#include <algorithm>
#include <cmath>

#include "profiler/arguments.h"

namespace trimtab::profiler {

namespace {

using analysis::KernelDescription;

// Guards are proved for indices of 31 bits.
constexpr std::uint64_t index_limit = 1u << 30;
constexpr std::uint64_t first_limit = 512;

class DimensionGuards {
  public:
    DimensionGuards(const KernelDescription& description, const Arguments& arguments, std::size_t dimension)
        : description_(description),
          bytes_(arguments.bytes),
          offsets_(description.parameter_offsets()),
          dimension_(dimension) {}

    [[nodiscard]] bool exits(std::uint64_t index) const {
        std::array<std::uint64_t, 3> at{};
        at[dimension_] = index;
        return std::ranges::any_of(description_.guards, [&](const analysis::Guard& guard) {
            return static_cast<std::size_t>(guard.dimension) == dimension_ &&
                   analysis::evaluate(guard.exits, bytes_, offsets_, at) != 0;
        });
    }

    [[nodiscard]] bool passes() const {
        for (std::uint64_t index = 0; index < first_limit; ++index)
            if (!exits(index)) return true;
        return false;
    }

    [[nodiscard]] Indices indices() const {
        Indices out;
        while (out.first < first_limit && exits(out.first)) ++out.first;
        if (out.first == first_limit) {  // nothing passes, or only far away
            out.first = 0;
            return out;
        }
        std::uint64_t inside = out.first, step = 1;
        while (inside + step < index_limit && !exits(inside + step)) {
            inside += step;
            step *= 2;
        }
        if (inside + step >= index_limit) return out;
        std::uint64_t outside = inside + step;
        while (outside - inside > 1) {
            const std::uint64_t middle = inside + (outside - inside) / 2;
            (exits(middle) ? outside : inside) = middle;
        }
        out.end = outside;
        return out;
    }

  private:
    const KernelDescription& description_;
    std::span<const std::byte> bytes_;
    std::vector<std::uint32_t> offsets_;
    std::size_t dimension_;
};

// A linear form with integer factors that gives every value, if there is one: factors from pairs of points
// that differ in one parameter, then checked.
std::optional<LinearForm> linear_form(const KernelDescription& description,
                                      std::span<const std::vector<double>> points,
                                      std::span<const double> values) {
    LinearForm form;
    for (std::uint32_t k = 0; k < description.data.size(); ++k) {
        if (description.data[k].is_extent) continue;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto other = std::ranges::find_if(points, [&](const std::vector<double>& point) {
                if (point[k] == points[i][k]) return false;
                for (std::uint32_t m = 0; m < description.data.size(); ++m)
                    if (m != k && !description.data[m].is_extent && point[m] != points[i][m]) return false;
                return true;
            });
            if (other == points.end()) continue;
            const double factor = (values[static_cast<std::size_t>(other - points.begin())] - values[i]) /
                                  ((*other)[k] - points[i][k]);
            if (factor != std::round(factor)) return std::nullopt;
            if (factor != 0) form.terms.emplace_back(k, factor);
            break;
        }
    }
    form.constant = values[0] - form.evaluate(points[0]);
    for (std::size_t i = 0; i < points.size(); ++i)
        if (form.evaluate(points[i]) != values[i]) return std::nullopt;
    return form;
}

}  // namespace

std::array<Indices, 3> active_indices(const KernelDescription& description, const Arguments& arguments) {
    std::array<Indices, 3> out;
    for (std::size_t d = 0; d < 3; ++d) {
        if (description.reads(d))
            out[d] = DimensionGuards(description, arguments, d).indices();
        else
            out[d].end = 1;
    }
    return out;
}

unsigned dimensions_that_pass(const KernelDescription& description, const Arguments& arguments) {
    unsigned count = 0;
    for (std::size_t d = 0; d < 3; ++d)
        if (description.reads(d) && DimensionGuards(description, arguments, d).passes()) ++count;
    return count;
}

IndexRanges index_ranges(const KernelDescription& description, std::span<const std::vector<double>> points,
                         std::span<const std::array<Indices, 3>> found) {
    IndexRanges ranges;
    for (std::uint32_t i = 0; i < description.data.size(); ++i)
        if (description.data[i].is_extent)
            ranges.extent[static_cast<std::size_t>(description.data[i].dimension)] = i;
    for (std::size_t d = 0; d < 3; ++d) {
        if (!description.reads(d)) {
            ranges.end[d].constant = 1;
            ranges.extent[d] = no_data;
            continue;
        }
        std::vector<double> first, end;
        for (const auto& indices : found) {
            first.push_back(static_cast<double>(indices[d].first));
            if (indices[d].end) end.push_back(static_cast<double>(*indices[d].end));
        }
        if (auto form = points.empty() ? std::nullopt : linear_form(description, points, first))
            ranges.first[d] = *form;
        std::optional<LinearForm> form;
        if (!points.empty() && end.size() == points.size()) form = linear_form(description, points, end);
        if (form)
            ranges.end[d] = *form;
        else if (ranges.extent[d] != no_data)
            ranges.end[d].terms = {{ranges.extent[d], 1}};
        else
            ranges.end[d].constant = 1;
    }
    return ranges;
}

}  // namespace trimtab::profiler
