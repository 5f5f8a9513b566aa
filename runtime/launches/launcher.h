// Every launch of a kernel that the program registered goes through here.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "choosing/choices/choice_store.h"
#include "choosing/choices/choose_body.h"
#include "choosing/crosscheck/crosscheck.h"
#include "choosing/learning/learning.h"
#include "choosing/log.h"
#include "choosing/modules/bundles.h"
#include "choosing/modules/kernel_plan.h"
#include "choosing/report.h"
#include "choosing/settings.h"
#include "choosing/totals.h"
#include "runtime/known_devices.h"
#include "runtime/launches/block_times.h"
#include "runtime/launches/cuda_events.h"
#include "runtime/launches/suggestion.h"
#include "runtime/launches/verification.h"
#include "runtime/modules/registrations.h"
#include "runtime/modules/run_time_modules.h"
#include "runtime/pending_error.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

class Launcher {
  public:
    // `modules`: of what the program loads while it runs; null: such kernels are not known.
    // `load_emulation`: for TRIMTAB_CROSSCHECK, where it is not the library.
    Launcher(const choosing::Settings& settings, const BackendCalls& calls, choosing::Bundles& bundles,
             choosing::Report& report, choosing::Log& log, RunTimeModules* modules = nullptr,
             choosing::CrossCheck::Load load_emulation = {});

    // Launches through `forward(grid, block, dynamic_shared_bytes, body)`, with another block where that is legal
    // and predicted faster; should that launch fail for its configuration, as written. `body`: the kernel whose
    // code is launched, null for the one that the program named; a `forward` without it has no other. `keep` is not null
    // where this launch must go out as written, and says why. `is_captured` is asked before anything else
    // becomes of the launch than what was written: in a capture nothing is decided. Never throws.
    template <typename Forward, typename IsCaptured = bool (*)()>
    cudaError_t launch(
        RegisteredKernel* kernel, const choosing::LaunchShape& shape, const char* keep,
        const Forward& forward, const IsCaptured& is_captured = [] { return false; }) noexcept;

    // May anything become of launches at all, but what was written?
    [[nodiscard]] bool is_active() const { return mode_ != choosing::Mode::off || tells_; }
    // May it of this kernel's, or is there something to tell of them?
    [[nodiscard]] bool may_change(RegisteredKernel& kernel) noexcept;

    // How the kernel takes its arguments; null where that is not known.
    [[nodiscard]] const analysis::KernelDescription* description_of(RegisteredKernel& kernel) noexcept;

    // A context ends, or a device is reset: what was recorded in it is gone.
    void context_ends() noexcept { learning_.forget_events(); }

    // The program's variables, for who keeps memory while launches are made again.
    void set_variables(BlockTimes::Variables variables) { block_times_.set_variables(std::move(variables)); }

    // The process is ending.
    void finish();

  private:
    template <typename Forward>
    static cudaError_t send(const Forward& forward, const trimtab_dim3& grid, const trimtab_dim3& block,
                            std::uint64_t dynamic_shared_bytes, RegisteredKernel* body = nullptr) {
        if constexpr (takes_body<Forward>)
            return forward(grid, block, dynamic_shared_bytes, body);
        else
            return forward(grid, block, dynamic_shared_bytes);
    }
    template <typename Forward>
    static constexpr bool takes_body =
        std::is_invocable_v<const Forward&, const trimtab_dim3&, const trimtab_dim3&, std::uint64_t,
                            RegisteredKernel*>;

    // One launch on its way.
    struct Pending {
        const choosing::KernelPlan* plan = nullptr;
        std::uint64_t key_hash = 0;
        std::size_t key_words = 0;
        std::array<std::uint64_t, choosing::ArgumentKey::max_words> key;  // not filled in beyond key_words
    };

