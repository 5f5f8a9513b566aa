// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/verification.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "choosing/choices/argument_key.h"
#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/base/json_value.h"
#include "emulation/cuda/launch_check.h"
#include "runtime/launches/launch_facts.h"
#include "runtime/launches/legal_launches.h"

namespace trimtab::runtime {
namespace {

using cuda::LaunchCheck;
using cuda::LaunchCheckResult;
using cuda::LaunchDifference;
using cuda::LaunchShapeToCheck;
using nlohmann::ordered_json;

ordered_json to_json(const LaunchDifference& difference, const char* kind) {
    ordered_json out = {{"kind", kind},
                        {"grid", to_array(difference.shape.grid)},
                        {"block", to_array(difference.shape.block)},
                        {"order_seed", difference.order_seed}};
    if (!difference.shape.name.empty()) out["body"] = difference.shape.name;
    if (!difference.fault.empty()) {
        out["fault"] = difference.fault;
        return out;
    }
    out["words"] = difference.words;
    out["address"] = fmt::format("{:#x}", difference.address);
    out["place"] = difference.place;
    out["as_written"] = fmt::format("{:#018x}", difference.written);
    out["found"] = fmt::format("{:#018x}", difference.found);
    return out;
}

// So many of them: the one that was chosen, and of both kinds alike.
std::vector<model::LaunchConfiguration> some_of(std::vector<model::LaunchConfiguration> blocks,
                                                std::vector<model::LaunchConfiguration> totals,
                                                const model::LaunchConfiguration& chosen, std::size_t wanted,
                                                std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<model::LaunchConfiguration> out;
    for (auto* launches : {&blocks, &totals}) {
        std::shuffle(launches->begin(), launches->end(), random);
        const auto place =
            std::ranges::find_if(*launches, [&](const auto& candidate) { return candidate == chosen; });
        if (place == launches->end()) continue;
        out.push_back(*place);
        launches->erase(place);
    }
    for (std::size_t i = 0; i < std::max(blocks.size(), totals.size()) && out.size() < wanted; ++i) {
        if (i < blocks.size()) out.push_back(blocks[i]);
        if (i < totals.size() && out.size() < wanted) out.push_back(totals[i]);
    }
    return out;
}

std::expected<VerificationPlan, Error> verification_plan(const std::string& text) {
    const std::string origin = "TRIMTAB_VERIFY";
    const auto json = base::parse_json(text, origin);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "plan", origin, [](const base::JsonValue& value) {
        VerificationPlan plan{.file = value["file"].text()};
        const auto read = [&value](const char* name, std::uint64_t& to) {
            if (const auto found = value.find(name)) to = found->natural();
        };
        read("blocks", plan.blocks);
        read("launches", plan.launches);
        read("seed", plan.seed);
        plan.share = share_from(value);
        return plan;
    });
}

// Of each other body a few, evenly spread, and what was chosen. A body's annotation may allow many blocks.
// Bodies that were made here, and all blocks of which are wanted: more.
std::vector<LaunchShapeToCheck> shapes_of_bodies(const LaunchToVerify& launch, bool wants_all) {
    constexpr std::size_t most_considered = 256, few = 3, many = 24;
    std::vector<LaunchShapeToCheck> shapes;
    for (std::size_t i = 0; i < launch.bodies.size(); ++i) {
        const choosing::OtherBody& body = launch.bodies[i];
        if (body.driver == nullptr) continue;
        const auto launches =
            launches_of_body(*launch.description, body, launch.device->values, launch.shape, most_considered);
        const std::size_t each = wants_all && analysis::coarsening(*body.description) ? many : few;
        const std::size_t step = (launches.size() + each - 1) / each;
        for (std::size_t k = 0; k < launches.size(); ++k) {
            const bool is_chosen =
                launch.chosen_body == i + 1 && choosing::same(launches[k].block, launch.chosen.block);
            if (k % step != 0 && !is_chosen) continue;
            shapes.push_back({.grid = launches[k].grid,
                              .block = launches[k].block,
                              .dynamic_shared_bytes = launches[k].dynamic_shared_bytes,
                              .function = launch.body_functions[i],
                              .name = body.description->demangled});
        }
    }
    return shapes;
}

}  // namespace

Verification::Verification(const std::string& plan, const BackendCalls& calls, choosing::Log& log)
    : calls_(calls), log_(log) {
    if (plan.empty()) return;
    auto read = verification_plan(plan);
    if (!read) {
        log.warn(read.error().text() + ": nothing is verified (it is set by trimtab verify)");
        return;
    }
    plan_ = std::move(*read);
    next_seed_ = std::max<std::uint64_t>(plan_.seed, 1);
    if (calls.check_next_launch == nullptr) {
        log.warn("TRIMTAB_VERIFY: only the emulator verifies launches: nothing is verified");
        return;
    }
    file_ = open(plan_.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0)
        log.warn(
            fmt::format("TRIMTAB_VERIFY: {}: {}: nothing is verified", plan_.file, std::strerror(errno)));
}

