// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides what becomes of each launch, for CUDA and OpenCL alike: a launch is changed only where that is legal and predicted
// faster; else it goes out as written, and log and report say why.
//
// A launch's way: recall() finds what was decided of an equal launch before. Else decide() finds the kernel's plan and chooses,
// or takes what an earlier process chose, remembers it, and tells. Should the changed launch fail, give_up() has this one go out
// as written from then on. Launching is the interface's (host.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/choice_memory.h"
#include "choosing/choices/choice_store.h"
#include "choosing/choices/choose.h"
#include "choosing/choices/choose_body.h"
#include "choosing/crosscheck/crosscheck.h"
#include "choosing/host.h"
#include "choosing/kernel.h"
#include "choosing/learning/event_clock.h"
#include "choosing/learning/learning.h"
#include "choosing/log.h"
#include "choosing/modules/bundles.h"
#include "choosing/modules/kernel_plan.h"
#include "choosing/modules/prepared_modules.h"
#include "choosing/report.h"
#include "choosing/settings.h"
#include "choosing/totals.h"

namespace trimtab::choosing {

class Engine {
  public:
    // What an engine works with. All of it outlives the engine.
    struct Parts {
        Host& host;
        Bundles& bundles;
        PreparedModules* modules = nullptr;  // null: nothing is prepared while the program runs
        Report& report;
        Log& log;
        EventClock* clock = nullptr;  // null: launches cannot be timed, and nothing is learnt
        // Launches are made again in other shapes, whatever is remembered: each is decided and told of.
        bool repeats = false;
        CrossCheck::Load load_emulation = {};  // for TRIMTAB_CROSSCHECK, where it is not the library
    };
    Engine(const Settings& settings, Parts parts);

    // One launch on its way.
    struct Pending {
        const KernelPlan* plan = nullptr;
        std::uint32_t device = 0;  // its ordinal
        std::uint64_t key_hash = 0;
        std::size_t key_words = 0;
        std::array<std::uint64_t, ArgumentKey::max_words> key;  // not filled in beyond key_words
        [[nodiscard]] std::span<const std::uint64_t> key_span() const { return {key.data(), key_words}; }
    };

    // May anything become of launches at all, or is there something to tell of them?
    [[nodiscard]] bool is_active() const { return mode_ != Mode::off || tells_; }
    // Is there something to tell of every launch?
    [[nodiscard]] bool tells() const { return tells_; }
    [[nodiscard]] Mode mode() const { return mode_; }

    // What most launches take, without a lock: false where there is something to decide or to tell. Else `is_changed` says
    // whether the launch is another than written, and `choice` which. `device` gives its ordinal, where it is asked.
    template <typename Device>
    [[nodiscard]] bool recall(Kernel& kernel, const LaunchShape& shape, const Device& device,
                              Pending& pending, RememberedChoice& choice, bool& is_changed) noexcept {
        if (tells_ || mode_ != Mode::on) return false;
        const KernelPlan* plan = kernel.plan.load(std::memory_order_acquire);
        if (plan == nullptr) return false;
        if (plan->driver() == nullptr) {
            if (kernel.awaits_module.load(std::memory_order_relaxed)) plan = look_again(kernel, plan);
            if (plan == nullptr || plan->driver() != nullptr) return false;
            is_changed = false;
            return true;
        }
        pending.device = device();
        if (!find(*plan, shape, pending, choice, false) || choice.awaits_check) return false;
        is_changed = plan->body(choice.body) != nullptr || !is_written(shape, choice.launch);
        return true;
    }

    // What recall() does not answer. Never throws; the launch as written at worst. `keep` is not null where this launch must go
    // out as written, and says why. `remark` is told before the reason. What is decided under TRIMTAB=observe is told, and not
    // to be done.
    [[nodiscard]] Decision decide(Kernel& kernel, const LaunchShape& shape, std::uint32_t device,
                                  const char* keep, Pending& pending, std::string_view remark = {}) noexcept;

    // The changed launch failed: this one goes out as written from now on.
    void give_up(const Kernel& kernel, const LaunchShape& shape, const Pending& pending,
                 std::string_view error) noexcept;

    // Of a decision with a turn: its launch is timed.
    [[nodiscard]] Learning& learning() { return learning_; }

