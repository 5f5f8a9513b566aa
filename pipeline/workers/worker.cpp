// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/workers/worker.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "pipeline/workers/kernel_task.h"
#include "pipeline/workers/message.h"
#include "pipeline/workers/program_task.h"

namespace trimtab::workers {
namespace {

using nlohmann::json;

constexpr int exit_bad_input = 3;

class Worker {
  public:
    explicit Worker(const WorkerOptions& options) : hand_(options.threads) {
        // What a library prints by itself must not come between messages, and programs that are run get none of them.
        output_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        input_ = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) {
            dup2(nothing, STDIN_FILENO);
            close(nothing);
        }
    }

    int run() {
        write({{"trimtab_worker", protocol}, {"version", TRIMTAB_VERSION}});
        std::thread([this] { read_all(); }).detach();
        std::thread([this] { say_that_it_lives(); }).detach();
        for (;;) {
            Message message;
            {
                std::unique_lock lock(mutex_);
                condition_.wait(lock, [this] { return !messages_.empty(); });
                message = std::move(messages_.front());
                messages_.pop_front();
            }
            try {
                understand(std::move(message));
            } catch (const std::exception& error) {  // a member that is not there, or no memory
                end(error.what());
            }
        }
    }

  private:
    // Threads are in the middle of something: nothing is taken apart.
    [[noreturn]] void end(const std::string& why) {
        program_.end();
        if (!why.empty()) fmt::print(stderr, "trimtab worker: {}\n", why);
        std::fflush(stderr);
        _exit(why.empty() ? 0 : exit_bad_input);
    }

    void understand(Message message) {
        if (message.head.contains("shared")) return hand_.take(message.head, message.body);
        if (!message.head.contains("task")) end("a message that is neither a task nor what tasks need");
        part_ = 0;
        auto answer = message.head.value("do", "") == ProgramHand::task_name
                          ? program_.work(message.head)
                          : hand_.work(message.head, [this](std::size_t done, std::size_t total) {
                                part_ =
                                    total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
                            });
        if (!answer) end(answer.error().text());
        (*answer)["task"] = message.head["task"];
        write(*answer);
    }

    void write(const json& head) {
        const std::lock_guard lock(output_mutex_);
        const std::string bytes = encode(head);
        for (std::size_t at = 0; at < bytes.size();) {
            const ssize_t written = ::write(output_, bytes.data() + at, bytes.size() - at);
            if (written < 0 && errno != EINTR) end({});  // nobody listens any more
            if (written > 0) at += static_cast<std::size_t>(written);
        }
    }

    // Also while a task is done: where the other side is gone, nobody wants it any more.
    void read_all() {
        MessageReader reader;
        std::array<char, 65536> buffer;
        for (;;) {
            const ssize_t got = read(input_, buffer.data(), buffer.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) end({});
            reader.add({buffer.data(), static_cast<std::size_t>(got)});
            for (;;) {
                auto message = reader.next();
                if (!message) end(message.error().text());
                if (!*message) break;
                const std::lock_guard lock(mutex_);
                messages_.push_back(std::move(**message));
                condition_.notify_one();
            }
        }
    }

    void say_that_it_lives() {
        for (;;) {
            std::this_thread::sleep_for(std::chrono::seconds(1));
            write({{"alive", part_.load()}});
        }
    }

    KernelHand hand_;
    ProgramHand program_;
    int input_ = -1, output_ = -1;
    std::mutex output_mutex_, mutex_;
    std::condition_variable condition_;
    std::deque<Message> messages_;
    std::atomic<double> part_ = 0;
};

// One of several that a scheduler has started together, whose streams it ties into one.
const char* shares_streams() {
    for (const char* variable : {"SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
        if (const char* count = std::getenv(variable);
            count != nullptr && std::strtol(count, nullptr, 10) > 1)
            return variable;
    return nullptr;
}

}  // namespace

int serve(const WorkerOptions& options) {
    if (const char* variable = shares_streams()) {
        fmt::print(stderr,
                   "trimtab worker: {}={}: these tasks share one stdin and stdout; start each worker by a "
                   "command of "
                   "its own, as --workers='4*srun -n 1 trimtab worker' does\n",
                   variable, std::getenv(variable));
        return exit_bad_input;
    }
    return Worker(options).run();
}

}  // namespace trimtab::workers
