// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every launch of a kernel that the program registered goes through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "choosing/engine.h"
#include "choosing/host.h"
#include "choosing/launch_shape.h"
#include "choosing/log.h"
#include "choosing/modules/bundles.h"
#include "choosing/report.h"
#include "choosing/settings.h"
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

class Launcher : choosing::Host {
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
    [[nodiscard]] bool is_active() const { return engine_.is_active(); }
    // May it of this kernel's, or is there something to tell of them?
    [[nodiscard]] bool may_change(RegisteredKernel& kernel) noexcept;

    // How the kernel takes its arguments; null where that is not known.
    [[nodiscard]] const analysis::KernelDescription* description_of(RegisteredKernel& kernel) noexcept;

    // A context ends, or a device is reset: what was recorded in it is gone.
    void context_ends() noexcept { engine_.learning().forget_events(); }

    // The program's variables, for who keeps memory while launches are made again.
    void set_variables(BlockTimes::Variables variables) { block_times_.set_variables(std::move(variables)); }

    // The process is ending.
    void finish() { engine_.finish(); }

  private:
    template <typename Forward>
    static cudaError_t send(const Forward& forward, const model::LaunchConfiguration& launch,
                            RegisteredKernel* body = nullptr) {
        if constexpr (takes_body<Forward>)
            return forward(launch.grid, launch.block, launch.dynamic_shared_bytes, body);
        else
            return forward(launch.grid, launch.block, launch.dynamic_shared_bytes);
    }
    template <typename Forward>
    static constexpr bool takes_body =
        std::is_invocable_v<const Forward&, const trimtab_dim3&, const trimtab_dim3&, std::uint64_t,
                            RegisteredKernel*>;

    using Pending = choosing::Engine::Pending;

    // What the engine asks of CUDA.
    [[nodiscard]] std::shared_ptr<const choosing::KnownDevice> device(std::uint32_t ordinal) override;
    [[nodiscard]] Own own(const choosing::Kernel& kernel) override;
    [[nodiscard]] choosing::Kernel* neighbour(choosing::Kernel& kernel, std::string_view name) override;
    void correct(trimtab_image& image, const choosing::Kernel& kernel,
                 const choosing::LaunchShape& shape) override;
    [[nodiscard]] std::uint64_t max_dynamic_shared_bytes(const choosing::Kernel& kernel,
                                                         const choosing::LaunchShape& shape) override;
    [[nodiscard]] std::shared_ptr<const std::vector<std::byte>> code(const choosing::Kernel& kernel) override;

    [[nodiscard]] std::vector<LaunchToVerify::Relative> relatives_of(RegisteredKernel& kernel,
                                                                     std::uint32_t ordinal,
                                                                     const choosing::KnownDevice& device);
    [[nodiscard]] std::optional<cudaFuncAttributes> attributes_of(const RegisteredKernel& kernel,
                                                                  const choosing::LaunchShape& shape) const;
    [[nodiscard]] std::optional<cudaFuncAttributes> driver_attributes(
        const RegisteredKernel& kernel, const choosing::LaunchShape& shape) const;
    // Is it an error that a launch's configuration can cause? Any other would meet the launch as written too.
    [[nodiscard]] static bool is_of_configuration(cudaError_t status);
    // After which every call fails with it, whatever it is asked: a kernel has failed, or the device is lost.
    [[nodiscard]] static bool is_lasting(cudaError_t status);
    // The launch is made again in other shapes: checked, tried, or timed.
    [[nodiscard]] bool repeats() const {
        return verification_.is_on() || suggestion_.is_on() || block_times_.is_on();
    }
    void repeat(RegisteredKernel& kernel, const choosing::LaunchShape& shape, const char* keep,
                const Pending& pending, const choosing::Decision& decision,
                const BlockTimes::Send& send) noexcept;

    Verification verification_;
    Suggestion suggestion_;
    BlockTimes block_times_;
    const BackendCalls& calls_;
    choosing::Bundles& bundles_;
    choosing::Log& log_;
    KnownDevices devices_;
    CudaEvents events_;
    choosing::Engine engine_;
};

