// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernel of which program stands behind an (app, kernel) of a measured table, and what its launches
// are as functions of the table's N. A JSON list, for example
//
//     {"app": "3d_conv", "kernel": "convolution3D_kernel", "source": "../../samples/polybench/3dconv.cu",
//      "symbol": "convolution3D_kernel", "extent": ["n", "n"], "block": [32, 8],
//      "arguments": {"NI": "n", "NJ": "n", "NK": "n"},
//      "launches": {"argument": "i", "from": "1", "to": "n - 2"}}
//
// "symbol" is the kernel's name in the source, "block" the one it is launched with as written; "launches"
// (left out: one) are summed. Paths are relative to the list. Numbers are sums of products of integers and n.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::bench {

// "2*n - 1".
[[nodiscard]] std::optional<std::int64_t> evaluate_size(std::string_view text, std::int64_t n);

struct ListedKernel {
    struct Launches {
        std::string argument, from, to;
    };
    std::string app, kernel;  // in tables; app: letter case and underscores aside
    std::string source;       // absolute path
    std::string symbol;
    std::vector<std::string> extent;   // x, y
    std::vector<std::uint32_t> block;  // x, y
    std::vector<std::pair<std::string, std::string>> arguments;
    std::optional<Launches> launches;
};

[[nodiscard]] std::expected<std::vector<ListedKernel>, Error> read_kernel_list(const std::string& path);
[[nodiscard]] const ListedKernel* find_kernel(const std::vector<ListedKernel>& kernels, std::string_view app,
                                              std::string_view kernel);

// One of the launches, standing for `weight` of them.
struct SampledArguments {
    double weight = 1;
    std::vector<std::string> texts;  // "NI=512"
};
// At most `most` launches that stand for all: the midpoints of equal parts of the range.
[[nodiscard]] std::vector<SampledArguments> launches_at(const ListedKernel& kernel, std::uint64_t n,
                                                        std::size_t most);

}  // namespace trimtab::bench
