// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/workers/pool.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "core/base/installation.h"
#include "core/base/shell_word.h"
#include "core/base/talking_process.h"
#include "pipeline/workers/message.h"

namespace trimtab::workers {
namespace {

using Clock = std::chrono::steady_clock;

// Losses of a task before it is left, where nobody else can try it.
constexpr unsigned most_losses = 3;
// Starts of a worker that gets nothing done, after which its place stays empty.
constexpr unsigned most_starts = 3;
constexpr std::size_t most_workers = 1000;

}  // namespace

std::expected<std::vector<std::string>, Error> read_workers(std::string_view text) {
    std::size_t count = 1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    std::string_view rest = text;
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    if (error == std::errc{} && (is_number || *end == '*'))
        rest.remove_prefix(static_cast<std::size_t>(end - text.data()) + (is_number ? 0 : 1));
    else
        count = error == std::errc::result_out_of_range ? 0 : 1;
    if (text.empty() || (!is_number && rest.find_first_not_of(' ') == std::string_view::npos))
        return std::unexpected(Error{"wants a number of workers, a command that starts one, or 64*COMMAND"});
    if (count == 0 || count > most_workers)
        return std::unexpected(Error{fmt::format("1 to {} workers may be asked for", most_workers)});
    std::string command(rest);
    if (is_number) {
        const auto own = base::find_own_program("trimtab");
        if (!own)
            return std::unexpected(Error{
                "trimtab is missing next to this program, and workers need it: install all of Trimtab"});
        const unsigned threads =
            std::max(1U, std::thread::hardware_concurrency() / static_cast<unsigned>(count));
        command = fmt::format("exec {} worker --threads={}", base::shell_word(*own), threads);
    }
    return std::vector<std::string>(count, command);
}

class WorkerPool::Impl {
  public:
    Impl(PoolOptions options, Warn warn) : options_(std::move(options)), warn_(std::move(warn)) {
        slots_.resize(options_.commands.size());
        for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].command = options_.commands[i];
    }
    ~Impl() {
        // All see at once that there is no more to do.
        for (Slot& slot : slots_)
            if (slot.process) (void)slot.process->end(slot.task ? 0 : 2000);
    }

    std::vector<Left> run(std::size_t count, const Make& make, const Take& take, const Show& show) {
        Run run{.make = make, .take = take, .show = show, .total = count};
        for (std::size_t i = 0; i < count; ++i) run.waiting.push_back(i);
        while (run.done + run.left.size() < count) {
            hand_out(run);
            if (!wait(run) || (options_.is_over && options_.is_over())) break;
        }
        for (const std::size_t task : run.waiting)
            run.left.push_back({task, "there is no worker left", false});
        std::ranges::sort(run.left, {}, &Left::task);
        return std::move(run.left);
    }
    [[nodiscard]] std::size_t size() const { return slots_.size(); }

  private:
    struct Slot {
        std::string command;
        std::optional<base::TalkingProcess> process;
        MessageReader reader;
        std::string outgoing;
        bool is_ready = false;
        bool has_done = false;  // a task, it or one before it
        std::string shared;     // what it was sent last
        std::optional<std::size_t> task;
        double part = 0;  // of the task
        Clock::time_point heard;
        unsigned starts = 0;
    };
    // Of workers, with one task.
    struct Losses {
        unsigned count = 0;
        std::set<const Slot*> slots = {};
        std::string last;
    };
    struct Run {
        const Make& make;
        const Take& take;
        const Show& show;
        std::size_t total = 0, done = 0;
        std::deque<std::size_t> waiting = {};
        std::map<std::size_t, Losses> losses = {};  // by task
        std::vector<Left> left = {};
    };

    // Workers of a number are told apart by it.
    [[nodiscard]] std::string name(const Slot& slot) const {
        return fmt::format("worker {} ({})", &slot - slots_.data() + 1, slot.command);
    }

