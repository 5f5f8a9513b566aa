// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/crosscheck/crosscheck.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>

#include "choosing/own_files.h"

namespace trimtab::choosing {
namespace {

// As `trimtab prepare` beside a program: the program comes first.
constexpr int niceness = 10;
constexpr std::size_t most_why_bytes = 512;

CrossCheck::Emulate load_library(std::string& error) {
    void* library = open_own_library("libtrimtab_crosscheck.so", error);
    if (library == nullptr) return {};
    const auto emulate =
        reinterpret_cast<decltype(&trimtab_emulate_times)>(dlsym(library, "trimtab_emulate_times"));
    if (emulate == nullptr) {
        error = "libtrimtab_crosscheck.so is of another version";
        return {};
    }
    return [emulate](const EmulationQuestion& question, char* why, std::size_t why_bytes) {
        return emulate(&question, why, why_bytes);
    };
}

CheckOutcome not_judged(std::string why, const CheckRequest& request) {
    return {.end = CheckEnd::not_judged, .why = std::move(why), .launches = request.launches};
}

}  // namespace

CrossCheck::CrossCheck(const CrossCheckSettings& settings, Log& log, Load load)
    : settings_(settings), log_(log), load_(load ? std::move(load) : load_library), process_(getpid()) {}

CrossCheck::~CrossCheck() {
    stop_work();
}

bool CrossCheck::is_parent_process() const {
    return process_ == getpid();
}

bool CrossCheck::wants_more() {
    if (settings_.leaders == 0 || !is_parent_process()) return false;
    const std::lock_guard lock(mutex_);
    say_if_missing();
    return missing_.empty() && !is_finished_ && checks_.size() < most_checks;
}

void CrossCheck::say_if_missing() {
    if (!missing_.empty())
        log_.warn_once(fmt::format("TRIMTAB_CROSSCHECK: {}: choices are not checked", missing_));
}

bool CrossCheck::start(Choice choice, CheckRequest request) {
    if (!is_parent_process()) return false;
    const std::lock_guard lock(mutex_);
    if (is_finished_ || checks_.size() >= most_checks) return false;
    const auto [place, is_new] = checks_.try_emplace(std::move(choice));
    // Another thread has made the same choice, or it had been forgotten: its launches are counted on.
    if (!is_new) return true;
    place->second = std::make_unique<Check>();
    Check& check = *place->second;
    check.request = std::move(request);
    waiting_.push_back(&check);
    try {
        begin_work();
    } catch (const std::exception& error) {
        waiting_.pop_back();
        check.outcome = std::make_shared<CheckOutcome>(
            not_judged(fmt::format("no thread can be started for it: {}", error.what()), check.request));
    }
    return true;
}

// The thread ends where there is nothing more to do, and is made anew: most programs are through with new sizes soon.
void CrossCheck::begin_work() {
    if (is_working_) return;
    if (thread_ != nullptr) thread_->join();
    thread_.reset();
    // The program's signals are not for a thread that it does not know of.
    sigset_t all, before;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::make_unique<std::thread>([this] { work(); });
        is_working_ = true;
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void CrossCheck::work() {
    pthread_setname_np(pthread_self(), thread_name);
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), niceness);
    for (;;) {
        Check* check = nullptr;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty() || stopping_) {
                is_working_ = false;
                return;
            }
            check = waiting_.front();
            waiting_.pop_front();
        }
        // A request does not change once it waits.
        std::shared_ptr<const CheckOutcome> outcome;
        try {
            outcome = std::make_shared<CheckOutcome>(answer(check->request));
        } catch (const std::exception&) {
            continue;  // no memory is left: as if it were never ready
        }
        const std::lock_guard lock(mutex_);
        if (!stopping_) check->outcome = std::move(outcome);
    }
}

bool CrossCheck::is_called_off() const {
    return stopping_.load(std::memory_order_relaxed) || std::chrono::steady_clock::now() >= deadline_;
}