    [[nodiscard]] bool recall(const choosing::KernelPlan& plan, const choosing::LaunchShape& shape,
                              Pending& pending, choosing::RememberedChoice& choice, bool full) const;
    [[nodiscard]] choosing::Decision decide(RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                                            const char* keep, Pending& pending) noexcept;
    [[nodiscard]] choosing::Decision decide_new(RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                                                Pending& pending);
    [[nodiscard]] const choosing::KernelPlan& plan_of(RegisteredKernel& kernel);
    // Its driver program is on its way: a plan is made again once it is there.
    [[nodiscard]] const choosing::KernelPlan* look_again(RegisteredKernel& kernel,
                                                         const choosing::KernelPlan* plan) noexcept;
    // The other bodies that a launch may become, as KernelPlan::bodies() has them.
    [[nodiscard]] std::vector<choosing::OtherBody> other_bodies(const choosing::KernelPlan& plan,
                                                                std::uint32_t ordinal,
                                                                const choosing::KnownDevice& device);
    [[nodiscard]] std::vector<LaunchToVerify::Relative> relatives_of(RegisteredKernel& kernel,
                                                                     std::uint32_t ordinal,
                                                                     const choosing::KnownDevice& device);
    // Has a new choice been handed to the cross-check? `owner` and `stored_key`: where it is kept, if it is.
    [[nodiscard]] bool start_check(const RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                                   const Pending& pending, const choosing::Decision& decision,
                                   const std::shared_ptr<const choosing::KnownDevice>& device,
                                   const trimtab_image& image, const choosing::ChoiceOwner& owner,
                                   const std::vector<std::uint64_t>& stored_key);
    // A launch of a choice that awaits its check.
    [[nodiscard]] choosing::Decision decide_awaiting(const Pending& pending,
                                                     const choosing::RememberedChoice& remembered);
    // Has a new choice been handed to learning? As start_check().
    [[nodiscard]] bool start_learning(const RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                                      const Pending& pending, const choosing::Decision& decision,
                                      const choosing::KnownDevice& device, const trimtab_image& image,
                                      const choosing::ChoiceOwner& owner,
                                      const std::vector<std::uint64_t>& stored_key);
    // A launch of a choice that is being learnt.
    [[nodiscard]] choosing::Decision decide_learning(const RegisteredKernel& kernel,
                                                     const choosing::LaunchShape& shape,
                                                     const Pending& pending,
                                                     const choosing::RememberedChoice& remembered);
    // The kernel's driver program is not asked again; one warning.
    void distrust(RegisteredKernel& kernel, const choosing::KernelPlan& plan, const std::string& nonsense);
    [[nodiscard]] choosing::Bundles::Found find(RegisteredKernel& kernel, bool& may_come);
    [[nodiscard]] bool is_annotated_beside(const RegisteredKernel& kernel,
                                           const choosing::Bundles::Found& found) const;
    [[nodiscard]] std::optional<cudaFuncAttributes> attributes_of(const RegisteredKernel& kernel,
                                                                  const choosing::LaunchShape& shape) const;
    [[nodiscard]] std::optional<cudaFuncAttributes> driver_attributes(
        const RegisteredKernel& kernel, const choosing::LaunchShape& shape) const;
    [[nodiscard]] trimtab_image image_of(const RegisteredKernel& kernel, const choosing::KernelPlan& plan,
                                         const choosing::LaunchShape& shape, std::uint32_t ordinal,
                                         const choosing::KnownDevice& device) const;
    // With what cudaFuncSetAttribute allows it now, where an annotation states dynamic shared memory, or one
    // that may be supposed would.
    [[nodiscard]] choosing::LaunchShape with_shared_limit(const RegisteredKernel& kernel,
                                                          const choosing::KernelPlan& plan,
                                                          choosing::LaunchShape shape,
                                                          bool may_be_supposed = false) const;
    // Is it an error that a launch's configuration can cause? Any other would meet the launch as written too.
    [[nodiscard]] static bool is_of_configuration(cudaError_t status);
    // After which every call fails with it, whatever it is asked: a kernel has failed, or the device is lost.
    [[nodiscard]] static bool is_lasting(cudaError_t status);
    // The changed launch failed with `status`: this shape goes out as written from now on.
    void give_up(const RegisteredKernel& kernel, const choosing::LaunchShape& shape, const Pending& pending,
                 cudaError_t status) noexcept;
    // The launch is made again in other shapes: checked, tried, or timed.
    [[nodiscard]] bool repeats() const {
        return verification_.is_on() || suggestion_.is_on() || block_times_.is_on();
    }
    void repeat(RegisteredKernel& kernel, const choosing::LaunchShape& shape, const char* keep,
                const Pending& pending, const choosing::Decision& decision,
                const BlockTimes::Send& send) noexcept;
    void tell(const RegisteredKernel& kernel, const choosing::LaunchShape& shape, const Pending& pending,
              const choosing::Decision& decision) noexcept;

    const choosing::Mode mode_;
    const bool may_reassociate_;
    const double least_gain_;
    choosing::ChoiceStore store_;
    choosing::CrossCheck crosscheck_;
    CudaEvents events_;
    choosing::Learning learning_;
    Verification verification_;
    Suggestion suggestion_;
    BlockTimes block_times_;
    const bool reports_blocks_;
    const bool tells_;  // a line for each launch is wanted, or each is verified
    const BackendCalls& calls_;
    choosing::Bundles& bundles_;
    RunTimeModules* const modules_;
    choosing::Report& report_;
    choosing::Log& log_;
    choosing::Totals totals_;
    KnownDevices devices_;
    std::mutex plans_mutex_;
    std::deque<choosing::KernelPlan> plans_;  // never shrinks: a launch may hold one
};

