// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/evidence/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/coarsened.h"
#include "core/base/json_value.h"
#include "emulation/emulator/check/checker.h"
#include "emulation/emulator/check/written_numbers.h"
#include "profiler/evidence/trial_comparison.h"
#include "profiler/evidence/trial_memory.h"
#include "profiler/evidence/trial_plan.h"
#include "profiler/observed_profile.h"
#include "trimtab/body_name.h"

namespace trimtab::profiler {

namespace {

using analysis::LaunchConfiguration;
using emulator::Fault;

// Of pages, which are made as they are touched.
constexpr std::uint64_t most_trial_bytes = std::uint64_t{24} << 20;
// Of a module's variables, which are copied before each launch.
constexpr std::uint64_t most_variable_bytes = std::uint64_t{64} << 20;
// A launch with another block that executes as many times the instructions of the one as written is given up: one of 32
// warps a block in the place of one warp does some things 32 times.
constexpr std::uint64_t instructions_ratio = 40, least_instruction_limit = 2'000;
// Memory costs time, too: bytes that are looked through, or filled, for the time of a warp instruction.
constexpr std::uint64_t bytes_looked_through = 256, bytes_filled = 32;
const std::vector<std::string_view> outcome_names{"none", "agrees", "differs"};  // of Outcome, in order
// Other orders in which a launch as written runs, before another block is blamed.
constexpr std::uint64_t orders_as_written = 3;

std::string text_of(const trimtab_dim3& value) {
    return value.z != 1   ? fmt::format("{} x {} x {}", value.x, value.y, value.z)
           : value.y != 1 ? fmt::format("{} x {}", value.x, value.y)
                          : fmt::format("{}", value.x);
}

bool is_one(const LaunchConfiguration& launch) {
    return launch.grid.x == 1 && launch.grid.y == 1 && launch.grid.z == 1;
}

std::string text_of(const LaunchConfiguration& launch) {
    return fmt::format("{} block{} of {} threads", text_of(launch.grid), is_one(launch) ? "" : "s",
                       text_of(launch.block));
}

class Trials {
  public:
    Trials(const analysis::KernelDescription& description, emulator::Program& program, const Profile& profile,
           const EvidenceOptions& options)
        : description_(description),
          written_name_(written_name(description, program)),
          program_(program),
          options_(options),
          plan_(description, profile),
          memory_(program, most_trial_bytes) {
        const Arguments arguments = make_arguments(description, std::vector<double>(description.data.size()));
        for (const PointerSlot& slot : arguments.pointers)
            memory_.set_region(slot.region, Pointee{.is_guess = true});
        for (const analysis::KernelParameter& parameter : description.parameters) {
            if (parameter.is_pointer) memory_.set_region(parameter.index, pointee_of(parameter.pointee));
            for (const analysis::PointerMember& member : parameter.members)
                for (const PointerSlot& slot : arguments.pointers)
                    if (slot.offset == parameter.offset + member.offset)
                        memory_.set_region(slot.region, pointee_of(member.pointee));
        }
    }

    Evidence run();

  private:
    enum class Trial : std::uint8_t {
        done,
        idle,     // the launch as written changes nothing
        useless,  // it faults, or runs too long
        refuted   // evidence_ says what differs
    };

    // `other`: in the place of the one as written; null: as written.
    std::expected<emulator::LaunchResult, Fault> execute(const TrialLaunch& launch,
                                                         const LaunchConfiguration* other,
                                                         std::uint64_t limit, std::uint64_t order,
                                                         emulator::LaunchObserver* observer = nullptr);
    [[nodiscard]] std::optional<std::uint64_t> cost_of(const TrialLaunch& launch);
    [[nodiscard]] std::vector<TrialLaunch> launches_of(const trimtab_dim3& block);
    Trial try_launch(const TrialLaunch& launch, Contents contents, std::size_t most_others);
    [[nodiscard]] std::string difference(const TrialLaunch& launch, const LaunchConfiguration& other,
                                         const MemoryImage& expected, std::uint64_t limit);
    [[nodiscard]] bool may_round() const {
        return description_.uses_float_atomics || description_.may_reassociate;
    }
    [[nodiscard]] bool depends_on_order(const TrialLaunch& launch, const MemoryImage& expected,
                                        std::uint64_t limit);
    [[nodiscard]] const emulator::check::WrittenNumbers* numbers(const TrialLaunch& launch,
                                                                 std::uint64_t limit);
    [[nodiscard]] std::string circumstances(const TrialLaunch& launch, Contents contents) const;
    [[nodiscard]] std::vector<Contents> all_contents() const;
    [[nodiscard]] bool is_spent() const { return spent_ >= options_.instruction_budget; }