CheckOutcome CrossCheck::answer(const CheckRequest& request) {
    deadline_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                       std::chrono::duration<double>(settings_.seconds));
    if (!emulate_) {
        std::string error;
        emulate_ = load_(error);
        if (!emulate_) {
            const std::lock_guard lock(mutex_);
            missing_ = error;
            return not_judged(error, request);
        }
    }
    std::vector<LaunchToEmulate> launches;
    for (const CheckedLaunch& one : request.launches) launches.push_back({.launch = one.launch});
    EmulationQuestion question;
    question.launch_count = static_cast<std::uint32_t>(launches.size());
    question.code = request.code->data();
    question.code_bytes = request.code->size();
    question.kernel = request.kernel.c_str();
    question.device = &request.device->values;
    question.image = &request.image;
    question.parameters = request.parameters.data();
    question.parameter_bytes = request.parameters.size();
    question.launches = launches.data();
    question.is_called_off = [](const void* self) {
        return static_cast<const CrossCheck*>(self)->is_called_off();
    };
    question.context = this;
    std::array<char, most_why_bytes> why{};
    const std::int32_t answered = emulate_(question, why.data(), why.size());
    switch (answered) {
        case emulation_done:
            break;
        case emulation_says_nothing:
        case emulation_failed:
            return not_judged(why.data(), request);
        case emulation_called_off:
            return not_judged(fmt::format("{} s were not enough to emulate it", settings_.seconds), request);
        default: {
            const std::lock_guard lock(mutex_);
            missing_ = "libtrimtab_crosscheck.so is of another version";
            return not_judged(missing_, request);
        }
    }
    std::vector<CheckedLaunch> checked = request.launches;
    for (std::size_t i = 0; i < checked.size(); ++i) checked[i].emulated_ns = launches[i].ns;
    return judge(std::move(checked), request.written, request.least_gain);
}

std::optional<CrossCheck::Settled> CrossCheck::launched(const Choice& choice) {
    if (!is_parent_process()) return Settled{};
    const std::lock_guard lock(mutex_);
    const auto found = checks_.find(choice);
    if (found == checks_.end()) return Settled{};
    Check& check = *found->second;
    if (check.settled != nullptr) return Settled{.outcome = check.settled};
    if (++check.launches < settings_.launch) return std::nullopt;
    say_if_missing();
    check.settled = check.outcome;
    if (check.settled == nullptr)
        check.settled = std::make_shared<CheckOutcome>(
            CheckOutcome{.end = CheckEnd::late,
                         .why = fmt::format("not ready at launch {}", settings_.launch),
                         .launches = check.request.launches});
    return Settled{.outcome = check.settled, .is_first = true};
}

void CrossCheck::stop_work() {
    if (!is_parent_process()) {
        // The thread is the parent's; there is none to wait for here.
        [[maybe_unused]] const std::thread* const parents = thread_.release();
        return;
    }
    stopping_ = true;
    std::unique_ptr<std::thread> thread;
    {
        const std::lock_guard lock(mutex_);
        is_finished_ = true;
        waiting_.clear();
        thread = std::move(thread_);
    }
    // It looks often enough: see LaunchRequest::is_cancelled.
    if (thread != nullptr) thread->join();
}

void CrossCheck::finish(ChoiceStore& store) {
    if (settings_.leaders == 0 || !is_parent_process()) return;
    stop_work();
    const std::lock_guard lock(mutex_);
    say_if_missing();
    std::map<CheckEnd, std::size_t> ends;
    std::size_t unfinished = 0;
    for (const auto& [choice, check] : checks_) {
        if (check->settled == nullptr || check->settled->end == CheckEnd::late) {
            const std::string answer =
                check->outcome == nullptr
                    ? "not finished"
                    : fmt::format("{}: {}", name(check->outcome->end), check->outcome->why);
            const bool lasts = check->outcome != nullptr && !check->request.stored_key.empty();
            log_.info(fmt::format("cross-check of {}: {}{}", check->request.kernel, answer,
                                  lasts ? "; for later processes" : ""));
        }
        if (check->outcome == nullptr) {
            ++unfinished;
            continue;
        }
        ++ends[check->settled == nullptr ? check->outcome->end : check->settled->end];
        if (check->request.stored_key.empty()) continue;
        const CheckOutcome& outcome = *check->outcome;
        const CheckedLaunch& chosen = outcome.launches[outcome.chosen];
        store.add(check->request.owner, check->request.stored_key,
                  {.block = chosen.launch.block,
                   .written_ns = outcome.launches[check->request.written].predicted_ns,
                   .chosen_ns = chosen.predicted_ns});
    }
    if (checks_.empty() || !log_.wants(LogLevel::summary)) return;
    log_.summary(fmt::format(
        "cross-check of {} choice{}: {} changed, {} confirmed, {} not judged, {} late, {} not finished",
        checks_.size(), checks_.size() == 1 ? "" : "s", ends[CheckEnd::changed], ends[CheckEnd::confirmed],
        ends[CheckEnd::not_judged], ends[CheckEnd::late], unfinished));
}

}  // namespace trimtab::choosing
