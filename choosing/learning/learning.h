// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_LEARN=1: over the first launches of a choice the blocks that the driver program finds best are launched in turn and
// timed where they run, and the fastest is kept. Each launch is the program's own, made once.
//
// Times come from events in the launch's own stream (event_clock.h). Without an answer nothing is learnt.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "choosing/choices/choice_store.h"
#include "choosing/crosscheck/verdict.h"
#include "choosing/learning/event_clock.h"
#include "choosing/learning/turn.h"
#include "choosing/log.h"
#include "choosing/settings.h"

namespace trimtab::choosing {

class KernelPlan;

class Learning {
  public:
    // A choice of one kernel: its plan and key.
    using Choice = std::pair<const KernelPlan*, std::vector<std::uint64_t>>;

    // Launches that are tried, the one as written among them.
    static constexpr std::size_t most_leaders = 8;
    static constexpr std::size_t most_choices = 1024;

    // `clock`: null: launches cannot be timed, and nothing is learnt. Then, or while it is off, is_on() is false.
    Learning(const LearnSettings& settings, EventClock* clock, Log& log);
    ~Learning();
    Learning(const Learning&) = delete;
    Learning& operator=(const Learning&) = delete;

    [[nodiscard]] bool is_on() const { return settings_.is_on && clock_ != nullptr; }

    // A new choice. `launches`: what the driver program chose first; `written`: the place of the launch as written.
    struct Request {
        std::string kernel;  // the mangled name
        std::vector<CheckedLaunch> launches;
        std::size_t written = 0;
        double least_gain = 0;
        ChoiceOwner owner{};
        std::vector<std::uint64_t> stored_key{};  // empty: it is not kept
    };
    // False: nothing is learnt of it.
    [[nodiscard]] bool start(Choice choice, Request request);

    using Turn = LearningTurn;
    // `can_be_timed`: it is a launch in a stream. `predict`: the time of a launch with the data of this one, in ns.
    // Nothing: the choice is not known here.
    [[nodiscard]] std::optional<Turn> next(const Choice& choice, bool can_be_timed,
                                           const std::function<double(const CheckedLaunch&)>& predict,
                                           ChoiceStore& store);

    // Before and after the launch of a turn in `stream`: end() where begin() was true, and in the same thread.
    [[nodiscard]] bool begin(const Turn& turn, EventClock::Stream stream) noexcept;
    void end(const Turn& turn, EventClock::Stream stream, bool has_launched) noexcept;

    // A context ends, or a device is reset: no event is asked for any more.
    void forget_events() noexcept;
    // The process is ending: what is known is told.
    void finish(ChoiceStore& store);

  private:
    void collect(LearningTrial& trial);
    void settle(LearningTrial& trial, ChoiceStore& store);

    const LearnSettings settings_;
    EventClock* const clock_;
    Log& log_;
    const pid_t process_;

    std::mutex mutex_;
    std::map<Choice, std::shared_ptr<LearningTrial>> trials_;
};

}  // namespace trimtab::choosing
