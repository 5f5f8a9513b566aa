// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/model_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/nearest_name.h"
#include "core/model/device_fields.h"
#include "core/model/launch_terms.h"
#include "core/model/model_words.h"

namespace trimtab::model {

namespace {

using Kind = ModelWord::Kind;
using Result = std::expected<Value, Error>;

constexpr std::size_t most_operations = 4000, deepest = 100;
constexpr std::string_view result_name = "time_ns";
constexpr std::array<std::string_view, 7> functions = {"min", "max", "floor", "ceil", "sqrt", "power", "if"};

class Reader : LaunchTerms {
  public:
    Reader(const std::vector<ModelWord>& words, const std::string& origin, std::string name)
        : LaunchTerms(std::move(name)), words_(words), origin_(origin) {}
    std::expected<RationalProgram, Error> read() &&;

  private:
    [[nodiscard]] const ModelWord& now() const { return words_[at_]; }
    [[nodiscard]] bool is_sign(std::string_view sign) const {
        return now().kind == Kind::sign && now().text == sign;
    }
    bool take(std::string_view sign) {
        if (!is_sign(sign)) return false;
        ++at_;
        return true;
    }
    [[nodiscard]] std::unexpected<Error> fault(const ModelWord& word, std::string message) const {
        return std::unexpected(Error{std::move(message), origin_, word.line, word.column});
    }
    [[nodiscard]] std::unexpected<Error> expected(std::string_view what) const {
        return fault(now(), now().text.empty() ? fmt::format("{} is missing", what)
                                               : fmt::format("{} is expected before '{}'", what, now().text));
    }

    std::expected<void, Error> statement();
    // By how tightly they bind, the loosest first.
    Result either();
    Result both();
    Result comparison();
    Result sum();
    Result product();
    Result unary();
    Result primary();
    Result named(const ModelWord& word);
    Result called(const ModelWord& word);
    std::expected<std::vector<Value>, Error> arguments();
    std::optional<Value> input_named(std::string_view name);
    Value metric_at(Metric metric, Value x, Value y, Value z) {
        return clamped(b_.metric(metric, x, y, z), zero_, number(1e12, "no count is larger"));
    }