template <typename Forward, typename IsCaptured>
cudaError_t Launcher::launch(RegisteredKernel* kernel, const choosing::LaunchShape& shape, const char* keep,
                             const Forward& forward, const IsCaptured& is_captured) noexcept {
    if (kernel == nullptr || !is_active())
        return send(forward, shape.grid, shape.block, shape.dynamic_shared_bytes);
    Pending pending;
    trimtab_dim3 grid = shape.grid;
    trimtab_dim3 block = shape.block;
    std::uint64_t shared_bytes = shape.dynamic_shared_bytes;
    choosing::RememberedChoice remembered;
    RegisteredKernel* body = nullptr;
    std::optional<choosing::LearningTurn> turn;
    const choosing::KernelPlan* plan = kernel->plan.load(std::memory_order_acquire);
    if (plan != nullptr && plan->driver() == nullptr && kernel->awaits_module.load(std::memory_order_relaxed))
        plan = look_again(*kernel, plan);
    // What most launches take: nothing to tell, and the choice was made before.
    if (plan != nullptr && !tells_ && mode_ == choosing::Mode::on && keep == nullptr &&
        (plan->driver() == nullptr ||
         (recall(*plan, shape, pending, remembered, false) && !remembered.awaits_check))) {
        if (plan->driver() == nullptr) return send(forward, grid, block, shared_bytes);
        body = as_registered(plan->body(remembered.body));
        if ((body == nullptr &&
             is_written(shape, remembered.grid, remembered.block, remembered.dynamic_shared_bytes)) ||
            is_captured())
            return send(forward, grid, block, shared_bytes);
        grid = remembered.grid;
        block = remembered.block;
        shared_bytes = remembered.dynamic_shared_bytes;
        if (body == nullptr) body = as_registered(plan->stand_in());
    } else {
        if (is_captured()) return send(forward, grid, block, shared_bytes);
        choosing::Decision decision = decide(*kernel, shape, keep, pending);
        RegisteredKernel* const stand_in =
            pending.plan == nullptr ? nullptr : as_registered(pending.plan->stand_in());
        // The only body of its plan.
        if (stand_in != nullptr &&
            !is_written(shape, decision.grid, decision.block, decision.dynamic_shared_bytes))
            decision.body = 1;
        tell(*kernel, shape, pending, decision);
        if (repeats()) {
            repeat(*kernel, shape, keep, pending, decision, [&](const analysis::LaunchConfiguration& other) {
                const bool is_changed =
                    !is_written(shape, other.grid, other.block, other.dynamic_shared_bytes);
                return send(forward, other.grid, other.block, other.dynamic_shared_bytes,
                            is_changed ? stand_in : nullptr);
            });
            const cudaError_t status = send(forward, shape.grid, shape.block, shape.dynamic_shared_bytes);
            if (suggestion_.is_on()) suggestion_.finish();
            if (verification_.is_on()) verification_.finish();
            return status;
        }
        if (mode_ == choosing::Mode::on) {
            grid = decision.grid;
            block = decision.block;
            shared_bytes = decision.dynamic_shared_bytes;
            if (decision.body != 0) body = as_registered(pending.plan->body(decision.body));
            turn = std::move(decision.turn);
        }
    }
    // Is it to be timed?
    const auto go_out = [&] {
        const auto launch = [&] { return send(forward, grid, block, shared_bytes, body); };
        if (!turn || turn->timed == nullptr || !learning_.begin(*turn, *shape.stream)) return launch();
        const cudaError_t status = launch();
        learning_.end(*turn, *shape.stream, status == cudaSuccess);
        return status;
    };
    if (body == nullptr && is_written(shape, grid, block, shared_bytes)) return go_out();
    if (body != nullptr && !takes_body<Forward>)
        return send(forward, shape.grid, shape.block, shape.dynamic_shared_bytes);
    // The driver API keeps no last error.
    std::optional<PendingError> pending_error;
    if (!shape.of_driver_api) pending_error.emplace(calls_);
    // For its messages, the emulator hears of what the program wrote.
    const auto tell_emulator = [this](const trimtab_dim3* written_grid, const trimtab_dim3* written_block) {
        if (calls_.next_launch_is_written != nullptr)
            calls_.next_launch_is_written(written_grid, written_block);
    };
    tell_emulator(&shape.grid, &shape.block);
    const cudaError_t status = go_out();
    tell_emulator(nullptr, nullptr);
    if (status == cudaSuccess || is_lasting(status)) return status;
    // The program must not see an error of a launch that it did not write.
    if (pending_error) pending_error->restore();
    // Of another body's, there are more ways to fail: its code may not be there for the device.
    const bool is_for_shape = body != nullptr || is_of_configuration(status);
    if (is_for_shape) give_up(*kernel, shape, pending, status);
    const cudaError_t as_written = send(forward, shape.grid, shape.block, shape.dynamic_shared_bytes);
    if (!is_for_shape && as_written == cudaSuccess) give_up(*kernel, shape, pending, status);
    return as_written;
}

}  // namespace trimtab::runtime