    void start(Slot& slot) {
        ++slot.starts;
        auto process = base::TalkingProcess::start({.words = {"/bin/sh", "-c", slot.command}});
        if (!process) {
            slot.starts = most_starts;
            warn_(fmt::format("{}: {}", name(slot), process.error().text()));
            return;
        }
        slot.process.emplace(std::move(*process));
        slot.reader = {};
        slot.outgoing.clear();
        slot.shared.clear();
        slot.is_ready = false;
        slot.heard = Clock::now();
    }

    // Whether one that it was not lost with can try the task. One that has not begun yet is waited for only while it
    // may be those that lost the task who are at fault: none of them has ever done any.
    [[nodiscard]] bool another_can_try(const Losses& losses) const {
        const bool task_is_at_fault = std::ranges::any_of(losses.slots, &Slot::has_done);
        return std::ranges::any_of(slots_, [&](const Slot& slot) {
            if (losses.slots.contains(&slot)) return false;
            return slot.is_ready || (!task_is_at_fault && (slot.process || slot.starts < most_starts));
        });
    }

    // What is in vain is left: it was lost often, and nobody else can try it; or those who did were many.
    void leave(Run& run) {
        std::erase_if(run.waiting, [&](std::size_t task) {
            const auto found = run.losses.find(task);
            if (found == run.losses.end()) return false;
            const Losses& losses = found->second;
            if (losses.count < most_losses) return false;
            if (losses.slots.size() < most_losses && another_can_try(losses)) return false;
            run.left.push_back(
                {task, fmt::format("{} workers were lost with it; the last {}", losses.count, losses.last),
                 true});
            return true;
        });
    }

    // The first that waits and was not lost with this worker, unless nobody else can try it.
    [[nodiscard]] std::optional<std::size_t> next_task(Run& run, const Slot& slot) const {
        const auto task = std::ranges::find_if(run.waiting, [&](std::size_t number) {
            const auto losses = run.losses.find(number);
            return losses == run.losses.end() || !losses->second.slots.contains(&slot) ||
                   !another_can_try(losses->second);
        });
        if (task == run.waiting.end()) return std::nullopt;
        const std::size_t number = *task;
        run.waiting.erase(task);
        return number;
    }

    void hand_out(Run& run) {
        if (!run.losses.empty()) leave(run);
        for (Slot& slot : slots_) {
            if (run.waiting.empty()) return;
            if (!slot.process && slot.starts < most_starts) start(slot);
            if (!slot.process || !slot.is_ready || slot.task) continue;
            const std::optional<std::size_t> next = next_task(run, slot);
            if (!next) continue;
            const std::size_t number = *next;
            Task task = run.make(number);
            if (task.shared && slot.shared != task.shared->id) {
                nlohmann::json head = task.shared->head;
                head["shared"] = task.shared->id;
                slot.outgoing += encode(head, task.shared->body);
                slot.shared = task.shared->id;
            }
            task.head["task"] = number;
            slot.outgoing += encode(task.head);
            slot.task = number;
            slot.part = 0;
            send(run, slot);
        }
    }

    void send(Run& run, Slot& slot) {
        if (slot.outgoing.empty()) return;
        const auto sent = slot.process->send(slot.outgoing);
        if (!sent) return lose(run, slot, "reads no more");
        slot.outgoing.erase(0, *sent);
    }

