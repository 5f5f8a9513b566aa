// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/workers/kernel_task.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/analysis/describe.h"
#include "core/base/json_value.h"
#include "driver_gen/fit_kernel.h"
#include "emulation/emulator/exec/launch.h"
#include "pipeline/workers/pool.h"
#include "profiler/emulator_backend.h"

namespace trimtab::workers {
namespace {

using base::JsonValue;
using nlohmann::json;

constexpr const char* task_name = "kernel";

profiler::ProfileOptions options_from(const JsonValue& value) {
    profiler::ProfileOptions options;
    options.plan = {.least = value["least"].count(), .most = value["most"].count()};
    options.instruction_budget = value["instruction_budget"].natural();
    return options;
}

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::unexpected<Error> other(const char* what) {
    return std::unexpected(Error{fmt::format("it is of another {}", what)});
}

}  // namespace

KernelResult profile_and_fit(const analysis::KernelDescription& description, profiler::Backend& backend,
                             const profiler::ProfileOptions& options, std::optional<profiler::Profile> known,
                             const profiler::Progress& progress) {
    const auto start = std::chrono::steady_clock::now();
    KernelResult result{.profile = std::move(known)};
    if (!result.profile) {
        auto profile = profiler::profile_kernel(description, backend, options, progress);
        if (profile)
            result.profile = std::move(*profile);
        else
            result.profile_failure = profile.error().message;
    }
    if (result.profile) {
        if (auto fits = driver_gen::fit_kernel(*result.profile, description))
            result.fits = std::move(*fits);
        else
            result.fit_failure = fits.error().text();
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

void add_evidence(KernelResult& result, const analysis::KernelDescription& description,
                  profiler::Backend& backend) {
    // All of it is this thread's; other builds on the machine do not count.
    const double start = processor_seconds();
    emulator::Program* program = backend.program();
    if (result.profile && program != nullptr)
        result.evidence = profiler::gather_evidence(description, *program, *result.profile);
    result.evidence_seconds = processor_seconds() - start;
    result.seconds += result.evidence_seconds;
}

std::shared_ptr<const Shared> shared_program(const ptx::FatBinary& binary, const std::string& origin) {
    Shared shared{.id = binary.hash, .head = {{"origin", origin}, {"texts", json::array()}}, .body = {}};
    std::string architecture;
    for (const ptx::FatBinaryImage& image : binary.images) {
        if (image.kind != ptx::FatBinaryImage::Kind::ptx) continue;
        if (architecture.empty()) architecture = image.architecture_name;
        if (image.architecture_name != architecture) continue;
        shared.head["texts"].push_back(image.bytes.size());
        shared.body.append(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
    }
    shared.head["architecture"] = architecture;
    return std::make_shared<const Shared>(std::move(shared));
}

Task kernel_task(std::shared_ptr<const Shared> program, const analysis::KernelDescription& description,
                 const profiler::ProfileOptions& options, const std::optional<profiler::Profile>& known,
                 bool wants_evidence) {
    json head = {{"do", task_name},
                 {"description", analysis::to_json(description)},
                 {"options",
                  {{"least", options.plan.least},
                   {"most", options.plan.most},
                   {"instruction_budget", options.instruction_budget}}}};
    if (known) head["profile"] = profiler::to_json(*known);
    if (wants_evidence) head["evidence"] = true;
    return {.head = std::move(head), .shared = std::move(program)};
}

std::expected<KernelResult, Error> read_kernel_result(const json& answer,
                                                      const analysis::KernelDescription& description,
                                                      const profiler::Backend& backend) {
    KernelResult result;
    const auto text = [&](const char* name) -> std::string {
        const auto member = answer.find(name);
        return member != answer.end() && member->is_string() ? member->get<std::string>() : std::string();
    };
    result.profile_failure = text("profile_failure");
    result.fit_failure = text("fit_failure");
    const auto number = [&](const char* name) {
        const auto member = answer.find(name);
        return member != answer.end() && member->is_number() ? member->get<double>() : 0.0;
    };
    result.seconds = number("seconds");
    result.evidence_seconds = number("evidence_seconds");
    if (const auto profile = answer.find("profile"); profile != answer.end()) {
        auto read = profiler::profile_from_json(*profile, "the answer");
        if (!read) return std::unexpected(read.error());
        if (read->kernel_id != description.id) return other("kernel");
        if (read->backend_name != backend.name() || read->backend_version != backend.version())
            return other("backend");
        std::vector<std::string> names;
        for (const analysis::DataParameter& data : description.data) names.push_back(data.name);
        if (read->data_names != names) return other("kernel's data");
        result.profile = std::move(*read);
    }
    if (const auto fits = answer.find("fits"); fits != answer.end()) {
        auto read = driver_gen::fits_from_json(*fits, "the answer");
        if (!read) return std::unexpected(read.error());
        if (read->data_names.size() != description.data.size()) return other("kernel's data");
        result.fits = std::move(*read);
    }
    if (const auto evidence = answer.find("evidence"); evidence != answer.end()) {
        auto read = profiler::evidence_from_json(*evidence, "the answer");
        if (!read) return std::unexpected(read.error());
        result.evidence = std::move(*read);
    }
    if ((!result.profile && result.profile_failure.empty() && !result.fits && result.fit_failure.empty()) ||
        (result.profile && !result.fits && result.fit_failure.empty()))
        return std::unexpected(Error{"it holds neither a profile nor why there is none"});
    return result;
}

void KernelHand::take(const json& head, std::string_view body) {
    backend_.reset();
    trouble_.clear();
    id_ = head.at("shared").get<std::string>();
    const std::string origin = head.at("origin").get<std::string>();
    ptx::FatBinary binary{.images = {}, .hash = id_};
    std::string_view rest = body;
    for (const json& length : head.at("texts")) {
        const std::string_view text = rest.substr(0, length.get<std::size_t>());
        rest.remove_prefix(text.size());
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        binary.images.push_back({.kind = ptx::FatBinaryImage::Kind::ptx,
                                 .architecture = 0,
                                 .architecture_name = head.at("architecture").get<std::string>(),
                                 .bytes = {bytes, bytes + text.size()},
                                 .compression = "none"});
    }
    auto modules = analysis::modules_of(binary, origin);
    if (modules && modules->empty()) modules = std::unexpected(Error{"no PTX came"});
    if (!modules) {
        trouble_ = modules.error().text();
        return;
    }
    auto program = emulator::load_program(std::move(modules->front()));
    if (!program) {
        trouble_ = program.error().text();
        return;
    }
    backend_ = profiler::make_emulator_backend(std::move(*program), threads_);
}

std::expected<json, Error> KernelHand::work(const json& head, const profiler::Progress& progress) {
    if (head.value("do", "") != task_name)
        return std::unexpected(Error{"there is no task \"" + head.value("do", "") + "\""});
    auto description = analysis::description_from_json(head.at("description"), "a task");
    if (!description) return std::unexpected(description.error());
    const auto options = base::read_json(head.at("options"), "options", "a task", options_from);
    if (!options) return std::unexpected(options.error());
    std::optional<profiler::Profile> known;
    if (const auto profile = head.find("profile"); profile != head.end()) {
        auto read = profiler::profile_from_json(*profile, "a task");
        if (!read) return std::unexpected(read.error());
        known = std::move(*read);
    }
    if (!backend_) return std::unexpected(Error{trouble_.empty() ? "there is no program" : trouble_});
    const bool was_known = known.has_value();
    KernelResult result = profile_and_fit(*description, *backend_, *options, std::move(known), progress);
    if (head.value("evidence", false)) add_evidence(result, *description, *backend_);
    json answer = {{"seconds", result.seconds}, {"evidence_seconds", result.evidence_seconds}};
    if (result.profile && !was_known) answer["profile"] = profiler::to_json(*result.profile);
    if (result.evidence) answer["evidence"] = profiler::to_json(*result.evidence);
    if (result.fits) answer["fits"] = driver_gen::to_json(*result.fits);
    if (!result.profile_failure.empty()) answer["profile_failure"] = result.profile_failure;
    if (!result.fit_failure.empty()) answer["fit_failure"] = result.fit_failure;
    return answer;
}

}  // namespace trimtab::workers
