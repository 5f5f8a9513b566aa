// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits as JSON: member "fits" of a kernel's record.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "driver_gen/fits.h"
#include "profiler/profile.h"

namespace trimtab::driver_gen {

namespace {

using base::JsonValue;
using nlohmann::json;
using profiler::SpecialValue;

constexpr std::array<std::string_view, 20> kind_names{"data",
                                                      "x",
                                                      "y",
                                                      "z",
                                                      "covered_x",
                                                      "covered_y",
                                                      "covered_z",
                                                      "lanes_x",
                                                      "warp_rows",
                                                      "warp_planes",
                                                      "warps",
                                                      "boxes",
                                                      "covered_warps",
                                                      "covered_lanes",
                                                      "alignment",
                                                      "alignment_y",
                                                      "alignment_rows",
                                                      "remainder",
                                                      "has_remainder",
                                                      "halvings"};

std::int32_t degree_from(const JsonValue& value) {
    return value.integer(-64, 64);
}

json sum_json(const std::vector<Monomial>& sum) {
    json out = json::array();
    for (const Monomial& monomial : sum)
        out.push_back({{"coefficient", monomial.coefficient}, {"exponents", monomial.exponents}});
    return out;
}
std::vector<Monomial> sum_from(const JsonValue& value, std::size_t variables) {
    std::vector<Monomial> sum;
    for (const JsonValue& entry : value.list()) {
        Monomial& monomial = sum.emplace_back();
        monomial.coefficient = entry["coefficient"].number();
        for (const JsonValue& power : entry["exponents"].list()) {
            const auto pair = power.list(2);
            monomial.exponents.emplace_back(pair[0].index_below(variables), degree_from(pair[1]));
        }
    }
    return sum;
}

json quality_json(const FitQuality& q) {
    return {{"points", q.points},
            {"held_out_points", q.held_out_points},
            {"mean_error", q.mean_error},
            {"max_error", q.max_error},
            {"held_out_mean_error", q.held_out_mean_error},
            {"held_out_max_error", q.held_out_max_error},
            {"condition", q.condition},
            {"columns", q.columns},
            {"rank", q.rank},
            {"data_degree", q.data_degree},
            {"box_degree", q.box_degree},
            {"forms_compared", q.forms_compared}};
}
FitQuality quality_from(const JsonValue& value) {
    return {.points = value["points"].count(),
            .held_out_points = value["held_out_points"].count(),
            .mean_error = value["mean_error"].number(),
            .max_error = value["max_error"].number(),
            .held_out_mean_error = value["held_out_mean_error"].number(),
            .held_out_max_error = value["held_out_max_error"].number(),
            .condition = value["condition"].number(),
            .columns = value["columns"].count(),
            .rank = value["rank"].count(),
            .data_degree = degree_from(value["data_degree"]),
            .box_degree = degree_from(value["box_degree"]),
            .forms_compared = value["forms_compared"].count()};
}

json pieces_json(const std::vector<Piece>& pieces) {
    json out = json::array();
    for (const Piece& piece : pieces) {
        json when = nullptr;
        if (piece.when) when = {{"variable", piece.when->variable}, {"below", piece.when->below}};
        out.push_back({{"when", when},
                       {"numerator", sum_json(piece.numerator)},
                       {"denominator", sum_json(piece.denominator)}});
    }
    return out;
}
std::vector<Piece> pieces_from(const JsonValue& value, std::size_t variables) {
    std::vector<Piece> pieces;
    for (const JsonValue& entry : value.list()) {
        Piece& piece = pieces.emplace_back();
        if (const JsonValue when = entry["when"]; !when.is_null())
            piece.when = {.variable = when["variable"].index_below(variables),
                          .below = when["below"].number()};
        piece.numerator = sum_from(entry["numerator"], variables);
        piece.denominator = sum_from(entry["denominator"], variables);
    }
    if (pieces.empty() || pieces.back().when) value.fail("has no piece for everywhere else");
    return pieces;
}

json metric_json(const FittedMetric& fit) {
    json out{{"metric", model::name(fit.metric)},
             {"form", name(fit.form)},
             {"least", fit.least},
             {"most", fit.most},
             {"exact", fit.exact},
             {"data_dependent", fit.data_dependent},
             {"pieces", pieces_json(fit.pieces)},
             {"quality", quality_json(fit.quality)}};
    for (const std::vector<Piece>& rival : fit.rivals) out["rivals"].push_back(pieces_json(rival));
    return out;
}
FittedMetric metric_from(const JsonValue& value, std::size_t variables) {
    FittedMetric fit;
    const std::string metric_name = value["metric"].text();
    const auto metric = model::metric_named(metric_name);
    if (!metric) value["metric"].fail(fmt::format("names no metric: \"{}\"", metric_name));
    fit.metric = *metric;
    constexpr std::array forms{Form::constant, Form::polynomial, Form::laurent, Form::rational};
    fit.form = forms[value["form"].one_of({name(forms[0]), name(forms[1]), name(forms[2]), name(forms[3])})];
    fit.least = value["least"].number();
    fit.most = value["most"].number();
    fit.exact = value["exact"].boolean();
    fit.data_dependent = value["data_dependent"].boolean();
    fit.pieces = pieces_from(value["pieces"], variables);
    if (const auto rivals = value.find("rivals"))
        for (const JsonValue& rival : rivals->list()) fit.rivals.push_back(pieces_from(rival, variables));
    fit.quality = quality_from(value["quality"]);
    return fit;
}

Variable variable_from(const JsonValue& value, std::size_t data_count) {
    Variable variable{
        .kind = static_cast<VariableKind>(value["kind"].one_of({kind_names.begin(), kind_names.end()}))};
    if (const auto data = value.find("data")) variable.data = data->index_below(data_count);
    if (const auto unit = value.find("unit")) variable.unit = unit->count();
    if (const auto offset = value.find("offset")) variable.offset = degree_from(*offset);
    const bool remainder =
        variable.kind == VariableKind::remainder || variable.kind == VariableKind::has_remainder;
    if ((variable.kind == VariableKind::data || remainder) && variable.data == Variable::no_data)
        value.fail("names no data parameter");
    if (remainder && variable.unit == 0) value.fail("has no unit");
    return variable;
}

SpecialValue special_from(const JsonValue& value, std::size_t data_count) {
    const auto pair = value.list(2);
    return {.data = pair[0].index_below(data_count), .value = pair[1].number()};
}

Layout layout_from(const JsonValue& value, std::size_t data_count, const KernelFits& fits) {
    Layout layout;
    for (const JsonValue& near : value["near"].list())
        layout.values.push_back({.data = near.index_below(data_count), .value = 1});
    if (const auto values = value.find("values"))
        for (const JsonValue& entry : values->list())
            layout.values.push_back(special_from(entry, data_count));
    std::ranges::sort(layout.values);
    for (const JsonValue& entry : value["metrics"].list()) {
        layout.metrics.push_back(metric_from(entry, fits.variables.size()));
        if (fits.find(layout.metrics.back().metric) == nullptr)
            entry["metric"].fail("is none of the kernel's metrics");
    }
    return layout;
}

KernelFits fits_from(const JsonValue& value) {
    KernelFits fits;
    if (value["abi"].count() != fits_abi) value["abi"].fail(fmt::format("is not {}", fits_abi));
    for (const JsonValue& entry : value["data"].list()) fits.data_names.push_back(entry.text());
    const std::size_t data_count = fits.data_names.size();
    for (const JsonValue& entry : value["profiled"].list(data_count)) {
        const auto number = entry.find("number"), stride = entry.find("stride");
        fits.profiled.push_back({.least = entry["least"].number(),
                                 .most = entry["most"].number(),
                                 .varied = entry["varied"].boolean(),
                                 .is_number = number && number->boolean(),
                                 .is_stride = stride && stride->boolean()});
    }
    fits.ranges = profiler::ranges_from(value["ranges"], data_count);
    for (const JsonValue& entry : value["variables"].list())
        fits.variables.push_back(variable_from(entry, data_count));
    for (const JsonValue& entry : value["metrics"].list())
        fits.metrics.push_back(metric_from(entry, fits.variables.size()));
    if (const auto special = value.find("special"))
        for (const JsonValue& entry : special->list())
            fits.special.push_back(special_from(entry, data_count));
    if (const auto layouts = value.find("layouts"))
        for (const JsonValue& entry : layouts->list())
            fits.layouts.push_back(layout_from(entry, data_count, fits));
    return fits;
}

}  // namespace

json to_json(const KernelFits& fits) {
    json profiled = json::array(), variables = json::array(), metrics = json::array();
    for (std::size_t i = 0; i < fits.profiled.size(); ++i) {
        profiled.push_back({{"name", fits.data_names[i]},
                            {"least", fits.profiled[i].least},
                            {"most", fits.profiled[i].most},
                            {"varied", fits.profiled[i].varied}});
        if (fits.profiled[i].is_number) profiled.back()["number"] = true;
        if (fits.profiled[i].is_stride) profiled.back()["stride"] = true;
    }
    for (const Variable& variable : fits.variables) {
        json entry{{"kind", kind_names[static_cast<std::size_t>(variable.kind)]}};
        if (variable.data != Variable::no_data) entry["data"] = variable.data;
        if (variable.unit != 0) entry["unit"] = variable.unit;
        if (variable.offset != 0) entry["offset"] = variable.offset;
        variables.push_back(std::move(entry));
    }
    for (const FittedMetric& fit : fits.metrics) metrics.push_back(metric_json(fit));
    json out = {{"abi", fits_abi},        {"data", fits.data_names},
                {"profiled", profiled},   {"ranges", profiler::to_json(fits.ranges)},
                {"variables", variables}, {"metrics", metrics}};
    for (const SpecialValue& special : fits.special) out["special"].push_back({special.data, special.value});
    for (const Layout& layout : fits.layouts) {
        json own = json::array();
        for (const FittedMetric& fit : layout.metrics) own.push_back(metric_json(fit));
        json near = json::array(), values = json::array();
        for (const SpecialValue& special : layout.values)
            if (fits.profiled[special.data].is_stride && special.value == 1)
                near.push_back(special.data);
            else
                values.push_back({special.data, special.value});
        out["layouts"].push_back({{"near", std::move(near)}, {"metrics", std::move(own)}});
        if (!values.empty()) out["layouts"].back()["values"] = std::move(values);
    }
    return out;
}

std::expected<KernelFits, Error> fits_from_json(const json& value, const std::string& origin) {
    return base::read_json(value, "fits", origin, fits_from);
}

}  // namespace trimtab::driver_gen
