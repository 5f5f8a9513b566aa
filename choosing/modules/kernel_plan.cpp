// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/modules/kernel_plan.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace trimtab::choosing {
namespace {

// Reasons differ little from launch to launch; beyond this many, they are summed up in one.
constexpr std::size_t max_reasons = 64;

std::string why_left_alone(const BundledKernel* kernel, std::string reason) {
    if (kernel == nullptr) return reason;
    const analysis::KernelDescription& description = kernel->description;
    if (description.verdict == analysis::Verdict::fixed) {
        return description.reasons.empty() ? "the kernel must keep its block" : description.reasons[0].text;
    }
    return kernel->driver == nullptr ? kernel->no_driver : std::string{};
}

ArgumentKey key_of(const BundledKernel* kernel,
                   const std::vector<std::shared_ptr<const BundledKernel>>& bodies) {
    if (kernel == nullptr) return {};
    std::vector<const analysis::KernelDescription*> descriptions;
    for (const auto& body : bodies) descriptions.push_back(&body->description);
    return ArgumentKey(kernel->description, descriptions);
}

}  // namespace

KernelPlan::KernelPlan(Bundles::Found found, std::vector<Kernel*> bodies)
    : kernel_(std::move(found.kernel)),
      bundle_(found.bundle),
      left_alone_(why_left_alone(kernel_.get(), std::move(found.reason))),
      bodies_(std::move(bodies)),
      key_(key_of(kernel_.get(), found.bodies)),
      memory_(key_.words()) {
    if (kernel_ != nullptr && left_alone_.empty()) driver_ = kernel_->driver;
}

KernelPlan::KernelPlan(Bundles::Found found, Kernel& stand_in)
    : KernelPlan({.kernel = std::move(found.stand_in), .bundle = found.bundle, .reason = {}}, {&stand_in}) {
    stand_in_ = &stand_in;
}

std::uint64_t KernelPlan::build_hash() const {
    std::call_once(hashed_, [this] {
        if (bundle_ != nullptr && bundle_->json != nullptr)
            build_hash_ = XXH3_64bits(bundle_->json, bundle_->json_bytes);
    });
    return build_hash_;
}

Bundles::Found KernelPlan::without_driver(std::string reason) const {
    auto kernel = std::make_shared<BundledKernel>(*kernel_);
    kernel->driver = nullptr;
    kernel->no_driver = std::move(reason);
    return {.kernel = std::move(kernel), .bundle = bundle_, .reason = {}};
}

void KernelPlan::remember(std::span<const std::uint64_t> key, std::uint64_t key_hash,
                          const Decision& decision) const {
    RememberedChoice choice{.launch = decision.launch,
                            .body = decision.body,
                            .awaits_check = decision.awaits_check,
                            .reason = 0,
                            .by = static_cast<std::uint32_t>(decision.by),
                            .written_ns = decision.written_ns,
                            .chosen_ns = decision.chosen_ns};
    {
        const std::lock_guard lock(mutex_);
        auto place = std::find(reasons_.begin(), reasons_.end(), decision.reason);
        if (place == reasons_.end()) {
            reasons_.push_back(reasons_.size() < max_reasons ? decision.reason : "one of many reasons");
            place = std::prev(reasons_.end());
            if (reasons_.size() > max_reasons + 1) {
                reasons_.pop_back();
                place = std::prev(reasons_.end());
            }
        }
        choice.reason = static_cast<std::uint32_t>(place - reasons_.begin());
    }
    memory_.remember(key, key_hash, choice);
}

Decision KernelPlan::recall(const RememberedChoice& choice) const {
    Decision decision;
    decision.launch = choice.launch;
    decision.body = choice.body;
    decision.awaits_check = choice.awaits_check;
    decision.by = static_cast<By>(choice.by);
    decision.written_ns = choice.written_ns;
    decision.chosen_ns = choice.chosen_ns;
    decision.remembered = true;
    if (is_new_choice(decision.by)) decision.by = By::remembered;
    const std::lock_guard lock(mutex_);
    if (choice.reason < reasons_.size()) decision.reason = reasons_[choice.reason];
    return decision;
}

}  // namespace trimtab::choosing
