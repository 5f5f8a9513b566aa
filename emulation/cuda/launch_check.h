// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch run again in other shapes and other orders: does it leave the same bytes? What `trimtab verify`
// asks of the emulator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trimtab/driver.h"

namespace trimtab::cuda {

struct LaunchShapeToCheck {
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint64_t dynamic_shared_bytes = 0;
    // Another kernel that takes the same parameters, as a launch names it (a host function); null: the launch's own.
    const void* function = nullptr;
    std::string name = {};  // of that kernel
};

// One run that did not leave what the launch as written left.
struct LaunchDifference {
    LaunchShapeToCheck shape;
    std::uint64_t order_seed = 0;          // LaunchRequest::order_seed of the run
    std::string fault;                     // not empty: it faulted, and the launch as written does not
    std::uint64_t words = 0;               // of 8 bytes, that differ
    std::uint64_t address = 0;             // of the first of them
    std::string place;                     // "byte 16 of an allocation of 400 bytes"
    std::uint64_t written = 0, found = 0;  // what is there: as written, and after the run
};

struct LaunchCheckResult {
    bool ran = false;  // false: the launch as written faulted, and there is nothing to hold runs against
    std::uint64_t runs = 0;     // beside the launch as written
    std::uint64_t rounded = 0;  // words that differ by no more than rounding explains (rounding.h)
    std::vector<LaunchDifference> as_written;  // the launch as written, in another order: a race of its own
    std::vector<LaunchDifference> reshaped;
    // Of a trial: not empty, no shape could be tried, and why; what the launch as written takes, and how many
    // bytes it changes.
    std::string not_tried;
    double written_ns = 0;
    std::uint64_t changed_bytes = 0;
};

// What became of one shape that was tried (LaunchTrial).
struct ShapeOutcome {
    enum class Kind : std::uint8_t {
        same,
        rounded,  // but for differences that the rounding of floating-point sums explains
        wrong     // `why` says what: other bytes, a fault, or what the checks found
    };
    LaunchShapeToCheck shape;
    Kind kind = Kind::same;
    std::string why;
    std::uint64_t runs = 0;
    bool is_watched = false;  // one of them under the checks of memory, races and barriers
    double duration_ns = 0;   // modelled; 0: not timed
};

// What `trimtab suggest` asks for: shapes are named one by one, as what was found tells, and each is run from
// the memory as it was and from other contents, in other orders, and under the emulator's checks.
struct LaunchTrial {
    // The next shape, for what became of the one before (null: the first is asked for). Nothing: enough.
    std::function<std::optional<LaunchShapeToCheck>(const ShapeOutcome* before)> next;
    // Where the kernel's pointers point, and what they point at: bytes of a floating-point number, or 0.
    struct Array {
        std::uint64_t address = 0;
        unsigned real_bytes = 0;
    };
    std::vector<Array> arrays;
};

struct LaunchCheck {
    std::vector<LaunchShapeToCheck> shapes;
    std::shared_ptr<const LaunchTrial> trial;  // beside them; null: none
    std::uint64_t seed = 1;
    bool adds_floats = false;    // by atomics, or in sums that its blocks make: they may round differently
    bool regroups_sums = false;  // the latter
    std::function<void(const LaunchCheckResult&)> done;
};

}  // namespace trimtab::cuda

// The next launch of this thread is checked whenever it runs (at once, or at each launch of the graph that is
// being captured); null: no longer. Memory is left as the launch as written leaves it.
extern "C" void trimtab_cudart_check_next_launch(std::shared_ptr<const trimtab::cuda::LaunchCheck> check);
