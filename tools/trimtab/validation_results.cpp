// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/validation_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/analysis/launches/demangle.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A leader that is slower than the fastest by more than this, though it was predicted fastest, is named.
// So is a counter that differs from the emulator's by more.
constexpr double worth_naming = 0.05;

std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> words(1);
    for (const char c : line) {
        if (c == separator)
            words.emplace_back();
        else
            words.back() += c;
    }
    return words;
}

std::optional<double> number(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

class ResultReader {
  public:
    explicit ResultReader(const std::string& folder) : folder_(folder) {}

    std::expected<ValidationResults, Error> read() {
        if (!fs::exists(fs::path(folder_) / "steps.tsv"))
            return std::unexpected(
                Error{.message = "holds no steps.tsv: it is no folder of gpu_validate.sh", .file = folder_});
        read_steps();
        read_samples();
        read_overhead();
        read_learning();
        read_counters();
        if (failure_) return std::unexpected(*failure_);
        judge();
        return std::move(results_);
    }

  private:
    // Calls `take(line)` for each line of a file from `first` on, until one is refused. No file: no lines.
    template <typename Take>
    void lines(const std::string& name, std::size_t first, const Take& take) {
        const std::string path = (fs::path(folder_) / name).string();
        std::ifstream file(path);
        std::size_t count = 0;
        for (std::string line; !failure_ && std::getline(file, line);) {
            if (++count < first || line.empty()) continue;
            if (const char* const wrong = take(line); wrong != nullptr)
                failure_ = Error{.message = wrong, .file = path, .line = static_cast<std::uint32_t>(count)};
        }
    }

    void read_steps() {
        for (const std::string_view name : validation_steps)
            results_.steps.push_back({.name = std::string(name), .status = {}, .text = {}});
        lines("version.txt", 1, [&](const std::string& line) {
            results_.version = line;
            return nullptr;
        });
        lines("steps.tsv", 1, [&](const std::string& line) -> const char* {
            const auto words = split(line, '\t');
            if (words.size() != 3) return "a step is its name, status and text, with tabs between";
            const auto step = std::ranges::find(results_.steps, words[0], &ValidationResults::Step::name);
            if (step == results_.steps.end()) return "no such step";
            step->status = words[1];
            step->text = words[2];
            return nullptr;
        });
    }

    void read_samples() {
        lines("samples.csv", 2, [&](const std::string& line) -> const char* {
            const auto words = split(line, ',');
            if (words.size() != 5) return "a sample has five columns";
            const auto off = number(words[3]), on = number(words[4]);
            if (!off || !on) return "a sample's times are numbers";
            results_.samples.push_back(
                {.name = words[0], .arguments = words[1], .result = words[2], .off_ms = *off, .on_ms = *on});
            return nullptr;
        });
    }

    void read_overhead() {
        std::vector<double> off, on;
        lines("overhead.csv", 2, [&](const std::string& line) -> const char* {
            const auto words = split(line, ',');
            if (words.size() != 3) return "a run has three columns";
            const auto without = number(words[1]), with = number(words[2]);
            if (!without || !with) return "a run's times are numbers";
            off.push_back(*without);
            on.push_back(*with);
            return nullptr;
        });
        if (off.empty()) return;
        const auto median = [](std::vector<double>& values) {
            std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
            return values[values.size() / 2];
        };
        results_.overhead = {.off_ns = median(off), .on_ns = median(on)};
    }

    void read_learning() {
        std::vector<std::string> files;
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with("learning-") && name.ends_with(".jsonl")) files.push_back(name);
        }
        std::ranges::sort(files);
        for (const std::string& file : files) {
            const std::string sample = file.substr(9, file.size() - 9 - 6);
            lines(file, 1, [&](const std::string& line) { return add_learnt(sample, line); });
        }
    }

    const char* add_learnt(const std::string& sample, const std::string& line) {
        try {
            const Json launch = Json::parse(line);
            results_.device = launch.at("device").get<std::string>();
            const Json& learnt = launch.at("learned");
            ValidationResults::Learnt one{
                .sample = sample,
                .kernel = analysis::demangle(launch.at("kernel").get<std::string>()),
                .data = launch.at("data").dump()};
            const Json& launches = learnt.at("launches");
            one.leaders = launches.size();
            for (const Json& leader : launches) {
                if (!leader.at("measured_ns").is_number()) continue;
                const double ns = leader.at("measured_ns").get<double>();
                ++one.timed;
                if (one.best_ns == 0 || ns < one.best_ns) one.best_ns = ns;
            }
            const auto measured = [](const Json& leader) {
                return leader.at("measured_ns").is_number() ? leader.at("measured_ns").get<double>() : 0;
            };
            one.predicted_ns = launches.at(0).at("predicted_ns").get<double>();
            one.first_ns = measured(launches.at(0));
            one.kept_ns = measured(launches.at(learnt.at("chosen").get<std::size_t>()));
            results_.learnt.push_back(std::move(one));
            return nullptr;
        } catch (const Json::exception&) {
            return "is no launch at which something was learnt";
        }
    }

    // What `trimtab profile --device gpu --json` printed.
    void read_counters() {
        const std::string path = (fs::path(folder_) / "counters.json").string();
        std::ifstream file(path);
        if (!file) return;
        try {
            const Json read = Json::parse(file);
            for (const Json& kernel : read.at("kernels")) {
                if (!kernel.contains("counters")) continue;
                const Json& counters = kernel.at("counters");
                for (const Json& one : counters.at("metrics"))
                    results_.counted.push_back({.kernel = kernel.at("demangled").get<std::string>(),
                                                .chip = counters.at("chip").get<std::string>(),
                                                .metric = one.at("metric").get<std::string>(),
                                                .gpu = one.at("gpu_mean").get<double>(),
                                                .emulator = one.at("emulator_mean").get<double>(),
                                                .mean_difference = one.at("mean_difference").get<double>()});
            }
        } catch (const Json::exception&) {
            if (!failure_)
                failure_ = Error{.message = "is not what trimtab profile --json prints", .file = path};
        }
    }

    void judge() {
        const auto disagrees = [&](std::string text) { results_.disagreements.push_back(std::move(text)); };
        for (const auto& step : results_.steps)
            if (step.status == "bad" && step.name != "samples")
                disagrees(fmt::format("{}: {}", step.name, step.text));
        for (const auto& sample : results_.samples)
            if (sample.result != "same")
                disagrees(fmt::format("{} {}: {}", sample.name, sample.arguments, sample.result));
        for (const auto& one : results_.counted)
            if (one.mean_difference > worth_naming)
                disagrees(fmt::format("{}: {}: the GPU ({}) counts {:.5g}, the emulator {:.5g}", one.kernel,
                                      one.metric, one.chip, one.gpu, one.emulator));
        for (const auto& learnt : results_.learnt)
            if (learnt.first_ns > learnt.best_ns * (1 + worth_naming))
                disagrees(fmt::format(
                    "{}: {} {}: what is predicted fastest takes {:.1f} us, the best leader {:.1f}",
                    learnt.sample, learnt.kernel, learnt.data, learnt.first_ns / 1e3, learnt.best_ns / 1e3));
    }

    const std::string folder_;
    ValidationResults results_;
    std::optional<Error> failure_;
};