    // The kernel that runs in launches as written.
    [[nodiscard]] static std::string written_name(const analysis::KernelDescription& description,
                                                  const emulator::Program& program);

    const analysis::KernelDescription& description_;
    const std::string written_name_;
    emulator::Program& program_;
    const EvidenceOptions& options_;
    TrialPlan plan_;
    TrialMemory memory_;
    std::optional<emulator::check::WrittenNumbers>
        numbers_;              // of the launch that is tried, once they are wanted
    std::uint64_t spent_ = 0;  // warp instructions
    std::size_t turn_ = 0;
    Evidence evidence_;
    std::string trouble_;  // why the last launch as written was useless
};

// A body with blockDim in the place of a built-in block stands for the kernel that has it, and one whose threads do the
// work of several for the kernel whose work that is.
std::string Trials::written_name(const analysis::KernelDescription& description,
                                 const emulator::Program& program) {
    if (!analysis::built_in_block(description) && !analysis::coarsening(description)) return description.name;
    std::string name(read_body_name(description.name)->kernel);
    const auto* kernel = emulator::kernel_info(program, name);
    const auto* body = emulator::kernel_info(program, description.name);
    const bool take_the_same =
        kernel != nullptr && body != nullptr && kernel->parameter_bytes == body->parameter_bytes;
    return take_the_same ? name : description.name;
}

std::expected<emulator::LaunchResult, Fault> Trials::execute(const TrialLaunch& launch,
                                                             const LaunchConfiguration* other,
                                                             std::uint64_t limit, std::uint64_t order,
                                                             emulator::LaunchObserver* observer) {
    const LaunchConfiguration& shape = other == nullptr ? launch.written : *other;
    emulator::LaunchRequest request;
    request.kernel = other == nullptr ? written_name_ : description_.name;
    request.grid = shape.grid;
    request.block = shape.block;
    // As the blocks that such a body goes over are the kernel's.
    if (const auto made = analysis::coarsening(description_); made && request.kernel != description_.name) {
        std::uint32_t &blocks = made->dimension == 0 ? request.grid.x : request.grid.y,
                      &threads = made->dimension == 0 ? request.block.x : request.block.y;
        blocks = blocks * threads / made->group() * made->elements;
        threads = made->group();
    }
    request.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared_bytes);
    request.parameters = launch.arguments;
    request.counting.count = observer == nullptr;
    request.threads = 1;
    request.order_seed = order;
    request.instruction_limit = limit;
    request.observer = observer;
    request.print = [](std::string_view) {};
    // Compiling pays for longer ones.
    request.is_interpreted = true;
    const std::uint64_t filled_before = memory_.filled_bytes();
    auto result = emulator::launch(program_, memory_, request);
    spent_ +=
        memory_.held_bytes() / bytes_looked_through + (memory_.filled_bytes() - filled_before) / bytes_filled;
    spent_ += result ? result->warp_instructions : result.error().kind == Fault::Kind::limit ? limit : 0;
    return result;
}

// In which every value is as likely an index or a bound as a number. Where sums round, numbers whose sums cancel or
// overflow would say nothing.
std::vector<Contents> Trials::all_contents() const {
    if (may_round()) return {Contents::counting, Contents::units};
    return {Contents::counting, Contents::magnitudes, Contents::extremes, Contents::units};
}

// What the launch as written writes where, looked at once; null: nothing of it may round otherwise.
const emulator::check::WrittenNumbers* Trials::numbers(const TrialLaunch& launch, std::uint64_t limit) {
    if (!may_round()) return nullptr;
    if (!numbers_) {
        memory_.restore();
        std::ignore = execute(launch, nullptr, limit, 0, &numbers_.emplace());
    }
    return &*numbers_;
}

// The launch as written in other orders, and under the check for races: does it say itself what it leaves?
bool Trials::depends_on_order(const TrialLaunch& launch, const MemoryImage& expected, std::uint64_t limit) {
    const Roundings roundings{.numbers = numbers(launch, limit), .is_as_written = true};
    for (std::uint64_t order = 1; order <= orders_as_written; ++order) {
        memory_.restore();
        const auto result = execute(launch, nullptr, limit, order);
        if (!result || compare(memory_, expected, roundings)) return true;
    }
    memory_.restore();
    emulator::check::Checker checker({.race = true, .init = true, .sync = true});
    checker.begin_launch();
    std::ignore = execute(launch, nullptr, limit, 0, &checker);
    checker.end_launch();
    return !checker.reports().empty();
}

// Of the other launch from the one as written, which left `expected`; empty: none.
std::string Trials::difference(const TrialLaunch& launch, const LaunchConfiguration& other,
                               const MemoryImage& expected, std::uint64_t limit) {
    const std::uint64_t order = turn_ % 2 == 0 ? 0 : turn_;
    memory_.restore();
    const auto result = execute(launch, &other, limit, order);
    if (!result) {
        const Fault& fault = result.error();
        const bool says_nothing = fault.kind == Fault::Kind::limit || fault.kind == Fault::Kind::host ||
                                  fault.kind == Fault::Kind::invalid_launch || memory_.is_exhausted();
        if (says_nothing) trouble_ = fault.message;
        return says_nothing ? std::string() : "it faults: " + fault.message;
    }
    ++evidence_.launches;
    auto found = compare(memory_, expected, {});
    if (found && may_round()) {
        const auto* written = numbers(launch, limit);
        memory_.restore();
        std::ignore = execute(launch, &other, limit, order);
        found = compare(memory_, expected, {.numbers = written, .sums = description_.may_reassociate});
    }
    return found ? text_of(*found, memory_, program_, description_) : std::string();
}

std::string Trials::circumstances(const TrialLaunch& launch, Contents contents) const {
    std::string text;
    for (std::size_t i = 0; i < description_.data.size(); ++i)
        if (!description_.data[i].is_extent)
            text += fmt::format("{} = {}, ", description_.data[i].name, launch.data[i]);
    return fmt::format("{}arrays of {}", text, name(contents));
}

Trials::Trial Trials::try_launch(const TrialLaunch& launch, Contents contents, std::size_t most_others) {
    ++turn_;
    numbers_.reset();
    memory_.fill(contents, static_cast<std::uint32_t>(turn_));
    const auto written = execute(launch, nullptr, options_.instruction_budget / 8, 0);
    if (!written || memory_.is_exhausted()) {
        trouble_ = written ? "it touches too much memory" : written.error().message;
        return Trial::useless;
    }
    const MemoryImage expected = memory_.changed();
    if (expected.empty()) trouble_ = "it changes no memory at the sizes that were tried";
    const std::uint64_t limit = least_instruction_limit + instructions_ratio * written->warp_instructions;
    for (const LaunchConfiguration& other : plan_.others(launch, most_others, turn_)) {
        if (is_spent()) break;
        const std::string found = difference(launch, other, expected, limit);
        if (found.empty()) continue;
        if (depends_on_order(launch, expected, limit)) {
            ++evidence_.assumed_races;
            break;
        }
        evidence_.outcome = Evidence::Outcome::differs;
        evidence_.text = fmt::format(
            "on the emulator, {} give{} another result than the {} as written: {} ({})", text_of(other),
            is_one(other) ? "s" : "", text_of(launch.written), found, circumstances(launch, contents));
        return Trial::refuted;
    }
    return expected.empty() ? Trial::idle : Trial::done;
}

// What the launch as written costs; nothing: it faults, or runs too long.
std::optional<std::uint64_t> Trials::cost_of(const TrialLaunch& launch) {
    const std::uint64_t before = spent_;
    memory_.fill(Contents::counting, 0);
    const auto written = execute(launch, nullptr, options_.instruction_budget / 8, 0);
    if (!written) trouble_ = written.error().message;
    return written && !memory_.is_exhausted() ? std::optional(spent_ - before) : std::nullopt;
}

// Launches with this block at small sizes, those that cost little before others.
std::vector<TrialLaunch> Trials::launches_of(const trimtab_dim3& block) {
    constexpr std::uint64_t launches = 60;  // that the budget should last for
    std::vector<TrialLaunch> cheap, dear;
    for (unsigned attempt = 0; attempt < TrialPlan::attempts; ++attempt) {
        auto launch = plan_.launch(plan_.base(block, attempt), block);
        const auto cost = launch ? cost_of(*launch) : std::nullopt;
        if (!cost) continue;
        const bool is_cheap = *cost <= options_.instruction_budget / launches;
        (is_cheap ? cheap : dear).push_back(std::move(*launch));
        if (is_cheap) break;
    }
    std::ranges::move(dear, std::back_inserter(cheap));
    return cheap;
}

Evidence Trials::run() {
    constexpr std::size_t most_blocks = 2, others_of_base = 6, others_of_edge = 3;
    const std::vector<Contents> contents = all_contents();
    struct Base {
        trimtab_dim3 block;
        std::vector<std::vector<double>> edges;
    };
    std::vector<Base> bases;
    trouble_ = "no launch at small sizes may have another block";
    for (const trimtab_dim3& block : plan_.written_blocks()) {
        for (const TrialLaunch& launch : launches_of(block)) {
            std::size_t done = 0, useless = 0;
            for (const Contents& one : contents) {
                const Trial trial = try_launch(launch, one, others_of_base);
                if (trial == Trial::refuted) return evidence_;
                done += trial == Trial::done ? 1 : 0;
                if (trial == Trial::useless && ++useless > 1) break;
            }
            if (done == 0 || useless > 1) continue;
            bases.push_back({.block = block, .edges = plan_.edges(launch.data, block)});
            break;
        }
        if (bases.size() == most_blocks || is_spent()) break;
    }
    for (std::size_t e = 0; !is_spent() && !bases.empty(); ++e) {
        const Base& base = bases[e % bases.size()];
        if (e >= base.edges.size()) break;
        const auto launch = plan_.launch(base.edges[e], base.block);
        if (launch &&
            try_launch(*launch, contents[turn_ % contents.size()], others_of_edge) == Trial::refuted)
            return evidence_;
    }
    if (evidence_.launches > 0)
        evidence_.outcome = Evidence::Outcome::agrees;
    else
        evidence_.text = trouble_;
    return evidence_;
}

}  // namespace

