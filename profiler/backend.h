// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where counters come from: the emulator, or (on a machine that has one) a GPU. A backend runs one launch and
// delivers its low-level metrics.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metrics.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::emulator {
class Program;
}

namespace trimtab::profiler {

enum class Fill : std::uint8_t { f32, f64, f16, integer };

// Where an argument buffer wants an address: of a region of its own, filled with values of one type.
struct PointerSlot {
    std::uint32_t offset = 0;  // in the buffer
    std::uint32_t region = 0;
    Fill fill = Fill::f32;
    std::uint32_t element_bytes = 4;
};

struct Arguments {
    std::vector<std::byte> bytes;  // the parameter buffer; pointer slots are for the backend to fill
    std::vector<PointerSlot> pointers;
};

// Blocks that each stand for `weight` blocks of the launch.
struct BlockClass {
    double weight = 1;
    std::vector<std::uint64_t> blocks;  // linear indices
};

// Boxes of several blocks whose footprint is wanted: its mean over the groups.
struct BoxOfBlocks {
    std::array<std::uint32_t, 3> blocks{1, 1, 1};    // by dimension
    std::vector<std::vector<std::uint64_t>> groups;  // linear indices of each group's blocks
};

struct MeasuredLaunch {
    std::string_view kernel;
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    const Arguments* arguments = nullptr;
    unsigned seed = 0;  // other contents of the arrays
    // What to run where a backend can run a part: empty, everything.
    std::vector<BlockClass> classes;
    std::uint64_t blocks = 0;  // that the classes stand for
    std::vector<BoxOfBlocks> boxes;
    std::uint64_t instruction_limit = 0;  // warp instructions; 0: none
};

struct Measurement {
    model::MetricValues values{};
    std::vector<double> box_sectors;  // alongside MeasuredLaunch::boxes
    std::uint64_t warp_instructions = 0;
};

[[nodiscard]] inline double value(const Measurement& measurement, model::Metric metric) {
    return measurement.values[static_cast<std::size_t>(metric)];
}

// Metrics that differ by less are taken as equal.
inline constexpr double same_share = 1e-6;

[[nodiscard]] inline bool differ(double a, double b, double share) {
    return std::abs(a - b) > share * std::max(std::abs(a), std::abs(b));
}

// Why a launch could not be measured.
struct MeasureError {
    bool limit = false;       // MeasuredLaunch::instruction_limit was reached
    bool misaligned = false;  // a vector at an address that is no multiple of its bytes
    bool outside = false;     // past the end of constant, shared or local memory
    std::string message;
};

class Backend {
  public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;     // "emulator"
    [[nodiscard]] virtual std::string_view version() const = 0;  // changes whenever a count may change
    [[nodiscard]] virtual std::expected<Measurement, MeasureError> measure(const MeasuredLaunch& launch) = 0;
    // What evidence is gathered from (evidence/evidence.h), where kernels are emulated; null: they are not.
    [[nodiscard]] virtual emulator::Program* program() { return nullptr; }
};

}  // namespace trimtab::profiler
