// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_BENCH, set by `trimtab bench`: the first launch of each kind is made again with every block that it may have,
// each timed with events, and the times are written down as they come (docs/bench.md). `trimtab profile` has counters read
// in the place of times (docs/profile.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "choosing/log.h"
#include "runtime/counters/gpu_counters.h"
#include "runtime/launches/clock_watch.h"
#include "runtime/launches/plan_share.h"
#include "runtime/launches/saved_memory.h"
#include "runtime/launches/verification.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

// What is asked for: {"file": "...", "blocks": 0, "repetitions": 0, "seed": 1, "seconds": 0, "counters": false}.
struct BlockTimesPlan {
    std::string file;          // lines are appended to it; what it holds is not measured again
    std::uint64_t blocks = 0;  // launches to time beside the one as written, at most; 0: all that are legal
    std::uint64_t repetitions = 0;  // of each; 0: one on the emulator, whose times do not vary, else nine
    std::uint64_t seed = 1;
    bool counts = false;  // a GPU's counters are read in the place of times: trimtab profile
    double seconds = 0;   // for all launches that are timed, from the first on; 0: as long as it takes
    PlanShare share = {};
};

class BlockTimes {
  public:
    // Makes the launch in another shape, on the program's own stream.
    using Send = std::function<cudaError_t(const model::LaunchConfiguration&)>;
    using Variables = std::function<std::vector<ProgramVariable>()>;

    // `plan` as TRIMTAB_BENCH gives it; empty: nothing is timed.
    BlockTimes(const std::string& plan, const BackendCalls& calls, choosing::Log& log);
    ~BlockTimes();
    BlockTimes(const BlockTimes&) = delete;
    BlockTimes& operator=(const BlockTimes&) = delete;

    [[nodiscard]] bool is_on() const { return file_ >= 0; }
    // Whose contents a launch may change; asked at each launch that is timed.
    void set_variables(Variables variables) { variables_ = std::move(variables); }
    // Before the launch goes out as written. Memory is then as it was.
    void measure(const LaunchToVerify& launch, const Send& send);

  private:
    struct Timed {
        model::LaunchConfiguration launch;
        std::string key;  // "32,8,1"; with the grid where that is not what covers
    };
    using Done = std::map<std::string, std::uint64_t>;  // by Timed::key: samples; or failed
    static constexpr std::uint64_t failed = ~std::uint64_t{0};

    [[nodiscard]] std::string read_earlier();
    void skip(const LaunchToVerify& launch, const std::string& why);
    void write_line(nlohmann::ordered_json line, std::uint64_t number);
    [[nodiscard]] std::vector<Timed> launches_of(const LaunchToVerify& launch,
                                                 const std::vector<std::byte>& arguments,
                                                 const trimtab_limits& limits,
                                                 const model::LaunchConfiguration& potential);
    // Why it ended before its time; empty: all are timed, or counted where there are counters.
    [[nodiscard]] std::string time_all(const std::string& id, std::uint64_t number,
                                       const std::vector<Timed>& launches,
                                       const std::vector<std::byte>& arguments, const Send& send,
                                       cudaStream_t stream, const GpuCounters* counters);
    // Into `line`; why not, where that ends it all.
    [[nodiscard]] std::string count_once(const GpuCounters& counters, const Send& send, const Timed& timed,
                                         const SavedMemory& saved, nlohmann::ordered_json& line);
    [[nodiscard]] std::expected<double, cudaError_t> time_once(const Send& send,
                                                               const model::LaunchConfiguration& launch,
                                                               cudaStream_t stream);
    [[nodiscard]] bool is_emulated() const { return calls_.emulated_device != nullptr; }
    void watch_clocks();
    [[nodiscard]] std::uint64_t repetitions() const;
    // Since the first launch was timed.
    [[nodiscard]] double elapsed_s() const;

    BlockTimesPlan plan_;
    const BackendCalls& calls_;
    choosing::Log& log_;
    int file_ = -1;
    Variables variables_;
    std::mutex mutex_;  // of what follows; held while a launch is timed
    std::optional<std::chrono::steady_clock::time_point> began_;
    std::map<std::string, Done> done_;  // by launch
    std::set<std::string> begun_, skipped_;
    std::uint64_t next_number_ = 0;  // of a launch, or of a kernel that is skipped
    std::unique_ptr<ClockWatch> clocks_;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace trimtab::runtime
