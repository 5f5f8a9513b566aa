// Fits as JSON: member "fits" of a kernel's record.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "driver_gen/fits.h"
#include "profiler/json_reader.h"
#include "profiler/profile.h"

namespace trimtab::driver_gen {

namespace {

using nlohmann::json;
using namespace profiler::json_reader;

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

json sum_json(const std::vector<Monomial>& sum) {
    json out = json::array();
    for (const Monomial& monomial : sum)
        out.push_back({{"coefficient", monomial.coefficient}, {"exponents", monomial.exponents}});
    return out;
}
std::vector<Monomial> sum_from(const json& value, std::size_t variables, const std::string& where) {
    std::vector<Monomial> sum;
    for (const json& entry : array(value, where)) {
        Monomial& monomial = sum.emplace_back();
        monomial.coefficient = number(member(entry, "coefficient", where), where + ".coefficient");
        for (const json& pair : array(member(entry, "exponents", where), where + ".exponents")) {
            if (!pair.is_array() || pair.size() != 2)
                malformed(where + ".exponents", "holds something that is no [variable, exponent]");
            monomial.exponents.emplace_back(index_below(pair[0], variables, where + ".exponents"),
                                            small_integer(pair[1], where + ".exponents"));
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
FitQuality quality_from(const json& value, const std::string& where) {
    const auto real = [&](const char* key) { return number(member(value, key, where), where + "." + key); };
    const auto natural = [&](const char* key) { return count(member(value, key, where), where + "." + key); };
    const auto degree = [&](const char* key) {
        return small_integer(member(value, key, where), where + "." + key);
    };
    return {.points = natural("points"),
            .held_out_points = natural("held_out_points"),
            .mean_error = real("mean_error"),
            .max_error = real("max_error"),
            .held_out_mean_error = real("held_out_mean_error"),
            .held_out_max_error = real("held_out_max_error"),
            .condition = real("condition"),
            .columns = natural("columns"),
            .rank = natural("rank"),
            .data_degree = degree("data_degree"),
            .box_degree = degree("box_degree"),
            .forms_compared = natural("forms_compared")};
}

json metric_json(const FittedMetric& fit) {
    json pieces = json::array();
    for (const Piece& piece : fit.pieces) {
        json when = nullptr;
        if (piece.when) when = {{"variable", piece.when->variable}, {"below", piece.when->below}};
        pieces.push_back({{"when", when},
                          {"numerator", sum_json(piece.numerator)},
                          {"denominator", sum_json(piece.denominator)}});
    }
    return {{"metric", model::name(fit.metric)},
            {"form", name(fit.form)},
            {"least", fit.least},
            {"most", fit.most},
            {"exact", fit.exact},
            {"data_dependent", fit.data_dependent},
            {"pieces", pieces},
            {"quality", quality_json(fit.quality)}};
}
FittedMetric metric_from(const json& value, std::size_t variables, const std::string& where) {
    FittedMetric fit;
    const std::string metric_name = text(member(value, "metric", where), where + ".metric");
    const auto metric = model::metric_named(metric_name);
    if (!metric) malformed(where, fmt::format("names no metric: \"{}\"", metric_name));
    fit.metric = *metric;
    const std::string form_name = text(member(value, "form", where), where + ".form");
    const auto forms = {Form::constant, Form::polynomial, Form::laurent, Form::rational};
    const auto* form = std::ranges::find(forms, std::string_view(form_name), [](Form f) { return name(f); });
    if (form == forms.end()) malformed(where, fmt::format("names no form: \"{}\"", form_name));
    fit.form = *form;
    fit.least = number(member(value, "least", where), where + ".least");
    fit.most = number(member(value, "most", where), where + ".most");
    fit.exact = boolean(member(value, "exact", where), where + ".exact");
    fit.data_dependent = boolean(member(value, "data_dependent", where), where + ".data_dependent");
    for (const json& entry : array(member(value, "pieces", where), where + ".pieces")) {
        Piece& piece = fit.pieces.emplace_back();
        const json& when = member(entry, "when", where + ".pieces");
        if (!when.is_null())
            piece.when = {
                .variable = index_below(member(when, "variable", where), variables, where + ".when"),
                .below = number(member(when, "below", where), where + ".when")};
        piece.numerator = sum_from(member(entry, "numerator", where), variables, where + ".numerator");
        piece.denominator = sum_from(member(entry, "denominator", where), variables, where + ".denominator");
    }
    if (fit.pieces.empty() || fit.pieces.back().when) malformed(where, "has no piece for everywhere else");
    fit.quality = quality_from(member(value, "quality", where), where + ".quality");
    return fit;
}

Variable variable_from(const json& value, std::size_t data_count, const std::string& where) {
    const std::string kind_name = text(member(value, "kind", where), where + ".kind");
    const auto* kind = std::ranges::find(kind_names, kind_name);
    if (kind == kind_names.end())
        malformed(where, fmt::format("names no kind of variable: \"{}\"", kind_name));
    Variable variable{.kind = static_cast<VariableKind>(kind - kind_names.begin())};
    if (value.contains("data")) variable.data = index_below(value["data"], data_count, where + ".data");
    if (value.contains("unit")) variable.unit = count(value["unit"], where + ".unit");
    if (value.contains("offset")) variable.offset = small_integer(value["offset"], where + ".offset");
    const bool remainder =
        variable.kind == VariableKind::remainder || variable.kind == VariableKind::has_remainder;
    if ((variable.kind == VariableKind::data || remainder) && variable.data == Variable::no_data)
        malformed(where, "names no data parameter");
    if (remainder && variable.unit == 0) malformed(where, "has no unit");
    return variable;
}

KernelFits read(const json& value) {
    KernelFits fits;
    const std::string root = "fits";
    if (count(member(value, "abi", root), "fits.abi") != fits_abi)
        malformed("fits.abi", fmt::format("is not {}", fits_abi));
    for (const json& entry : array(member(value, "data", root), "fits.data"))
        fits.data_names.push_back(text(entry, "fits.data"));
    const std::size_t data_count = fits.data_names.size();
    for (const json& entry : array(member(value, "profiled", root), "fits.profiled"))
        fits.profiled.push_back(
            {.least = number(member(entry, "least", "fits.profiled"), "fits.profiled.least"),
             .most = number(member(entry, "most", "fits.profiled"), "fits.profiled.most"),
             .varied = boolean(member(entry, "varied", "fits.profiled"), "fits.profiled.varied")});
    if (fits.profiled.size() != data_count) malformed("fits.profiled", "has another length than fits.data");
    auto ranges = profiler::ranges_from_json(member(value, "ranges", root), data_count, "fits.ranges");
    if (!ranges) throw Malformed{ranges.error().message};
    fits.ranges = std::move(*ranges);
    for (const json& entry : array(member(value, "variables", root), "fits.variables"))
        fits.variables.push_back(
            variable_from(entry, data_count, fmt::format("fits.variables[{}]", fits.variables.size())));
    for (const json& entry : array(member(value, "metrics", root), "fits.metrics"))
        fits.metrics.push_back(
            metric_from(entry, fits.variables.size(), fmt::format("fits.metrics[{}]", fits.metrics.size())));
    return fits;
}

}  // namespace

json to_json(const KernelFits& fits) {
    json profiled = json::array(), variables = json::array(), metrics = json::array();
    for (std::size_t i = 0; i < fits.profiled.size(); ++i)
        profiled.push_back({{"name", fits.data_names[i]},
                            {"least", fits.profiled[i].least},
                            {"most", fits.profiled[i].most},
                            {"varied", fits.profiled[i].varied}});
    for (const Variable& variable : fits.variables) {
        json entry{{"kind", kind_names[static_cast<std::size_t>(variable.kind)]}};
        if (variable.data != Variable::no_data) entry["data"] = variable.data;
        if (variable.unit != 0) entry["unit"] = variable.unit;
        if (variable.offset != 0) entry["offset"] = variable.offset;
        variables.push_back(std::move(entry));
    }
    for (const FittedMetric& fit : fits.metrics) metrics.push_back(metric_json(fit));
    return {{"abi", fits_abi},        {"data", fits.data_names},
            {"profiled", profiled},   {"ranges", profiler::to_json(fits.ranges)},
            {"variables", variables}, {"metrics", metrics}};
}

std::expected<KernelFits, Error> fits_from_json(const json& value, const std::string& origin) {
    try {
        return read(value);
    } catch (const Malformed& malformed) {
        return std::unexpected(Error{.message = malformed.message, .file = origin});
    }
}

}  // namespace trimtab::driver_gen
