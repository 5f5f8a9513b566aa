// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/transfer.h"

#include <cstring>
#include <utility>

#include "emulation/cuda/run_log.h"

namespace trimtab::cuda {
namespace {

enum class Place : std::uint8_t { host, device, both, invalid };

std::size_t reach_bytes(const Side& side, const Box& box) {
    return (box.depth - 1) * side.slice_bytes + (box.height - 1) * side.pitch_bytes + box.width_bytes;
}

// Where the side's memory is; `invalid` where it runs past the end of an allocation or variable, or is not
// allocated.
Place place_of(const State& state, const Side& side, const Box& box) {
    if (side.start == nullptr) return Place::invalid;
    if (side.is_array) return Place::device;
    const std::size_t reach = reach_bytes(side, box);
    if (const std::uint64_t left = state.modules.variable_bytes_at(side.start); left != 0)
        return reach <= left ? Place::device : Place::invalid;
    const auto allocation = state.heap.find(side.start);
    if (!allocation) return state.heap.owns(side.start) ? Place::invalid : Place::host;
    // Registered memory is the program's own: a copy may begin in it and leave it.
    if (allocation->kind == MemoryKind::registered) return Place::both;
    const auto start = reinterpret_cast<std::uint64_t>(side.start);
    if (reach > allocation->end() - start || allocation->kind == MemoryKind::array) return Place::invalid;
    switch (allocation->kind) {
        case MemoryKind::device:
        case MemoryKind::mapped:
        case MemoryKind::imported:
            return Place::device;
        default:
            return Place::both;
    }
}

bool fits_kind(Place to, Place from, cudaMemcpyKind kind) {
    const auto may_be_host = [](Place place) { return place != Place::device; };
    const auto may_be_device = [](Place place) { return place != Place::host; };
    switch (kind) {
        case cudaMemcpyHostToHost:
            return may_be_host(to) && may_be_host(from);
        case cudaMemcpyHostToDevice:
            return may_be_device(to) && may_be_host(from);
        case cudaMemcpyDeviceToHost:
            return may_be_host(to) && may_be_device(from);
        case cudaMemcpyDeviceToDevice:
            return may_be_device(to) && may_be_device(from);
        case cudaMemcpyDefault:
            return true;
    }
    return false;
}

cudaMemcpyKind kind_of(Place to, Place from, cudaMemcpyKind kind) {
    if (kind != cudaMemcpyDefault) return kind;
    if (to == Place::device) return from == Place::device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
    return from == Place::device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

Work work_of(const trimtab_device& device, cudaMemcpyKind kind, double bytes) {
    switch (kind) {
        case cudaMemcpyHostToDevice:
        case cudaMemcpyDeviceToHost:
            return emulator::work_of_bus_copy(device, kind == cudaMemcpyDeviceToHost, bytes);
        case cudaMemcpyDeviceToDevice:
            return emulator::work_of_device_copy(device, bytes);
        case cudaMemcpyHostToHost:
        case cudaMemcpyDefault:
            break;
    }
    return {};
}

template <class Body>
void for_each_row(const Box& box, const Body& body) {
    for (std::size_t slice = 0; slice < box.depth; ++slice)
        for (std::size_t row = 0; row < box.height; ++row) body(slice, row);
}

void fill_row(std::byte* row, std::size_t bytes, unsigned value, unsigned value_bytes) {
    if (value_bytes == 1) {
        std::memset(row, static_cast<int>(value & 0xff), bytes);
        return;
    }
    for (std::size_t i = 0; i + value_bytes <= bytes; i += value_bytes)
        std::memcpy(row + i, &value, value_bytes);
}

template <class Make>
cudaError_t submit_in(State& state, const Order& order, const Make& make) {
    std::expected<Operation, cudaError_t> operation;
    {
        const std::lock_guard lock(state.mutex);
        operation = make();
    }
    if (!operation) return operation.error();
    if (!operation->run && order.host_waits) return cudaSuccess;
    operation->synchronous = order.host_waits;
    return submit(state, order.stream, std::move(*operation));
}

const cudaArray* known(const State& state, cudaArray_t array) {
    return state.arrays.contains(array) ? array : nullptr;
}

}  // namespace

Side in_array(const cudaArray& array, std::size_t x_bytes, std::size_t y, std::size_t z) {
    return {.start = array.bytes + (z * array.rows() + y) * array.row_bytes() + x_bytes,
            .pitch_bytes = array.row_bytes(),
            .slice_bytes = array.row_bytes() * array.rows(),
            .is_array = true};
}

bool fits(const cudaArray& array, std::size_t x_bytes, std::size_t y, std::size_t z, const Box& box) {
    const auto inside = [](std::size_t first, std::size_t count, std::size_t all) {
        return count <= all && first <= all - count;
    };
    return inside(x_bytes, box.width_bytes, array.row_bytes()) && inside(y, box.height, array.rows()) &&
           inside(z, box.depth, array.planes());
}

std::expected<Operation, cudaError_t> copy_operation(State& state, const Copy& copy) {
    const auto& [to, from, box, kind] = copy;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return std::unexpected(cudaErrorInvalidMemcpyDirection);
    Operation operation{
        .type = cudaGraphNodeTypeMemcpy, .run = {}, .synchronous = false, .calls_program = false};
    if (box.is_empty()) return operation;
    const Place to_place = place_of(state, to, box);
    const Place from_place = place_of(state, from, box);
    if (to_place == Place::invalid || from_place == Place::invalid || !fits_kind(to_place, from_place, kind))
        return std::unexpected(cudaErrorInvalidValue);
    const cudaMemcpyKind way = kind_of(to_place, from_place, kind);
    const model::Device& device = state.current().description;
    const Work work = work_of(device.values, way, static_cast<double>(box.bytes()));
    operation.run = [copy, work, way, &device, checker = state.checker.get()](Work& done) {
        const auto& [to, from, box, kind] = copy;
        if (RunLog* const log = run_log_of_environment())
            log->copying(device.slug, {to, from, box, way}, work.duration_ns);
        for_each_row(box, [&](std::size_t slice, std::size_t row) {
            std::byte* const target = to.at(slice, row);
            const std::byte* const source = from.at(slice, row);
            std::memmove(target, source, box.width_bytes);
            if (checker != nullptr) checker->copied(target, source, box.width_bytes);
        });
        done = work;
        return cudaSuccess;
    };
    return operation;
}

std::expected<Operation, cudaError_t> fill_operation(State& state, const Fill& fill) {
    Operation operation{
        .type = cudaGraphNodeTypeMemset, .run = {}, .synchronous = false, .calls_program = false};
    if (fill.box.is_empty()) return operation;
    const Place place = place_of(state, fill.to, fill.box);
    if (place == Place::invalid || place == Place::host) return std::unexpected(cudaErrorInvalidValue);
    const Work work =
        emulator::work_of_fill(state.current().description.values, static_cast<double>(fill.box.bytes()));
    operation.run = [fill, work, checker = state.checker.get()](Work& done) {
        if (RunLog* const log = run_log_of_environment()) log->interrupted();
        for_each_row(fill.box, [&](std::size_t slice, std::size_t row) {
            std::byte* const target = fill.to.at(slice, row);
            fill_row(target, fill.box.width_bytes, fill.value, fill.value_bytes);
            if (checker != nullptr) checker->filled(target, fill.box.width_bytes);
        });
        done = work;
        return cudaSuccess;
    };
    return operation;
}

cudaError_t copy(State& state, const Copy& copy, const Order& order) {
    return submit_in(state, order, [&] { return copy_operation(state, copy); });
}

cudaError_t fill(State& state, const Fill& fill, const Order& order) {
    return submit_in(state, order, [&] { return fill_operation(state, fill); });
}

std::expected<Copy, cudaError_t> box_copy_of(const State& state, const cudaMemcpy3DParms& p) {
    // Widths count elements where an array takes part, else bytes (cudaMemcpy3D).
    const cudaArray* from_array = p.srcArray == nullptr ? nullptr : known(state, p.srcArray);
    const cudaArray* to_array = p.dstArray == nullptr ? nullptr : known(state, p.dstArray);
    if ((p.srcArray != nullptr && from_array == nullptr) || (p.dstArray != nullptr && to_array == nullptr))
        return std::unexpected(cudaErrorInvalidResourceHandle);
    if ((from_array != nullptr) == (p.srcPtr.ptr != nullptr) ||
        (to_array != nullptr) == (p.dstPtr.ptr != nullptr))
        return std::unexpected(cudaErrorInvalidValue);
    std::size_t element_bytes = 1;
    if (from_array != nullptr) element_bytes = from_array->element_bytes();
    if (to_array != nullptr) {
        if (from_array != nullptr && to_array->element_bytes() != element_bytes)
            return std::unexpected(cudaErrorInvalidValue);
        element_bytes = to_array->element_bytes();
    }
    Copy out{.to = {},
             .from = {},
             .box = {.width_bytes = p.extent.width * element_bytes,
                     .height = p.extent.height,
                     .depth = p.extent.depth},
             .kind = p.kind};
    const auto side = [&](const cudaArray* array, const cudaPitchedPtr& pointer, const cudaPos& position,
                          Side& result) {
        if (array != nullptr) {
            const std::size_t x_bytes = position.x * element_bytes;
            if (!fits(*array, x_bytes, position.y, position.z, out.box)) return false;
            result = in_array(*array, x_bytes, position.y, position.z);
            return true;
        }
        const std::size_t slice_bytes = pointer.pitch * pointer.ysize;
        if (pointer.pitch < out.box.width_bytes && out.box.height > 1) return false;
        result = linear(static_cast<const std::byte*>(pointer.ptr) + position.z * slice_bytes +
                            position.y * pointer.pitch + position.x,
                        pointer.pitch, slice_bytes);
        return true;
    };
    if (!side(from_array, p.srcPtr, p.srcPos, out.from) || !side(to_array, p.dstPtr, p.dstPos, out.to))
        return std::unexpected(cudaErrorInvalidValue);
    return out;
}

}  // namespace trimtab::cuda
