// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/workers/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace trimtab::workers {
namespace {

constexpr std::string_view message_magic = "TTW1";

struct Lengths {
    std::uint32_t head = 0;
    std::uint64_t body = 0;
};
constexpr std::size_t prefix_bytes = 16;
static_assert(std::endian::native == std::endian::little);

// What came in the place of a message, for people to see what answers there.
std::string shown(std::string_view bytes) {
    constexpr std::size_t most = 40;
    std::string text;
    for (const char c : bytes.substr(0, most)) {
        if (c == '\n') break;
        text += c >= ' ' && c < 127 ? c : '?';
    }
    return text;
}

}  // namespace

std::string encode(const nlohmann::json& head, std::string_view body) {
    const std::string text = head.dump();
    const Lengths lengths{.head = static_cast<std::uint32_t>(text.size()), .body = body.size()};
    std::string out(prefix_bytes, '\0');
    std::memcpy(out.data(), message_magic.data(), message_magic.size());
    std::memcpy(out.data() + 4, &lengths.head, sizeof lengths.head);
    std::memcpy(out.data() + 8, &lengths.body, sizeof lengths.body);
    out += text;
    out += body;
    return out;
}

std::expected<std::optional<Message>, Error> MessageReader::next() {
    const std::string_view begin = std::string_view(pending_).substr(0, message_magic.size());
    if (!message_magic.starts_with(begin))
        return std::unexpected(Error{fmt::format("what it writes is no message: \"{}\"", shown(pending_))});
    if (pending_.size() < prefix_bytes) return std::nullopt;
    Lengths lengths;
    std::memcpy(&lengths.head, pending_.data() + 4, sizeof lengths.head);
    std::memcpy(&lengths.body, pending_.data() + 8, sizeof lengths.body);
    if (lengths.head > most_head_bytes || lengths.body > most_body_bytes)
        return std::unexpected(
            Error{fmt::format("a message of {} and {} bytes is too long", lengths.head, lengths.body)});
    const std::size_t whole = prefix_bytes + lengths.head + static_cast<std::size_t>(lengths.body);
    if (pending_.size() < whole) return std::nullopt;
    const std::string_view bytes(pending_);
    Message message{.head = nlohmann::json::parse(bytes.substr(prefix_bytes, lengths.head), nullptr, false),
                    .body = std::string(bytes.substr(prefix_bytes + lengths.head, lengths.body))};
    pending_.erase(0, whole);
    if (!message.head.is_object()) return std::unexpected(Error{"the head of a message is no JSON object"});
    return message;
}

}  // namespace trimtab::workers
