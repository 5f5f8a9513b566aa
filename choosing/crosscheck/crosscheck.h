// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_CROSSCHECK=top:K: the leaders of a new choice are emulated beside the program, and where that contradicts the
// driver program, the remembered choice changes, at a launch whose number is fixed.
//
// One background thread does the emulating, in a library of its own. Launching threads hand it questions and look at
// its answers; it says and decides nothing itself, so that a fork finds no lock of the log's or of CUDA's in its hands.
// In a child of fork there is no such thread: choices stay as they are there.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "choosing/choices/choice_store.h"
#include "choosing/crosscheck/emulated_times.h"
#include "choosing/crosscheck/verdict.h"
#include "choosing/known_device.h"
#include "choosing/log.h"
#include "choosing/settings.h"

namespace trimtab::choosing {

class KernelPlan;

// All that is known of a new choice when it is made. Nothing in it is the program's to take away.
struct CheckRequest {
    std::string kernel;                                  // the mangled name
    std::shared_ptr<const std::vector<std::byte>> code;  // a fat binary, or PTX
    std::shared_ptr<const KnownDevice> device;
    trimtab_image image{};
    std::vector<std::byte> parameters;
    std::vector<CheckedLaunch> launches;  // what was chosen first
    std::size_t written = 0;              // of launches
    double least_gain = 0;
    // Where the choice is kept, if it is.
    ChoiceOwner owner{};
    std::vector<std::uint64_t> stored_key{};  // empty: nowhere
};

class CrossCheck {
  public:
    // A choice of one kernel: its plan and key.
    using Choice = std::pair<const KernelPlan*, std::vector<std::uint64_t>>;
    // Made on the background thread when first needed; an empty function with the reason in `error`.
    using Emulate = std::function<std::int32_t(const EmulationQuestion&, char* why, std::size_t why_bytes)>;
    using Load = std::function<Emulate(std::string& error)>;

    // A process checks so many choices: what is kept of each is small, but not nothing.
    static constexpr std::size_t most_checks = 256;
    // Of the background thread, as a debugger shows it.
    static constexpr const char* thread_name = "trimtab-check";

    // `load`: empty: from libtrimtab_crosscheck.so.
    CrossCheck(const CrossCheckSettings& settings, Log& log, Load load = {});
    ~CrossCheck();
    CrossCheck(const CrossCheck&) = delete;
    CrossCheck& operator=(const CrossCheck&) = delete;

    [[nodiscard]] std::uint32_t leaders() const { return settings_.leaders; }
    // Is a new choice checked still?
    [[nodiscard]] bool wants_more();
    [[nodiscard]] bool changes_this_process() const { return settings_.launch > 0; }

    // The launch at which it is made is its first. False: it is not checked.
    [[nodiscard]] bool start(Choice choice, CheckRequest request);

    struct Settled {
        std::shared_ptr<const CheckOutcome> outcome;  // null: nothing is known of the choice
        bool is_first = false;                        // launch to be told
    };
    // A launch of it, one that awaits its check. Nothing: it goes on as it was.
    [[nodiscard]] std::optional<Settled> launched(const Choice& choice);

    // The process is ending: stops the thread, says what became of the checks, and keeps what is to be kept.
    void finish(ChoiceStore& store);

  private:
    struct Check {
        CheckRequest request;
        std::uint64_t launches = 1;
        std::shared_ptr<const CheckOutcome> outcome;  // of the emulation; null: it is under way
        std::shared_ptr<const CheckOutcome> settled;  // at the fixed launch; null: that is still to come
    };

    [[nodiscard]] bool is_parent_process() const;  // of a fork, or of none
    void work();
    void begin_work();  // with the mutex held
    void stop_work();
    [[nodiscard]] CheckOutcome answer(const CheckRequest& request);
    void say_if_missing();  // with the mutex held
    [[nodiscard]] bool is_called_off() const;

    const CrossCheckSettings settings_;
    Log& log_;
    const Load load_;
    const pid_t process_;
    std::atomic<bool> stopping_ = false;

    std::mutex mutex_;  // of what follows, but for what only the thread has
    std::map<Choice, std::unique_ptr<Check>> checks_;
    std::deque<Check*> waiting_;
    std::unique_ptr<std::thread> thread_;
    bool is_working_ = false, is_finished_ = false;
    std::string missing_;  // why the emulation cannot be loaded

    Emulate emulate_;                                 // the thread's
    std::chrono::steady_clock::time_point deadline_;  // likewise
};

}  // namespace trimtab::choosing
