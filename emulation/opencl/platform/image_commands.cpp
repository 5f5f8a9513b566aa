// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading, writing, copying and filling images.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "emulation/emulator/exec/half.h"
#include "emulation/opencl/platform/command.h"
#include "emulation/opencl/platform/transfer.h"

namespace trimtab::opencl {

std::optional<Box> image_box(const _cl_mem& image, const size_t* origin, const size_t* region) {
    if (origin == nullptr || region == nullptr) return std::nullopt;
    const auto extent = image.image->extent();
    for (std::size_t d = 0; d < 3; ++d)
        if (region[d] == 0 || !lies_within(origin[d], region[d], extent[d])) return std::nullopt;
    return Box{
        .width_bytes = region[0] * image.image->element_bytes, .height = region[1], .depth = region[2]};
}

Side image_side(const _cl_mem& image, const size_t* origin) {
    const auto steps = image.image->steps();
    return {.start = image.bytes + origin[0] * steps[0] + origin[1] * steps[1] + origin[2] * steps[2],
            .row_bytes = steps[1],
            .slice_bytes = steps[2]};
}

}  // namespace trimtab::opencl

using namespace trimtab::opencl;

namespace {

// A region of an image, as the calls have it.
struct Region {
    const size_t *origin = nullptr, *size = nullptr;
};

cl_int transfer(const HostTransfer& made, const Region& region, size_t row_pitch, size_t slice_pitch) {
    if (!is_a(made.queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
    if (const cl_int status = check_image(*made.queue, made.memory); status != CL_SUCCESS) return status;
    const auto box = image_box(*made.memory, region.origin, region.size);
    if (!box || made.host == nullptr) return CL_INVALID_VALUE;
    if (!made.is_allowed()) return CL_INVALID_OPERATION;
    if (row_pitch == 0) row_pitch = box->width_bytes;
    const bool is_line = made.memory->image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    if (slice_pitch == 0) slice_pitch = is_line ? row_pitch : row_pitch * box->height;
    if (row_pitch < box->width_bytes || slice_pitch < (is_line ? row_pitch : row_pitch * box->height))
        return CL_INVALID_VALUE;
    const Side outside{.start = static_cast<std::byte*>(made.host),
                       .row_bytes = is_line ? slice_pitch : row_pitch,
                       .slice_bytes = slice_pitch,
                       .is_host = true};
    return made.submit(made.is_read ? CL_COMMAND_READ_IMAGE : CL_COMMAND_WRITE_IMAGE,
                       image_side(*made.memory, region.origin), outside, *box);
}

bool same_format(const _cl_mem& a, const _cl_mem& b) {
    return a.image->format.image_channel_order == b.image->format.image_channel_order &&
           a.image->format.image_channel_data_type == b.image->format.image_channel_data_type;
}

// Between an image and a buffer: in the buffer the region lies without gaps.
struct BufferPlace {
    cl_mem buffer = nullptr;
    size_t offset = 0;
};
cl_int copy_with_buffer(cl_command_queue queue, cl_mem image, const Region& region, const BufferPlace& place,
                        bool to_buffer, const Tail& tail) {
    auto [buffer, offset] = place;
    if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
    if (const cl_int status = check_image(*queue, image); status != CL_SUCCESS) return status;
    if (const cl_int status = check_buffer(*queue, buffer); status != CL_SUCCESS) return status;
    const auto box = image_box(*image, region.origin, region.size);
    if (!box || !lies_within(offset, box->width_bytes * box->height * box->depth, buffer->size_bytes))
        return CL_INVALID_VALUE;
    const Side in_image = image_side(*image, region.origin);
    const Side in_buffer{.start = buffer->bytes + offset,
                         .row_bytes = box->width_bytes,
                         .slice_bytes = box->width_bytes * box->height};
    return submit_copy(
        submission_of(queue, to_buffer ? CL_COMMAND_COPY_IMAGE_TO_BUFFER : CL_COMMAND_COPY_BUFFER_TO_IMAGE,
                      tail),
        to_buffer ? in_buffer : in_image, to_buffer ? in_image : in_buffer, *box, {image, buffer});
}

// A colour as clEnqueueFillImage takes it, as a texel of the format.
std::vector<std::byte> texel_of(const trimtab::emulator::Texture& texture, const void* color) {
    using trimtab::emulator::Channel;
    const trimtab::emulator::TexelFormat& format = texture.levels[0].format;
    std::vector<std::byte> texel(format.bytes());
    for (unsigned channel = 0; channel < format.channels; ++channel) {
        // Which of red, green, blue and alpha is kept there.
        unsigned from = 0;
        while (from < 3 && texture.channels[from] != static_cast<Channel>(channel)) ++from;
        std::uint32_t word = 0;
        std::memcpy(&word, static_cast<const std::byte*>(color) + from * sizeof word, sizeof word);
        if (texture.normalized_values) {
            const bool is_signed = format.kind == trimtab::emulator::TexelFormat::Kind::signed_integer;
            const double most = std::ldexp(1.0, 8 * format.channel_bytes - (is_signed ? 1 : 0)) - 1;
            const double value = std::clamp<double>(std::bit_cast<float>(word), is_signed ? -1 : 0, 1);
            word = static_cast<std::uint32_t>(static_cast<std::int64_t>(std::nearbyint(value * most)));
        } else if (format.kind == trimtab::emulator::TexelFormat::Kind::real && format.channel_bytes == 2) {
            word = trimtab::emulator::real_to_half(std::bit_cast<float>(word));
        } else if (format.channel_bytes < 4 && format.kind != trimtab::emulator::TexelFormat::Kind::real) {
            const bool is_signed = format.kind == trimtab::emulator::TexelFormat::Kind::signed_integer;
            const std::int64_t end = std::int64_t{1} << (8 * format.channel_bytes - (is_signed ? 1 : 0));
            const std::int64_t value =
                is_signed ? std::int64_t{static_cast<std::int32_t>(word)} : std::int64_t{word};
            word = static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, is_signed ? -end : 0, end - 1));
        }
        std::memcpy(texel.data() + std::size_t{channel} * format.channel_bytes, &word, format.channel_bytes);
    }
    return texel;
}

}  // namespace

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                      const size_t* origin, const size_t* region, size_t row_pitch,
                                      size_t slice_pitch, void* host, cl_uint wait_count,
                                      const cl_event* wait_list, cl_event* event) {
    return guarded([&] {
        return transfer({queue, image, true, blocking != CL_FALSE, host, {wait_count, wait_list, event}},
                        {origin, region}, row_pitch, slice_pitch);
    });
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                       const size_t* origin, const size_t* region, size_t row_pitch,
                                       size_t slice_pitch, const void* host, cl_uint wait_count,
                                       const cl_event* wait_list, cl_event* event) {
    return guarded([&] {
        return transfer({queue,
                         image,
                         false,
                         blocking != CL_FALSE,
                         const_cast<void*>(host),
                         {wait_count, wait_list, event}},
                        {origin, region}, row_pitch, slice_pitch);
    });
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                      const size_t* from_origin, const size_t* to_origin,
                                      const size_t* region, cl_uint wait_count, const cl_event* wait_list,
                                      cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        for (cl_mem image : {from, to})
            if (const cl_int status = check_image(*queue, image); status != CL_SUCCESS) return status;
        if (!same_format(*from, *to)) return CL_IMAGE_FORMAT_MISMATCH;
        const auto box = image_box(*from, from_origin, region);
        if (!box || !image_box(*to, to_origin, region)) return CL_INVALID_VALUE;
        if (from == to) {
            bool meets = true;
            for (std::size_t d = 0; d < 3; ++d) {
                const std::size_t distance = from_origin[d] < to_origin[d] ? to_origin[d] - from_origin[d]
                                                                           : from_origin[d] - to_origin[d];
                meets = meets && distance < region[d];
            }
            if (meets) return CL_MEM_COPY_OVERLAP;
        }
        return submit_copy(submission_of(queue, CL_COMMAND_COPY_IMAGE, {wait_count, wait_list, event}),
                           image_side(*to, to_origin), image_side(*from, from_origin), *box, {from, to});
    });
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                              const size_t* origin, const size_t* region, size_t offset,
                                              cl_uint wait_count, const cl_event* wait_list,
                                              cl_event* event) {
    return guarded([&] {
        return copy_with_buffer(queue, image, {origin, region}, {buffer, offset}, true,
                                {wait_count, wait_list, event});
    });
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image,
                                              size_t offset, const size_t* origin, const size_t* region,
                                              cl_uint wait_count, const cl_event* wait_list,
                                              cl_event* event) {
    return guarded([&] {
        return copy_with_buffer(queue, image, {origin, region}, {buffer, offset}, false,
                                {wait_count, wait_list, event});
    });
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void* color,
                                      const size_t* origin, const size_t* region, cl_uint wait_count,
                                      const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        if (const cl_int status = check_image(*queue, image); status != CL_SUCCESS) return status;
        const auto box = image_box(*image, origin, region);
        if (!box || color == nullptr) return CL_INVALID_VALUE;
        const trimtab_device& device = queue->device->description.values;
        return Scheduler::instance().submit(
            submission_of(queue, CL_COMMAND_FILL_IMAGE, {wait_count, wait_list, event}),
            [side = image_side(*image, origin), box = *box,
             texel = texel_of(emulated_texture(*image, 0), color), kept = Ref<_cl_mem>(image),
             &device](trimtab::emulator::Work& work) -> cl_int {
                fill_box(side, box, texel);
                work = work_of_fill(device, box.width_bytes * box.height * box.depth);
                return CL_COMPLETE;
            });
    });
}
