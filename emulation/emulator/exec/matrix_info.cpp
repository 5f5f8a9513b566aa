// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/matrix_info.h"

#include <array>
#include <charconv>

namespace trimtab::emulator {

std::optional<MatrixElement> matrix_element(std::string_view suffix) {
    constexpr std::array<std::string_view, 13> names = {"f16", "bf16", "tf32", "f32",  "f64",  "s8", "u8",
                                                        "s4",  "u4",   "b1",   "e4m3", "e5m2", "s32"};
    for (std::size_t i = 0; i < names.size(); i++) {
        if (names[i] == suffix) return static_cast<MatrixElement>(i);
    }
    return std::nullopt;
}

unsigned element_bits(MatrixElement element) {
    switch (element) {
        case MatrixElement::b1:
            return 1;
        case MatrixElement::s4:
        case MatrixElement::u4:
            return 4;
        case MatrixElement::s8:
        case MatrixElement::u8:
        case MatrixElement::e4m3:
        case MatrixElement::e5m2:
            return 8;
        case MatrixElement::f16:
        case MatrixElement::bf16:
            return 16;
        case MatrixElement::f64:
            return 64;
        default:
            return 32;
    }
}

std::optional<MatrixShape> matrix_shape(std::string_view suffix) {
    MatrixShape shape;
    const auto number = [&suffix](char letter, unsigned& out) {
        if (suffix.empty() || suffix.front() != letter) return false;
        const auto [end, error] = std::from_chars(suffix.data() + 1, suffix.data() + suffix.size(), out);
        if (error != std::errc{} || out == 0 || out > 256) return false;
        suffix.remove_prefix(static_cast<std::size_t>(end - suffix.data()));
        return true;
    };
    if (!number('m', shape.m) || !number('n', shape.n) || !number('k', shape.k) || !suffix.empty())
        return std::nullopt;
    return shape;
}

unsigned Fragment::per_register() const {
    const unsigned bits = element_bits(element);
    return bits >= 32 ? 1 : 32 / bits;
}

unsigned Fragment::registers() const {
    return rows() * columns() / (warp_lanes * per_register());
}

std::pair<unsigned, unsigned> Fragment::place(unsigned lane, unsigned reg, unsigned index) const {
    const unsigned group = lane / 4, at = lane % 4, packed = per_register();
    switch (role) {
        case MatrixRole::a: {
            const unsigned row_blocks = shape.m / 8;
            return {group + 8 * (reg % row_blocks), (reg / row_blocks) * 4 * packed + at * packed + index};
        }
        case MatrixRole::b: {
            const unsigned row_blocks = shape.k / (4 * packed);
            return {(reg % row_blocks) * 4 * packed + at * packed + index, group + 8 * (reg / row_blocks)};
        }
        default: {
            const unsigned value = reg * packed + index, pair = value / 2, row_blocks = shape.m / 8;
            return {group + 8 * (pair % row_blocks), 8 * (pair / row_blocks) + 2 * at + value % 2};
        }
    }
}

}  // namespace trimtab::emulator
