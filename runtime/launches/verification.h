// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_VERIFY, set by `trimtab verify`: on the emulator, each kind of launch is run again with the other
// blocks that it may have, in random orders, and the memory that is left is compared, byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "choosing/choices/choose.h"
#include "choosing/choices/choose_body.h"
#include "choosing/log.h"
#include "choosing/modules/bundles.h"
#include "core/analysis/launches/description.h"
#include "runtime/known_devices.h"
#include "runtime/launches/plan_share.h"
#include "runtime/stand_in/backend.h"
#include "trimtab/driver.h"

namespace trimtab::runtime {

// What is asked for: {"file": "...", "blocks": 8, "launches": 4, "seed": 1}.
struct VerificationPlan {
    std::string file;            // one JSON object a line is appended to it
    std::uint64_t blocks = 8;    // other blocks that a launch is tried with; 0: all that are legal
    std::uint64_t launches = 4;  // of equal shape and D that are checked (then the 8th, 16th ...); 0: all
    std::uint64_t seed = 1;
    PlanShare share = {};
};

// One launch, as far as the runtime knows it.
struct LaunchToVerify {
    std::string kernel, object;  // mangled; the file that holds the kernel's stub
    const analysis::KernelDescription* description = nullptr;  // null: `left_alone` says why
    std::string left_alone;  // not empty: it keeps its block whatever it is given
    std::string kept;        // not empty: this launch must go out as written, whatever is known of the kernel
    std::shared_ptr<const choosing::KnownDevice> device;
    trimtab_image image{};
    choosing::LaunchShape shape;
    model::LaunchConfiguration chosen;  // what became of it: always among those tried
    std::vector<std::uint64_t> key;
    // What the emulator knows the code by that runs with other blocks; null: the kernel's own.
    const void* code = nullptr;
    // The other bodies that the launch may become, what the emulator knows each by, and which of them is chosen (from
    // 1; 0: its own).
    std::vector<choosing::OtherBody> bodies;
    std::vector<const void*> body_functions;
    std::uint32_t chosen_body = 0;
    // For `trimtab suggest`: the kernel's other bodies, whatever is promised of them.
    struct Relative {
        std::shared_ptr<const choosing::BundledKernel> kernel;
        trimtab_image image{};
        const void* function = nullptr;
    };
    std::vector<Relative> relatives;
};

class Verification {
  public:
    // `plan` as TRIMTAB_VERIFY gives it; empty: nothing is verified.
    Verification(const std::string& plan, const BackendCalls& calls, choosing::Log& log);
    ~Verification();
    Verification(const Verification&) = delete;
    Verification& operator=(const Verification&) = delete;

    [[nodiscard]] bool is_on() const { return file_ >= 0; }
    // Before the launch goes out as written, and after.
    void prepare(const LaunchToVerify& launch);
    void finish();

  private:
    [[nodiscard]] bool is_due(const LaunchToVerify& launch);
    [[nodiscard]] std::vector<model::LaunchConfiguration> blocks_to_try(const trimtab_limits& limits,
                                                                        analysis::ArgumentBytes arguments,
                                                                        const LaunchToVerify& launch);
    void skip(const LaunchToVerify& launch, const std::string& why);
    void write_line(const std::string& line);

    VerificationPlan plan_;
    const BackendCalls& calls_;
    choosing::Log& log_;
    int file_ = -1;
    std::mutex mutex_;
    std::map<std::string, std::uint64_t> launches_;  // by kernel and key
    std::set<std::string> skipped_;
    std::uint64_t next_seed_ = 1, next_line_ = 0;
};

}  // namespace trimtab::runtime
