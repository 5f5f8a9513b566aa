// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/profile_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/json_value.h"
#include "pipeline/workers/pool.h"

namespace trimtab::pipeline {
namespace {

using profiler::Evidence;
using workers::KernelResult;

constexpr std::string_view evidence_kind = "evidence";

// Kernels of one key have one profile, and those of one verdict the same evidence.
struct Kind {
    const analysis::KernelDescription* description = nullptr;
    std::string key;
    std::string evidence_key;  // empty: none is wanted
    bool is_recalled = false, is_remembered = false;
    std::optional<profiler::Profile> known = {};
    std::optional<Evidence> evidence = {};
    std::optional<KernelResult> result = {};
    std::string lost = {};  // why there is none
};

// "kernel k is not profiled: why": the name is told beside it.
std::string without_name(const std::string& failure) {
    constexpr std::string_view said = " is not profiled: ";
    const std::size_t at = failure.find(said);
    return at == std::string::npos ? failure : failure.substr(at + said.size());
}

class KindsOfKernels {
  public:
    KindsOfKernels(std::span<driver_gen::BundleKernel* const> kernels, const KernelWork& work) : work_(work) {
        std::map<std::pair<std::string, std::string>, std::size_t> by_key;
        for (const driver_gen::BundleKernel* kernel : kernels) {
            const analysis::KernelDescription& description = *kernel->description;
            std::string key = profiler::profile_key(description, work.backend, work.options);
            std::string evidence_key;
            if (work.wants_evidence && profiler::wants_evidence(description))
                evidence_key = key + " " + profiler::evidence_key(description);
            const auto [at, is_new] = by_key.try_emplace({key, evidence_key}, kinds_.size());
            kind_of_.push_back(at->second);
            if (is_new)
                kinds_.push_back({.description = &description,
                                  .key = std::move(key),
                                  .evidence_key = std::move(evidence_key)});
        }
        for (Kind& kind : kinds_) recall(kind);
    }

    // What other builds are at is waited for, as long as there is something else to do, and then some time more.
    void work_all() {
        constexpr auto between_looks = std::chrono::milliseconds(100);
        const bool shares = work_.store.remote() != nullptr;
        std::chrono::duration<double> waited(0);
        for (;;) {
            std::vector<Kind*> mine, others;
            for (Kind& kind : kinds_) {
                if (!is_wanted(kind)) continue;
                if (!shares || kind.known || may_claim(kind)) {
                    // One at a time, where they are done one at a time: others may do those in between.
                    mine.push_back(&kind);
                    if (shares && work_.workers == nullptr) break;
                } else if (is_wanted(kind)) {
                    others.push_back(&kind);
                }
            }
            if (mine.empty() && others.empty()) return;
            if (mine.empty()) {
                if (waited.count() < work_.store.remote()->patience_s()) {
                    std::this_thread::sleep_for(between_looks);
                    waited += between_looks;
                    continue;
                }
                mine = std::move(others);
            }
            if (work_.workers != nullptr) work_by_workers(mine);
            work_here(mine);
            for (const Kind* kind : mine) profiler::give_up_claim(work_.store, kind->key);
        }
    }

    [[nodiscard]] ProfiledKernels put_into(std::span<driver_gen::BundleKernel* const> kernels) {
        remember_in_order(/*all=*/true);
        ProfiledKernels out{.has_lost = any_is_lost(), .refuted = {}};
        std::vector<std::size_t> uses(kinds_.size(), 0);
        for (const std::size_t kind : kind_of_) ++uses[kind];
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            Kind& kind = kinds_[kind_of_[i]];
            const std::string* why = &kind.lost;
            if (kind.result && !kind.result->fits)
                why = kind.result->profile ? &kind.result->fit_failure : &kind.result->profile_failure;
            if (!kind.result || !kind.result->fits) {
                work_.warn(fmt::format("{} keeps its block: {}", kernels[i]->description->demangled, *why));
                kernels[i]->no_driver = without_name(*why);
                continue;
            }
            tell(*kernels[i]->description, kind);
            if (kind.evidence && kind.evidence->outcome == Evidence::Outcome::differs) {
                out.refuted.push_back({.kernel = i, .evidence = *kind.evidence});
                --uses[kind_of_[i]];
                continue;
            }
            const bool is_last = --uses[kind_of_[i]] == 0;
            kernels[i]->profile = is_last ? std::move(kind.result->profile) : kind.result->profile;
            kernels[i]->fits = is_last ? std::move(kind.result->fits) : kind.result->fits;
        }
        return out;
    }

  private:
    [[nodiscard]] bool any_is_lost() const {
        return std::ranges::any_of(kinds_, [](const Kind& kind) { return !kind.lost.empty(); });
    }
    [[nodiscard]] static bool lacks_evidence(const Kind& kind) {
        return !kind.evidence_key.empty() && !kind.evidence;
    }

