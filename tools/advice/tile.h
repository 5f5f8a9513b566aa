// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of a box load altogether, and what each loads: how often the same bytes are asked for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulation/emulator/metrics/access_patterns.h"
#include "emulation/emulator/metrics/launch_profile.h"

namespace trimtab::advice {

using Extents = std::array<std::uint32_t, 3>;

[[nodiscard]] inline double volume(const Extents& box) {
    return double{1} * box[0] * box[1] * box[2];
}
// Element by element.
[[nodiscard]] Extents product(const Extents& a, const Extents& b);

struct Touched {
    double bytes = 0, sectors = 0;  // distinct ones
};

// Loads of one array that move alike from thread to thread: a stencil's neighbours, the factors of an unrolled product.
struct LoadGroup {
    std::vector<const emulator::LoadPattern*> loads;
    std::vector<const emulator::InstructionProfile*> instructions;  // of these loads
    double requests = 0;                                            // per warp, of all of them

    [[nodiscard]] double bytes() const { return loads.front()->bytes; }
    [[nodiscard]] std::size_t longest() const;
    // Executions of one thread, of the first `window` of each load.
    [[nodiscard]] double executions(std::size_t window) const;
    // What a box of threads touches in these; nothing where it lies too scattered to tell.
    [[nodiscard]] std::optional<Touched> touched(const Extents& box, std::size_t window) const;
    // Distinct bytes over those asked for.
    [[nodiscard]] std::optional<double> distinct_share(const Extents& box, std::size_t window) const;
};

// The loads that threads may share: of arrays that the kernel does not write, and that no loop repeats as they are.
[[nodiscard]] std::vector<LoadGroup> load_groups(const emulator::LaunchProfile& profile,
                                                 const emulator::AccessPatterns& patterns);

}  // namespace trimtab::advice
