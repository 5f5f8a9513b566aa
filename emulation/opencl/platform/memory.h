// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory objects: buffers, parts of them, images. Device memory is host memory, so that a device address is a host
// address: a mapped object lies where it always lies.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "emulation/emulator/exec/texture.h"
#include "emulation/opencl/platform/context.h"
#include "emulation/opencl/platform/info.h"

namespace trimtab::opencl {

// An image's texels: in elements (texels), and where they lie.
struct ImageLayout {
    cl_image_format format{};
    cl_mem_object_type type = CL_MEM_OBJECT_IMAGE2D;
    std::size_t width = 1, height = 1, depth = 1, layers = 1;
    std::size_t element_bytes = 4, row_bytes = 0, slice_bytes = 0;
    // As clGetImageInfo and regions have it: 0 where the type has no such dimension.
    [[nodiscard]] std::size_t told_height() const;
    [[nodiscard]] std::size_t told_depth() const { return type == CL_MEM_OBJECT_IMAGE3D ? depth : 0; }
    [[nodiscard]] std::size_t told_layers() const;
    // Of a region's coordinates: (x, y, z), where y or z is the layer of an array.
    [[nodiscard]] std::array<std::size_t, 3> extent() const;
    // The same as offsets in bytes.
    [[nodiscard]] std::array<std::size_t, 3> steps() const;
    [[nodiscard]] bool is_array() const {
        return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    }
};

}  // namespace trimtab::opencl

struct _cl_mem : trimtab::opencl::Object {
    _cl_mem() : Object(trimtab::opencl::Kind::memory) {}
    ~_cl_mem();

    trimtab::opencl::Ref<_cl_context> context;
    cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    cl_mem_flags flags = 0;
    std::size_t size_bytes = 0;
    void* host_pointer = nullptr;  // the program's, where it is to be used (CL_MEM_USE_HOST_PTR)
    std::byte* bytes = nullptr;    // where kernels see it
    enum class Source : std::uint8_t {
        heap,      // memory of its own
        program,   // the program's memory, where kernels see it
        elsewhere  // another object's memory, or the program's own shared memory
    };
    Source source = Source::heap;
    trimtab::opencl::Ref<_cl_mem> parent;  // of a part, or of an image over a buffer
    std::size_t origin_bytes = 0;
    std::atomic<cl_uint> map_count = 0;
    std::optional<trimtab::opencl::ImageLayout> image;
    std::uint64_t image_id = 0;  // what kernels call it
    std::vector<cl_mem_properties> properties;
    trimtab::opencl::EndCallbacks<cl_mem> end_callbacks;

    // The program's memory that is copied to and fro where kernels cannot see it.
    [[nodiscard]] bool is_copied() const { return host_pointer != nullptr && host_pointer != bytes; }
};

namespace trimtab::opencl {

[[nodiscard]] inline bool is_buffer(const _cl_mem* memory) {
    return is_a(memory, Kind::memory) && memory->type == CL_MEM_OBJECT_BUFFER;
}
[[nodiscard]] inline bool is_image(const _cl_mem* memory) {
    return is_a(memory, Kind::memory) && memory->image.has_value();
}

// The flags contradict each other, or hold what there is not.
[[nodiscard]] bool are_memory_flags(cl_mem_flags flags);
// Gives the object its memory, which holds what `host` does where the flags say so. 0 or an error.
[[nodiscard]] cl_int give_memory(_cl_mem& memory, void* host, std::size_t size_bytes);

// Bytes of a texel; 0: there is no such format.
[[nodiscard]] std::size_t texel_bytes(const cl_image_format& format);
[[nodiscard]] bool is_supported(const cl_image_format& format);

[[nodiscard]] std::vector<cl_image_format> supported_formats();
// As kernels read it through a sampler of these bits, and write it.
[[nodiscard]] emulator::Texture emulated_texture(const _cl_mem& image, std::uint32_t sampler);
[[nodiscard]] emulator::Image emulated_image(const _cl_mem& image);

// The images that kernels know by number, and what they read them as.
class Images {
  public:
    [[nodiscard]] static Images& instance();
    [[nodiscard]] std::uint64_t add(_cl_mem& image);
    void remove(std::uint64_t id);
    [[nodiscard]] _cl_mem* find(std::uint64_t id) const;

  private:
    mutable std::mutex mutex_;
    std::uint64_t next_ = 1;
    std::map<std::uint64_t, _cl_mem*> images_;
};

// A kernel's handle of an image is its number, above the bits of the sampler that it is read through.
inline constexpr unsigned sampler_bits = 16;

// The heap as kernels see it during one launch, with the images that they read and write.
class LaunchMemory : public emulator::HeapMemory {
  public:
    using HeapMemory::HeapMemory;
    [[nodiscard]] const emulator::Texture* texture(std::uint64_t handle) const override;
    [[nodiscard]] const emulator::Surface* surface(std::uint64_t handle) const override;

  private:
    mutable std::mutex mutex_;
    mutable std::map<std::uint64_t, emulator::Texture> textures_;
    mutable std::map<std::uint64_t, emulator::Surface> surfaces_;
};

}  // namespace trimtab::opencl

struct _cl_sampler : trimtab::opencl::Object {
    _cl_sampler() : Object(trimtab::opencl::Kind::sampler) {}

    trimtab::opencl::Ref<_cl_context> context;
    cl_bool normalized = CL_TRUE;
    cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
    cl_filter_mode filter = CL_FILTER_NEAREST;
    std::vector<cl_sampler_properties> properties;

    // As OpenCL C's CLK_ constants have it (opencl-c-base.h).
    [[nodiscard]] std::uint32_t bits() const;
};
