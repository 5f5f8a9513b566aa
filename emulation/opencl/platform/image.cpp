// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images: made, asked about.
#include <algorithm>
#include <bit>

#include "emulation/opencl/platform/memory.h"

namespace trimtab::opencl {

std::size_t ImageLayout::told_height() const {
    const bool has =
        type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D;
    return has ? height : 0;
}

std::size_t ImageLayout::told_layers() const {
    return is_array() ? layers : 0;
}

std::array<std::size_t, 3> ImageLayout::extent() const {
    if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {width, layers, 1};
    return {width, height, type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? layers : depth};
}

std::array<std::size_t, 3> ImageLayout::steps() const {
    if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {element_bytes, slice_bytes, 0};
    return {element_bytes, row_bytes, slice_bytes};
}

}  // namespace trimtab::opencl

using namespace trimtab::opencl;

namespace {

// What the description says, checked: the layout of an image without a host's pitches.
Made<ImageLayout> read_layout(const cl_image_format& format, const cl_image_desc& description) {
    ImageLayout layout{
        .format = format, .type = description.image_type, .element_bytes = texel_bytes(format)};
    const auto fits = [](std::size_t value, std::size_t most) { return value >= 1 && value <= most; };
    layout.width = description.image_width;
    bool is_right = false;
    switch (description.image_type) {
        case CL_MEM_OBJECT_IMAGE1D:
            is_right = fits(layout.width, most_image_width);
            break;
        case CL_MEM_OBJECT_IMAGE1D_BUFFER:
            is_right = fits(layout.width, most_buffer_image_width);
            break;
        case CL_MEM_OBJECT_IMAGE1D_ARRAY:
            layout.layers = description.image_array_size;
            is_right = fits(layout.width, most_image_width) && fits(layout.layers, most_image_layers);
            break;
        case CL_MEM_OBJECT_IMAGE2D:
            layout.height = description.image_height;
            is_right = fits(layout.width, most_image_width) && fits(layout.height, most_image_height);
            break;
        case CL_MEM_OBJECT_IMAGE2D_ARRAY:
            layout.height = description.image_height;
            layout.layers = description.image_array_size;
            is_right = fits(layout.width, most_image_width) && fits(layout.height, most_image_height) &&
                       fits(layout.layers, most_image_layers);
            break;
        case CL_MEM_OBJECT_IMAGE3D:
            layout.height = description.image_height;
            layout.depth = description.image_depth;
            is_right = fits(layout.width, most_image_depth) && fits(layout.height, most_image_depth) &&
                       fits(layout.depth, most_image_depth);
            break;
        default:
            return std::unexpected(CL_INVALID_IMAGE_DESCRIPTOR);
    }
    if (!is_right) return std::unexpected(CL_INVALID_IMAGE_SIZE);
    layout.row_bytes = layout.width * layout.element_bytes;
    layout.slice_bytes = layout.row_bytes * layout.height;
    return layout;
}

// The pitches of what the host gives; 0 in the description: none but the texels'.
bool read_pitches(const cl_image_desc& description, const ImageLayout& layout, std::size_t& row,
                  std::size_t& slice) {
    row = description.image_row_pitch == 0 ? layout.row_bytes : description.image_row_pitch;
    if (row < layout.row_bytes || row % layout.element_bytes != 0) return false;
    const std::size_t least = layout.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? row : row * layout.height;
    slice = description.image_slice_pitch == 0 ? least : description.image_slice_pitch;
    return slice >= least && slice % row == 0;
}

void copy_from_host(_cl_mem& image, const void* host, std::size_t row, std::size_t slice) {
    const ImageLayout& layout = *image.image;
    for (std::size_t z = 0; z < std::max(layout.depth, layout.layers); ++z)
        for (std::size_t y = 0; y < layout.height; ++y)
            std::memcpy(image.bytes + z * layout.slice_bytes + y * layout.row_bytes,
                        static_cast<const std::byte*>(host) + z * slice + y * row,
                        layout.width * layout.element_bytes);
}

Made<cl_mem> make_image(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                        const cl_image_format* format, const cl_image_desc* description, void* host) {
    if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
    if (properties != nullptr && *properties != 0) return std::unexpected(CL_INVALID_PROPERTY);
    if (!are_memory_flags(flags)) return std::unexpected(CL_INVALID_VALUE);
    if (format == nullptr || texel_bytes(*format) == 0)
        return std::unexpected(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    if (description == nullptr || description->num_mip_levels != 0 || description->num_samples != 0)
        return std::unexpected(CL_INVALID_IMAGE_DESCRIPTOR);
    if (!is_supported(*format)) return std::unexpected(CL_IMAGE_FORMAT_NOT_SUPPORTED);
    auto layout = read_layout(*format, *description);
    if (!layout) return std::unexpected(layout.error());
    std::size_t row = 0, slice = 0;
    const bool wants_host = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    if (wants_host != (host != nullptr)) return std::unexpected(CL_INVALID_HOST_PTR);
    cl_mem buffer = description->mem_object;
    const bool has_pitches = description->image_row_pitch != 0 || description->image_slice_pitch != 0;
    if ((has_pitches && host == nullptr && buffer == nullptr) ||
        !read_pitches(*description, *layout, row, slice))
        return std::unexpected(CL_INVALID_IMAGE_DESCRIPTOR);
    const bool is_over_buffer = description->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    if (is_over_buffer != (buffer != nullptr) && description->image_type != CL_MEM_OBJECT_IMAGE2D)
        return std::unexpected(CL_INVALID_IMAGE_DESCRIPTOR);
    if (is_over_buffer && buffer == nullptr) return std::unexpected(CL_INVALID_IMAGE_DESCRIPTOR);

    auto image = std::make_unique<_cl_mem>();
    image->context = context;
    image->type = description->image_type;
    image->flags = (flags & (CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)) != 0 ? flags : flags | CL_MEM_READ_WRITE;
    if (properties != nullptr) image->properties.push_back(0);
    const std::size_t slices = std::max(layout->depth, layout->layers);
    if (buffer != nullptr) {
        // An image of one or two dimensions over a buffer's bytes.
        if (!is_buffer(buffer)) return std::unexpected(CL_INVALID_IMAGE_DESCRIPTOR);
        layout->row_bytes = row;
        layout->slice_bytes = slice;
        if (row * layout->height > buffer->size_bytes) return std::unexpected(CL_INVALID_IMAGE_SIZE);
        if (host != nullptr) return std::unexpected(CL_INVALID_HOST_PTR);
        image->parent = buffer;
        image->source = _cl_mem::Source::elsewhere;
        image->bytes = buffer->bytes;
        image->size_bytes = row * layout->height;
        image->flags = buffer->flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR);
        image->flags |=
            (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)) != 0
                ? flags
                : flags | (buffer->flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY));
        image->host_pointer = buffer->host_pointer;
    } else if ((flags & CL_MEM_USE_HOST_PTR) != 0) {
        layout->row_bytes = row;
        layout->slice_bytes = slice;
        const std::size_t last =
            (slices - 1) * slice + (layout->height - 1) * row + layout->width * layout->element_bytes;
        if (const cl_int status = give_memory(*image, host, last); status != CL_SUCCESS)
            return std::unexpected(status);
    } else {
        if (const cl_int status = give_memory(*image, nullptr, layout->slice_bytes * slices);
            status != CL_SUCCESS)
            return std::unexpected(status);
    }
    image->image = *layout;
    if ((flags & CL_MEM_COPY_HOST_PTR) != 0) copy_from_host(*image, host, row, slice);
    image->image_id = Images::instance().add(*image);
    return image.release();
}

}  // namespace

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                 const cl_image_desc* description, void* host, cl_int* error) {
    return made<cl_mem>(error,
                        [&] { return make_image(context, nullptr, flags, format, description, host); });
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties* properties,
                                               cl_mem_flags flags, const cl_image_format* format,
                                               const cl_image_desc* description, void* host, cl_int* error) {
    return made<cl_mem>(error,
                        [&] { return make_image(context, properties, flags, format, description, host); });
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                   size_t width, size_t height, size_t row_pitch, void* host, cl_int* error) {
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = width;
    description.image_height = height;
    description.image_row_pitch = row_pitch;
    cl_mem image = clCreateImage(context, flags, format, &description, host, error);
    if (error != nullptr && *error == CL_INVALID_IMAGE_DESCRIPTOR) *error = CL_INVALID_IMAGE_SIZE;
    return image;
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                   size_t width, size_t height, size_t depth, size_t row_pitch,
                                   size_t slice_pitch, void* host, cl_int* error) {
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE3D;
    description.image_width = width;
    description.image_height = height;
    description.image_depth = depth;
    description.image_row_pitch = row_pitch;
    description.image_slice_pitch = slice_pitch;
    cl_mem image = clCreateImage(context, flags, format, &description, host, error);
    if (error != nullptr && *error == CL_INVALID_IMAGE_DESCRIPTOR) *error = CL_INVALID_IMAGE_SIZE;
    return image;
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                              cl_uint count, cl_image_format* formats, cl_uint* count_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(context, Kind::context)) return CL_INVALID_CONTEXT;
        if (!are_memory_flags(flags & ~cl_mem_flags{CL_MEM_KERNEL_READ_AND_WRITE})) return CL_INVALID_VALUE;
        if (type < CL_MEM_OBJECT_IMAGE2D || type > CL_MEM_OBJECT_IMAGE1D_BUFFER) return CL_INVALID_VALUE;
        if (count == 0 && formats != nullptr) return CL_INVALID_VALUE;
        // One kernel cannot do both with one image.
        const auto all = (flags & CL_MEM_KERNEL_READ_AND_WRITE) != 0 ? std::vector<cl_image_format>()
                                                                     : supported_formats();
        for (std::size_t i = 0; formats != nullptr && i < std::min<std::size_t>(count, all.size()); ++i)
            formats[i] = all[i];
        if (count_back != nullptr) *count_back = static_cast<cl_uint>(all.size());
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clGetImageInfo(cl_mem memory, cl_image_info name, size_t size, void* value,
                                  size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_image(memory)) return CL_INVALID_MEM_OBJECT;
        const Answer answer(size, value, size_back);
        const ImageLayout& layout = *memory->image;
        switch (name) {
            case CL_IMAGE_FORMAT:
                return answer.value(layout.format);
            case CL_IMAGE_ELEMENT_SIZE:
                return answer.value(layout.element_bytes);
            case CL_IMAGE_ROW_PITCH:
                return answer.value(layout.row_bytes);
            case CL_IMAGE_SLICE_PITCH:
                return answer.value(layout.type == CL_MEM_OBJECT_IMAGE3D || layout.is_array()
                                        ? layout.slice_bytes
                                        : size_t{0});
            case CL_IMAGE_WIDTH:
                return answer.value(layout.width);
            case CL_IMAGE_HEIGHT:
                return answer.value(layout.told_height());
            case CL_IMAGE_DEPTH:
                return answer.value(layout.told_depth());
            case CL_IMAGE_ARRAY_SIZE:
                return answer.value(layout.told_layers());
            case CL_IMAGE_BUFFER:
                return answer.value<cl_mem>(memory->parent.get());
            case CL_IMAGE_NUM_MIP_LEVELS:
            case CL_IMAGE_NUM_SAMPLES:
                return answer.value<cl_uint>(0);
            default:
                return CL_INVALID_VALUE;
        }
    });
}
