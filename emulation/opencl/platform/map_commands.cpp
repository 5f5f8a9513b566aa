// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mapping memory objects, which lie where the host sees them anyway.
#include <cstring>
#include <map>
#include <optional>

#include "emulation/opencl/platform/command.h"
#include "emulation/opencl/platform/transfer.h"

using namespace trimtab::opencl;

namespace {

constexpr cl_map_flags known_flags = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

// What a mapping must bring to the host and back: of memory that kernels see a copy of, the copy's bytes.
struct Mapping {
    Side device, host;
    Box box;
    cl_map_flags flags = 0;
    unsigned count = 0;
};

// Of one object and one place in it, any number.
class Mappings {
  public:
    static Mappings& instance() {
        static Mappings& mappings = *new Mappings;
        return mappings;
    }
    void add(const _cl_mem* memory, const void* place, const Mapping& mapping) {
        const std::lock_guard lock(mutex_);
        Mapping& known = all_[{memory, place}];
        const unsigned count = known.count;
        const cl_map_flags flags = known.flags | mapping.flags;
        known = mapping;
        known.count = count + 1;
        known.flags = flags;
    }
    std::optional<Mapping> take(const _cl_mem* memory, const void* place) {
        const std::lock_guard lock(mutex_);
        const auto found = all_.find({memory, place});
        if (found == all_.end()) return std::nullopt;
        const Mapping mapping = found->second;
        if (--found->second.count == 0) all_.erase(found);
        return mapping;
    }

  private:
    std::mutex mutex_;
    std::map<std::pair<const _cl_mem*, const void*>, Mapping> all_;
};

cl_int check_flags(const _cl_mem& memory, cl_map_flags flags) {
    if ((flags & ~known_flags) != 0 ||
        ((flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0 && (flags & (CL_MAP_READ | CL_MAP_WRITE)) != 0))
        return CL_INVALID_VALUE;
    if ((flags & CL_MAP_READ) != 0 && !host_may_read(memory)) return CL_INVALID_OPERATION;
    if ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0 && !host_may_write(memory))
        return CL_INVALID_OPERATION;
    return CL_SUCCESS;
}

Made<void*> map(const Submission& submission, cl_mem memory, const Mapping& mapping) {
    const trimtab_device& device = submission.queue->device->description.values;
    // As a device that has the bytes elsewhere would bring them.
    const bool is_brought = (mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0;
    Side timed = mapping.host;
    timed.is_host = true;
    Mappings::instance().add(memory, mapping.host.start, mapping);
    memory->map_count.fetch_add(1);
    const cl_int status = Scheduler::instance().submit(
        submission, [=, &device, kept = Ref<_cl_mem>(memory)](trimtab::emulator::Work& work) -> cl_int {
            if (!is_brought) return CL_COMPLETE;
            if (mapping.host.start != mapping.device.start)
                copy_box(mapping.host, mapping.device, mapping.box);
            work = work_of_copy(device, timed, mapping.device, mapping.box);
            return CL_COMPLETE;
        });
    if (status == CL_SUCCESS) return mapping.host.start;
    static_cast<void>(Mappings::instance().take(memory, mapping.host.start));
    memory->map_count.fetch_sub(1);
    return std::unexpected(status);
}

}  // namespace

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t size, cl_uint wait_count,
                                     const cl_event* wait_list, cl_event* event, cl_int* error) {
    return made<void*>(error, [&]() -> Made<void*> {
        if (!is_a(queue, Kind::queue)) return std::unexpected(CL_INVALID_COMMAND_QUEUE);
        if (const cl_int status = check_buffer(*queue, buffer); status != CL_SUCCESS)
            return std::unexpected(status);
        if (size == 0 || !lies_within(offset, size, buffer->size_bytes))
            return std::unexpected(CL_INVALID_VALUE);
        if (const cl_int status = check_flags(*buffer, flags); status != CL_SUCCESS)
            return std::unexpected(status);
        auto* host = buffer->is_copied() ? static_cast<std::byte*>(buffer->host_pointer) : buffer->bytes;
        return map(
            submission_of(queue, CL_COMMAND_MAP_BUFFER, {wait_count, wait_list, event}, blocking != CL_FALSE),
            buffer,
            {.device = {.start = buffer->bytes + offset},
             .host = {.start = host + offset},
             .box = {.width_bytes = size},
             .flags = flags});
    });
}

void* CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                    cl_map_flags flags, const size_t* origin, const size_t* region,
                                    size_t* row_pitch, size_t* slice_pitch, cl_uint wait_count,
                                    const cl_event* wait_list, cl_event* event, cl_int* error) {
    return made<void*>(error, [&]() -> Made<void*> {
        if (!is_a(queue, Kind::queue)) return std::unexpected(CL_INVALID_COMMAND_QUEUE);
        if (const cl_int status = check_image(*queue, image); status != CL_SUCCESS)
            return std::unexpected(status);
        const auto box = image_box(*image, origin, region);
        if (!box || row_pitch == nullptr) return std::unexpected(CL_INVALID_VALUE);
        if (const cl_int status = check_flags(*image, flags); status != CL_SUCCESS)
            return std::unexpected(status);
        const ImageLayout& layout = *image->image;
        const bool has_slices = layout.type == CL_MEM_OBJECT_IMAGE3D || layout.is_array();
        if (has_slices && slice_pitch == nullptr) return std::unexpected(CL_INVALID_VALUE);
        const Side device = image_side(*image, origin);
        const auto result = map(
            submission_of(queue, CL_COMMAND_MAP_IMAGE, {wait_count, wait_list, event}, blocking != CL_FALSE),
            image, {.device = device, .host = device, .box = *box, .flags = flags});
        if (result) {
            *row_pitch = layout.row_bytes;
            if (slice_pitch != nullptr) *slice_pitch = has_slices ? layout.slice_bytes : 0;
        }
        return result;
    });
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* place,
                                           cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        if (!is_a(memory, Kind::memory)) return CL_INVALID_MEM_OBJECT;
        if (memory->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
        if (const auto list = wait_list_of(wait_count, wait_list); !list) return list.error();
        const auto mapping = Mappings::instance().take(memory, place);
        if (!mapping) return CL_INVALID_VALUE;
        const trimtab_device& device = queue->device->description.values;
        return Scheduler::instance().submit(
            submission_of(queue, CL_COMMAND_UNMAP_MEM_OBJECT, {wait_count, wait_list, event}),
            [mapping = *mapping, &device,
             kept = Ref<_cl_mem>(memory)](trimtab::emulator::Work& work) -> cl_int {
                if ((mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0) {
                    if (mapping.host.start != mapping.device.start)
                        copy_box(mapping.device, mapping.host, mapping.box);
                    Side from = mapping.host;
                    from.is_host = true;
                    work = work_of_copy(device, mapping.device, from, mapping.box);
                }
                kept->map_count.fetch_sub(1);
                return CL_COMPLETE;
            });
    });
}
