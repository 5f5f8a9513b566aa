// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A GPU for tests on machines that have none: libcudart.so.13 and libcuda.so.1 of these names, in a folder of their own,
// hand every call to the emulator (libtrimtab_cudart.so). In between they count calls, answer with errors that a test asks
// for, keep events waiting, and tell other names, sizes and versions than the emulated device has.
//
// Both libraries and the program share what is here, which is in libstand_in_gpu.so.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stand_in_gpu {

inline constexpr std::size_t most_steps = 64, most_functions = 2048, most_name = 64;

enum class When : std::uint8_t {
    never,
    each_call,       // of the function, in that step
    changed_launch,  // of a launch that has another block than the program wrote
    afterwards  // the call succeeds, and the device is lost then: as with a kernel that fails while it runs
};

struct Fault {
    When when = When::never;
    int step = 0;
    std::array<char, most_name> function{};
    int error = 0;
};

// What the test sets, and what it reads. Plain memory: set before the calls that it is for.
struct Control {
    std::atomic<int> step = 0;  // the program counts its calls here, from 1
    Fault fault;
    std::array<unsigned, 3> written_block{};      // of the program's next launch; zeros: not told
    std::atomic<int> lost = 0;                    // the error that every call answers with from now on
    int driver_version = 0, runtime_version = 0;  // 0: the emulator's
    std::array<char, 256> name_of_first{};        // of device 0; empty: the emulated device's
    int sms_of_first = 0;                         // of device 0, as MPS and MIG limit them; 0: all
    std::uint64_t event_delay_calls = 0;          // an event is ready so many calls after it was recorded
    double noise = 0;                             // relative standard deviation of the times that events tell
    std::uint64_t seed = 1;
    // Calls by function, in the order in which they were first met; and in which steps.
    std::atomic<std::size_t> functions = 0;
    std::array<const char*, most_functions> names{};
    std::array<std::atomic<std::uint64_t>, most_functions> calls{};
    std::array<std::atomic<std::uint64_t>, most_functions> steps{};  // bit n: step n
    std::atomic<std::uint64_t> all_calls = 0;
};

[[nodiscard]] Control& control();
// A call of `name` begins. 0: it is to go on; else the error that it ends with.
int call_begins(const char* name);
// Has the device been lost in this call? To be asked once it is over.
void call_ended(const char* name, int status);
// The emulator's function of that name; null where it has none.
[[nodiscard]] void* emulated(const char* name);
// This thread's last error of the runtime that was injected; `take`: it is told once.
[[nodiscard]] int injected_error(bool take);
void set_injected_error(int error);
// The time of an event pair, in ms, as it is measured.
[[nodiscard]] float measured_ms(float milliseconds);
// An event is recorded; may it be found ready?
void event_recorded(const void* event);
[[nodiscard]] bool event_is_ready(const void* event);

}  // namespace stand_in_gpu
