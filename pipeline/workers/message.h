// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What travels between a pipeline and its workers, on pipes: messages, each with its length before it.
//
//     bytes 0..3    "TTW1"
//     bytes 4..7    bytes of the head, little-endian
//     bytes 8..15   bytes of the body, little-endian
//     the head, JSON; the body, whatever the head says it is
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "trimtab/error.h"

namespace trimtab::workers {

// Of the messages: another is refused.
inline constexpr unsigned protocol = 1;
// What says more is no worker.
inline constexpr std::uint64_t most_head_bytes = std::uint64_t{256} << 20,
                               most_body_bytes = std::uint64_t{1} << 32;

struct Message {
    nlohmann::json head;
    std::string body = {};
};

[[nodiscard]] std::string encode(const nlohmann::json& head, std::string_view body = {});

// Takes bytes as they come.
class MessageReader {
  public:
    void add(std::string_view bytes) { pending_ += bytes; }
    [[nodiscard]] std::string& pending() { return pending_; }  // to add to
    // nullopt: it has not come whole. The error: it is none.
    [[nodiscard]] std::expected<std::optional<Message>, Error> next();

  private:
    std::string pending_;
};

}  // namespace trimtab::workers
