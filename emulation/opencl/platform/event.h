// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands, what they wait for, and what their events say.
#pragma once

#include <condition_variable>
#include <expected>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "emulation/opencl/platform/context.h"

namespace trimtab::opencl {

// Does the command, and says what work it was; a negative value: its error.
using Run = std::function<cl_int(emulator::Work& work)>;

}  // namespace trimtab::opencl

struct _cl_command_queue : trimtab::opencl::Object {
    _cl_command_queue() : Object(trimtab::opencl::Kind::queue) {}

    trimtab::opencl::Ref<_cl_context> context;
    cl_device_id device = nullptr;
    cl_command_queue_properties properties = 0;
    std::vector<cl_queue_properties> given_properties;  // with their 0; empty: none were given

    [[nodiscard]] bool is_out_of_order() const {
        return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    }
    // Under Scheduler's mutex: commands that are not done, in their order; the last barrier if it is one of them.
    std::vector<trimtab::opencl::Ref<_cl_event>> unfinished;
    _cl_event* barrier = nullptr;
    double ready_ns = 0, barrier_ns = 0;  // modelled: all, and the last barrier, are done
    cl_int failure = CL_SUCCESS;          // of a command, until clFinish has told
};

struct _cl_event : trimtab::opencl::Object {
    _cl_event() : Object(trimtab::opencl::Kind::event) {}

    trimtab::opencl::Ref<_cl_context> context;
    trimtab::opencl::Ref<_cl_command_queue> queue;  // none: a user event
    cl_command_type type = CL_COMMAND_USER;
    trimtab::opencl::Run run;

    // Under Scheduler's mutex.
    cl_int status = CL_QUEUED;  // or an error, below 0
    std::size_t waits_for = 0;  // commands that are not done
    bool is_poisoned = false;   // one of its wait list has failed
    bool is_barrier = false;
    double earliest_ns = 0;  // modelled, as the other times: what it waits for is done
    double queued_ns = 0, start_ns = 0, end_ns = 0;
    struct Dependent {
        trimtab::opencl::Ref<_cl_event> event;
        bool is_by_wait_list = false;  // else by the queue's order
    };
    std::vector<Dependent> dependents;
    struct Callback {
        cl_int status = CL_COMPLETE;
        void(CL_CALLBACK* function)(cl_event, cl_int, void*) = nullptr;
        void* data = nullptr;
    };
    std::vector<Callback> callbacks;
};

namespace trimtab::opencl {

// A wait list as entry points get it; an error where count and list contradict each other or one is no event.
[[nodiscard]] std::expected<std::span<const cl_event>, cl_int> wait_list_of(cl_uint count,
                                                                            const cl_event* events);

struct Submission {
    enum class Order : std::uint8_t {
        command,
        marker,  // without a wait list it waits for all before it
        barrier  // the same, and what comes after it waits for it
    };
    _cl_command_queue* queue = nullptr;
    cl_command_type type = 0;
    cl_uint wait_count = 0;
    const cl_event* wait_list = nullptr;
    cl_event* event = nullptr;  // null, or where the program wants it
    Order order = Order::command;
    bool is_blocking = false;
};

// Commands run in the thread that enqueues them, or, where they wait for others, in the thread that ends the last of
// those: a device's work is done one piece after the other anyway. What calls back into the program runs in a thread of
// its own, for the program may hold any lock of its own while it enqueues.
class Scheduler {
  public:
    [[nodiscard]] static Scheduler& instance();

    // The queue is one. Checks the wait list; runs the command, or has it wait. `run` may be empty: nothing is to be done.
    [[nodiscard]] cl_int submit(const Submission& submission, Run run);

    [[nodiscard]] cl_int end_user_event(_cl_event& event, cl_int status);
    [[nodiscard]] cl_int wait(std::span<const cl_event> events);
    [[nodiscard]] cl_int finish(_cl_command_queue& queue);
    void add_callback(_cl_event& event, const _cl_event::Callback& callback);

    // Guards the events' and queues' own state.
    [[nodiscard]] std::mutex& mutex() { return mutex_; }
    // Modelled: up to when the host has waited for the devices. With the mutex held.
    [[nodiscard]] double host_ns() const { return host_ns_; }

    // In the thread of the program's callbacks.
    void call_later(std::function<void()> call);

  private:
    using Ready = std::vector<Ref<_cl_event>>;
    void run_all(Ready ready);
    // With the mutex held.
    void wait_for(_cl_event& event, _cl_event& other, bool is_by_wait_list);
    void settle(_cl_event& event, cl_int status, Ready& ready);
    void tell(_cl_event& event, cl_int status);
    [[nodiscard]] cl_int wait_for_end(std::unique_lock<std::mutex>& lock, _cl_event& event);

    std::mutex mutex_;
    std::condition_variable ended_;
    double host_ns_ = 1e9;  // not 0, which programs take for a time that is not known

    std::mutex calls_mutex_;
    std::condition_variable called_;
    std::vector<std::function<void()>> calls_;
    bool has_thread_ = false;
};

}  // namespace trimtab::opencl
