// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats of texels as both interfaces name them.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <optional>

namespace trimtab::cuda::driver {

// nullopt: a format that arrays of the emulator do not have (planes, blocks of compressed texels).
[[nodiscard]] std::optional<cudaChannelFormatDesc> channels_of(CUarray_format format, unsigned channels);
[[nodiscard]] CUarray_format driver_format(const cudaChannelFormatDesc& desc);
[[nodiscard]] unsigned channel_count(const cudaChannelFormatDesc& desc);

}  // namespace trimtab::cuda::driver
