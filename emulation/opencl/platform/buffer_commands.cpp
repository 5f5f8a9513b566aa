// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading, writing, copying and filling buffers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulation/opencl/platform/command.h"
#include "emulation/opencl/platform/transfer.h"

using namespace trimtab::opencl;

namespace {

// A box in a buffer or in the host's memory, as the calls with rectangles have it.
struct Rectangle {
    const size_t* origin = nullptr;
    size_t row_pitch = 0, slice_pitch = 0;
};

// Fills in pitches that are 0. False: they are too small.
bool complete(Rectangle& rectangle, const size_t* region) {
    if (rectangle.row_pitch == 0) rectangle.row_pitch = region[0];
    if (rectangle.row_pitch < region[0]) return false;
    if (rectangle.slice_pitch == 0) rectangle.slice_pitch = region[1] * rectangle.row_pitch;
    return rectangle.slice_pitch >= region[1] * rectangle.row_pitch &&
           rectangle.slice_pitch % rectangle.row_pitch == 0;
}

size_t first_byte(const Rectangle& rectangle) {
    return rectangle.origin[2] * rectangle.slice_pitch + rectangle.origin[1] * rectangle.row_pitch +
           rectangle.origin[0];
}

size_t end_byte(const Rectangle& rectangle, const size_t* region) {
    return first_byte(rectangle) + (region[2] - 1) * rectangle.slice_pitch +
           (region[1] - 1) * rectangle.row_pitch + region[0];
}

Side side_of(std::byte* start, const Rectangle& rectangle, bool is_host) {
    return {.start = start + first_byte(rectangle),
            .row_bytes = rectangle.row_pitch,
            .slice_bytes = rectangle.slice_pitch,
            .is_host = is_host};
}

Side linear(const void* start, bool is_host) {
    return {.start = static_cast<std::byte*>(const_cast<void*>(start)), .is_host = is_host};
}

cl_int transfer(const HostTransfer& made, size_t offset, size_t size) {
    if (!is_a(made.queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
    if (const cl_int status = check_buffer(*made.queue, made.memory); status != CL_SUCCESS) return status;
    if (made.host == nullptr || size == 0 || !lies_within(offset, size, made.memory->size_bytes))
        return CL_INVALID_VALUE;
    if (!made.is_allowed()) return CL_INVALID_OPERATION;
    return made.submit(made.is_read ? CL_COMMAND_READ_BUFFER : CL_COMMAND_WRITE_BUFFER,
                       linear(made.memory->bytes + offset, false), linear(made.host, true),
                       {.width_bytes = size});
}

cl_int transfer_rectangle(const HostTransfer& made, Rectangle in_buffer, Rectangle in_host,
                          const size_t* region) {
    if (!is_a(made.queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
    if (const cl_int status = check_buffer(*made.queue, made.memory); status != CL_SUCCESS) return status;
    if (made.host == nullptr || in_buffer.origin == nullptr || in_host.origin == nullptr ||
        region == nullptr || region[0] == 0 || region[1] == 0 || region[2] == 0)
        return CL_INVALID_VALUE;
    if (!complete(in_buffer, region) || !complete(in_host, region) ||
        end_byte(in_buffer, region) > made.memory->size_bytes)
        return CL_INVALID_VALUE;
    if (!made.is_allowed()) return CL_INVALID_OPERATION;
    return made.submit(made.is_read ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER_RECT,
                       side_of(made.memory->bytes, in_buffer, false),
                       side_of(static_cast<std::byte*>(made.host), in_host, true),
                       {.width_bytes = region[0], .height = region[1], .depth = region[2]});
}

// Do two boxes of one memory have a byte in common?
bool overlap(const Side& a, const Side& b, const Box& box) {
    const auto end = [&](const Side& side) {
        return side.start + (box.depth - 1) * side.slice_bytes + (box.height - 1) * side.row_bytes +
               box.width_bytes;
    };
    if (a.start >= end(b) || b.start >= end(a)) return false;
    if (a.row_bytes != b.row_bytes || a.slice_bytes != b.slice_bytes || a.row_bytes == 0) return true;
    // Of one layout: by the distance of their first bytes in slices, rows and bytes.
    const auto distance = static_cast<std::size_t>(a.start < b.start ? b.start - a.start : a.start - b.start);
    const std::size_t slices = a.slice_bytes == 0 ? 0 : distance / a.slice_bytes,
                      rest = a.slice_bytes == 0 ? distance : distance % a.slice_bytes;
    const std::size_t rows = rest / a.row_bytes, columns = rest % a.row_bytes;
    const bool columns_meet = columns < box.width_bytes || a.row_bytes - columns < box.width_bytes;
    const bool rows_meet =
        rows < box.height || (a.slice_bytes != 0 && a.slice_bytes / a.row_bytes - rows <= box.height);
    return columns_meet && rows_meet && slices <= box.depth;
}

}  // namespace

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void* host, cl_uint wait_count, const cl_event* wait_list,
                                       cl_event* event) {
    return guarded([&] {
        return transfer({queue, buffer, true, blocking != CL_FALSE, host, {wait_count, wait_list, event}},
                        offset, size);
    });
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t size, const void* host, cl_uint wait_count,
                                        const cl_event* wait_list, cl_event* event) {
    return guarded([&] {
        return transfer({queue,
                         buffer,
                         false,
                         blocking != CL_FALSE,
                         const_cast<void*>(host),
                         {wait_count, wait_list, event}},
                        offset, size);
    });
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           const size_t* buffer_origin, const size_t* host_origin,
                                           const size_t* region, size_t buffer_row, size_t buffer_slice,
                                           size_t host_row, size_t host_slice, void* host, cl_uint wait_count,
                                           const cl_event* wait_list, cl_event* event) {
    return guarded([&] {
        return transfer_rectangle(
            {queue, buffer, true, blocking != CL_FALSE, host, {wait_count, wait_list, event}},
            {buffer_origin, buffer_row, buffer_slice}, {host_origin, host_row, host_slice}, region);
    });
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t* buffer_origin, const size_t* host_origin,
                                            const size_t* region, size_t buffer_row, size_t buffer_slice,
                                            size_t host_row, size_t host_slice, const void* host,
                                            cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
    return guarded([&] {
        return transfer_rectangle({queue,
                                   buffer,
                                   false,
                                   blocking != CL_FALSE,
                                   const_cast<void*>(host),
                                   {wait_count, wait_list, event}},
                                  {buffer_origin, buffer_row, buffer_slice},
                                  {host_origin, host_row, host_slice}, region);
    });
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                       size_t to_offset, size_t size, cl_uint wait_count,
                                       const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        for (cl_mem memory : {from, to})
            if (const cl_int status = check_buffer(*queue, memory); status != CL_SUCCESS) return status;
        if (size == 0 || !lies_within(from_offset, size, from->size_bytes) ||
            !lies_within(to_offset, size, to->size_bytes))
            return CL_INVALID_VALUE;
        const Side source = linear(from->bytes + from_offset, false),
                   target = linear(to->bytes + to_offset, false);
        const Box box{.width_bytes = size};
        if (overlap(source, target, box)) return CL_MEM_COPY_OVERLAP;
        return submit_copy(submission_of(queue, CL_COMMAND_COPY_BUFFER, {wait_count, wait_list, event}),
                           target, source, box, {from, to});
    });
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                                           const size_t* from_origin, const size_t* to_origin,
                                           const size_t* region, size_t from_row, size_t from_slice,
                                           size_t to_row, size_t to_slice, cl_uint wait_count,
                                           const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        for (cl_mem memory : {from, to})
            if (const cl_int status = check_buffer(*queue, memory); status != CL_SUCCESS) return status;
        if (from_origin == nullptr || to_origin == nullptr || region == nullptr || region[0] == 0 ||
            region[1] == 0 || region[2] == 0)
            return CL_INVALID_VALUE;
        Rectangle source{from_origin, from_row, from_slice}, target{to_origin, to_row, to_slice};
        if (!complete(source, region) || !complete(target, region) ||
            end_byte(source, region) > from->size_bytes || end_byte(target, region) > to->size_bytes)
            return CL_INVALID_VALUE;
        const Side first = side_of(from->bytes, source, false), second = side_of(to->bytes, target, false);
        const Box box{.width_bytes = region[0], .height = region[1], .depth = region[2]};
        if (overlap(first, second, box)) return CL_MEM_COPY_OVERLAP;
        return submit_copy(submission_of(queue, CL_COMMAND_COPY_BUFFER_RECT, {wait_count, wait_list, event}),
                           second, first, box, {from, to});
    });
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                                       size_t pattern_size, size_t offset, size_t size, cl_uint wait_count,
                                       const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        if (const cl_int status = check_buffer(*queue, buffer); status != CL_SUCCESS) return status;
        constexpr size_t largest_pattern = 128;
        if (pattern == nullptr || !std::has_single_bit(pattern_size) || pattern_size > largest_pattern ||
            offset % pattern_size != 0 || size % pattern_size != 0 ||
            !lies_within(offset, size, buffer->size_bytes))
            return CL_INVALID_VALUE;
        const auto* bytes = static_cast<const std::byte*>(pattern);
        const trimtab_device& device = queue->device->description.values;
        return Scheduler::instance().submit(
            submission_of(queue, CL_COMMAND_FILL_BUFFER, {wait_count, wait_list, event}),
            [=, &device, kept = Ref<_cl_mem>(buffer),
             value = std::vector<std::byte>(bytes, bytes + pattern_size)](
                trimtab::emulator::Work& work) -> cl_int {
                fill_box(linear(kept->bytes + offset, false), {.width_bytes = size}, value);
                work = work_of_fill(device, size);
                return CL_COMPLETE;
            });
    });
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem* memory,
                                              cl_mem_migration_flags flags, cl_uint wait_count,
                                              const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        constexpr cl_mem_migration_flags known =
            CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        if (count == 0 || memory == nullptr || (flags & ~known) != 0) return CL_INVALID_VALUE;
        for (cl_mem one : std::span(memory, count)) {
            if (!is_a(one, Kind::memory)) return CL_INVALID_MEM_OBJECT;
            if (one->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
        }
        // Memory is where it is.
        return Scheduler::instance().submit(
            submission_of(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, {wait_count, wait_list, event}), {});
    });
}
