// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/written_shape.h"

#include <utility>

namespace trimtab::cuda {
namespace {

thread_local std::optional<WrittenShape> next_shape;

}  // namespace

std::optional<WrittenShape> take_written_shape() {
    return std::exchange(next_shape, std::nullopt);
}

}  // namespace trimtab::cuda

extern "C" void trimtab_cudart_next_launch_is_written(const trimtab_dim3* grid, const trimtab_dim3* block) {
    using trimtab::cuda::next_shape;
    using trimtab::cuda::WrittenShape;
    next_shape = grid == nullptr ? std::nullopt : std::optional(WrittenShape{*grid, *block});
}
