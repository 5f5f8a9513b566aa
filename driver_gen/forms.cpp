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

// A metric per warp that has terms of its own in D.
std::vector<FormSpec> warp_forms() {
    using enum BoxTerms;
    std::vector<FormSpec> forms{form("degree 1 in D", 1, false, none, 1),
                                form("degree 2 in D", 2, false, none, 1.2),
                                form("degree 3 in D", 3, false, none, 1.4),
                                form("degree 1 in D, warp", 1, false, warp, 1.5),
                                form("degree 2 in D, warp", 2, false, warp, 1.7),
                                form("degree 3 in D, warp", 3, false, warp, 1.9),
                                form("degree 1 in D and inverse, borders", 1, true, bordered, 2.5),
                                form("degree 2 in D and inverse, borders", 2, true, bordered, 2.7)};
    add_with_cuts(forms, form("degree 1 in D and inverse, warp", 1, true, warp, 2.2));
    FormSpec quotient = form("quotient of degree 1 in D, warp", 1, false, warp, 2.4);
    quotient.rational = true;
    quotient.most_columns = 6;
    quotient.exact = {{.kind = VariableKind::covered_lanes}};
    forms.push_back(quotient);
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

// A count that is known from the launch's shape, unless the kernel has an unusual idea of what is active.
std::vector<FormSpec> exact_forms(VariableKind kind) {
    FormSpec alone = form("counted", 0, false, BoxTerms::none, 0.8);
    alone.exact = {{.kind = kind}};
    FormSpec times = form("counted, degree 1 in D and inverse", 1, true, BoxTerms::none, 1.6);
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

}  // namespace

std::vector<FormSpec> forms_for(Metric metric) {
    std::vector<FormSpec> forms;
    switch (metric) {
        case Metric::footprint_sectors:
            forms = footprint_forms();
            break;
        case Metric::load_sectors:
        case Metric::store_sectors:
        case Metric::shared_wavefronts:
            forms = request_forms(false);
            break;
        case Metric::load_lines:
        case Metric::store_lines:
            forms = request_forms(true);
            break;
        case Metric::active_blocks:
            forms = exact_forms(VariableKind::boxes);
            break;
        case Metric::active_warps:
            forms = exact_forms(VariableKind::covered_warps);
            break;
        case Metric::active_lanes:
            forms = exact_forms(VariableKind::covered_lanes);
            break;
        default:
            break;
    }
    if (requests_of(metric).empty()) std::ranges::move(warp_forms(), std::back_inserter(forms));
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