// Of what was predicted fastest, and of what was kept, over the best leader: geometric means.
struct Ratios {
    double first = 1, kept = 1;
    std::size_t count = 0;
};
Ratios ratios(const ValidationResults& results) {
    double first = 0, kept = 0;
    std::size_t count = 0;
    for (const auto& one : results.learnt) {
        if (one.first_ns <= 0 || one.kept_ns <= 0 || one.best_ns <= 0) continue;
        first += std::log(one.first_ns / one.best_ns);
        kept += std::log(one.kept_ns / one.best_ns);
        ++count;
    }
    if (count == 0) return {};
    return {.first = std::exp(first / static_cast<double>(count)),
            .kept = std::exp(kept / static_cast<double>(count)),
            .count = count};
}

}  // namespace

std::expected<ValidationResults, Error> read_validation(const std::string& folder) {
    return ResultReader(folder).read();
}

std::string to_text(const ValidationResults& results) {
    std::string out =
        fmt::format("Trimtab {} on {}\n\n{:<14} {:<11} {}\n", results.version,
                    results.device.empty() ? "an unknown device" : results.device, "step", "", "");
    for (const auto& step : results.steps)
        out += fmt::format("{:<14} {:<11} {}\n", step.name, step.status.empty() ? "not begun" : step.status,
                           step.text);
    if (!results.samples.empty()) {
        out += fmt::format("\n{:<14} {:<18} {:>9} {:>9}\n", "sample", "", "off, ms", "on, ms");
        for (const auto& sample : results.samples)
            out += fmt::format("{:<14} {:<18} {:>9.0f} {:>9.0f}\n", sample.name, sample.result, sample.off_ms,
                               sample.on_ms);
    }
    if (results.overhead)
        out += fmt::format("\na launch costs the program {:.0f} ns, {:.0f} ns without Trimtab\n",
                           results.overhead->on_ns, results.overhead->off_ns);
    if (const Ratios all = ratios(results); all.count > 0) {
        out += fmt::format(
            "\nof {} kernels and sizes: what is predicted fastest takes {:.1f} % longer than the best "
            "leader, what "
            "was learnt {:.1f} % (geometric means)\n",
            all.count, 100 * (all.first - 1), 100 * (all.kept - 1));
        out += fmt::format("{:>12} {:>12} {:>12} {:>12}  {}\n", "predicted us", "measured us", "learnt us",
                           "best us", "kernel");
        for (const auto& one : results.learnt)
            out +=
                fmt::format("{:>12.2f} {:>12.2f} {:>12.2f} {:>12.2f}  {}: {}\n", one.predicted_ns / 1e3,
                            one.first_ns / 1e3, one.kept_ns / 1e3, one.best_ns / 1e3, one.sample, one.kernel);
    }
    if (!results.counted.empty()) {
        out += fmt::format("\n{:>12} {:>12} {:>9}  {}\n", "GPU", "emulator", "",
                           "counters, means over launches");
        for (const auto& one : results.counted)
            out += fmt::format("{:>12.5g} {:>12.5g} {:>8.1f}%  {}: {}\n", one.gpu, one.emulator,
                               100 * one.mean_difference, one.metric, one.kernel);
    }
    out += results.disagreements.empty() ? "\nnothing disagrees\n" : "\ndisagrees:\n";
    for (const std::string& line : results.disagreements) out += "  " + line + "\n";
    return out;
}

