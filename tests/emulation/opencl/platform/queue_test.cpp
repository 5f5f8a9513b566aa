// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order: queues, events, callbacks, times.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

cl_int status_of(cl_event event) {
    cl_int status = 1000;
    EXPECT_EQ(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
              CL_SUCCESS);
    return status;
}

cl_ulong time_of(cl_event event, cl_profiling_info what) {
    cl_ulong time = 0;
    EXPECT_EQ(clGetEventProfilingInfo(event, what, sizeof time, &time, nullptr), CL_SUCCESS);
    return time;
}

// Copies that another thread's event lets go: each takes what the one before it has put there.
TEST(OpenClQueues, CommandsWaitForWhatTheyAreToldTo) {
    for (const cl_command_queue_properties properties :
         {cl_command_queue_properties{0},
          cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}}) {
        const Host host("Trimtab", properties);
        cl_int error = -1;
        const Event gate(clCreateUserEvent(host.context(), &error));
        ASSERT_EQ(error, CL_SUCCESS);
        std::vector<Memory> chain;
        for (int i = 0; i < 6; ++i) chain.push_back(host.buffer(std::vector<int>(16, i)));
        std::vector<Event> events;
        cl_event before = gate.get();
        for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
            cl_event made = nullptr;
            ASSERT_EQ(clEnqueueCopyBuffer(host.queue(), chain[i].get(), chain[i + 1].get(), 0, 0, 64, 1,
                                          &before, &made),
                      CL_SUCCESS);
            events.emplace_back(made);
            before = made;
        }
        EXPECT_GT(status_of(events.back().get()), CL_COMPLETE);
        ASSERT_EQ(clFlush(host.queue()), CL_SUCCESS);
        std::thread opener([&] { clSetUserEventStatus(gate.get(), CL_COMPLETE); });
        EXPECT_EQ(clFinish(host.queue()), CL_SUCCESS);
        opener.join();
        EXPECT_EQ(status_of(events.back().get()), CL_COMPLETE);
        EXPECT_EQ(host.read<int>(chain.back(), 16), std::vector<int>(16, 0));
    }
}

TEST(OpenClQueues, OutOfOrderOnesRunAroundWhatWaits) {
    const Host host("Trimtab", CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const Event gate(clCreateUserEvent(host.context(), nullptr));
    const Memory a = host.buffer(std::vector<int>(16, 1)), b = host.buffer(std::vector<int>(16, 2)),
                 c = host.buffer(std::vector<int>(16, 3));
    cl_event waiting = gate.get(), first = nullptr, second = nullptr, marker = nullptr, barrier = nullptr,
             last = nullptr;
    ASSERT_EQ(clEnqueueCopyBuffer(host.queue(), a.get(), b.get(), 0, 0, 64, 1, &waiting, &first), CL_SUCCESS);
    ASSERT_EQ(clEnqueueCopyBuffer(host.queue(), c.get(), a.get(), 0, 0, 64, 0, nullptr, &second), CL_SUCCESS);
    ASSERT_EQ(clEnqueueMarkerWithWaitList(host.queue(), 0, nullptr, &marker), CL_SUCCESS);
    ASSERT_EQ(clEnqueueBarrierWithWaitList(host.queue(), 0, nullptr, &barrier), CL_SUCCESS);
    ASSERT_EQ(clEnqueueCopyBuffer(host.queue(), b.get(), c.get(), 0, 0, 64, 0, nullptr, &last), CL_SUCCESS);
    const Event owned[] = {Event(first), Event(second), Event(marker), Event(barrier), Event(last)};
    EXPECT_EQ(clWaitForEvents(1, &second), CL_SUCCESS) << "nothing keeps it";
    for (const cl_event event : {first, marker, barrier, last}) EXPECT_GT(status_of(event), CL_COMPLETE);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
    EXPECT_EQ(clFinish(host.queue()), CL_SUCCESS);
    EXPECT_EQ(host.read<int>(c, 16), std::vector<int>(16, 3)) << "what the other copy had put into a by then";
    EXPECT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_INVALID_OPERATION);
}

