// One launch under check (launch_check.h): what memory held before and after it, and the runs held against
// that.
#pragma once

#include <memory>
#include <optional>

#include "cuda/launch_check.h"
#include "cuda/machine.h"
#include "cuda/memory_snapshot.h"
#include "cuda/state.h"

namespace trimtab::cuda {

// What trimtab_cudart_check_next_launch was given, once.
[[nodiscard]] std::shared_ptr<const LaunchCheck> take_next_check();

class CheckedRun {
  public:
    // Before the launch: remembers what memory holds. With Device::execution, without State::mutex.
    CheckedRun(State& state, Device& device, const TimedLaunch& launch, const LaunchCheck& check);
    // After it: runs it in the other orders and shapes, and puts back what it left. Not called where it
    // faulted.
    void finish(GlobalMemory& memory, const LaunchRequest& as_written, double warp_instructions);
    // Hands the result on.
    void tell() const;

  private:
    State& state_;
    Device& device_;
    const TimedLaunch& launch_;
    const LaunchCheck& check_;
    MemorySnapshot before_;
    std::optional<MemorySnapshot> after_;
    std::uint64_t limit_ = 0;  // of warp instructions
    LaunchCheckResult result_;
};

}  // namespace trimtab::cuda
