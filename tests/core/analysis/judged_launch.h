// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch with arguments, and what may become of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <expected>
#include <string>
#include <vector>

#include "core/analysis/describe.h"
#include "core/analysis/launches/legal_blocks.h"

namespace trimtab::analysis::test {

inline trimtab_device device() {
    trimtab_device device{};
    device.struct_bytes = sizeof device;
    device.compute_capability = 75;
    device.max_threads_per_block = 1024;
    device.max_block_x = device.max_block_y = 1024;
    device.max_block_z = 64;
    device.max_grid_x = 2147483647;
    device.max_grid_y = device.max_grid_z = 65535;
    device.warp_size = 32;
    device.registers_per_block = 65536;
    device.register_allocation_unit = 256;
    return device;
}

// The kernel's arguments, laid out as its parameters say.
template <typename... Values>
std::vector<std::byte> arguments(const KernelDescription& kernel, Values... values) {
    std::vector<std::byte> bytes;
    std::size_t index = 0;
    const auto put = [&](auto value) {
        EXPECT_LT(index, kernel.parameters.size());
        const KernelParameter& parameter = kernel.parameters[index++];
        EXPECT_EQ(parameter.size, sizeof value);
        bytes.resize(std::max<std::size_t>(bytes.size(), parameter.offset + sizeof value));
        const auto* from = reinterpret_cast<const std::byte*>(&value);
        std::copy_n(from, sizeof value, bytes.data() + parameter.offset);
    };
    (put(values), ...);
    EXPECT_EQ(index, kernel.parameters.size());
    return bytes;
}

inline std::expected<trimtab_limits, std::string> legal(const KernelDescription& kernel,
                                                        const std::vector<std::byte>& bytes,
                                                        trimtab_dim3 grid, trimtab_dim3 block) {
    const trimtab_image image = to_driver_image(image_for(kernel, 75));
    return legal_blocks(kernel, bytes, grid, block, device(), image);
}

// "cover", "divide x", "divide xy", or why the launch stays as written.
inline std::string blocks(const KernelDescription& kernel, const std::vector<std::byte>& bytes,
                          trimtab_dim3 grid, trimtab_dim3 block) {
    const auto limits = legal(kernel, bytes, grid, block);
    if (!limits) return limits.error();
    if (limits->dividing == 0) return "cover";
    std::string text = "divide ";
    for (unsigned d = 0; d < 3; d++)
        if ((limits->dividing >> d & 1) != 0) text += "xyz"[d];
    return text;
}

}  // namespace trimtab::analysis::test
