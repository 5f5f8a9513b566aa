// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The modelled time of a launch, from what it did: its counters, through the performance model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/rational_program.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/metrics/footprint_boxes.h"
#include "emulation/emulator/metrics/footprint_shape.h"
#include "emulation/emulator/metrics/launch_profile.h"
#include "trimtab/driver.h"

namespace trimtab::emulator {

struct TimedLaunch {
    std::shared_ptr<Program> program;
    const KernelInfo* info = nullptr;
    trimtab_image image{};
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    std::vector<std::byte> parameters;
    LaunchObserver* observer = nullptr;
    std::optional<WrittenShape> written;                // LaunchRequest::written
    std::function<void(std::string_view)> print{};      // LaunchRequest::print
    std::function<void(const std::string&)> outside{};  // LaunchRequest::outside

    [[nodiscard]] bool has_clusters() const { return std::uint64_t{cluster.x} * cluster.y * cluster.z > 1; }
    [[nodiscard]] std::uint64_t block_count() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
};

struct LaunchTime {
    double duration_ns = 0;
    double part_of_device = 1;  // of its SMs' blocks that the grid fills, at most 1
    double warp_instructions = 0;
};

// Runs of consecutive blocks, in the order in which they are to run, each counted or not. Counting costs
// time: of a large grid only evenly spread runs are counted, and stand for all; and `whole`, if it has
// blocks.
struct Stretch {
    std::uint64_t first = 0, count = 0;
    bool counted = false;
};
[[nodiscard]] std::vector<Stretch> stretches_of(std::uint64_t blocks, std::uint64_t threads_per_block,
                                                const Stretch& whole);

// What the counted stretches of one launch add up to.
class LaunchCounts {
  public:
    LaunchCounts(const trimtab_device& device, const TimedLaunch& launch);
    [[nodiscard]] std::vector<Stretch> stretches() const;
    // How to count a stretch: with the footprints of those boxes that the model asks for and that lie in it.
    [[nodiscard]] CountingPlan plan(const Stretch& stretch) const;
    void add(const Stretch& stretch, const LaunchCounters& counters);
    [[nodiscard]] LaunchTime time() const;
    // Of what was counted; the caller adds the device and the time.
    [[nodiscard]] LaunchProfile profile() const;

  private:
    [[nodiscard]] std::vector<const BlockBox*> boxes_in(const Stretch& stretch) const;
    [[nodiscard]] std::vector<FootprintSample> all_footprints() const;

    const trimtab_device& device_;
    const TimedLaunch& launch_;
    const model::RationalProgram* program_ = nullptr;
    std::vector<double> inputs_;     // of program_
    std::vector<BlockBox> boxes_;    // smallest first
    std::uint64_t resident_blocks_;  // on an SM; at least 1
    LaunchCounters sum_;
    std::vector<FootprintSample> footprints_;  // of boxes of several blocks
};

// The times of launches that were counted, by kernel, shape and arguments other than addresses. A launch
// that has twice come out the same is counted again only now and then; one that has not (its work depends on
// data), always.
class LaunchTimes {
  public:
    // Fills `time` and returns true where the launch need not be counted.
    [[nodiscard]] bool recall(const std::string& key, LaunchTime& time);
    void record(const std::string& key, const LaunchTime& time);

  private:
    struct Entry {
        LaunchTime time;
        std::uint64_t launches = 0, next_count = 0;
        bool steady = false;
    };
    static constexpr std::size_t max_entries = 65536;
    std::map<std::string, Entry> entries_;
};

}  // namespace trimtab::emulator
