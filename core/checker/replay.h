// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one thread's integers, as PTX says.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "core/checker/reading.h"

namespace trimtab::checker {

// A launch with made-up arguments, and one thread of it.
struct Trial {
    std::array<std::uint64_t, register_count> registers{};
    std::array<std::uint64_t, 3> index{};  // that expressions are about
    std::uint64_t seed = 0;

    [[nodiscard]] std::uint64_t parameter(std::uint32_t offset, ptx::Type type) const;
};
[[nodiscard]] Trial trial(const Certificate& certificate, std::uint64_t seed);

// Nothing: it is no integer, or what it is made of is not known.
[[nodiscard]] std::optional<std::uint64_t> computed(const ptx::Instruction& made,
                                                    std::span<const std::uint64_t> sources);
[[nodiscard]] std::optional<std::uint64_t> value(const Expression& expression, const Trial& trial);

// Values by their polynomials, and by what makes them. The loop's index is `index`.
class Values {
  public:
    Values(const Reading& reading, const Trial& trial, std::size_t loop, std::uint64_t index)
        : reading_(reading), trial_(trial), loop_(loop), index_(index) {}
    [[nodiscard]] std::optional<std::uint64_t> of(ptx::ValueIndex value);

  private:
    std::optional<std::uint64_t> of(const Form& form, ptx::ValueIndex self);
    std::optional<std::uint64_t> made(ptx::ValueIndex value);

    const Reading& reading_;
    const Trial& trial_;
    std::size_t loop_;
    std::uint64_t index_;
    std::map<ptx::ValueIndex, std::optional<std::uint64_t>> known_;
};

// Does the thread end with no effect but loads that all threads make?
[[nodiscard]] bool ends_without_effect(const Reading& reading, const Trial& trial);

}  // namespace trimtab::checker