bool wants_evidence(const analysis::KernelDescription& description) {
    return description.verdict == analysis::Verdict::covering ||
           description.verdict == analysis::Verdict::dividing;
}

Evidence gather_evidence(const analysis::KernelDescription& description, emulator::Program& program,
                         const Profile& profile, const EvidenceOptions& options) {
    if (!wants_evidence(description)) return {.text = "the proof gave no verdict to check"};
    if (profile.backend_name == observed_backend) return {.text = "it wants a program's own data"};
    if (program.variables_end() - program.variables_first() > most_variable_bytes)
        return {.text = "its module's variables are too large"};
    return Trials(description, program, profile, options).run();
}

void refute(analysis::KernelDescription& description, const Evidence& evidence) {
    constexpr unsigned rule = 7;
    // The rest stays: it is what was claimed.
    description.verdict = analysis::Verdict::fixed;
    description.reasons = {{.rule = rule,
                            .source = description.source,
                            .text = evidence.text +
                                    "; the kernel keeps its block; this is a bug in Trimtab's proof: please "
                                    "report this line and the files that --trimtab-keep=DIR writes"}};
}

std::string evidence_key(const analysis::KernelDescription& description, const EvidenceOptions& options) {
    nlohmann::json json = analysis::to_json(description);
    // Names make no other launches.
    for (const char* member : {"name", "demangled", "source", "reasons", "data", "memo"}) json.erase(member);
    const std::string text = json.dump();
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    return fmt::format("{:016x} {}", hash, options.instruction_budget);
}

nlohmann::json to_json(const Evidence& evidence) {
    return {{"outcome", outcome_names[static_cast<std::size_t>(evidence.outcome)]},
            {"text", evidence.text},
            {"launches", evidence.launches},
            {"assumed_races", evidence.assumed_races}};
}

std::expected<Evidence, Error> evidence_from_json(const nlohmann::json& json, const std::string& origin) {
    return base::read_json(json, "evidence", origin, [](const base::JsonValue& value) {
        return Evidence{.outcome = static_cast<Evidence::Outcome>(value["outcome"].one_of(outcome_names)),
                        .text = value["text"].text(),
                        .launches = value["launches"].count(),
                        .assumed_races = value["assumed_races"].count()};
    });
}

}  // namespace trimtab::profiler
