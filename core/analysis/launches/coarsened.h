// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies that trimtab++ makes of kernels in which each thread does the work of several of the kernel's
// (docs/legality.md, "More work a thread"; pass/coarsened_bodies.h makes them).
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "trimtab/driver.h"

namespace trimtab::analysis {

struct Coarsening {
    std::size_t dimension = 0;
    std::uint32_t elements = 1;  // of the kernel's threads that one of the body's stands for
    // The body's threads come in groups of so many, each of which stands for `elements` neighbouring groups of as many.
    [[nodiscard]] std::uint32_t group() const { return dimension == 0 ? warp_size : 1; }
};
// Nothing: it is no such body.
[[nodiscard]] std::optional<Coarsening> coarsening(const KernelDescription& body);

// Is it such a body of this kernel, and are both proved by themselves, thread by thread?
[[nodiscard]] bool is_coarsened_from(const KernelDescription& body, const KernelDescription& kernel);

// The body's launches that do what a launch of the kernel does.
struct CoarsenedLaunch {
    std::array<std::uint64_t, 3> extent{};  // of the body's threads
    trimtab_limits limits{};
};
// The error says why there are none. `image`: of the body.
[[nodiscard]] std::expected<CoarsenedLaunch, std::string> coarsened_launch(
    const KernelDescription& kernel, const KernelDescription& body, ArgumentBytes arguments,
    trimtab_dim3 grid, trimtab_dim3 block, const trimtab_device& device, const trimtab_image& image);

// Of descriptions of one fat binary: bodies of which no launch can be had are left out. The others get the kernel's
// guards, in terms of their own index, and what each scalar is to the launch is what it is to the kernel's.
void complete_coarsened(std::vector<KernelDescription>& kernels);

}  // namespace trimtab::analysis
