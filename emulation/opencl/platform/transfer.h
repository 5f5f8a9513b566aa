// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills: every form comes down to one box of bytes.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "emulation/emulator/device/timeline.h"
#include "emulation/opencl/platform/command.h"
#include "emulation/opencl/platform/event.h"
#include "emulation/opencl/platform/memory.h"

namespace trimtab::opencl {

// One side of a copy: row r of slice s begins at start + s * slice_bytes + r * row_bytes.
struct Side {
    std::byte* start = nullptr;
    std::size_t row_bytes = 0, slice_bytes = 0;
    bool is_host = false;
};
struct Box {
    std::size_t width_bytes = 0, height = 1, depth = 1;
};

// Modelled: over the bus where one side is the host's, else through the device's memory twice.
[[nodiscard]] emulator::Work work_of_copy(const trimtab_device& device, const Side& to, const Side& from,
                                          const Box& box);
[[nodiscard]] emulator::Work work_of_fill(const trimtab_device& device, std::size_t bytes);
void copy_box(const Side& to, const Side& from, const Box& box);
// The command that copies; `memory` is kept until it is done.
[[nodiscard]] cl_int submit_copy(const Submission& submission, const Side& to, const Side& from,
                                 const Box& box, std::initializer_list<_cl_mem*> memory);
// A region of an image as one side of a copy; nothing: it does not lie in the image, or the type has no such dimension.
[[nodiscard]] std::optional<Box> image_box(const _cl_mem& image, const size_t* origin, const size_t* region);
[[nodiscard]] Side image_side(const _cl_mem& image, const size_t* origin);

// What calls that read or write memory from the host have in common.
struct HostTransfer {
    cl_command_queue queue = nullptr;
    cl_mem memory = nullptr;
    bool is_read = false, is_blocking = false;
    void* host = nullptr;
    Tail tail;

    [[nodiscard]] bool is_allowed() const {
        return is_read ? host_may_read(*memory) : host_may_write(*memory);
    }
    [[nodiscard]] cl_int submit(cl_command_type type, const Side& device, const Side& outside,
                                const Box& box) const {
        return submit_copy(submission_of(queue, type, tail, is_blocking), is_read ? outside : device,
                           is_read ? device : outside, box, {memory});
    }
};
void fill_box(const Side& to, const Box& box, const std::vector<std::byte>& pattern);

}  // namespace trimtab::opencl
