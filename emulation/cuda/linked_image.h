// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the driver's linker makes: its inputs end to end, to be linked as PTX when the image is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trimtab::cuda {

[[nodiscard]] std::vector<std::byte> join(const std::vector<std::vector<std::byte>>& parts);
// nullopt: it is no such image, or is cut short. `known_bytes` are readable from `image` on; at least 4.
[[nodiscard]] std::optional<std::vector<std::vector<std::byte>>> parts_of(const std::byte* image,
                                                                          std::size_t known_bytes);

}  // namespace trimtab::cuda
