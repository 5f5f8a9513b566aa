// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_SUGGEST, set by `trimtab suggest`: on the emulator, launches of kernels that keep their blocks are
// run again as hypotheses of their grids and shared memory would have them. What stands is written down.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "choosing/log.h"
#include "runtime/launches/plan_share.h"
#include "runtime/launches/time_shares.h"
#include "runtime/launches/verification.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

// What is asked for: {"file": "...", "seconds": 300, "launches": 4, "seed": 1}.
struct SuggestionPlan {
    std::string
        file;  // one JSON object a line is appended to it: a kernel, and all that is known of it by now
    std::uint64_t seconds = 300;  // then launches are no longer tried; 0: as long as it takes
    std::uint64_t launches = 4;  // of equal shape and scalars that are tried (then the 8th, 16th ...); 0: all
    std::uint64_t seed = 1;
    PlanShare share = {};  // of the kernels
};

class SuggestedKernel;  // suggested_kernel.h

class Suggestion {
  public:
    // `plan` as TRIMTAB_SUGGEST gives it; empty: nothing is tried.
    Suggestion(const std::string& plan, const BackendCalls& calls, choosing::Log& log);
    ~Suggestion();
    Suggestion(const Suggestion&) = delete;
    Suggestion& operator=(const Suggestion&) = delete;

    [[nodiscard]] bool is_on() const { return file_ >= 0; }
    // Before the launch goes out as written, and after.
    void prepare(const LaunchToVerify& launch);
    void finish();

  private:
    struct Tried;
    // With the mutex held.
    void begin(Tried& tried);
    void write(const SuggestedKernel& kernel);
    // With the mutex held.
    [[nodiscard]] SuggestedKernel& kernel_of(const std::string& key, const LaunchToVerify& launch);

    SuggestionPlan plan_;
    const BackendCalls& calls_;
    choosing::Log& log_;
    int file_ = -1;
    TimeShares shares_{std::chrono::seconds(0), {}};
    std::mutex mutex_;  // of what follows, and of the kernels
    std::map<std::string, std::shared_ptr<SuggestedKernel>> kernels_;
};

}  // namespace trimtab::runtime
