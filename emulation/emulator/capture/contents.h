// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of a capture's file as they are written and read: docs/captures.md, "The format".
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulation/emulator/capture/capture.h"

namespace trimtab::emulator::capture {

class Writer {
  public:
    template <typename Number>
    void number(Number value) {
        for (std::size_t i = 0; i < sizeof value; ++i)
            out_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff));
    }
    void bytes(std::span<const std::byte> bytes) {
        number<std::uint64_t>(bytes.size());
        out_.insert(out_.end(), bytes.begin(), bytes.end());
    }
    void text(std::string_view text) { bytes(std::as_bytes(std::span(text))); }
    void sizes(const std::array<std::uint32_t, 3>& sizes) {
        for (const std::uint32_t size : sizes) number(size);
    }
    void region(const Region& region) {
        number(region.address);
        bytes(region.bytes);
    }
    std::vector<std::byte> take() { return std::move(out_); }

  private:
    std::vector<std::byte> out_;
};

template <typename Number>
Number number_at(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) value |= std::uint64_t(bytes[i]) << (8 * i);
    return static_cast<Number>(value);
}

// Stays failed once it has failed: what follows reads as zeros and empty.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <typename Number>
    Number number() {
        const auto taken = take(sizeof(Number));
        return taken.empty() ? Number{0} : number_at<Number>(taken);
    }
    std::span<const std::byte> bytes() { return take(number<std::uint64_t>()); }
    std::string text() {
        const auto taken = bytes();
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }
    std::array<std::uint32_t, 3> sizes() {
        std::array<std::uint32_t, 3> out{};
        for (std::uint32_t& size : out) size = number<std::uint32_t>();
        return out;
    }
    Region region() {
        const auto address = number<std::uint64_t>();
        return {.address = address, .bytes = bytes()};
    }
    // Of entries of at least so many bytes: more cannot follow.
    std::uint64_t count(std::uint64_t least_bytes) {
        const auto count = number<std::uint64_t>();
        if (count > (bytes_.size() - at_) / least_bytes) fail("a count is larger than the bytes that follow");
        return failed_ ? 0 : count;
    }
    void fail(std::string_view why) {
        if (!failed_) failed_ = fmt::format("byte {} of its contents: {}", at_, why);
    }
    [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
    [[nodiscard]] const std::optional<std::string>& failed() const { return failed_; }

  private:
    std::span<const std::byte> take(std::uint64_t size) {
        if (size > bytes_.size() - at_) fail("a length is larger than the bytes that follow");
        if (failed_) return {};
        at_ += size;
        return bytes_.subspan(at_ - size, size);
    }

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    std::optional<std::string> failed_;
};

}  // namespace trimtab::emulator::capture
