// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modelled device time: when each piece of work begins and ends on a device whose SMs and copy engines are
// shared by its streams.
#pragma once

#include <cstdint>
#include <vector>

#include "trimtab/driver.h"

namespace trimtab::emulator {

enum class Engine : std::uint8_t {
    none,  // takes no time and no resource: events, host functions
    compute,
    copy_to_device,
    copy_to_host,
    copy_within  // the device: copies and fills of its own memory
};

struct Work {
    Engine engine = Engine::none;
    double duration_ns = 0;
    // Of the device that a kernel fills, 0 to 1: kernels overlap while their parts add up to at most 1.
    double part_of_device = 1;
};

// Transfers, by the bandwidth of what they go through: the bus; the device's memory, read and written; or only written.
// Those within the device take all of that bandwidth, so that two of them do not overlap; a kernel may run beside them
// (CUDA C++ Programming Guide, "Concurrent Execution between Host and Device": an intra-device copy can be simultaneous
// with kernels, and with copies to or from the device).
[[nodiscard]] Work work_of_bus_copy(const trimtab_device& device, bool is_to_host, double bytes);
[[nodiscard]] Work work_of_device_copy(const trimtab_device& device, double bytes);
[[nodiscard]] Work work_of_fill(const trimtab_device& device, double bytes);

class Timeline {
  public:
    // Places the work as early as its engine allows, not before `earliest_ns`; returns when it ends.
    double place(const Work& work, double earliest_ns);

  private:
    struct Running {
        double begin_ns = 0, end_ns = 0, part = 0;
    };
    [[nodiscard]] double place_kernel(const Work& work, double earliest_ns);

    std::vector<Running> kernels_;  // that may still overlap with what comes
    double copy_to_device_free_ns_ = 0, copy_to_host_free_ns_ = 0, copy_within_free_ns_ = 0;
};

}  // namespace trimtab::emulator
