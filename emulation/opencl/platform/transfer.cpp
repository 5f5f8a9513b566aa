// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/platform/transfer.h"

#include <cstring>

namespace trimtab::opencl {

using emulator::Work;

Work work_of_copy(const trimtab_device& device, const Side& to, const Side& from, const Box& box) {
    const auto bytes = static_cast<double>(box.width_bytes) * static_cast<double>(box.height) *
                       static_cast<double>(box.depth);
    return to.is_host == from.is_host ? emulator::work_of_device_copy(device, bytes)
                                      : emulator::work_of_bus_copy(device, to.is_host, bytes);
}

Work work_of_fill(const trimtab_device& device, std::size_t bytes) {
    return emulator::work_of_fill(device, static_cast<double>(bytes));
}

void copy_box(const Side& to, const Side& from, const Box& box) {
    for (std::size_t z = 0; z < box.depth; ++z)
        for (std::size_t y = 0; y < box.height; ++y)
            std::memmove(to.start + z * to.slice_bytes + y * to.row_bytes,
                         from.start + z * from.slice_bytes + y * from.row_bytes, box.width_bytes);
}

void fill_box(const Side& to, const Box& box, const std::vector<std::byte>& pattern) {
    for (std::size_t z = 0; z < box.depth; ++z) {
        for (std::size_t y = 0; y < box.height; ++y) {
            std::byte* row = to.start + z * to.slice_bytes + y * to.row_bytes;
            for (std::size_t x = 0; x < box.width_bytes; x += pattern.size())
                std::memcpy(row + x, pattern.data(), pattern.size());
        }
    }
}

cl_int submit_copy(const Submission& submission, const Side& to, const Side& from, const Box& box,
                   std::initializer_list<_cl_mem*> memory) {
    std::vector<Ref<_cl_mem>> kept(memory.begin(), memory.end());
    const trimtab_device& device = submission.queue->device->description.values;
    return Scheduler::instance().submit(submission,
                                        [=, &device, kept = std::move(kept)](Work& work) -> cl_int {
                                            copy_box(to, from, box);
                                            work = work_of_copy(device, to, from, box);
                                            return CL_COMPLETE;
                                        });
}

}  // namespace trimtab::opencl