template <typename Forward, typename IsCaptured>
cudaError_t Launcher::launch(RegisteredKernel* kernel, const choosing::LaunchShape& shape, const char* keep,
                             const Forward& forward, const IsCaptured& is_captured) noexcept {
    if (kernel == nullptr || !is_active()) return send(forward, shape.written);
    Pending pending;
    // Not copied where it is remembered: that would wait for the words that it was just read in.
    const model::LaunchConfiguration* launch = &shape.written;
    model::LaunchConfiguration decided;
    choosing::RememberedChoice remembered;
    bool is_changed = false;
    RegisteredKernel* body = nullptr;
    std::optional<choosing::LearningTurn> turn;
    const auto current_device = [this] { return devices_.current(); };
    // What most launches take: nothing to tell, and the choice was made before.
    if (keep == nullptr && engine_.recall(*kernel, shape, current_device, pending, remembered, is_changed)) {
        if (!is_changed || is_captured()) return send(forward, shape.written);
        launch = &remembered.launch;
        choosing::Kernel* const other = pending.plan->body(remembered.body);
        body = as_registered(other != nullptr ? other : pending.plan->stand_in());
    } else {
        if (is_captured()) return send(forward, shape.written);
        choosing::Decision decision = engine_.decide(*kernel, shape, devices_.current(), keep, pending);
        if (repeats()) {
            RegisteredKernel* const stand_in =
                pending.plan == nullptr ? nullptr : as_registered(pending.plan->stand_in());
            repeat(*kernel, shape, keep, pending, decision, [&](const model::LaunchConfiguration& other) {
                const bool is_other = !is_written(shape, other);
                return send(forward, other, is_other ? stand_in : nullptr);
            });
            const cudaError_t status = send(forward, shape.written);
            if (suggestion_.is_on()) suggestion_.finish();
            if (verification_.is_on()) verification_.finish();
            return status;
        }
        if (engine_.mode() == choosing::Mode::on) {
            decided = decision.launch;
            launch = &decided;
            if (decision.body != 0) body = as_registered(pending.plan->body(decision.body));
            turn = std::move(decision.turn);
        }
    }
    // Is it to be timed?
    const auto go_out = [&] {
        const auto launch_it = [&] { return send(forward, *launch, body); };
        if (!turn || turn->timed == nullptr || !engine_.learning().begin(*turn, *shape.stream))
            return launch_it();
        const cudaError_t status = launch_it();
        engine_.learning().end(*turn, *shape.stream, status == cudaSuccess);
        return status;
    };
    if (body == nullptr && is_written(shape, *launch)) return go_out();
    if (body != nullptr && !takes_body<Forward>) return send(forward, shape.written);
    // The driver API keeps no last error.
    std::optional<PendingError> pending_error;
    if (!shape.of_driver_api) pending_error.emplace(calls_);
    // For its messages, the emulator hears of what the program wrote.
    const auto tell_emulator = [this](const trimtab_dim3* written_grid, const trimtab_dim3* written_block) {
        if (calls_.next_launch_is_written != nullptr)
            calls_.next_launch_is_written(written_grid, written_block);
    };
    tell_emulator(&shape.written.grid, &shape.written.block);
    const cudaError_t status = go_out();
    tell_emulator(nullptr, nullptr);
    if (status == cudaSuccess || is_lasting(status)) return status;
    // The program must not see an error of a launch that it did not write.
    if (pending_error) pending_error->restore();
    // Of another body's, there are more ways to fail: its code may not be there for the device.
    const bool is_for_shape = body != nullptr || is_of_configuration(status);
    if (is_for_shape) engine_.give_up(*kernel, shape, pending, calls_.get_error_name(status));
    const cudaError_t as_written = send(forward, shape.written);
    if (!is_for_shape && as_written == cudaSuccess)
        engine_.give_up(*kernel, shape, pending, calls_.get_error_name(status));
    return as_written;
}

}  // namespace trimtab::runtime