TEST(OpenClQueues, FailureGoesDownTheWaitLists) {
    const Host host;
    const Event gate(clCreateUserEvent(host.context(), nullptr));
    const Memory a = host.buffer(std::vector<int>(4, 1)), b = host.buffer(std::vector<int>(4, 2));
    cl_event waiting = gate.get(), copy = nullptr;
    ASSERT_EQ(clEnqueueCopyBuffer(host.queue(), a.get(), b.get(), 0, 0, 16, 1, &waiting, &copy), CL_SUCCESS);
    const Event owned(copy);
    ASSERT_EQ(clSetUserEventStatus(gate.get(), -7), CL_SUCCESS);
    EXPECT_EQ(status_of(copy), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    EXPECT_EQ(clWaitForEvents(1, &copy), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    EXPECT_EQ(host.read<int>(b, 4), std::vector<int>(4, 2)) << "it did not run";
    EXPECT_EQ(clEnqueueCopyBuffer(host.queue(), a.get(), b.get(), 0, 0, 16, 1, nullptr, nullptr),
              CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(clEnqueueCopyBuffer(host.queue(), a.get(), b.get(), 0, 0, 16, 0, &copy, nullptr),
              CL_INVALID_EVENT_WAIT_LIST);
    const Host other;
    EXPECT_EQ(clEnqueueMarkerWithWaitList(other.queue(), 1, &copy, nullptr), CL_INVALID_CONTEXT);
}

struct Heard {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<cl_int> statuses;
    void wait_for(std::size_t count) {
        std::unique_lock lock(mutex);
        EXPECT_TRUE(
            changed.wait_for(lock, std::chrono::seconds(120), [&] { return statuses.size() >= count; }));
    }
};
void CL_CALLBACK hear(cl_event, cl_int status, void* data) {
    auto& heard = *static_cast<Heard*>(data);
    const std::lock_guard lock(heard.mutex);
    heard.statuses.push_back(status);
    heard.changed.notify_all();
}

TEST(OpenClQueues, CallbacksComeEvenWhileTheProgramHoldsItsLock) {
    const Host host;
    const Memory a = host.buffer(std::vector<int>(4, 1));
    Heard heard;
    cl_event event = nullptr;
    {
        const std::lock_guard lock(heard.mutex);
        ASSERT_EQ(clEnqueueFillBuffer(host.queue(), a.get(), "\7", 1, 0, 16, 0, nullptr, &event), CL_SUCCESS);
        for (const cl_int status : {CL_SUBMITTED, CL_RUNNING, CL_COMPLETE})
            ASSERT_EQ(clSetEventCallback(event, status, hear, &heard), CL_SUCCESS);
    }
    heard.wait_for(3);
    EXPECT_THAT(heard.statuses, testing::UnorderedElementsAre(CL_SUBMITTED, CL_RUNNING, CL_COMPLETE));
    EXPECT_EQ(clReleaseEvent(event), CL_SUCCESS);
    EXPECT_EQ(host.read<int>(a, 1)[0], 0x07070707);
}

TEST(OpenClQueues, TimesAreModelledAndInOrder) {
    const Host host("Trimtab", CL_QUEUE_PROFILING_ENABLE);
    const Program program = host.build(
        "kernel void work(global float* p, int n) { int i = get_global_id(0); float x = p[i];"
        "  for (int k = 0; k < n; ++k) x = fma(x, 1.0001f, 0.5f); p[i] = x; }");
    const Kernel kernel = host.kernel(program, "work");
    constexpr std::size_t items = 1 << 12;
    const Memory buffer = host.buffer(std::vector<float>(items, 1));
    std::array<cl_ulong, 2> took{};
    cl_ulong last_end = 0;
    for (const int round : {0, 1}) {
        set_arguments(kernel, buffer, round == 0 ? 10 : 4000);
        cl_event event = nullptr;
        ASSERT_EQ(clEnqueueNDRangeKernel(host.queue(), kernel.get(), 1, nullptr, &items, nullptr, 0, nullptr,
                                         &event),
                  CL_SUCCESS);
        const Event owned(event);
        ASSERT_EQ(clWaitForEvents(1, &event), CL_SUCCESS);
        const cl_ulong queued = time_of(event, CL_PROFILING_COMMAND_QUEUED),
                       start = time_of(event, CL_PROFILING_COMMAND_START),
                       end = time_of(event, CL_PROFILING_COMMAND_END);
        EXPECT_LE(queued, time_of(event, CL_PROFILING_COMMAND_SUBMIT));
        EXPECT_LE(queued, start);
        EXPECT_LT(start, end);
        EXPECT_LE(last_end, start) << "in the queue's order";
        last_end = end;
        took[static_cast<std::size_t>(round)] = end - start;
    }
    EXPECT_GT(took[1], 4 * took[0]) << "four hundred times the work";
    EXPECT_LT(took[1], 10'000'000u) << "nanoseconds of the GPU, not of the emulator";
    const Host plain;
    cl_event marker = nullptr;
    ASSERT_EQ(clEnqueueMarker(plain.queue(), &marker), CL_SUCCESS);
    const Event owned(marker);
    cl_ulong time = 0;
    EXPECT_EQ(clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr),
              CL_PROFILING_INFO_NOT_AVAILABLE);
}

TEST(OpenClQueues, EightThreadsWithEightQueues) {
    const Host host;
    const Program program =
        host.build("kernel void add(global int* p, int n) { int i = get_global_id(0); p[i] += n; }");
    constexpr std::size_t threads = 8, rounds = 25, items = 500;
    std::vector<std::thread> all;
    std::atomic<int> wrong = 0;
    for (std::size_t t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            const Queue queue = host.new_queue(t % 2 == 0 ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
            const Kernel kernel = host.kernel(program, "add");
            const Memory buffer = host.buffer(std::vector<int>(items, static_cast<int>(t)));
            cl_event before = nullptr;
            for (std::size_t round = 0; round < rounds; ++round) {
                set_arguments(kernel, buffer, static_cast<int>(round));
                cl_event event = nullptr;
                if (clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &items, nullptr,
                                           before == nullptr ? 0 : 1, before == nullptr ? nullptr : &before,
                                           &event) != CL_SUCCESS)
                    ++wrong;
                if (before != nullptr) clReleaseEvent(before);
                before = event;
            }
            std::vector<int> result(items);
            if (clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, 0, items * sizeof(int), result.data(),
                                    1, &before, nullptr) != CL_SUCCESS)
                ++wrong;
            clReleaseEvent(before);
            for (const int value : result)
                if (value != static_cast<int>(t + rounds * (rounds - 1) / 2)) ++wrong;
        });
    }
    for (std::thread& thread : all) thread.join();
    EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace trimtab::opencl::test
