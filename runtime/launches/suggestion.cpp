#include "runtime/launches/suggestion.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cuda/launch_check.h"
#include "runtime/launches/argument_key.h"
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

}  // namespace

Suggestion::Suggestion(const std::string& plan, const BackendCalls& calls, Log& log)
    : calls_(calls), log_(log) {
    if (plan.empty()) return;
    const auto json = nlohmann::json::parse(plan, nullptr, false);
    if (!json.is_object() || !json.contains("file") || !json["file"].is_string()) {
        log.warn("TRIMTAB_SUGGEST is not understood: nothing is tried (it is set by trimtab suggest)");
        return;
    }
    const auto number = [&json](const char* name, std::uint64_t otherwise) {
        const auto found = json.find(name);
        return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : otherwise;
    };
    plan_ = {.file = json["file"].get<std::string>(),
             .seconds = number("seconds", plan_.seconds),
             .launches = number("launches", plan_.launches),
             .seed = number("seed", plan_.seed)};
    next_seed_ = std::max<std::uint64_t>(plan_.seed, 1);
    end_ = std::chrono::steady_clock::now() + std::chrono::seconds(plan_.seconds);
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

bool Suggestion::is_over() const {
    return plan_.seconds != 0 && std::chrono::steady_clock::now() >= end_;
}

void Suggestion::write(const SuggestedKernel& kernel) {
    auto line = kernel.to_json();
    line["process"] = getpid();
    const std::string text =
        line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        log_.warn_once(fmt::format("TRIMTAB_SUGGEST: {}: {}", plan_.file, std::strerror(errno)));
}

SuggestedKernel& Suggestion::kernel_of(const LaunchToVerify& launch) {
    auto& place = kernels_[launch.object + '\n' + launch.kernel];
    if (place == nullptr) place = std::make_shared<SuggestedKernel>(launch, plan_.launches);
    return *place;
}

void Suggestion::prepare(const LaunchToVerify& launch) {
    const std::lock_guard lock(mutex_);
    const bool is_new = !kernels_.contains(launch.object + '\n' + launch.kernel);
    SuggestedKernel& kernel = kernel_of(launch);
    if (const std::string why = kernel.why_not(launch); !why.empty()) {
        kernel.skip(why);
        if (is_new) write(kernel);
        return;
    }
    if (is_over() || !kernel.is_due(launch)) {
        if (is_new) {
            kernel.skip("the time was over before it was launched");
            write(kernel);
        }
        return;
    }
    const std::uint64_t number = kernel.begin(launch);
    if (number == 0) return write(kernel);
    auto trial = std::make_shared<LaunchTrial>();
    trial->arrays =
        arrays_of(*launch.description, argument_bytes(*launch.description, launch.shape.arguments));
    const std::shared_ptr<SuggestedKernel> shared = kernels_[launch.object + '\n' + launch.kernel];
    trial->next = [this, shared, number](const cuda::ShapeOutcome* before) {
        const std::lock_guard inner(mutex_);
        auto shape = shared->next(number, before);
        if (is_over()) shape.reset();
        return shape;
    };
    auto check = std::make_shared<LaunchCheck>();
    check->trial = std::move(trial);
    check->adds_floats = launch.description->uses_float_atomics;
    check->seed = next_seed_;
    next_seed_ += 1000;
    check->done = [this, shared, number](const LaunchCheckResult& result) {
        const std::lock_guard inner(mutex_);
        shared->finish(number, result);
        write(*shared);
    };
    calls_.check_next_launch(std::move(check));
}

void Suggestion::finish() {
    calls_.check_next_launch(nullptr);
}

}  // namespace trimtab::runtime
