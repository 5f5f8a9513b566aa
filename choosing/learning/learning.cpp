// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/learning/learning.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>

#include "choosing/learning/halving.h"

namespace trimtab::choosing {
namespace {

// Calls of events that fail, of one choice, until nothing more is learnt of it.
constexpr int most_faults = 3;

}  // namespace

// A choice that is being learnt. The mutex of Learning is held for all of it.
class LearningTrial {
  public:
    struct Timing {
        EventClock::Event begin = nullptr, end = nullptr;
        std::size_t place = 0;
        double correction = 1;  // the launch's own predicted time over that of the choice
    };

    LearningTrial(Learning::Request asked, const LearnSettings& settings)
        : request(std::move(asked)),
          halving(predicted(request.launches), settings.share, request.least_gain) {}

    Learning::Request request;
    Halving halving;
    std::vector<Timing> under_way;
    std::vector<Timing> free;  // events that may be recorded again
    // Between begin() and end(), by thread: at most one each.
    std::map<pid_t, Timing> open;
    int faults = 0;
    std::size_t rounds_seen = 0;
    std::shared_ptr<const LearnOutcome> outcome;

  private:
    static std::vector<double> predicted(const std::vector<CheckedLaunch>& launches) {
        std::vector<double> times_ns;
        for (const CheckedLaunch& launch : launches) times_ns.push_back(launch.predicted_ns);
        return times_ns;
    }
};

Learning::Learning(const LearnSettings& settings, EventClock* clock, Log& log)
    : settings_(settings), clock_(clock), log_(log), process_(getpid()) {
    if (settings.is_on && clock == nullptr)
        log.warn("TRIMTAB_LEARN: launches cannot be timed here: choices are not learnt");
}

Learning::~Learning() = default;

bool Learning::start(Choice choice, Request request) {
    if (!is_on() || process_ != getpid() || request.launches.size() < 2) return false;
    // The best, and the launch as written, wherever that stands.
    if (request.launches.size() > most_leaders) {
        const CheckedLaunch written = request.launches[request.written];
        request.launches.resize(most_leaders);
        if (request.written >= most_leaders) {
            request.launches.back() = written;
            request.written = most_leaders - 1;
        }
    }
    const std::lock_guard lock(mutex_);
    if (trials_.size() >= most_choices) return false;
    const auto [place, is_new] = trials_.try_emplace(std::move(choice));
    // Another thread has made the same choice, or it had been forgotten: its times count on.
    if (is_new) place->second = std::make_shared<LearningTrial>(std::move(request), settings_);
    return true;
}

std::optional<Learning::Turn> Learning::next(const Choice& choice, bool can_be_timed,
                                             const std::function<double(const CheckedLaunch&)>& predict,
                                             ChoiceStore& store) {
    if (process_ != getpid()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto found = trials_.find(choice);
    if (found == trials_.end()) return std::nullopt;
    LearningTrial& trial = *found->second;
    Turn turn;
    if (trial.outcome == nullptr) {
        collect(trial);
        if (trial.faults >= most_faults) trial.halving.end("its launches cannot be timed");
        // Another process may have the answer by now: asked for seldom, for it is a file.
        if (!trial.halving.is_over() && trial.halving.round() > trial.rounds_seen) {
            trial.rounds_seen = trial.halving.round();
            if (!trial.request.stored_key.empty())
                if (const auto stored = store.find(trial.request.owner, trial.request.stored_key)) {
                    trial.halving.end("another process has found it");
                    const auto same_block = [&](const CheckedLaunch& launch) {
                        return launch.launch.block.x == stored->block.x &&
                               launch.launch.block.y == stored->block.y &&
                               launch.launch.block.z == stored->block.z;
                    };
                    const auto place = std::ranges::find_if(trial.request.launches, same_block);
                    if (place != trial.request.launches.end())
                        trial.halving.take(static_cast<std::size_t>(place - trial.request.launches.begin()));
                }
        }
        if (!trial.halving.is_over()) {
            const Halving::Turn next = trial.halving.next(can_be_timed);
            turn.launch = trial.request.launches[next.launch];
            turn.place = next.launch;
            if (next.is_timed) {
                turn.timed = found->second;
                turn.own_ns = predict(turn.launch);
            }
            if (!trial.halving.is_over()) return turn;
            if (turn.timed != nullptr) trial.halving.lost(next.launch);
            turn = {};
        }
        settle(trial, store);
        turn.is_first = true;
    }
    turn.outcome = trial.outcome;
    turn.place = trial.outcome->chosen;
    turn.launch = trial.request.launches[turn.place];
    return turn;
}

// The times that are there. With the mutex held.
void Learning::collect(LearningTrial& trial) {
    if (trial.under_way.empty()) return;
    clock_->undisturbed([&] {
        std::erase_if(trial.under_way, [&](const LearningTrial::Timing& timing) {
            double ns = 0;
            switch (clock_->elapsed(timing.begin, timing.end, ns)) {
                case EventClock::State::under_way:
                    return false;
                case EventClock::State::reached:
                    trial.halving.add(timing.place, ns / timing.correction);
                    trial.free.push_back(timing);
                    return true;
                case EventClock::State::failed:
                    break;
            }
            trial.halving.lost(timing.place);
            ++trial.faults;
            return true;
        });
    });
}

bool Learning::begin(const Turn& turn, EventClock::Stream stream) noexcept {
    if (turn.timed == nullptr) return false;
    try {
        const std::lock_guard lock(mutex_);
        LearningTrial& trial = *turn.timed;
        LearningTrial::Timing timing;
        if (!trial.free.empty()) {
            timing = trial.free.back();
            trial.free.pop_back();
        } else {
            clock_->undisturbed([&] {
                if (!clock_->create(timing.begin, timing.end)) timing = {};
            });
        }
        // No context is current in this thread yet, or there is one of its end: the launch is made as it is.
        if (timing.begin == nullptr || !clock_->record(timing.begin, stream)) {
            trial.halving.lost(turn.place);
            ++trial.faults;
            return false;
        }
        timing.place = turn.place;
        const double reference_ns = turn.launch.predicted_ns;
        timing.correction = turn.own_ns > 0 && reference_ns > 0 && std::isfinite(turn.own_ns)
                                ? turn.own_ns / reference_ns
                                : 1;
        trial.open[gettid()] = timing;
        return true;
    } catch (const std::exception&) {
        return false;  // No memory is left: that launch's time is missing.
    }
}

void Learning::end(const Turn& turn, EventClock::Stream stream, bool has_launched) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        LearningTrial& trial = *turn.timed;
        const auto opened = trial.open.find(gettid());
        if (opened == trial.open.end()) return;  // its context has ended meanwhile
        const LearningTrial::Timing timing = opened->second;
        trial.open.erase(opened);
        if (has_launched && clock_->record(timing.end, stream)) {
            trial.under_way.push_back(timing);
            return;
        }
        trial.halving.lost(turn.place);
        if (has_launched)
            ++trial.faults;
        else
            trial.free.push_back(timing);
    } catch (const std::exception&) {
        return;  // As in begin().
    }
}

