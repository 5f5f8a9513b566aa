// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the program's run shows beside single launches, for the file that TRIMTAB_PROFILES names.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulation/cuda/machine.h"
#include "emulation/cuda/transfer.h"
#include "emulation/emulator/metrics/run_record.h"

namespace trimtab::cuda {

class RunLog {
  public:
    explicit RunLog(std::string file) : file_(std::move(file)) {}

    // Of a copy over the bus, before its bytes are moved.
    void copying(std::string_view device, const Copy& copy, double ns);
    // Of a launch that ran.
    void launched(std::string_view device, const Heap& heap, const TimedLaunch& launch, cudaStream_t stream,
                  const LaunchTime& time);
    // Other work of any stream: what is before it and what is after it stay one after the other.
    void interrupted();
    // Appends the records to the file, one JSON object a line.
    void write();

  private:
    using Range = std::pair<const std::byte*, std::size_t>;
    // Of a range of the device: its last copy from or to the host.
    struct Known {
        std::uint64_t copies = 0, launches = 0;  // launches: of the run until then
        const std::byte* host = nullptr;
        bool was_fetched = false;
    };
    // By parameter: those whose memory the kernel writes; nothing: it writes where no parameter leads.
    struct Writes {
        std::vector<bool> parameters;
        bool unknown = true;
    };
    // Launches of one stream, of which none needs another's result.
    struct Chain {
        std::vector<std::string> kernels;
        std::set<std::uint64_t> touched, written;  // allocations
        std::uint64_t launches = 0;
        double ns = 0, filled_ns = 0, longest_ns = 0;
    };
    static constexpr std::size_t most_ranges = 65536, most_serial = 64;

    const Writes& writes_of(const TimedLaunch& launch);
    void end(Chain& chain, emulator::RunRecord& record);
    emulator::RunRecord& record_of(std::string_view device);

    std::mutex mutex_;
    std::string file_;
    std::map<std::string, emulator::RunRecord, std::less<>> records_;  // by device
    std::map<Range, Known> ranges_;
    std::uint64_t launches_ = 0;
    std::map<const KernelInfo*, Writes> writes_;
    std::map<std::pair<std::string, cudaStream_t>, Chain> chains_;
};

// Null without TRIMTAB_PROFILES. The records are written when the program ends.
[[nodiscard]] RunLog* run_log_of_environment();

}  // namespace trimtab::cuda
