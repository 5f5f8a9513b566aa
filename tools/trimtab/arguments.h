// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch from the command line: --arg NAME=VALUE, --extent, --grid and --block, and the parameter buffer
// that they make.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/launches/description.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// Where a pointer that the command line leaves out points to.
using PointerDefault = std::uint64_t (*)(std::uint32_t parameter_index);

struct LaunchArguments {
    std::vector<std::byte> bytes;   // the parameter buffer
    std::vector<bool> given;        // by parameter: did the command line say it?
    std::vector<std::size_t> part;  // members of D inside struct parameters that were given (index in data)
};

// `texts` are "NAME=VALUE": NAME is a parameter's name in the source, its index, or a member of D
// ("args+8"). Parameters left out are zero, pointers what `pointer_default` says.
[[nodiscard]] std::expected<LaunchArguments, Error> parse_arguments(const analysis::KernelDescription& kernel,
                                                                    const std::vector<std::string>& texts,
                                                                    PointerDefault pointer_default);

// The first member of D that the command line does not determine, as an error that says how to give it.
[[nodiscard]] std::expected<void, Error> require_data(const analysis::KernelDescription& kernel,
                                                      const LaunchArguments& arguments);

// "512", "512,256" or "512,256,1" (also with x between): at least 1 each, what is left out is 1.
[[nodiscard]] std::expected<trimtab_dim3, Error> parse_dim3(std::string_view text, std::string_view option);

// "32,8;64,4".
[[nodiscard]] std::expected<std::vector<trimtab_dim3>, Error> parse_candidates(std::string_view text);

// A number above 0; "all" is 0 to the runtime.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);

}  // namespace trimtab::tools