void Learning::forget_events() noexcept {
    if (!is_on() || process_ != getpid()) return;
    const std::lock_guard lock(mutex_);
    for (auto& [choice, trial] : trials_) {
        for (const LearningTrial::Timing& timing : trial->under_way) trial->halving.lost(timing.place);
        trial->under_way.clear();
        trial->free.clear();
        trial->open.clear();
    }
}

// With the mutex held.
void Learning::settle(LearningTrial& trial, ChoiceStore& store) {
    auto outcome = std::make_shared<LearnOutcome>();
    outcome->why = trial.halving.why();
    outcome->chosen = trial.halving.best();
    outcome->launched = trial.halving.launched();
    for (std::size_t i = 0; i < trial.request.launches.size(); ++i)
        outcome->launches.push_back({.launch = trial.request.launches[i],
                                     .measured_ns = trial.halving.time_ns(i),
                                     .times = trial.halving.times(i)});
    trial.outcome = outcome;
    // Its events stay until the context ends: what is under way may be recorded still.
    if (trial.request.stored_key.empty()) return;
    const LearnOutcome::Launch& chosen = outcome->launches[outcome->chosen];
    if (chosen.times == 0) return;  // nothing was learnt that others should take over
    store.add(trial.request.owner, trial.request.stored_key,
              {.block = chosen.launch.launch.block,
               .written_ns = trial.request.launches[trial.request.written].predicted_ns,
               .chosen_ns = chosen.launch.predicted_ns});
    store.flush_once();
}

void Learning::finish(ChoiceStore& store) {
    if (!is_on() || process_ != getpid()) return;
    const std::lock_guard lock(mutex_);
    std::size_t settled = 0, changed = 0, launched = 0;
    for (auto& [choice, trial] : trials_) {
        if (trial->outcome == nullptr) {
            collect(*trial);
            if (trial->halving.is_over()) settle(*trial, store);
        }
        launched += trial->halving.launched();
        if (trial->outcome == nullptr) continue;
        ++settled;
        if (trial->outcome->chosen != 0) ++changed;
    }
    if (trials_.empty() || !log_.wants(LogLevel::summary)) return;
    log_.summary(fmt::format("learnt {} of {} choice{} from {} launches: {} changed", settled, trials_.size(),
                             trials_.size() == 1 ? "" : "s", launched, changed));
}

}  // namespace trimtab::choosing
