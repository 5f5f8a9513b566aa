// The modelled time of a launch, from what it did: its counters, through the performance model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/exec/launch.h"
#include "trimtab/driver.h"

namespace trimtab::emulator::cudart {

struct TimedLaunch {
    std::shared_ptr<Program> program;
    const KernelInfo* info = nullptr;
    trimtab_image image{};
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    std::vector<std::byte> parameters;

    [[nodiscard]] std::uint64_t block_count() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
};

struct LaunchTime {
    double duration_ns = 0;
    double part_of_device = 1;  // of its SMs' blocks that the grid fills, at most 1
};

// Runs of consecutive blocks, in the order in which they are to run, each counted or not. Counting costs
// time: of a large grid only evenly spread runs are counted, and stand for all.
struct Stretch {
    std::uint64_t first = 0, count = 0;
    bool counted = false;
};
[[nodiscard]] std::vector<Stretch> stretches_of(std::uint64_t blocks, std::uint64_t threads_per_block);

// What the counted stretches of one launch add up to.
class LaunchCounts {
  public:
    LaunchCounts(const trimtab_device& device, const TimedLaunch& launch);
    // How to count a stretch: footprints of the blocks on an SM and of a wave among it.
    [[nodiscard]] CountingPlan plan(const Stretch& stretch) const;
    void add(const LaunchCounters& counters);
    [[nodiscard]] LaunchTime time() const;

  private:
    const trimtab_device& device_;
    const TimedLaunch& launch_;
    std::uint64_t resident_blocks_;  // on an SM; at least 1
    LaunchCounters sum_;
    std::uint64_t stretches_ = 0;
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

}  // namespace trimtab::emulator::cudart
