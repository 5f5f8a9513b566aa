// TRIMTAB_LEARN=1: over the first launches of a choice the blocks that the driver program finds best are launched in turn and
// timed where they run, and the fastest is kept. Each launch is the program's own, made once.
//
// Times come from events of the driver's interface, recorded before and after the launch in its own stream and asked for at
// later launches: nothing is waited for, and the runtime's last error is not touched. Without an answer nothing is learnt.
#pragma once

#include <cuda.h>
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
#include "choosing/learning/turn.h"
#include "choosing/log.h"
#include "choosing/settings.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

class KernelPlan;

class Learning {
  public:
    // A choice of one kernel: its plan and key.
    using Choice = std::pair<const KernelPlan*, std::vector<std::uint64_t>>;

    // Launches that are tried, the one as written among them.
    static constexpr std::size_t most_leaders = 8;
    static constexpr std::size_t most_choices = 1024;

    Learning(const LearnSettings& settings, const BackendCalls& calls, Log& log);
    ~Learning();
    Learning(const Learning&) = delete;
    Learning& operator=(const Learning&) = delete;

    [[nodiscard]] bool is_on() const { return settings_.is_on; }

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

    // Makes the launch of a turn, `send`, which gives a cudaError_t, in `stream`.
    template <typename Send>
    cudaError_t time(const Turn& turn, CUstream stream, const Send& send) noexcept {
        const bool begun = begin(turn, stream);
        const cudaError_t status = send();
        if (begun) end(turn, stream, status == cudaSuccess);
        return status;
    }

    // A context ends, or a device is reset: no event is asked for any more.
    void forget_events() noexcept;
    // The process is ending: what is known is told.
    void finish(ChoiceStore& store);

  private:
    [[nodiscard]] bool begin(const Turn& turn, CUstream stream) noexcept;
    void end(const Turn& turn, CUstream stream, bool has_launched) noexcept;
    void collect(LearningTrial& trial);
    void settle(LearningTrial& trial, ChoiceStore& store);

    const LearnSettings settings_;
    const BackendCalls& calls_;
    Log& log_;
    const pid_t process_;

    std::mutex mutex_;
    std::map<Choice, std::shared_ptr<LearningTrial>> trials_;
};

}  // namespace trimtab::runtime
