// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills: every cudaMemcpy and cudaMemset form comes down to one box of bytes.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <expected>

#include "emulation/cuda/state.h"

namespace trimtab::cuda {

// One side of a copy: row r of slice s begins at start + s * slice_bytes + r * pitch_bytes.
struct Side {
    std::byte* start = nullptr;
    std::size_t pitch_bytes = 0, slice_bytes = 0;
    bool is_array = false;

    [[nodiscard]] std::byte* at(std::size_t slice, std::size_t row) const {
        return start + slice * slice_bytes + row * pitch_bytes;
    }
};

struct Box {
    std::size_t width_bytes = 0, height = 1, depth = 1;
    [[nodiscard]] bool is_empty() const { return width_bytes == 0 || height == 0 || depth == 0; }
    [[nodiscard]] std::size_t bytes() const { return width_bytes * height * depth; }
};

[[nodiscard]] inline Side linear(const void* start, std::size_t pitch_bytes = 0,
                                 std::size_t slice_bytes = 0) {
    return {.start = static_cast<std::byte*>(const_cast<void*>(start)),
            .pitch_bytes = pitch_bytes,
            .slice_bytes = slice_bytes,
            .is_array = false};
}
// From byte `x_bytes` of row y of plane z of a CUDA array.
[[nodiscard]] Side in_array(const cudaArray& array, std::size_t x_bytes, std::size_t y, std::size_t z);
// Does the box lie in the array from there on?
[[nodiscard]] bool fits(const cudaArray& array, std::size_t x_bytes, std::size_t y, std::size_t z,
                        const Box& box);

struct Copy {
    Side to, from;
    Box box;
    cudaMemcpyKind kind = cudaMemcpyDefault;
};
[[nodiscard]] inline Copy linear_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return {.to = linear(to), .from = linear(from), .box = {.width_bytes = bytes}, .kind = kind};
}
// cudaMemcpy3DParms, checked: positions of arrays are in elements, of pointers in bytes.
[[nodiscard]] std::expected<Copy, cudaError_t> box_copy_of(const State& state,
                                                           const cudaMemcpy3DParms& parameters);
// `value_bytes` of `value`, low byte first, again and again: 1, 2 or 4.
struct Fill {
    Side to;
    Box box;
    unsigned value = 0, value_bytes = 1;
};

// When it is done. `host_waits`: unless both sides are on the device.
struct Order {
    cudaStream_t stream = nullptr;
    bool host_waits = true;
};

// Without State::mutex.
cudaError_t copy(State& state, const Copy& copy, const Order& order);
cudaError_t fill(State& state, const Fill& fill, const Order& order);
// The same as operations, for graph nodes. With State::mutex.
[[nodiscard]] std::expected<Operation, cudaError_t> copy_operation(State& state, const Copy& copy);
[[nodiscard]] std::expected<Operation, cudaError_t> fill_operation(State& state, const Fill& fill);

}  // namespace trimtab::cuda
