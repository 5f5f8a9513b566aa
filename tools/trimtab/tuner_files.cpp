// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/tuner_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/json_value.h"
#include "core/base/read_text.h"

namespace trimtab::tools {

namespace {

using base::JsonValue;
using Json = nlohmann::ordered_json;

constexpr std::string_view t4_version = "1.0.0";

std::expected<nlohmann::json, Error> read_file(const std::string& path) {
    const auto text = base::read_text(path);
    if (!text) return std::unexpected(Error{.message = "cannot read the file", .file = path});
    return base::parse_json(*text, path);
}

// A whole number, or a truth value, as tuners write them.
std::int64_t whole(const JsonValue& value) {
    if (value.json().is_boolean()) return value.boolean() ? 1 : 0;
    const double number = value.number();
    if (number < 0 || number != std::floor(number) || number > 1e15) value.fail("is no whole number");
    return static_cast<std::int64_t>(number);
}

// "[1, 2, 4]"; expressions, which T1 allows too, are for the tuners that made them.
std::vector<std::int64_t> listed(const JsonValue& value) {
    const std::string text = value.text();
    const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
    if (!list.is_array() || list.empty()) value.fail(fmt::format("is no list of numbers: {}", text));
    std::vector<std::int64_t> out;
    for (const nlohmann::json& one : list) {
        const bool is_whole = one.is_number_integer() && one.get<double>() >= 0;
        if (!is_whole && !one.is_boolean()) value.fail(fmt::format("holds {}, no whole number", one.dump()));
        out.push_back(one.is_boolean() ? (one.get<bool>() ? 1 : 0) : one.get<std::int64_t>());
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

// Python's words as C's.
std::string in_c(const std::string& expression) {
    std::string out;
    for (std::size_t i = 0; i < expression.size();) {
        const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
        std::size_t end = i;
        while (end < expression.size() && is_letter(expression[end])) ++end;
        const std::string word = expression.substr(i, end - i);
        if (word.empty()) {
            const bool is_floor_division = expression.compare(i, 2, "//") == 0;
            out += expression[i];
            i += is_floor_division ? 2 : 1;
            continue;
        }
        out += word == "and" ? "&&" : word == "or" ? "||" : word == "not" ? "!" : word;
        i = end;
    }
    return out;
}

// By value: equal ones share the mean of their places.
std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(values[i], i); });
    std::vector<double> out(values.size());
    for (std::size_t i = 0; i < order.size();) {
        std::size_t end = i;
        while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
        for (std::size_t k = i; k < end; ++k) out[order[k]] = static_cast<double>(i + end - 1) / 2;
        i = end;
    }
    return out;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() < 3) return std::numeric_limits<double>::quiet_NaN();
    const double mean = static_cast<double>(a.size() - 1) / 2;
    double top = 0, left = 0, right = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        top += (a[i] - mean) * (b[i] - mean);
        left += (a[i] - mean) * (a[i] - mean);
        right += (b[i] - mean) * (b[i] - mean);
    }
    return top / std::sqrt(left * right);
}

Json configuration(const TunedResults& results, const TunedConfiguration& one) {
    Json out = Json::object();
    for (std::size_t d = 0; d < results.parameters.size(); ++d) out[results.parameters[d]] = one.values[d];
    return out;
}

}  // namespace

std::expected<TunerSpace, Error> read_t1(const std::string& path) {
    const auto json = read_file(path);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "T1", path, [](const JsonValue& file) {
        TunerSpace space;
        const JsonValue configuration = file["ConfigurationSpace"];
        for (const JsonValue& one : configuration["TuningParameters"].list()) {
            VariantParameter parameter{.name = one["Name"].text(), .values = listed(one["Values"])};
            if (std::ranges::find(space.parameters, parameter.name, &VariantParameter::name) !=
                space.parameters.end())
                one.fail(fmt::format("has the name {} again", parameter.name));
            space.parameters.push_back(std::move(parameter));
        }
        if (const auto conditions = configuration.find("Conditions"))
            for (const JsonValue& one : conditions->list())
                space.conditions.push_back(in_c(one["Expression"].text()));
        return space;
    });
}

