// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared virtual memory, coarse-grained: device memory is host memory, so that every address is shared.
#include <bit>
#include <cstring>

#include "emulation/opencl/platform/command.h"
#include "emulation/opencl/platform/transfer.h"

using namespace trimtab::opencl;

namespace {

// Of shared memory, the bytes from there on; 0: it is none.
size_t shared_bytes_at(const void* pointer) {
    const auto known = Platform::instance().heap().find(pointer);
    return known ? known->end() - reinterpret_cast<std::uint64_t>(pointer) : 0;
}

Side side_of(const void* pointer) {
    return {.start = static_cast<std::byte*>(const_cast<void*>(pointer)),
            .is_host = shared_bytes_at(pointer) == 0};
}

cl_int submit_nothing(cl_command_queue queue, cl_command_type type, bool is_blocking, const Tail& tail) {
    return Scheduler::instance().submit(submission_of(queue, type, tail, is_blocking), {});
}

}  // namespace

void* CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
    try {
        if (!is_a(context, Kind::context) || size == 0) return nullptr;
        constexpr cl_svm_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
        if ((flags & ~access) != 0 || std::popcount(flags & access) > 1)
            return nullptr;  // fine grain, atomics
        if (alignment != 0 && (!std::has_single_bit(alignment) || alignment > address_alignment_bytes))
            return nullptr;
        for (cl_device_id device : context->devices)
            if (size > largest_allocation_bytes(*device)) return nullptr;
        return Platform::instance().heap().allocate(size, trimtab::emulator::MemoryKind::managed, 0, 0);
    } catch (...) {
        return nullptr;
    }
}

void CL_API_CALL clSVMFree(cl_context context, void* pointer) {
    if (!is_a(context, Kind::context) || pointer == nullptr) return;
    static_cast<void>(guarded([&]() -> cl_int {
        Platform::instance().heap().release(pointer);
        return CL_SUCCESS;
    }));
}

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void* pointers[],
                                    void(CL_CALLBACK* function)(cl_command_queue, cl_uint, void*[], void*),
                                    void* data, cl_uint wait_count, const cl_event* wait_list,
                                    cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        if ((count == 0) != (pointers == nullptr)) return CL_INVALID_VALUE;
        std::vector<void*> all;
        if (pointers != nullptr) all.assign(pointers, pointers + count);
        return Scheduler::instance().submit(
            submission_of(queue, CL_COMMAND_SVM_FREE, {wait_count, wait_list, event}),
            [=, kept = std::make_shared<std::vector<void*>>(std::move(all))](
                trimtab::emulator::Work&) -> cl_int {
                if (function != nullptr) {
                    function(queue, static_cast<cl_uint>(kept->size()), kept->data(), data);
                } else {
                    for (void* pointer : *kept) clSVMFree(queue->context.get(), pointer);
                }
                return CL_COMPLETE;
            });
    });
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void* to, const void* from,
                                      size_t size, cl_uint wait_count, const cl_event* wait_list,
                                      cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        if (to == nullptr || from == nullptr) return CL_INVALID_VALUE;
        const auto* a = static_cast<const std::byte*>(from);
        const auto* b = static_cast<const std::byte*>(to);
        if (a < b + size && b < a + size) return CL_MEM_COPY_OVERLAP;
        return submit_copy(
            submission_of(queue, CL_COMMAND_SVM_MEMCPY, {wait_count, wait_list, event}, blocking != CL_FALSE),
            side_of(to), side_of(from), {.width_bytes = size}, {});
    });
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void* pointer, const void* pattern,
                                       size_t pattern_size, size_t size, cl_uint wait_count,
                                       const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        constexpr size_t largest_pattern = 128;
        if (pointer == nullptr || pattern == nullptr || !std::has_single_bit(pattern_size) ||
            pattern_size > largest_pattern || size % pattern_size != 0 ||
            reinterpret_cast<std::uintptr_t>(pointer) % pattern_size != 0)
            return CL_INVALID_VALUE;
        const auto* bytes = static_cast<const std::byte*>(pattern);
        const trimtab_device& device = queue->device->description.values;
        return Scheduler::instance().submit(
            submission_of(queue, CL_COMMAND_SVM_MEMFILL, {wait_count, wait_list, event}),
            [=, &device, value = std::vector<std::byte>(bytes, bytes + pattern_size)](
                trimtab::emulator::Work& work) -> cl_int {
                fill_box(side_of(pointer), {.width_bytes = size}, value);
                work = work_of_fill(device, size);
                return CL_COMPLETE;
            });
    });
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags,
                                   void* pointer, size_t size, cl_uint wait_count, const cl_event* wait_list,
                                   cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        constexpr cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
        if (pointer == nullptr || size == 0 || (flags & ~known) != 0) return CL_INVALID_VALUE;
        return submit_nothing(queue, CL_COMMAND_SVM_MAP, blocking != CL_FALSE,
                              {wait_count, wait_list, event});
    });
}

cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void* pointer, cl_uint wait_count,
                                     const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        if (pointer == nullptr) return CL_INVALID_VALUE;
        return submit_nothing(queue, CL_COMMAND_SVM_UNMAP, false, {wait_count, wait_list, event});
    });
}

cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count, const void** pointers,
                                          const size_t* sizes, cl_mem_migration_flags flags,
                                          cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        constexpr cl_mem_migration_flags known =
            CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        if (count == 0 || pointers == nullptr || (flags & ~known) != 0) return CL_INVALID_VALUE;
        for (cl_uint i = 0; i < count; ++i) {
            const size_t bytes = shared_bytes_at(pointers[i]);
            if (bytes == 0 || (sizes != nullptr && sizes[i] > bytes)) return CL_INVALID_VALUE;
        }
        return submit_nothing(queue, CL_COMMAND_SVM_MIGRATE_MEM, false, {wait_count, wait_list, event});
    });
}
