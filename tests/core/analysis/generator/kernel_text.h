// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX as lines, one kernel to a text: what the generator writes, mutates and shrinks.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::analysis::test {

// The same draws on every machine, for each seed.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}
    [[nodiscard]] unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
    [[nodiscard]] bool chance(unsigned percent) { return below(100) < percent; }
    [[nodiscard]] std::uint64_t next() { return random_(); }
    template <class List>
    [[nodiscard]] const auto& of(const List& list) {
        return list[below(std::size(list))];
    }

  private:
    std::mt19937_64 random_;
};

struct KernelText {
    std::vector<std::string> lines;
    std::size_t body_first = 0, body_end = 0;  // what lies between the kernel's braces

    [[nodiscard]] std::string text() const;
};

// The kernels of a module, each with what the module has beside kernels where it names any of it. Line
// numbers and blank lines are left out.
[[nodiscard]] std::vector<KernelText> kernels_of(std::string_view module);

// One instruction changed: an operand, a type, a condition; one more, or one less. What comes out need not
// be PTX.
void mutate(KernelText& kernel, Draw& draw);

// The same with every register and every local array zero where the kernel begins: what reads one that has no
// value yet is undefined, and after a mutation often does.
[[nodiscard]] KernelText with_initial_values(const KernelText& kernel);

// As few lines as still do what `fails` looks for.
template <class Fails>
KernelText shrunk(KernelText kernel, const Fails& fails);

// Does every register that an instruction reads have one that writes it?
[[nodiscard]] bool is_complete(const KernelText& kernel);

template <class Fails>
KernelText shrunk(KernelText kernel, const Fails& fails) {
    for (std::size_t chunk = 32; chunk > 0; chunk /= 2) {
        for (bool smaller = true; smaller;) {
            smaller = false;
            for (std::size_t at = kernel.body_end; at > kernel.body_first;) {
                at = at > kernel.body_first + chunk ? at - chunk : kernel.body_first;
                const std::size_t end = std::min(at + chunk, kernel.body_end);
                KernelText less = kernel;
                less.lines.erase(less.lines.begin() + static_cast<std::ptrdiff_t>(at),
                                 less.lines.begin() + static_cast<std::ptrdiff_t>(end));
                less.body_end -= end - at;
                if (end == at || !is_complete(less) || !fails(less)) continue;
                kernel = std::move(less);
                smaller = true;
                at = std::min(at, kernel.body_end);
            }
        }
    }
    return kernel;
}

}  // namespace trimtab::analysis::test