    // What is known of a kernel; made at the first call, and again once its driver program has come.
    [[nodiscard]] const KernelPlan& plan_of(Kernel& kernel);
    // The image that runs: what the interface says of it, else what the description expects.
    [[nodiscard]] trimtab_image image_of(const Kernel& kernel, const KernelPlan& plan,
                                         const LaunchShape& shape, std::uint32_t ordinal,
                                         const KnownDevice& device);
    // With what dynamic shared memory the kernel may have now, where an annotation states any, or one that may be supposed would.
    [[nodiscard]] LaunchShape with_shared_limit(const Kernel& kernel, const KernelPlan& plan,
                                                LaunchShape shape, bool may_be_supposed = false);
    // The other bodies that a launch may become, as KernelPlan::bodies() has them.
    [[nodiscard]] std::vector<OtherBody> other_bodies(const KernelPlan& plan, std::uint32_t ordinal,
                                                      const KnownDevice& device);

    // The process is ending.
    void finish();

  private:
    [[nodiscard]] static bool find(const KernelPlan& plan, const LaunchShape& shape, Pending& pending,
                                   RememberedChoice& choice, bool full) {
        pending.plan = &plan;
        pending.key_words = plan.key().words();
        if (pending.key_words == 0 || (shape.arguments == nullptr && plan.key().reads_arguments())) {
            pending.key_words = 0;
            return false;
        }
        plan.key().write(shape, pending.device, pending.key.data());
        pending.key_hash = ChoiceMemory::hash(pending.key_span());
        return plan.memory().find(pending.key_span(), pending.key_hash, choice, full);
    }

    // A launch with all that a new choice rests on.
    struct Question {
        Kernel& kernel;
        const KernelPlan& plan;
        const Pending& pending;
        const LaunchShape& shape;
        std::shared_ptr<const KnownDevice> device;
        trimtab_image image{};
        std::vector<OtherBody> bodies;
        // Where its choice is kept across runs; an empty key: nowhere.
        ChoiceOwner owner;
        std::vector<std::uint64_t> stored_key;

        // Of a plan that has a driver program.
        [[nodiscard]] PredictedKernel predicted() const {
            return {*plan.description(), *plan.driver(), device->values, image};
        }
    };

    [[nodiscard]] Decision decide_whole(Kernel& kernel, const LaunchShape& shape, const char* keep,
                                        Pending& pending) noexcept;
    [[nodiscard]] Decision decide_new(Kernel& kernel, const LaunchShape& shape, const Pending& pending);
    [[nodiscard]] Decision choose_new(const Question& question) const;
    // What an earlier process chose, if it is legal still.
    [[nodiscard]] std::optional<Decision> kept_choice(const Question& question);
    // Has a new choice been handed to the cross-check?
    [[nodiscard]] bool start_check(const Question& question, const Decision& decision);
    // A launch of a choice that awaits its check.
    [[nodiscard]] Decision decide_awaiting(const Pending& pending, const RememberedChoice& remembered);
    // Has a new choice been handed to learning?
    [[nodiscard]] bool start_learning(const Question& question, const Decision& decision);
    // A launch of a choice that is being learnt.
    [[nodiscard]] Decision decide_learning(const Kernel& kernel, const LaunchShape& shape,
                                           const Pending& pending, const RememberedChoice& remembered);

    [[nodiscard]] Bundles::Found find_driver(Kernel& kernel, bool& may_come);
    [[nodiscard]] bool is_annotated_beside(const Kernel& kernel, const Bundles::Found& found) const;
    // Its driver program is on its way: a plan is made again once it is there.
    [[nodiscard]] const KernelPlan* look_again(Kernel& kernel, const KernelPlan* plan) noexcept;
    // The kernel's driver program is not asked again; one warning.
    void distrust(Kernel& kernel, const KernelPlan& plan, const std::string& nonsense);
    void tell(const Kernel& kernel, const LaunchShape& shape, const Pending& pending,
              const Decision& decision, std::string_view remark) noexcept;

    const Mode mode_;
    const bool may_reassociate_;
    const double least_gain_;
    const bool reports_blocks_;
    const bool repeats_;
    const bool tells_;
    Host& host_;
    PreparedModules* const modules_;
    Report& report_;
    Log& log_;
    ChoiceStore store_;
    CrossCheck crosscheck_;
    Learning learning_;
    Totals totals_;
    std::mutex plans_mutex_;
    std::deque<KernelPlan> plans_;  // never shrinks: a launch may hold one
};

}  // namespace trimtab::choosing
