// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch on its way to the driver: with the work-groups that are chosen for it.
#include "emulation/opencl/layer/enqueue.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulation/opencl/choice/open_work_group.h"
#include "emulation/opencl/layer/records.h"

namespace trimtab::opencl {
namespace {

struct Sizes {
    std::array<std::size_t, 3> global{1, 1, 1}, local{1, 1, 1};
};

// The driver's errors that another size can cause: any other would meet the launch as written too.
bool is_of_sizes(cl_int status) {
    switch (status) {
        case CL_INVALID_WORK_GROUP_SIZE:
        case CL_INVALID_WORK_ITEM_SIZE:
        case CL_INVALID_GLOBAL_WORK_SIZE:
        case CL_OUT_OF_RESOURCES:
            return true;
        default:
            return false;
    }
}

// The launch as written as blocks; why it is none, else empty.
const char* read_shape(const Range& range, const DeviceRecord& device, choosing::LaunchShape& shape) {
    Sizes sizes;
    for (cl_uint d = 0; d < range.dimensions; ++d) {
        sizes.global[d] = range.global[d];
        if (range.global[d] == 0) return "it has no work-items";
        if (range.offset != nullptr && range.offset[d] != 0) return "it is launched with a global offset";
    }
    if (range.local != nullptr)
        std::copy_n(range.local, range.dimensions, sizes.local.begin());
    else
        sizes.local = open_work_group(sizes.global, {}, device.device.values,
                                      static_cast<std::size_t>(device.device.values.max_threads_per_block));
    const auto narrow = [](std::size_t size) { return static_cast<std::uint32_t>(size); };
    for (std::size_t d = 0; d < 3; ++d) {
        if (sizes.local[d] == 0 || sizes.global[d] % sizes.local[d] != 0)
            return "its work-groups do not divide its global size";
        if (sizes.global[d] > UINT32_MAX) return "its global size has more than 32 bits";
    }
    shape.written.block = {narrow(sizes.local[0]), narrow(sizes.local[1]), narrow(sizes.local[2])};
    shape.written.grid = {narrow(sizes.global[0] / sizes.local[0]), narrow(sizes.global[1] / sizes.local[1]),
                          narrow(sizes.global[2] / sizes.local[2])};
    return nullptr;
}

}  // namespace

cl_int enqueue(const Launch& launch) {
    Records& records = Records::instance();
    Chooser& chooser = Chooser::instance();
    const Range& range = launch.range;
    const auto as_written = [&] { return launch.send(range.global, range.local); };
    KernelRecord* kernel = chooser.is_active() ? records.kernel_of(launch.kernel) : nullptr;
    const DeviceRecord* device = kernel == nullptr ? nullptr : records.device_of(launch.queue);
    if (device == nullptr || range.dimensions < 1 || range.dimensions > 3 || range.global == nullptr)
        return as_written();
    const bool is_ready = kernel->is_ready.load(std::memory_order_acquire);
    choosing::LaunchShape shape;
    const char* keep = read_shape(range, *device, shape);
    if (keep == nullptr && !kernel->has_arguments()) return as_written();  // the driver will say so
    shape.arguments = kernel->places.data();
    choosing::RememberedChoice choice;
    bool is_changed = false;
    Chooser::Pending pending;
    if (keep == nullptr && is_ready && device->left_alone.empty() && kernel->left_alone.empty() &&
        chooser.recall(*kernel->chosen, shape, device->device.ordinal, pending, choice, is_changed)) {
        if (!is_changed) return as_written();
    } else {
        if (keep == nullptr && !device->left_alone.empty()) keep = device->left_alone.c_str();
        if (keep == nullptr && !is_ready && !make_ready(*kernel) && !kernel->is_ready.load())
            keep = "its code is being looked at";
        if (keep == nullptr && !kernel->left_alone.empty()) keep = kernel->left_alone.c_str();
        if (keep != nullptr && !chooser.tells()) return as_written();
        choosing::Kernel& chosen = kernel->is_ready.load(std::memory_order_acquire)
                                       ? *kernel->chosen
                                       : chooser.kernel_of(nullptr, kernel->name);
        const choosing::Decision decision =
            chooser.decide(chosen, shape, device->device, keep, range.local == nullptr, pending);
        if (choosing::is_written(shape, decision.launch)) return as_written();
        choice.launch = decision.launch;
    }
    const std::array<std::size_t, 3> local{choice.launch.block.x, choice.launch.block.y,
                                           choice.launch.block.z};
    const std::array<std::size_t, 3> global{local[0] * choice.launch.grid.x, local[1] * choice.launch.grid.y,
                                            local[2] * choice.launch.grid.z};
    // A dimension that the program does not name has one work-item.
    for (std::size_t d = range.dimensions; d < 3; ++d)
        if (global[d] != 1) return as_written();
    const cl_int status = launch.send(global.data(), local.data());
    if (!is_of_sizes(status)) return status;
    chooser.give_up(*kernel->chosen, shape, pending, fmt::format("error {}", status));
    return as_written();
}

}  // namespace trimtab::opencl
