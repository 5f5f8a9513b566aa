// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/suggestion.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "choosing/choices/argument_key.h"
#include "core/base/json_value.h"
#include "emulation/cuda/launch_check.h"
#include "runtime/launches/suggested_kernel.h"

namespace trimtab::runtime {
namespace {

using cuda::LaunchCheck;
using cuda::LaunchCheckResult;
using cuda::LaunchTrial;

// Where the kernel's pointers point. Numbers that vectors hold are told apart by how wide they are.
std::vector<LaunchTrial::Array> arrays_of(const analysis::KernelDescription& description,
                                          analysis::ArgumentBytes arguments) {
    std::vector<LaunchTrial::Array> arrays;
    for (const analysis::KernelParameter& parameter : description.parameters) {
        if (!parameter.is_pointer || parameter.offset + sizeof(std::uint64_t) > arguments.size()) continue;
        LaunchTrial::Array array;
        std::memcpy(&array.address, arguments.data() + parameter.offset, sizeof array.address);
        const std::string& of = parameter.pointee;
        if (of == "float" || of == "float2" || of == "float4") array.real_bytes = sizeof(float);
        if (of == "double" || of == "double2") array.real_bytes = sizeof(double);
        arrays.push_back(array);
    }
    return arrays;
}

std::expected<SuggestionPlan, Error> suggestion_plan(const std::string& text) {
    const std::string origin = "TRIMTAB_SUGGEST";
    const auto json = base::parse_json(text, origin);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "plan", origin, [](const base::JsonValue& value) {
        SuggestionPlan plan{.file = value["file"].text()};
        const auto read = [&value](const char* name, std::uint64_t& to) {
            if (const auto found = value.find(name)) to = found->natural();
        };
        read("seconds", plan.seconds);
        read("launches", plan.launches);
        read("seed", plan.seed);
        plan.share = share_from(value);
        return plan;
    });
}

}  // namespace

Suggestion::Suggestion(const std::string& plan, const BackendCalls& calls, choosing::Log& log)
    : calls_(calls), log_(log) {
    if (plan.empty()) return;
    auto read = suggestion_plan(plan);
    if (!read) {
        log.warn(read.error().text() + ": nothing is tried (it is set by trimtab suggest)");
        return;
    }
    plan_ = std::move(*read);
    shares_ = TimeShares(std::chrono::seconds(plan_.seconds), TimeShares::Clock::now());
    if (calls.check_next_launch == nullptr) {
        log.warn("TRIMTAB_SUGGEST: only the emulator tries launches: nothing is tried");
        return;
    }
    file_ = open(plan_.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0)
        log.warn(fmt::format("TRIMTAB_SUGGEST: {}: {}: nothing is tried", plan_.file, std::strerror(errno)));
}

Suggestion::~Suggestion() {
    if (file_ >= 0) close(file_);
}

void Suggestion::write(const SuggestedKernel& kernel) {
    auto line = kernel.to_json();
    line["process"] = getpid();
    line["number"] = kernel.number();
    const std::string text =
        line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        log_.warn_once(fmt::format("TRIMTAB_SUGGEST: {}: {}", plan_.file, std::strerror(errno)));
}

SuggestedKernel& Suggestion::kernel_of(const std::string& key, const LaunchToVerify& launch) {
    auto& place = kernels_[key];
    if (place == nullptr)
        place = std::make_shared<SuggestedKernel>(launch, plan_.launches, kernels_.size() - 1);
    return *place;
}

// A launch that the emulator is to try: whenever it runs, which a graph may do many times.
struct Suggestion::Tried {
    std::string key;
    std::shared_ptr<SuggestedKernel> kernel;
    LaunchToVerify launch;
    std::vector<std::byte> arguments;
    std::uint64_t runs = 0;
    std::uint64_t number = 0;  // of the run under way; 0: none is, or it is not tried
    TimeShares::Clock::time_point began{}, end{};
};

// Of the runs of a graph, those that would be tried of launches.
void Suggestion::begin(Tried& tried) {
    const auto now = TimeShares::Clock::now();
    ++tried.runs;
    const bool is_due =
        plan_.launches == 0 || tried.runs <= plan_.launches || std::has_single_bit(tried.runs);
    if (!is_due || (tried.runs > 1 && !shares_.may_begin(tried.key, now))) return;
    tried.began = now;
    tried.end = shares_.end_of_launch(now);
    tried.number = tried.kernel->begin(tried.launch, tried.arguments);
}

void Suggestion::prepare(const LaunchToVerify& launch) {
    const std::lock_guard lock(mutex_);
    const std::string key = launch.object + '\n' + launch.kernel;
    const bool is_new = !kernels_.contains(key);
    SuggestedKernel& kernel = kernel_of(key, launch);
    if (!plan_.share.holds(kernel.number())) return;
    if (const std::string why = kernel.why_not(launch); !why.empty()) {
        kernel.skip(why);
        if (is_new) write(kernel);
        return;
    }
    const bool is_due = kernel.is_due(launch);
    if (!shares_.may_begin(key, TimeShares::Clock::now()) || !is_due || kernel.is_hopeless()) {
        if (is_new) {
            kernel.skip("the time limit ended before it was launched");
            write(kernel);
        }
        return;
    }
    auto tried = std::make_shared<Tried>();
    tried->key = key;
    tried->kernel = kernels_[key];
    tried->launch = launch;
    tried->arguments = choosing::argument_bytes(*launch.description, launch.shape.arguments);
    tried->launch.shape.arguments = nullptr;  // the program's, and gone when a graph runs
    auto trial = std::make_shared<LaunchTrial>();
    trial->arrays = arrays_of(*launch.description, tried->arguments);
    trial->next = [this, tried](const cuda::ShapeOutcome* before) {
        const std::lock_guard inner(mutex_);
        if (before == nullptr) begin(*tried);
        std::optional<cuda::LaunchShapeToCheck> shape;
        if (tried->number != 0) shape = tried->kernel->next(tried->number, before);
        const auto now = TimeShares::Clock::now();
        if (now >= tried->end || shares_.is_over(now)) shape.reset();
        return shape;
    };
    auto check = std::make_shared<LaunchCheck>();
    check->trial = std::move(trial);
    check->adds_floats = launch.description->uses_float_atomics;
    check->seed = std::max<std::uint64_t>(plan_.seed, 1) + kernel.next_orders();
    check->done = [this, tried](const LaunchCheckResult& result) {
        const std::lock_guard inner(mutex_);
        const bool was_asked = result.ran && result.not_tried.empty();
        if (!was_asked) begin(*tried);
        if (tried->number != 0) {
            shares_.spent(tried->key, TimeShares::Clock::now() - tried->began);
            tried->kernel->finish(tried->number, result);
        }
        tried->number = 0;
        write(*tried->kernel);
    };
    calls_.check_next_launch(std::move(check));
}

void Suggestion::finish() {
    calls_.check_next_launch(nullptr);
}

}  // namespace trimtab::runtime
