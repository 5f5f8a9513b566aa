// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that do tasks of the pipeline, here or on other machines: each is started by a command, reads one task at
// a time on its stdin, and writes what came of it on its stdout (`trimtab worker`).
//
// What a task comes to does not depend on who does it. Workers may end, hang or talk nonsense: what they had goes to
// others, where there are any, and is left when three were lost with it; new ones are started in their places, three
// times where they get nothing done.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::workers {

struct PoolOptions {
    // One a worker, for /bin/sh; see read_workers().
    std::vector<std::string> commands;
    // A worker that says nothing for so long is hung; they say that they live every second. One that has not begun
    // yet may wait for a scheduler.
    std::chrono::milliseconds silence{60'000}, beginning{600'000};
    std::function<bool()> is_over = {};  // asked now and then: true, and no more is done
};

// What --workers takes: a number of workers on this machine, which share its processors; a command that starts one,
// "ssh node7 trimtab worker"; or "64*COMMAND", so many of them. The error names what is wrong with it.
[[nodiscard]] std::expected<std::vector<std::string>, Error> read_workers(std::string_view text);

// What many tasks need: it is sent once to each worker that gets one of them.
struct Shared {
    std::string id;
    nlohmann::json head;  // beside "shared", the id
    std::string body;
};

struct Task {
    nlohmann::json head;  // beside "task", its number
    std::shared_ptr<const Shared> shared;
};

// Of one run.
struct PoolProgress {
    std::size_t done = 0, total = 0;  // tasks
    std::size_t workers = 0;          // that are at work or ready
    double part = 0;                  // of all tasks, those in the middle included
};

class WorkerPool {
  public:
    using Warn = std::function<void(const std::string& text)>;
    // Workers start with the first task.
    WorkerPool(PoolOptions options, Warn warn);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // Task i is asked for when a worker is free for it, and again when one is lost with it.
    using Make = std::function<Task(std::size_t i)>;
    // What came of task i. The error: it is not what was asked for, and why; the worker is then ended, and the task
    // goes to another.
    using Take = std::function<std::expected<void, Error>(std::size_t i, const nlohmann::json& answer)>;
    using Show = std::function<void(const PoolProgress& progress)>;

    // Does `count` tasks. Those that it gives back, in order, were not done, with the reason.
    struct Left {
        std::size_t task = 0;
        std::string why;
        bool was_tried = false;  // workers were lost with it; else there is no worker
    };
    [[nodiscard]] std::vector<Left> run(std::size_t count, const Make& make, const Take& take,
                                        const Show& show = {});

    [[nodiscard]] std::size_t size() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace trimtab::workers
