// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which forms are tried for which metric, in order of cost.
#include <algorithm>

#include "driver_gen/basis.h"

namespace trimtab::driver_gen {

namespace {

using model::Metric;

// Nodes where the mapping of a block's rows to warps and sectors changes: a sector of floats, a warp.
const Variable box_x{.kind = VariableKind::box_x};
std::vector<Condition> cuts_at(std::initializer_list<double> limits) {
    std::vector<Condition> cuts;
    for (const double limit : limits) cuts.push_back({.variable = 0, .below = limit});
    return cuts;
}

FormSpec with_cuts(FormSpec spec, std::initializer_list<double> limits) {
    spec.cuts = cuts_at(limits);
    spec.cut_variables = {box_x};
    spec.cost *= 1 + 0.5 * static_cast<double>(limits.size());
    spec.handicap *= 1 + 0.15 * static_cast<double>(limits.size());
    for (const double limit : limits) spec.name += "; node at x < " + std::to_string(static_cast<int>(limit));
    return spec;
}

void add_with_cuts(std::vector<FormSpec>& forms, const FormSpec& spec) {
    for (const auto limits : {std::initializer_list<double>{8}, {32}, {8, 32}})
        forms.push_back(with_cuts(spec, limits));
}

FormSpec form(std::string name, std::int32_t degree, bool inverse, BoxTerms box, double cost) {
    FormSpec spec;
    spec.name = std::move(name);
    spec.data_degree = degree;
    spec.data_inverse = inverse;
    spec.box = box;
    spec.cost = cost;
    spec.most_columns = box == BoxTerms::none ? 6 : 10;
    return spec;
}

// Compilers unroll by these.
void add_unrolled(std::vector<FormSpec>& forms, const FormSpec& spec) {
    for (const std::uint32_t times : {4u, 8u, 2u, 16u}) {
        FormSpec more = spec;
        more.name += ", unrolled by " + std::to_string(times);
        more.unrolled = times;
        more.cost += 0.05 + 0.001 * static_cast<double>(times);
        more.handicap *= 1.05;
        forms.push_back(std::move(more));
    }
}

// A count per warp, with terms of its own in D.
std::vector<FormSpec> count_forms() {
    using enum BoxTerms;
    std::vector<FormSpec> forms;
    for (const std::int32_t degree : {1, 2, 3}) {
        const std::string name = "degree " + std::to_string(degree) + " in D";
        FormSpec plain = form(name, degree, false, none, 0.8 + 0.2 * degree);
        plain.handicap = 0.7 + 0.3 * degree;
        forms.push_back(plain);
        if (degree < 3) add_unrolled(forms, plain);
        FormSpec with_warp = form(name + ", warp", degree, false, warp, 1.3 + 0.2 * degree);
        with_warp.handicap = plain.handicap;
        forms.push_back(with_warp);
        if (degree == 3) continue;
        FormSpec borders = form(name + " and inverse, borders", degree, true, bordered, 2.3 + 0.2 * degree);
        borders.handicap = 1.2 * plain.handicap;
        forms.push_back(borders);
    }
    add_with_cuts(forms, form("degree 1 in D and inverse, warp", 1, true, warp, 2.2));
    return forms;
}

// A count per warp with the terms in D of those counts that are known exactly.
std::vector<FormSpec> given_count_forms() {
    using enum BoxTerms;
    const FormSpec plain = form("as other counts", 0, false, none, 0.5);
    std::vector<FormSpec> forms{plain, form("as other counts, warp", 0, false, warp, 0.6),
                                form("as other counts and inverse, borders", 0, true, bordered, 0.8)};
    forms.back().handicap = 1.2;
    add_unrolled(forms, plain);
    // Where it has terms of its own after all, it must show it.
    for (FormSpec own : count_forms()) {
        own.handicap *= 1.5;
        forms.push_back(std::move(own));
    }
    return forms;
}

// A mean or a ratio: it settles as D grows.
std::vector<FormSpec> settling_forms() {
    using enum BoxTerms;
    std::vector<FormSpec> forms{form("inverse in D", 0, true, none, 1), form("warp", 0, false, warp, 1.2),
                                form("inverse in D, warp", 0, true, warp, 1.5),
                                form("inverse in D, borders", 0, true, bordered, 2.5)};
    FormSpec quotient = form("quotient of degree 1 in D, warp", 1, false, warp, 2.4);
    quotient.rational = true;
    quotient.most_columns = 6;
    quotient.exact = {{.kind = VariableKind::covered_lanes}};
    quotient.handicap = 1.3;
    forms.push_back(quotient);
    add_with_cuts(forms, form("inverse in D, warp", 0, true, warp, 2));
    return forms;
}

// A metric per warp whose terms in D are those of its requests: sectors and lines.
std::vector<FormSpec> request_forms(bool lines) {
    using enum BoxTerms;
    std::vector<FormSpec> forms{form("as the requests", 0, false, none, 1),
                                form("as the requests, warp", 0, false, warp, 1.5),
                                form("as the requests, aligned", 0, false, aligned, 2),
                                form("as the requests and inverse, borders", 0, true, bordered, 2.5)};
    add_with_cuts(forms, form("as the requests, warp", 0, false, warp, 2));
    add_with_cuts(forms, form("as the requests, aligned", 0, false, aligned, 2.6));
    for (FormSpec& spec : forms) spec.lines = lines;
    return forms;
}

// Where threads of a block work together, the block's size counts as the data's do. What settles as the sizes
// grow must not lean on them: a little noise at small sizes would be everything at large ones.
void add_whole_blocks(std::vector<FormSpec>& forms, bool settles) {
    if (settles) {
        for (const bool inverse : {false, true}) {
            FormSpec spec = form(inverse ? "inverse in D, whole blocks" : "whole blocks", 0, inverse,
                                 BoxTerms::whole, inverse ? 2.1 : 0.7);
            spec.settled = true;
            spec.handicap = 0.7;
            forms.push_back(spec);
        }
        return;
    }
    for (const std::int32_t degree : {0, 1, 2}) {
        const std::string name =
            degree == 0 ? "as other counts" : "degree " + std::to_string(degree) + " in D";
        FormSpec spec = form(name + ", whole blocks", degree, false, BoxTerms::whole, 2 + 0.3 * degree);
        spec.handicap = 0.8 + 0.2 * degree;
        forms.push_back(spec);
    }
}

// A count that is known from the launch's shape, unless the kernel has an unusual idea of what is active.
std::vector<FormSpec> counted_forms(VariableKind kind) {
    FormSpec alone = form("counted", 0, false, BoxTerms::none, 0.8);
    alone.exact = {{.kind = kind}};
    FormSpec times = form("counted, inverse in D", 0, true, BoxTerms::none, 0.9);
    times.exact = alone.exact;
    return {alone, times};
}

std::vector<FormSpec> footprint_forms() {
    using enum BoxTerms;
    std::vector<FormSpec> forms;
    for (const bool with_alignment : {false, true})
        for (const bool inverse : {false, true}) {
            FormSpec spec =
                form("as the requests, covered", 0, inverse, with_alignment ? covered_aligned : covered,
                     1 + (with_alignment ? 0.5 : 0) + (inverse ? 0.3 : 0));
            spec.most_columns = 12;
            if (inverse) spec.name += ", inverse";
            forms.push_back(spec);
            add_with_cuts(forms, spec);
        }
    return forms;
}

// What grows with D must be exact, or much better, where the values settle.
void settle(std::vector<FormSpec>& forms) {
    for (FormSpec& spec : forms) spec.handicap *= spec.data_degree > 0 ? 2 : 1;
    for (FormSpec spec : settling_forms()) {
        spec.cost += 0.1;
        forms.push_back(std::move(spec));
    }
}

}  // namespace

std::vector<FormSpec> forms_for(Metric metric, const FormHints& hints) {
    std::vector<FormSpec> forms;
    const auto add = [&](std::vector<FormSpec> more) { std::ranges::move(more, std::back_inserter(forms)); };
    switch (metric) {
        case Metric::footprint_sectors:
            add(footprint_forms());
            break;
        case Metric::load_sectors:
        case Metric::store_sectors:
        case Metric::store_partial_sectors:
        case Metric::shared_wavefronts:
            add(request_forms(false));
            break;
        case Metric::load_lines:
        case Metric::store_lines:
            add(request_forms(true));
            break;
        case Metric::active_blocks:
            add(counted_forms(VariableKind::boxes));
            add(count_forms());
            break;
        case Metric::active_warps:
            add(counted_forms(VariableKind::covered_warps));
            add(settling_forms());
            break;
        case Metric::active_lanes:
            add(counted_forms(VariableKind::covered_lanes));
            add(settling_forms());
            break;
        case Metric::instruction_parallelism:
            add(settling_forms());
            break;
        default:
            add(hints.given_terms ? given_count_forms() : count_forms());
            if (hints.settles) settle(forms);
            break;
    }
    const bool by_shape = metric == Metric::footprint_sectors || metric == Metric::active_blocks ||
                          metric == Metric::active_warps;
    if (hints.blocks_cooperate && !by_shape) add_whole_blocks(forms, hints.settles);
    std::ranges::sort(forms, [](const FormSpec& a, const FormSpec& b) {
        return a.cost != b.cost ? a.cost < b.cost : a.name < b.name;
    });
    return forms;
}

std::vector<Metric> requests_of(Metric metric) {
    switch (metric) {
        case Metric::load_sectors:
        case Metric::load_lines:
            return {Metric::load_requests};
        case Metric::store_partial_sectors:
            return {Metric::store_requests};
        case Metric::store_sectors:
        case Metric::store_lines:
            return {Metric::store_requests, Metric::atomic_requests};
        case Metric::shared_wavefronts:
            return {Metric::shared_requests};
        case Metric::footprint_sectors:
            return {Metric::load_requests, Metric::store_requests, Metric::atomic_requests};
        default:
            return {};
    }
}

}  // namespace trimtab::driver_gen
