// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform and its devices: GPUs as they are described.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/model/device.h"
#include "emulation/emulator/device/heap.h"
#include "emulation/emulator/device/launch_timing.h"
#include "emulation/emulator/device/outside_accesses.h"
#include "emulation/emulator/device/timeline.h"
#include "emulation/opencl/platform/objects.h"

struct _cl_platform_id : trimtab::opencl::Object {
    _cl_platform_id() : Object(trimtab::opencl::Kind::platform) {}
};

struct _cl_device_id : trimtab::opencl::Object {
    _cl_device_id() : Object(trimtab::opencl::Kind::device) {}

    trimtab::model::Device description;
    std::uint32_t ordinal = 0;
    // Held while work runs on the device, so that work of several host threads is done one after the other.
    std::mutex execution;
    trimtab::emulator::LaunchTimes launch_times;  // under `execution`
    trimtab::emulator::Timeline timeline;         // under Scheduler's mutex
};

namespace trimtab::opencl {

// Made at the first call, never destroyed: programs release objects while they end.
class Platform {
  public:
    [[nodiscard]] static Platform& instance();

    [[nodiscard]] _cl_platform_id* handle() { return &handle_; }
    [[nodiscard]] const std::vector<std::unique_ptr<_cl_device_id>>& devices() const { return devices_; }
    [[nodiscard]] emulator::Heap& heap() { return heap_; }
    [[nodiscard]] emulator::OutsideAccesses& outside() { return outside_; }

  private:
    Platform();
    _cl_platform_id handle_;
    std::vector<std::unique_ptr<_cl_device_id>> devices_;
    emulator::OutsideAccesses outside_;
    emulator::Heap heap_;  // of all devices: a buffer belongs to a context
};

// What the platform and its devices have, for the answers and for the checks that must agree with them.
[[nodiscard]] std::uint64_t largest_allocation_bytes(const _cl_device_id& device);
inline constexpr cl_uint address_alignment_bytes = 128;  // sizeof(long16)
inline constexpr std::size_t most_image_width = 16384, most_image_height = 16384, most_image_depth = 2048,
                             most_image_layers = 2048, most_buffer_image_width = std::size_t{1} << 27;
inline constexpr cl_uint most_images_read = 128, most_images_written = 64, most_samplers = 16;
inline constexpr std::size_t most_parameter_bytes =
    4352;  // of PTX kernels before sm_70 (PTX ISA, "Kernel Function Parameters")

}  // namespace trimtab::opencl
