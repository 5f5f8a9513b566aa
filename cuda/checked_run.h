// One launch under check (launch_check.h): what memory held before and after it, and the runs held against
// that.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/launch_check.h"
#include "cuda/machine.h"
#include "cuda/memory_snapshot.h"
#include "cuda/state.h"

namespace trimtab::cuda {

// What trimtab_cudart_check_next_launch was given, once.
[[nodiscard]] std::shared_ptr<const LaunchCheck> take_next_check();

// The memory of the device's that launches may write.
[[nodiscard]] std::vector<MemoryRegion> regions_of(State& state, const Device& device);

// Words that came out otherwise when the launch as written ran in another order.
using Spread = std::map<std::uint64_t, std::uint64_t>;
// How large the numbers are that a launch writes to one allocation: the root of their mean square, of finite
// ones, read as both types.
struct WrittenScale {
    double f32 = 0, f64 = 0;
    bool may_be_f64 = true;  // else a pair of numbers of 32 bits is never taken for one of 64
};
// May the order of floating-point atomics have made it so? With a scale, that of sums which each block makes:
// what is left of two that cancel is as wrong as they were, so that an error counts against the scale too.
[[nodiscard]] bool explained_by_rounding(const MemorySnapshot::ChangedWord& word, const Spread& spread,
                                         const WrittenScale& scale = {});

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

    void note_scales();
    // launch_trial.cpp
    void try_shapes(GlobalMemory& memory, const LaunchRequest& as_written, const LaunchTime& time);

    State& state_;
    Device& device_;
    const TimedLaunch& launch_;
    const LaunchCheck& check_;
    MemorySnapshot before_;
    std::optional<MemorySnapshot> after_;
    std::uint64_t limit_ = 0;  // of warp instructions
    Spread spread_;
    std::map<std::uint64_t, WrittenScale> scales_;  // by where an allocation begins; none: of no matter
    LaunchCheckResult result_;
};

}  // namespace trimtab::cuda
