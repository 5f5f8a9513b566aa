// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers and parts of them, and what all memory objects have in common.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulation/opencl/platform/memory.h"

namespace trimtab::opencl {
namespace {

constexpr cl_mem_flags access_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags host_access_flags =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags host_pointer_flags =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

}  // namespace

bool are_memory_flags(cl_mem_flags flags) {
    if ((flags & ~(access_flags | host_access_flags | host_pointer_flags)) != 0) return false;
    if (std::popcount(flags & access_flags) > 1 || std::popcount(flags & host_access_flags) > 1) return false;
    return (flags & CL_MEM_USE_HOST_PTR) == 0 ||
           (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0;
}

cl_int give_memory(_cl_mem& memory, void* host, std::size_t size_bytes) {
    emulator::Heap& heap = Platform::instance().heap();
    memory.size_bytes = size_bytes;
    if ((memory.flags & CL_MEM_USE_HOST_PTR) != 0) {
        memory.host_pointer = host;
        // Kernels see the program's memory itself, where nothing of it is known yet and vectors lie as they must.
        constexpr std::uintptr_t alignment = 16;  // of PTX's widest access
        if (const auto known = heap.find(host);
            known && known->end() - reinterpret_cast<std::uint64_t>(host) >= size_bytes) {
            memory.bytes = static_cast<std::byte*>(host);
            memory.source = _cl_mem::Source::elsewhere;
            return CL_SUCCESS;
        }
        if (reinterpret_cast<std::uintptr_t>(host) % alignment == 0 &&
            heap.add_registered(host, size_bytes, 0, 0)) {
            memory.bytes = static_cast<std::byte*>(host);
            memory.source = _cl_mem::Source::program;
            return CL_SUCCESS;
        }
    }
    memory.bytes = heap.allocate(size_bytes, emulator::MemoryKind::device, 0, 0);
    if (memory.bytes == nullptr) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (host != nullptr) std::memcpy(memory.bytes, host, size_bytes);
    return CL_SUCCESS;
}

}  // namespace trimtab::opencl

using namespace trimtab::opencl;

_cl_mem::~_cl_mem() {
    end_callbacks.call(this);
    if (image_id != 0) Images::instance().remove(image_id);
    trimtab::emulator::Heap& heap = Platform::instance().heap();
    if (source == Source::program)
        heap.remove_registered(bytes);
    else if (source == Source::heap && bytes != nullptr)
        heap.release(bytes);
}

namespace {

Made<cl_mem> make_buffer(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                         size_t size, void* host) {
    if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
    if (properties != nullptr && *properties != 0) return std::unexpected(CL_INVALID_PROPERTY);
    if (!are_memory_flags(flags)) return std::unexpected(CL_INVALID_VALUE);
    if (size == 0) return std::unexpected(CL_INVALID_BUFFER_SIZE);
    for (cl_device_id device : context->devices)
        if (size > largest_allocation_bytes(*device)) return std::unexpected(CL_INVALID_BUFFER_SIZE);
    const bool wants_host = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    if (wants_host != (host != nullptr)) return std::unexpected(CL_INVALID_HOST_PTR);
    auto memory = std::make_unique<_cl_mem>();
    memory->context = context;
    memory->flags = (flags & (CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)) != 0 ? flags : flags | CL_MEM_READ_WRITE;
    if (properties != nullptr) memory->properties.push_back(0);
    if (const cl_int status = give_memory(*memory, host, size); status != CL_SUCCESS)
        return std::unexpected(status);
    return memory.release();
}

}  // namespace

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                  cl_int* error) {
    return made<cl_mem>(error, [&] { return make_buffer(context, nullptr, flags, size, host); });
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties,
                                                cl_mem_flags flags, size_t size, void* host, cl_int* error) {
    return made<cl_mem>(error, [&] { return make_buffer(context, properties, flags, size, host); });
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void* info, cl_int* error) {
    return made<cl_mem>(error, [&]() -> Made<cl_mem> {
        if (!is_buffer(buffer) || buffer->parent) return std::unexpected(CL_INVALID_MEM_OBJECT);
        if (!are_memory_flags(flags) || (flags & host_pointer_flags) != 0)
            return std::unexpected(CL_INVALID_VALUE);
        if (type != CL_BUFFER_CREATE_TYPE_REGION || info == nullptr) return std::unexpected(CL_INVALID_VALUE);
        cl_buffer_region region{};
        std::memcpy(&region, info, sizeof region);
        // Not more than the whole may be done with the part.
        if (((buffer->flags & CL_MEM_WRITE_ONLY) != 0 &&
             (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) != 0) ||
            ((buffer->flags & CL_MEM_READ_ONLY) != 0 &&
             (flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) != 0) ||
            ((buffer->flags & CL_MEM_HOST_WRITE_ONLY) != 0 && (flags & CL_MEM_HOST_READ_ONLY) != 0) ||
            ((buffer->flags & CL_MEM_HOST_READ_ONLY) != 0 && (flags & CL_MEM_HOST_WRITE_ONLY) != 0) ||
            ((buffer->flags & CL_MEM_HOST_NO_ACCESS) != 0 &&
             (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0))
            return std::unexpected(CL_INVALID_VALUE);
        if (region.size == 0) return std::unexpected(CL_INVALID_BUFFER_SIZE);
        if (region.origin > buffer->size_bytes || region.size > buffer->size_bytes - region.origin)
            return std::unexpected(CL_INVALID_VALUE);
        if (region.origin % address_alignment_bytes != 0)
            return std::unexpected(CL_MISALIGNED_SUB_BUFFER_OFFSET);
        auto* part = new _cl_mem;
        part->context = buffer->context;
        const auto inherited = [&](cl_mem_flags group) {
            return (flags & group) != 0 ? flags & group : buffer->flags & group;
        };
        part->flags =
            inherited(access_flags) | inherited(host_access_flags) | (buffer->flags & host_pointer_flags);
        part->size_bytes = region.size;
        part->parent = buffer;
        part->origin_bytes = region.origin;
        part->source = _cl_mem::Source::elsewhere;
        part->bytes = buffer->bytes + region.origin;
        if (buffer->host_pointer != nullptr)
            part->host_pointer = static_cast<std::byte*>(buffer->host_pointer) + region.origin;
        return part;
    });
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memory) {
    return retain(memory, Kind::memory, CL_INVALID_MEM_OBJECT);
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem memory) {
    return release(memory, Kind::memory, CL_INVALID_MEM_OBJECT);
}

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memory, void(CL_CALLBACK* function)(cl_mem, void*),
                                                    void* data) {
    return guarded([&]() -> cl_int {
        if (!is_a(memory, Kind::memory)) return CL_INVALID_MEM_OBJECT;
        if (function == nullptr) return CL_INVALID_VALUE;
        memory->end_callbacks.add(function, data);
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memory, cl_mem_info name, size_t size, void* value,
                                      size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(memory, Kind::memory)) return CL_INVALID_MEM_OBJECT;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_MEM_TYPE:
                return answer.value(memory->type);
            case CL_MEM_FLAGS:
                return answer.value(memory->flags);
            case CL_MEM_SIZE:
                return answer.value(memory->size_bytes);
            case CL_MEM_HOST_PTR:
                return answer.value(memory->host_pointer);
            case CL_MEM_MAP_COUNT:
                return answer.value<cl_uint>(memory->map_count.load());
            case CL_MEM_REFERENCE_COUNT:
                return answer.value<cl_uint>(memory->references.load());
            case CL_MEM_CONTEXT:
                return answer.value<cl_context>(memory->context.get());
            case CL_MEM_ASSOCIATED_MEMOBJECT:
                return answer.value<cl_mem>(memory->parent.get());
            case CL_MEM_OFFSET:
                return answer.value(memory->origin_bytes);
            case CL_MEM_USES_SVM_POINTER: {
                const auto known = memory->host_pointer == nullptr
                                       ? std::nullopt
                                       : Platform::instance().heap().find(memory->host_pointer);
                return answer.value<cl_bool>(
                    known && known->kind == trimtab::emulator::MemoryKind::managed ? CL_TRUE : CL_FALSE);
            }
            case CL_MEM_PROPERTIES:
                return answer.list(memory->properties);
            default:
                return CL_INVALID_VALUE;
        }
    });
}