std::string to_table(const std::vector<std::pair<std::string, ValidationResults>>& by_folder) {
    std::string out =
        fmt::format("{:<20} {:<28} {:>7} {:>11} {:>12} {:>13} {:>13} {:>9}\n", "results", "device", "steps",
                    "same bytes", "launch, ns", "predicted, %", "learnt, %", "disagree");
    for (const auto& [folder, results] : by_folder) {
        const auto done = std::ranges::count(results.steps, "ok", &ValidationResults::Step::status);
        const auto same = std::ranges::count(results.samples, "same", &ValidationResults::Sample::result);
        const Ratios all = ratios(results);
        const auto longer = [&](double ratio) {
            return all.count == 0 ? std::string("-") : fmt::format("+{:.1f}", 100 * (ratio - 1));
        };
        out += fmt::format(
            "{:<20} {:<28} {:>7} {:>11} {:>12} {:>13} {:>13} {:>9}\n", fs::path(folder).filename().string(),
            results.device.empty() ? "-" : results.device,
            fmt::format("{}/{}", done, validation_steps.size()),
            fmt::format("{}/{}", same, results.samples.size()),
            results.overhead ? fmt::format("+{:.0f}", results.overhead->on_ns - results.overhead->off_ns)
                             : "-",
            longer(all.first), longer(all.kept), results.disagreements.size());
    }
    return out;
}

Json to_json(const ValidationResults& results) {
    Json steps = Json::array(), samples = Json::array(), learnt = Json::array();
    for (const auto& step : results.steps)
        steps.push_back({{"step", step.name}, {"status", step.status}, {"text", step.text}});
    for (const auto& sample : results.samples)
        samples.push_back({{"sample", sample.name},
                           {"arguments", sample.arguments},
                           {"result", sample.result},
                           {"off_ms", sample.off_ms},
                           {"on_ms", sample.on_ms}});
    for (const auto& one : results.learnt)
        learnt.push_back({{"sample", one.sample},
                          {"kernel", one.kernel},
                          {"data", Json::parse(one.data)},
                          {"leaders", one.leaders},
                          {"timed", one.timed},
                          {"predicted_ns", one.predicted_ns},
                          {"first_ns", one.first_ns},
                          {"kept_ns", one.kept_ns},
                          {"best_ns", one.best_ns}});
    Json overhead;
    if (results.overhead)
        overhead = {{"off_ns", results.overhead->off_ns}, {"on_ns", results.overhead->on_ns}};
    Json counted = Json::array();
    for (const auto& one : results.counted)
        counted.push_back({{"kernel", one.kernel},
                           {"chip", one.chip},
                           {"metric", one.metric},
                           {"gpu", one.gpu},
                           {"emulator", one.emulator},
                           {"mean_difference", one.mean_difference}});
    return {{"version", results.version},      {"device", results.device},
            {"steps", std::move(steps)},       {"samples", std::move(samples)},
            {"overhead", std::move(overhead)}, {"learnt", std::move(learnt)},
            {"counted", std::move(counted)},   {"disagreements", results.disagreements}};
}

}  // namespace trimtab::tools