    const std::vector<ModelWord>& words_;
    const std::string& origin_;
    std::size_t at_ = 0, depth_ = 0, operations_ = 0;
    std::map<std::string, Value, std::less<>> defined_;
};

std::optional<Value> Reader::input_named(std::string_view name) {
    const auto is_axis = [&](std::string_view group) {
        return name.size() == group.size() + 1 && name.starts_with(group) && name.back() >= 'x' &&
               name.back() <= 'z';
    };
    const auto is_field = [&](std::string_view group, const auto& fields) {
        return name.starts_with(group) && std::ranges::any_of(fields, [&](const auto& field) {
                   return field.name == name.substr(group.size());
               });
    };
    if (name == "dynamic_shared_bytes" || is_axis("block.") || is_axis("grid.") || is_axis("extent.") ||
        is_field("device.", device_fields()) || is_field("image.", image_fields()) ||
        name == "device.compute_capability")
        return b_.input(name);
    if (name == "blocks_per_sm") return occupancy_.blocks_per_sm;
    if (name == "warps_per_block") return occupancy_.warps_per_block;
    if (name == "threads_per_block") return threads_;
    return std::nullopt;
}

Result Reader::named(const ModelWord& word) {
    if (const auto found = defined_.find(word.text); found != defined_.end()) return found->second;
    if (const auto input = input_named(word.text)) return *input;
    if (const auto metric = metric_named(word.text)) return metric_at(*metric, bx_, by_, bz_);
    std::vector<std::string_view> known = {"dynamic_shared_bytes", "blocks_per_sm", "warps_per_block",
                                           "threads_per_block"};
    for (const auto& [name, value] : defined_) known.push_back(name);
    for (const MetricInfo& metric : metric_table()) known.push_back(metric.name);
    std::vector<std::string> fields;
    for (const DeviceField& field : device_fields()) fields.push_back("device." + std::string(field.name));
    for (const ImageField& field : image_fields()) fields.push_back("image." + std::string(field.name));
    known.insert(known.end(), fields.begin(), fields.end());
    return fault(word,
                 fmt::format("'{}' is not known here{}", word.text, base::suggestion(word.text, known)));
}

std::expected<std::vector<Value>, Error> Reader::arguments() {
    std::vector<Value> values;
    do {
        auto value = either();
        if (!value) return std::unexpected(value.error());
        values.push_back(*value);
    } while (take(","));
    if (!take(")")) return expected("')'");
    return values;
}

Result Reader::called(const ModelWord& word) {
    const auto metric = metric_named(word.text);
    if (!metric && std::ranges::find(functions, word.text) == functions.end())
        return fault(word,
                     fmt::format("'{}' is no function{}", word.text, base::suggestion(word.text, functions)));
    const auto given = arguments();
    if (!given) return std::unexpected(given.error());
    const std::vector<Value>& of = *given;
    const std::size_t wanted = metric || word.text == "if" ? 3 : word.text == "power" ? 2 : 1;
    const bool takes_many = word.text == "min" || word.text == "max";
    if (takes_many ? of.size() < 2 : of.size() != wanted)
        return fault(word,
                     fmt::format("{} takes {}, not {}", word.text,
                                 takes_many ? "two numbers or more" : fmt::format("{}", wanted), of.size()));
    if (metric) return metric_at(*metric, of[0], of[1], of[2]);
    if (word.text == "if") return select(of[0], of[1], of[2]);
    if (word.text == "power") return power(of[0], of[1]);
    if (word.text == "floor") return floor(of[0]);
    if (word.text == "ceil") return ceil(of[0]);
    if (word.text == "sqrt") return square_root(of[0]);
    Value out = of[0];
    for (std::size_t i = 1; i < of.size(); ++i) out = word.text == "min" ? min(out, of[i]) : max(out, of[i]);
    return out;
}

Result Reader::primary() {
    if (++operations_ > most_operations)
        return fault(now(), fmt::format("the model has more than {} terms", most_operations));
    const ModelWord word = now();
    if (take("(")) {
        auto inner = either();
        if (!inner) return inner;
        if (!take(")")) return expected("')'");
        return inner;
    }
    if (word.kind == Kind::number) {
        ++at_;
        return number(word.number);
    }
    if (word.kind == Kind::name) {
        ++at_;
        return take("(") ? called(word) : named(word);
    }
    return expected("a number, a name or '('");
}

Result Reader::unary() {
    if (depth_ >= deepest) return fault(now(), fmt::format("nested more than {} deep", deepest));
    ++depth_;
    const auto value = [&]() -> Result {
        if (take("-")) {
            auto of = unary();
            if (!of) return of;
            return zero_ - *of;
        }
        if (take("!")) {
            auto of = unary();
            if (!of) return of;
            return !*of;
        }
        return primary();
    }();
    --depth_;
    return value;
}

Result Reader::product() {
    auto left = unary();
    while (left && (is_sign("*") || is_sign("/"))) {
        const bool divides = now().text == "/";
        ++at_;
        auto right = unary();
        if (!right) return right;
        left = divides ? *left / *right : *left * *right;
    }
    return left;
}

Result Reader::sum() {
    auto left = product();
    while (left && (is_sign("+") || is_sign("-"))) {
        const bool subtracts = now().text == "-";
        ++at_;
        auto right = product();
        if (!right) return right;
        left = subtracts ? *left - *right : *left + *right;
    }
    return left;
}

Result Reader::comparison() {
    auto left = sum();
    if (!left || now().kind != Kind::sign) return left;
    const std::string_view sign = now().text;
    constexpr std::array<std::string_view, 6> comparisons = {"<", "<=", ">", ">=", "==", "!="};
    if (std::ranges::find(comparisons, sign) == comparisons.end()) return left;
    ++at_;
    auto right = sum();
    if (!right) return right;
    if (sign == "<") return *left < *right;
    if (sign == "<=") return *left <= *right;
    if (sign == ">") return *right < *left;
    if (sign == ">=") return *right <= *left;
    const Value equal = *left <= *right && *right <= *left;
    return sign == "==" ? equal : !equal;
}

Result Reader::both() {
    auto left = comparison();
    while (left && take("&&")) {
        auto right = comparison();
        if (!right) return right;
        left = *left && *right;
    }
    return left;
}

Result Reader::either() {
    auto left = both();
    while (left && take("||")) {
        auto right = both();
        if (!right) return right;
        left = *left || *right;
    }
    return left;
}

// NAME = EXPRESSION
std::expected<void, Error> Reader::statement() {
    const ModelWord name = now();
    if (name.kind != Kind::name) return expected("a name");
    if (name.text.contains('.') || metric_named(name.text) || input_named(name.text) ||
        std::ranges::find(functions, name.text) != functions.end())
        return fault(name, fmt::format("'{}' has a meaning already", name.text));
    if (defined_.contains(name.text)) return fault(name, fmt::format("'{}' is defined twice", name.text));
    ++at_;
    if (!take("=")) return expected("'='");
    const auto value = either();
    if (!value) return std::unexpected(value.error());
    if (now().kind != Kind::end_of_statement) return expected("the end of the line");
    ++at_;
    defined_.emplace(std::string(name.text),
                     value->named(name.text, name.text == result_name ? "ns" : "", ""));
    return {};
}

std::expected<RationalProgram, Error> Reader::read() && {
    while (now().kind != Kind::end)
        if (auto read = statement(); !read) return std::unexpected(read.error());
    const auto time = defined_.find(result_name);
    if (time == defined_.end()) return fault(now(), fmt::format("no line says what {} is", result_name));
    // A time that is none decides nothing: no such block is chosen, and a launch of such a block is left alone.
    const Value is_time = zero_ <= time->second && time->second <= number(1e18, "thirty years, in ns");
    return std::move(b_).finish(time->second, !is_time || unlaunchable());
}

}  // namespace

std::expected<RationalProgram, Error> parse_model(std::string_view text, const std::string& origin,
                                                  std::string_view name) {
    const auto words = model_words(text, origin);
    if (!words) return std::unexpected(words.error());
    return Reader(*words, origin, std::string(name)).read();
}

}  // namespace trimtab::model
