// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An entry of a store that others can write to: what it holds is taken only from those who have the key.
//
//     bytes 0..3     "TRS1"
//     bytes 4..35    HMAC-SHA256 over what it is an entry for, and the rest
//     the rest       the value, a zstd frame
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "trimtab/error.h"

namespace trimtab::remote {

// Secret bytes that all who share a store have, read from a file that nobody else may read.
[[nodiscard]] std::expected<std::string, Error> read_secret(const std::string& path);

// The name that an entry has in the store, 64 hex digits: tells nothing of the key to who has no secret.
[[nodiscard]] std::string entry_name(std::string_view secret, std::string_view kind, std::string_view key);
[[nodiscard]] std::string seal(std::string_view secret, std::string_view kind, std::string_view key,
                               std::string_view value);
// The error: it was made by somebody else, for another key, or is damaged.
[[nodiscard]] std::expected<std::string, Error> unseal(std::string_view secret, std::string_view kind,
                                                       std::string_view key, std::string_view entry);

}  // namespace trimtab::remote