Verification::~Verification() {
    if (file_ >= 0) close(file_);
}

void Verification::write_line(const std::string& line) {
    const std::string text = line + "\n";
    if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        log_.warn_once(fmt::format("TRIMTAB_VERIFY: {}: {}", plan_.file, std::strerror(errno)));
}

void Verification::skip(const LaunchToVerify& launch, const std::string& why) {
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(mutex_);
        if (!skipped_.insert(launch.kernel + '\n' + why).second) return;
        number = next_line_++;
    }
    if (!plan_.share.is_first()) return;
    ordered_json line = facts_of(launch);
    line["number"] = number;
    line["skipped"] = why;
    write_line(to_text(line));
}

// The first launches of a kind, then ever fewer: a time loop of thousands need not take thousands of checks.
bool Verification::is_due(const LaunchToVerify& launch) {
    std::string key = launch.kernel + '\n';
    key.append(reinterpret_cast<const char*>(launch.key.data()), launch.key.size() * sizeof launch.key[0]);
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = ++launches_[key];
    return plan_.launches == 0 || number <= plan_.launches || std::has_single_bit(number);
}

std::vector<model::LaunchConfiguration> Verification::blocks_to_try(const trimtab_limits& limits,
                                                                    analysis::ArgumentBytes arguments,
                                                                    const LaunchToVerify& launch) {
    auto [blocks, totals] = legal_launches(*launch.description, arguments, limits, launch.device->values,
                                           launch.image, launch.shape);
    if (plan_.blocks == 0 || blocks.size() + totals.size() <= plan_.blocks) {
        blocks.insert(blocks.end(), totals.begin(), totals.end());
        return blocks;
    }
    std::uint64_t seed = 0;
    {
        const std::lock_guard lock(mutex_);
        seed = next_seed_++;
    }
    return some_of(std::move(blocks), std::move(totals), launch.chosen, plan_.blocks, seed);
}

void Verification::prepare(const LaunchToVerify& launch) {
    if (launch.description == nullptr || !launch.left_alone.empty() || launch.device == nullptr) {
        skip(launch, launch.left_alone.empty() ? "the device cannot be described" : launch.left_alone);
        return;
    }
    const std::vector<std::byte> arguments =
        choosing::argument_bytes(*launch.description, launch.shape.arguments);
    const auto limits =
        limits_of(*launch.description, arguments, launch.device->values, launch.image, launch.shape);
    if (!limits) {
        skip(launch, limits.error());
        return;
    }
    if (!is_due(launch)) return;
    const std::vector<model::LaunchConfiguration> blocks = blocks_to_try(*limits, arguments, launch);
    const std::vector<LaunchShapeToCheck> of_bodies = shapes_of_bodies(launch, plan_.blocks == 0);
    if (blocks.empty() && of_bodies.empty()) {
        skip(launch, "no other block is legal");
        return;
    }
    auto check = std::make_shared<LaunchCheck>();
    for (const model::LaunchConfiguration& block : blocks)
        check->shapes.push_back(
            {.grid = block.grid,
             .block = block.block,
             .dynamic_shared_bytes = block.dynamic_shared_bytes,
             .function = launch.code,
             .name = launch.code == nullptr ? std::string() : launch.description->demangled});
    // With the block as written that code must leave the same, too.
    if (launch.code != nullptr)
        check->shapes.push_back({.grid = launch.shape.written.grid,
                                 .block = launch.shape.written.block,
                                 .dynamic_shared_bytes = launch.shape.written.dynamic_shared_bytes,
                                 .function = launch.code,
                                 .name = launch.description->demangled});
    check->shapes.insert(check->shapes.end(), of_bodies.begin(), of_bodies.end());
    check->adds_floats = launch.description->uses_float_atomics || launch.description->may_reassociate;
    check->regroups_sums = launch.description->may_reassociate;
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(mutex_);
        check->seed = next_seed_;
        next_seed_ += check->shapes.size() + 2;  // whoever checks it
        number = next_line_++;
    }
    if (!plan_.share.holds(number)) return;
    check->done = [this, number, line = facts_of(launch)](const LaunchCheckResult& result) mutable {
        line["number"] = number;
        line["ran"] = result.ran;
        line["runs"] = result.runs;
        line["rounded"] = result.rounded;
        line["differences"] = ordered_json::array();
        for (const LaunchDifference& difference : result.as_written)
            line["differences"].push_back(to_json(difference, "as written"));
        for (const LaunchDifference& difference : result.reshaped)
            line["differences"].push_back(to_json(difference, "other block"));
        write_line(to_text(line));
    };
    calls_.check_next_launch(std::move(check));
}

void Verification::finish() {
    calls_.check_next_launch(nullptr);
}

}  // namespace trimtab::runtime
