// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The profile records of the program's launches, for the file that TRIMTAB_PROFILES names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "emulation/cuda/machine.h"
#include "emulation/emulator/metrics/launch_profile.h"

namespace trimtab::cuda {

// Launches of one kernel in one shape are one record: that of the longest of them.
class LaunchProfiles {
  public:
    explicit LaunchProfiles(std::string file) : file_(std::move(file)) {}

    // Of a launch that was counted: `counts` is asked only where it is the longest so far.
    void add(std::string_view device, const TimedLaunch& launch, const LaunchTime& time,
             const LaunchCounts* counts);
    // Appends the records to the file, one JSON object a line: several processes may share it.
    void write();

  private:
    // A kernel with very many shapes leaves room for the others.
    static constexpr std::size_t most_of_kernel = 1024, most_records = 16 * most_of_kernel;
    std::mutex mutex_;
    std::string file_;
    std::map<std::string, emulator::LaunchProfile> records_;
    std::map<std::string, std::size_t> of_kernel_;
    std::size_t left_out_ = 0;
};

// Null without TRIMTAB_PROFILES. The records are written when the program ends.
[[nodiscard]] std::unique_ptr<LaunchProfiles> profiles_of_environment();

}  // namespace trimtab::cuda