    void tell(const analysis::KernelDescription& description, const Kind& kind) const {
        if (!work_.note || !kind.evidence) return;
        const Evidence& evidence = *kind.evidence;
        std::string text = fmt::format("evidence for {}: ", description.demangled);
        if (evidence.outcome == Evidence::Outcome::none)
            text += "none, for " + evidence.text;
        else
            text += fmt::format("{} launches with other blocks give {}", evidence.launches,
                                evidence.outcome == Evidence::Outcome::agrees
                                    ? "the same results as those as written"
                                    : "other results than those as written");
        if (evidence.assumed_races > 0)
            text += fmt::format(
                "; the result of {} launches as written depends on the order of threads (probably a race)",
                evidence.assumed_races);
        if (kind.result && kind.result->evidence)
            text +=
                fmt::format("; gathered in {:.1f} ms of processor time", 1e3 * kind.result->evidence_seconds);
        work_.note(text);
    }

    [[nodiscard]] static bool is_wanted(const Kind& kind) { return !kind.result && kind.lost.empty(); }

    void recall(Kind& kind) {
        if (lacks_evidence(kind))
            if (const auto text = work_.store.blob(evidence_kind, kind.evidence_key))
                if (const auto json = base::parse_json(*text, "the profile store"))
                    if (auto evidence = profiler::evidence_from_json(*json, "the profile store"))
                        kind.evidence = std::move(*evidence);
        auto known = profiler::recall(work_.store, kind.key);
        if (!known) return;
        kind.is_recalled = true;
        if (*known)
            kind.known = std::move(**known);
        else
            kind.result = KernelResult{.profile_failure = known->error().message};
    }

    // Whoever had it may have finished it meanwhile: it is then known.
    bool may_claim(Kind& kind) {
        using Claim = profiler::RemoteStore::Claim;
        const Claim claim = profiler::claim(work_.store, kind.key);
        if (claim == Claim::unknown) return true;
        recall(kind);
        if (claim == Claim::others) return kind.known.has_value();
        if (kind.result) profiler::give_up_claim(work_.store, kind.key);
        return !kind.result;
    }

    void work_by_workers(const std::vector<Kind*>& wanted) {
        const auto left = work_.workers->run(
            wanted.size(),
            [&](std::size_t i) {
                const Kind& kind = *wanted[i];
                return workers::kernel_task(work_.program, *kind.description, work_.options, kind.known,
                                            lacks_evidence(kind));
            },
            [&](std::size_t i, const nlohmann::json& answer) -> std::expected<void, Error> {
                Kind& kind = *wanted[i];
                auto result = workers::read_kernel_result(answer, *kind.description, work_.backend);
                if (!result) return std::unexpected(result.error());
                if (kind.known) result->profile = std::move(kind.known);
                take(kind, std::move(*result));
                return {};
            },
            [&](const workers::PoolProgress& progress) {
                work_.progress.tasks(progress.done, progress.total, progress.workers, progress.part);
            });
        std::size_t here = 0;
        for (const workers::WorkerPool::Left& one : left) {
            if (one.was_tried)
                wanted[one.task]->lost = one.why;
            else
                ++here;
        }
        if (here > 0)
            work_.warn(fmt::format("no worker is left: {} kernels are profiled on this machine", here));
    }

    void work_here(const std::vector<Kind*>& wanted) {
        for (Kind* kind : wanted) {
            if (!is_wanted(*kind)) continue;
            const std::string& name = kind->description->demangled;
            KernelResult result = workers::profile_and_fit(
                *kind->description, work_.backend, work_.options, std::move(kind->known),
                [&](std::size_t done, std::size_t total) { work_.progress.point(name, done, total); });
            if (lacks_evidence(*kind)) workers::add_evidence(result, *kind->description, work_.backend);
            take(*kind, std::move(result));
        }
    }

    void take(Kind& kind, KernelResult result) {
        if (!kind.is_recalled && result.profile)
            work_.progress.finished(kind.description->demangled, result.profile->points.size(),
                                    result.profile->left_out, result.seconds);
        if (lacks_evidence(kind) && result.evidence) {
            kind.evidence = result.evidence;
            work_.store.put_blob(evidence_kind, kind.evidence_key, profiler::to_json(*kind.evidence).dump());
        }
        kind.result = std::move(result);
        remember_in_order(/*all=*/false);
    }

    // As soon as those before it are: a build that is cut off has done something, and the store is the same
    // whoever was first. Where others wait for it, at once.
    void remember_in_order(bool all) {
        const bool at_once = work_.store.remote() != nullptr;
        for (std::size_t i = remembered_; i < kinds_.size(); ++i) {
            Kind& kind = kinds_[i];
            const bool is_settled = kind.result || !kind.lost.empty();
            if (!is_settled && !all && !at_once) return;
            if (is_settled && i == remembered_) ++remembered_;
            if (!kind.result || kind.is_recalled || std::exchange(kind.is_remembered, true)) continue;
            if (kind.result->profile)
                work_.store.put_profile(kind.key, *kind.result->profile);
            else
                profiler::remember(work_.store, kind.key,
                                   std::unexpected(Error{.message = kind.result->profile_failure}));
        }
    }

    const KernelWork& work_;
    std::vector<Kind> kinds_;
    std::vector<std::size_t> kind_of_;  // alongside the kernels
    std::size_t remembered_ = 0;        // that many from the first on
};

}  // namespace

ProfiledKernels profile_kernels(std::span<driver_gen::BundleKernel* const> kernels, const KernelWork& work) {
    KindsOfKernels kinds(kernels, work);
    kinds.work_all();
    return kinds.put_into(kernels);
}

}  // namespace trimtab::pipeline
