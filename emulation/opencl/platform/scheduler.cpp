// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <thread>

#include "emulation/opencl/platform/event.h"
#include "emulation/opencl/platform/info.h"

namespace trimtab::opencl {

Scheduler& Scheduler::instance() {
    static Scheduler& scheduler = *new Scheduler;  // never destroyed: commands may run while the program ends
    return scheduler;
}

std::expected<std::span<const cl_event>, cl_int> wait_list_of(cl_uint count, const cl_event* events) {
    if ((count == 0) != (events == nullptr)) return std::unexpected(CL_INVALID_EVENT_WAIT_LIST);
    const std::span<const cl_event> list(events, count);
    for (cl_event event : list)
        if (!is_a(event, Kind::event)) return std::unexpected(CL_INVALID_EVENT_WAIT_LIST);
    return list;
}

void Scheduler::wait_for(_cl_event& event, _cl_event& other, bool is_by_wait_list) {
    if (other.status > CL_COMPLETE) {
        other.dependents.push_back({.event = &event, .is_by_wait_list = is_by_wait_list});
        ++event.waits_for;
        return;
    }
    event.earliest_ns = std::max(event.earliest_ns, other.end_ns);
    if (is_by_wait_list && other.status < 0) event.is_poisoned = true;
}

cl_int Scheduler::submit(const Submission& submission, Run run) {
    const auto list = wait_list_of(submission.wait_count, submission.wait_list);
    if (!list) return list.error();
    _cl_command_queue& queue = *submission.queue;
    for (cl_event event : *list)
        if (event->context.get() != queue.context.get()) return CL_INVALID_CONTEXT;
    auto* event = new _cl_event;  // the program's, if it wants it
    const Ref<_cl_event> held(event);
    if (submission.event == nullptr) static_cast<void>(release(event, Kind::event, CL_INVALID_EVENT));
    event->context = queue.context;
    event->queue = &queue;
    event->type = submission.type;
    event->run = std::move(run);
    event->is_barrier = submission.order == Submission::Order::barrier;
    bool is_ready = false;
    {
        const std::lock_guard lock(mutex_);
        event->queued_ns = event->earliest_ns = host_ns_;
        for (cl_event other : *list) wait_for(*event, *other, true);
        if (!queue.is_out_of_order()) {
            event->earliest_ns = std::max(event->earliest_ns, queue.ready_ns);
            if (!queue.unfinished.empty()) wait_for(*event, *queue.unfinished.back(), false);
        } else {
            event->earliest_ns = std::max(event->earliest_ns, queue.barrier_ns);
            if (queue.barrier != nullptr) wait_for(*event, *queue.barrier, false);
            if (submission.order != Submission::Order::command && list->empty()) {
                event->earliest_ns = std::max(event->earliest_ns, queue.ready_ns);
                for (const auto& other : queue.unfinished) wait_for(*event, *other, false);
            }
        }
        queue.unfinished.emplace_back(event);
        if (event->is_barrier) queue.barrier = event;
        event->status = CL_SUBMITTED;
        is_ready = event->waits_for == 0;
    }
    if (submission.event != nullptr) *submission.event = event;
    if (is_ready) run_all({held});
    if (!submission.is_blocking) return CL_SUCCESS;
    std::unique_lock lock(mutex_);
    const cl_int status = wait_for_end(lock, *event);
    return status < 0 ? status : CL_SUCCESS;
}

void Scheduler::run_all(Ready ready) {
    while (!ready.empty()) {
        const Ref<_cl_event> event = std::move(ready.back());
        ready.pop_back();
        bool is_poisoned = false;
        {
            const std::lock_guard lock(mutex_);
            is_poisoned = event->is_poisoned;
            if (!is_poisoned) {
                event->status = CL_RUNNING;
                tell(*event, CL_RUNNING);
            }
        }
        emulator::Work work;
        cl_int status = CL_COMPLETE;
        if (is_poisoned)
            status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        else if (event->run)
            status = guarded([&] { return event->run(work); });
        event->run = nullptr;  // and with it what it kept
        const std::lock_guard lock(mutex_);
        _cl_command_queue& queue = *event->queue;
        event->end_ns = queue.device->timeline.place(work, event->earliest_ns);
        event->start_ns = event->end_ns - work.duration_ns;
        queue.ready_ns = std::max(queue.ready_ns, event->end_ns);
        if (event->is_barrier) {
            queue.barrier_ns = std::max(queue.barrier_ns, event->end_ns);
            if (queue.barrier == event.get()) queue.barrier = nullptr;
        }
        if (status < 0) queue.failure = status;
        std::erase_if(queue.unfinished, [&](const auto& other) { return other.get() == event.get(); });
        settle(*event, status, ready);
    }
}

void Scheduler::settle(_cl_event& event, cl_int status, Ready& ready) {
    event.status = status;
    for (_cl_event::Dependent& dependent : event.dependents) {
        _cl_event& other = *dependent.event;
        other.earliest_ns = std::max(other.earliest_ns, event.end_ns);
        if (dependent.is_by_wait_list && status < 0) other.is_poisoned = true;
        if (--other.waits_for == 0) ready.push_back(std::move(dependent.event));
    }
    event.dependents.clear();
    tell(event, status);
    ended_.notify_all();
}

void Scheduler::tell(_cl_event& event, cl_int status) {
    std::erase_if(event.callbacks, [&](const _cl_event::Callback& callback) {
        if (status > callback.status) return false;
        call_later([kept = Ref<_cl_event>(&event), callback, said = status < 0 ? status : callback.status] {
            callback.function(kept.get(), said, callback.data);
        });
        return true;
    });
}

cl_int Scheduler::end_user_event(_cl_event& event, cl_int status) {
    Ready ready;
    {
        const std::lock_guard lock(mutex_);
        if (event.status <= CL_COMPLETE) return CL_INVALID_OPERATION;
        event.end_ns = host_ns_;
        settle(event, status, ready);
    }
    run_all(std::move(ready));
    return CL_SUCCESS;
}

cl_int Scheduler::wait_for_end(std::unique_lock<std::mutex>& lock, _cl_event& event) {
    const Ref<_cl_event> held(&event);
    ended_.wait(lock, [&] { return event.status <= CL_COMPLETE; });
    host_ns_ = std::max(host_ns_, event.end_ns);
    return event.status;
}

cl_int Scheduler::wait(std::span<const cl_event> events) {
    std::unique_lock lock(mutex_);
    cl_int status = CL_SUCCESS;
    for (cl_event event : events)
        if (wait_for_end(lock, *event) < 0) status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return status;
}

cl_int Scheduler::finish(_cl_command_queue& queue) {
    std::unique_lock lock(mutex_);
    // What comes in meanwhile, of other threads, need not be waited for.
    const auto unfinished = queue.unfinished;
    for (const auto& event : unfinished) static_cast<void>(wait_for_end(lock, *event));
    host_ns_ = std::max(host_ns_, queue.ready_ns);
    return std::exchange(queue.failure, CL_SUCCESS) == CL_OUT_OF_RESOURCES ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

void Scheduler::add_callback(_cl_event& event, const _cl_event::Callback& callback) {
    const std::lock_guard lock(mutex_);
    event.callbacks.push_back(callback);
    tell(event, event.status);
}

void Scheduler::call_later(std::function<void()> call) {
    const std::lock_guard lock(calls_mutex_);
    calls_.push_back(std::move(call));
    called_.notify_one();
    if (has_thread_) return;
    has_thread_ = true;
    std::thread([this] {
        std::unique_lock calls_lock(calls_mutex_);
        while (true) {
            called_.wait(calls_lock, [this] { return !calls_.empty(); });
            auto calls = std::exchange(calls_, {});
            calls_lock.unlock();
            for (auto& one : calls) {
                one();
                one = nullptr;
            }
            calls_lock.lock();
        }
    }).detach();
}

}  // namespace trimtab::opencl
