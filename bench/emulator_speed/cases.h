// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels whose speed is compared, in CUDA and in OpenCL, with the data that they run on.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace trimtab::bench {

struct Case {
    std::string name, kernel, cuda, opencl;
    std::array<unsigned, 2> grid{1, 1}, block{1, 1};  // in blocks, in threads
    // A buffer of so many floats, filled deterministically; or a scalar.
    struct Buffer {
        std::size_t floats = 0;
    };
    std::vector<std::variant<Buffer, int, float>> arguments;
    std::size_t result = 0;  // which argument is compared
    double tolerance = 0;    // largest relative difference that OpenCL's result may have
};

[[nodiscard]] std::vector<Case> cases();
// What buffer `index` of `floats` starts with.
[[nodiscard]] std::vector<float> initial_values(std::size_t index, std::size_t floats);

}  // namespace trimtab::bench