    // False: there is nobody to wait for.
    bool wait(Run& run) {
        constexpr int longest_ms = 500;
        std::vector<pollfd> descriptors;
        std::vector<Slot*> owners;
        for (Slot& slot : slots_) {
            if (!slot.process) continue;
            descriptors.push_back({.fd = slot.process->output(), .events = POLLIN, .revents = 0});
            owners.push_back(&slot);
            if (slot.outgoing.empty()) continue;
            descriptors.push_back({.fd = slot.process->input(), .events = POLLOUT, .revents = 0});
            owners.push_back(&slot);
        }
        if (descriptors.empty())
            return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.starts < most_starts; });
        if (poll(descriptors.data(), descriptors.size(), longest_ms) < 0 && errno != EINTR) return false;
        for (std::size_t i = 0; i < descriptors.size(); ++i) {
            Slot& slot = *owners[i];
            if (!slot.process || descriptors[i].revents == 0) continue;
            if (descriptors[i].events == POLLOUT)
                send(run, slot);
            else
                receive(run, slot);
        }
        const Clock::time_point now = Clock::now();
        for (Slot& slot : slots_) {
            if (!slot.process) continue;
            const auto limit = slot.is_ready ? options_.silence : options_.beginning;
            if (now - slot.heard > limit)
                lose(run, slot,
                     fmt::format("says nothing for {} s and is ended",
                                 std::chrono::duration<double>(limit).count()));
        }
        show(run);
        return true;
    }

    void receive(Run& run, Slot& slot) {
        const bool is_open = slot.process->receive(slot.reader.pending());
        slot.heard = Clock::now();
        while (slot.process) {
            auto message = slot.reader.next();
            if (!message) return lose(run, slot, message.error().message);
            if (!*message) break;
            std::expected<void, Error> understood;
            try {
                understood = understand(run, slot, **message);
            } catch (const nlohmann::json::exception& error) {
                understood = std::unexpected(Error{error.what()});
            }
            if (!understood) return lose(run, slot, understood.error().text());
        }
        if (!is_open && slot.process) lose(run, slot, {});
    }

    std::expected<void, Error> understand(Run& run, Slot& slot, const Message& message) {
        const nlohmann::json& head = message.head;
        if (const auto version = head.find("trimtab_worker"); version != head.end()) {
            if (*version != protocol || head.value("version", "") != TRIMTAB_VERSION)
                return std::unexpected(Error{fmt::format("is of another Trimtab: {} where {} is wanted",
                                                         head.dump(), TRIMTAB_VERSION)});
            slot.is_ready = true;
            return {};
        }
        if (!slot.is_ready) return std::unexpected(Error{"does not say who it is"});
        if (const auto part = head.find("alive"); part != head.end()) {
            slot.part = part->is_number() ? std::clamp(part->get<double>(), 0.0, 1.0) : 0;
            return {};
        }
        const auto task = head.find("task");
        if (task == head.end() || !slot.task || *task != *slot.task)
            return std::unexpected(Error{"answers what it was not asked"});
        const std::size_t number = *slot.task;
        if (const auto taken = run.take(number, head); !taken)
            return std::unexpected(Error{"its answer is not taken: " + taken.error().text()});
        slot.task.reset();
        slot.starts = 1;  // it gets things done
        slot.has_done = true;
        ++run.done;
        return {};
    }

    // `why` is empty where it ended by itself.
    void lose(Run& run, Slot& slot, std::string why) {
        constexpr int patience_ms = 200;  // in which it says how it ends
        const base::Outcome outcome = slot.process->end(why.empty() ? patience_ms : 0);
        slot.process.reset();
        slot.is_ready = false;
        if (why.empty()) why = outcome.text();
        warn_(fmt::format("{} {}", name(slot), why));
        if (!slot.task) return;
        const std::size_t task = *std::exchange(slot.task, std::nullopt);
        Losses& losses = run.losses[task];
        ++losses.count;
        losses.slots.insert(&slot);
        losses.last = std::move(why);
        // After the others: a worker that does those shows that it is well.
        run.waiting.push_back(task);
    }

    void show(const Run& run) const {
        if (!run.show) return;
        PoolProgress progress{.done = run.done, .total = run.total};
        double parts = 0;
        for (const Slot& slot : slots_) {
            progress.workers += slot.is_ready ? 1 : 0;
            if (slot.task) parts += slot.part;
        }
        progress.part = (static_cast<double>(run.done + run.left.size()) + parts) /
                        static_cast<double>(std::max<std::size_t>(run.total, 1));
        run.show(progress);
    }

    PoolOptions options_;
    Warn warn_;
    std::vector<Slot> slots_;
};

WorkerPool::WorkerPool(PoolOptions options, Warn warn)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(warn))) {}
WorkerPool::~WorkerPool() = default;

std::vector<WorkerPool::Left> WorkerPool::run(std::size_t count, const Make& make, const Take& take,
                                              const Show& show) {
    return impl_->run(count, make, take, show);
}

std::size_t WorkerPool::size() const {
    return impl_->size();
}

}  // namespace trimtab::workers
