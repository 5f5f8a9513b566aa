// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What TRIMTAB_VERIFY's lines (runtime/verification.h) add up to, kernel by kernel.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::tools {

struct VerifiedDifference {
    std::string line;  // the launch, as JSON: kernel, object, device, grid, block, data, differences
    bool as_written =
        false;         // no other block is to blame: another order of the launch as written differs too
    std::string text;  // one sentence
};

struct VerifiedKernel {
    std::string name, demangled, object;
    std::uint64_t launches = 0;  // that were checked
    std::uint64_t runs = 0;      // beside them
    std::uint64_t rounded = 0;   // words that floating-point atomics rounded differently
    std::vector<std::string> left_alone;
    std::vector<VerifiedDifference> differences;  // one a launch
};

struct VerificationReport {
    std::vector<VerifiedKernel> kernels;  // as they came
    std::size_t unreadable_lines = 0;
    [[nodiscard]] std::size_t difference_count() const;
};

[[nodiscard]] VerificationReport read_verification(std::string_view json_lines);
[[nodiscard]] std::string to_text(const VerificationReport& report);
[[nodiscard]] nlohmann::ordered_json to_json(const VerificationReport& report);

}  // namespace trimtab::tools
