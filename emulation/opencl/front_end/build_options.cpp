// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/front_end/build_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace trimtab::opencl {
namespace {

constexpr std::array<std::string_view, 16> passed_on{"-w",
                                                     "-Werror",
                                                     "-cl-std=CL1.0",
                                                     "-cl-std=CL1.1",
                                                     "-cl-std=CL1.2",
                                                     "-cl-std=CL2.0",
                                                     "-cl-std=CL3.0",
                                                     "-cl-single-precision-constant",
                                                     "-cl-denorms-are-zero",
                                                     "-cl-fp32-correctly-rounded-divide-sqrt",
                                                     "-cl-mad-enable",
                                                     "-cl-no-signed-zeros",
                                                     "-cl-unsafe-math-optimizations",
                                                     "-cl-finite-math-only",
                                                     "-cl-fast-relaxed-math",
                                                     "-cl-uniform-work-group-size"};
// They ask for nothing that would change here: names of arguments and lines are always kept.
constexpr std::array<std::string_view, 5> already_so{"-cl-kernel-arg-info", "-cl-opt-disable",
                                                     "-cl-strict-aliasing", "-cl-no-subgroup-ifp", "-g"};

}  // namespace

std::expected<std::vector<std::string>, std::string> clang_options(const std::vector<std::string>& options) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < options.size(); ++i) {
        const std::string& option = options[i];
        if (option.starts_with("-D") || option.starts_with("-I") || option.starts_with("-U")) {
            out.push_back(option);
            if (option.size() > 2) continue;
            if (++i == options.size())
                return std::unexpected(fmt::format("nothing follows the option {}", option));
            out.back().append(options[i]);
            continue;
        }
        if (std::ranges::find(passed_on, option) != passed_on.end())
            out.push_back(option);
        else if (std::ranges::find(already_so, option) == already_so.end())
            return std::unexpected(fmt::format("unknown build option {}", option));
    }
    return out;
}

}  // namespace trimtab::opencl
