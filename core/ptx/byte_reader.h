// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Little-endian numbers out of bytes. The caller has checked that they are there.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace trimtab::ptx {

template <class Number>
[[nodiscard]] Number read_number_at(std::span<const std::byte> bytes, std::size_t offset) {
    static_assert(std::is_unsigned_v<Number>);
    Number out = 0;
    std::memcpy(&out, bytes.data() + offset, sizeof out);
    return out;
}

}  // namespace trimtab::ptx
