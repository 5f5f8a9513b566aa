// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One record of section trimtab_data as bytes: what include/trimtab/section.h lays down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace trimtab::driver_gen {

inline constexpr std::size_t record_header_bytes = 24, record_alignment = 8;

// A record whose kernels hold their details: {"kernels": [{"description", "profile", "fits", "driver_source"}]}.
struct PackedRecord {
    std::string json;     // as the runtime reads it
    std::string details;  // compressed; empty: no kernel has any
    // Header, both, and the zeros up to a multiple of 8.
    [[nodiscard]] std::string bytes() const;
};
[[nodiscard]] PackedRecord pack(nlohmann::json record);

// The record as it was packed, and the bytes that it took of the section. An error is a phrase.
struct UnpackedRecord {
    nlohmann::json json;
    std::size_t bytes = 0;
};
[[nodiscard]] std::expected<UnpackedRecord, std::string> unpack(std::span<const std::byte> section);

}  // namespace trimtab::driver_gen