std::expected<std::vector<MeasuredConfiguration>, Error> read_t4(const std::string& path,
                                                                 const std::vector<std::string>& parameters) {
    const auto json = read_file(path);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "T4", path, [&](const JsonValue& file) {
        const std::string version = file["schema_version"].text();
        if (!version.starts_with("1."))
            file["schema_version"].fail(fmt::format("is {}: this reads {}", version, t4_version));
        std::vector<MeasuredConfiguration> out;
        for (const JsonValue& result : file["results"].list()) {
            MeasuredConfiguration one;
            for (const auto& [name, value] : result["configuration"].members()) {
                if (std::ranges::find(parameters, name) == parameters.end())
                    result["configuration"].fail(fmt::format("has a parameter {}, but the search has {}",
                                                             name, fmt::join(parameters, ", ")));
                one.values.emplace(name, whole(value));
            }
            for (const std::string& name : parameters)
                if (!one.values.contains(name))
                    result["configuration"].fail(fmt::format("has no parameter {}", name));
            const std::string invalidity = result["invalidity"].text();
            if (invalidity != "correct") continue;
            std::string objective = "time";
            if (const auto objectives = result.find("objectives"))
                if (const auto list = objectives->list(); !list.empty()) objective = list.front().text();
            bool is_found = false;
            for (const JsonValue& measurement : result["measurements"].list()) {
                if (measurement["name"].text() != objective) continue;
                const auto unit = measurement.find("unit");
                const std::string name = unit ? unit->text() : "";
                const double factor = name == "s" ? 1e3 : name == "us" ? 1e-3 : name == "ns" ? 1e-6 : 1;
                one.ms = measurement["value"].number() * factor;
                if (!(one.ms > 0)) measurement["value"].fail("is no time");
                is_found = true;
            }
            if (!is_found) result["measurements"].fail(fmt::format("holds no {}", objective));
            out.push_back(std::move(one));
        }
        return out;
    });
}

std::string t4_text(const TunedResults& results) {
    Json list = Json::array();
    for (const TunedConfiguration& one : results.configurations) {
        Json runtimes = Json::array();
        for (const double ns : one.samples_ns) runtimes.push_back(ns / 1e6);
        Json result = {{"configuration", configuration(results, one)},
                       {"times", {{"compilation", 0}, {"runtimes", std::move(runtimes)}}},
                       {"invalidity", one.is_correct ? "correct" : "runtime"},
                       {"correctness", one.is_correct ? 1 : 0},
                       {"measurements", Json::array()},
                       {"objectives", {"time"}}};
        if (one.is_correct)
            result["measurements"].push_back({{"name", "time"}, {"value", one.ns / 1e6}, {"unit", "ms"}});
        list.push_back(std::move(result));
    }
    return Json{{"schema_version", t4_version},
                {"metadata",
                 {{"timeunit", "milliseconds"},
                  {"by", results.by},
                  {"kernel", results.kernel},
                  {"device", results.device}}},
                {"results", std::move(list)}}
               .dump(2) +
           "\n";
}

std::string kernel_tuner_text(const TunedResults& results) {
    Json values = Json::object(), cache = Json::object(), start = Json::array();
    std::vector<std::string> alternatives;
    for (std::size_t d = 0; d < results.parameters.size(); ++d) {
        std::vector<std::int64_t> own;
        for (const TunedConfiguration& one : results.configurations) own.push_back(one.values[d]);
        std::ranges::sort(own);
        own.erase(std::unique(own.begin(), own.end()), own.end());
        values[results.parameters[d]] = own;
    }
    for (const TunedConfiguration& one : results.configurations) {
        Json entry = configuration(results, one);
        entry["time"] = one.ns / 1e6;
        cache[fmt::format("{}", fmt::join(one.values, ","))] = std::move(entry);
        std::vector<std::string> equal;
        for (std::size_t d = 0; d < results.parameters.size(); ++d)
            equal.push_back(fmt::format("{} == {}", results.parameters[d], one.values[d]));
        alternatives.push_back(fmt::format("({})", fmt::join(equal, " and ")));
    }
    for (const std::int64_t value : results.configurations.front().values) start.push_back(value);
    return Json{{"device_name", results.device},
                {"kernel_name", results.kernel},
                {"problem_size", 1},
                {"tune_params_keys", results.parameters},
                {"tune_params", std::move(values)},
                {"objective", "time"},
                {"restrictions", {fmt::format("{}", fmt::join(alternatives, " or "))}},
                {"x0", std::move(start)},
                {"by", results.by},
                {"cache", std::move(cache)}}
               .dump(1) +
           "\n";
}

std::optional<TunerScore> score(const TunedResults& predicted,
                                const std::vector<MeasuredConfiguration>& measured) {
    std::map<std::vector<std::int64_t>, double> times;
    for (const MeasuredConfiguration& one : measured) {
        std::vector<std::int64_t> values;
        for (const std::string& name : predicted.parameters) values.push_back(one.values.at(name));
        times.emplace(std::move(values), one.ms);
    }
    std::vector<double> of_model, of_device;
    for (const TunedConfiguration& one : predicted.configurations) {
        const auto found = times.find(one.values);
        if (found == times.end()) continue;
        of_model.push_back(one.ns);
        of_device.push_back(found->second);
    }
    if (of_model.empty()) return std::nullopt;
    TunerScore out{.compared = of_model.size(), .measured = times.size()};
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [values, ms] : times) {
        best = std::min(best, ms);
        out.place += ms < of_device.front() ? 1 : 0;
    }
    ++out.place;
    out.regret = of_device.front() / best - 1;
    out.rank_correlation = correlation(ranks(of_model), ranks(of_device));
    return out;
}

}  // namespace trimtab::tools
