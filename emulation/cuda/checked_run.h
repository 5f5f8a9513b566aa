// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch under check (launch_check.h): what memory held before and after it, and the runs held against
// that.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <vector>

#include "emulation/cuda/launch_check.h"
#include "emulation/cuda/machine.h"
#include "emulation/cuda/memory_snapshot.h"
#include "emulation/cuda/rounding.h"
#include "emulation/cuda/state.h"

namespace trimtab::cuda {

// What trimtab_cudart_check_next_launch was given, once.
[[nodiscard]] std::shared_ptr<const LaunchCheck> take_next_check();

// The memory of the device's that launches may write.
[[nodiscard]] std::vector<MemoryRegion> regions_of(State& state, const Device& device);

class CheckedRun {
  public:
    // Before the launch: remembers what memory holds. With Device::execution, without State::mutex.
    CheckedRun(State& state, Device& device, const TimedLaunch& launch, const LaunchCheck& check);
    // After it: runs it in the other orders and shapes, and puts back what it left. Not called where it
    // faulted.
    void finish(GlobalMemory& memory, const LaunchRequest& as_written, const LaunchTime& time);
    // Hands the result on.
    void tell() const;

  private:
    // What a shape runs.
    struct Body {
        std::shared_ptr<Program> program;
        const KernelInfo* info = nullptr;
        trimtab_image image{};
    };
    [[nodiscard]] std::expected<Body, Fault> body_of(const LaunchShapeToCheck& shape);

    // launch_trial.cpp
    void try_shapes(GlobalMemory& memory, const LaunchRequest& as_written, const LaunchTime& time);

    State& state_;
    Device& device_;
    const TimedLaunch& launch_;
    const LaunchCheck& check_;
    MemorySnapshot before_;
    std::optional<MemorySnapshot> after_;
    std::uint64_t limit_ = 0;             // of warp instructions
    std::shared_ptr<Rounding> rounding_;  // null: no floating-point number may differ
    LaunchCheckResult result_;
};

}  // namespace trimtab::cuda
