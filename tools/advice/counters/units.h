// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units as Nsight Compute prints them ("Kbyte/block", "usecond", "Gbyte/second", "cycle/nsecond", "%", "inst").
#pragma once

#include <optional>
#include <string_view>

namespace trimtab::advice {

enum class Dimension { count, seconds, bytes, bytes_per_second, hertz, percent };
[[nodiscard]] std::string_view name(Dimension dimension);     // "a time", "a number of bytes"
[[nodiscard]] std::string_view si_unit(Dimension dimension);  // "second", "byte", "%"; empty: a count

struct Unit {
    Dimension dimension = Dimension::count;
    double factor = 1;  // of the SI unit; a percent is itself
};
// Bytes a block are bytes; warps, sectors a request and whatever else is counted are counts. Nothing: no unit.
[[nodiscard]] std::optional<Unit> parse_unit(std::string_view text);

}  // namespace trimtab::advice
