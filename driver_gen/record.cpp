// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define XXH_INLINE_ALL
#include "driver_gen/record.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/base/json_value.h"
#include "trimtab/section.h"

namespace trimtab::driver_gen {
namespace {

using nlohmann::json;

constexpr const char* detail_names[] = {"profile", "fits", "driver_source"};
constexpr std::size_t magic_bytes = 8;
// Driver programs are much alike: a file's are a hundredth of their text from this level on, and higher ones
// take a hundred times as long for a fifth less.
constexpr int compression_level = 9;
// A frame that says more is damaged: 1,000 kernels' details are some 120 MB.
constexpr unsigned long long most_details_bytes = 4ull << 30;

std::string text_of(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string hash_of(std::string_view bytes) {
    return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

std::string compressed(std::string_view text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    const std::size_t size =
        ZSTD_compress(out.data(), out.size(), text.data(), text.size(), compression_level);
    out.resize(ZSTD_isError(size) != 0 ? 0 : size);
    return out;
}

std::expected<std::string, std::string> decompressed(std::string_view frame) {
    const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most_details_bytes)
        return std::unexpected("the record's details are no compressed text");
    std::string out(size, '\0');
    const std::size_t got = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
    if (ZSTD_isError(got) != 0 || got != out.size())
        return std::unexpected("the record's details are damaged");
    return out;
}

std::string little_endian(std::uint64_t value) {
    std::string out(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(value >> (8 * i) & 0xff);
    return out;
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t(bytes[i]) << (8 * i);
    return value;
}

// A record stands in the midst of a file: its text's own line and column are part of the phrase.
std::expected<json, std::string> parsed(std::string_view text, std::string_view otherwise) {
    auto value = base::parse_json(text, "");
    if (value) return std::move(*value);
    const Error& error = value.error();
    if (error.line == 0) return std::unexpected(fmt::format("{}: {}", otherwise, error.message));
    return std::unexpected(
        fmt::format("{}: line {}, column {}: {}", otherwise, error.line, error.column, error.message));
}

// Puts each kernel's details back.
std::expected<void, std::string> join(json& record, std::string_view frame) {
    const auto stated = record.find("details");
    if (frame.empty() && stated == record.end()) return {};
    if (stated == record.end() || *stated != hash_of(frame))
        return std::unexpected("the record's details are not those that it names");
    const auto text = decompressed(frame);
    if (!text) return std::unexpected(text.error());
    const auto details = parsed(*text, "the record's details are no JSON");
    if (!details) return std::unexpected(details.error());
    const auto kernels = record.find("kernels");
    if (!details->is_array() || kernels == record.end() || !kernels->is_array() ||
        kernels->size() != details->size())
        return std::unexpected("the record's details are not of its kernels");
    for (std::size_t i = 0; i < details->size(); ++i) {
        if (!(*details)[i].is_object() || !(*kernels)[i].is_object())
            return std::unexpected("a kernel of the record or its details are no object");
        (*kernels)[i].update((*details)[i]);
    }
    record.erase("details");
    return {};
}

}  // namespace

std::string PackedRecord::bytes() const {
    std::string out = record_magic + little_endian(json.size()) + little_endian(details.size());
    out += json;
    out += details;
    out.resize((out.size() + record_alignment - 1) / record_alignment * record_alignment, '\0');
    return out;
}

PackedRecord pack(json record) {
    json details = json::array();
    bool any = false;
    for (json& kernel : record["kernels"]) {
        json of_kernel = json::object();
        for (const char* name : detail_names) {
            const auto found = kernel.find(name);
            if (found == kernel.end()) continue;
            of_kernel[name] = std::move(*found);
            kernel.erase(found);
            any = true;
        }
        details.push_back(std::move(of_kernel));
    }
    PackedRecord packed;
    if (any) packed.details = compressed(text_of(details));
    if (!packed.details.empty()) record["details"] = hash_of(packed.details);
    packed.json = text_of(record);
    return packed;
}

std::expected<UnpackedRecord, std::string> unpack(std::span<const std::byte> section) {
    if (section.size() < record_header_bytes) return std::unexpected("cut short in a record's header");
    if (std::memcmp(section.data(), record_magic, magic_bytes - 1) != 0)
        return std::unexpected("no record begins here");
    if (std::memcmp(section.data(), record_magic, magic_bytes) != 0)
        return std::unexpected("the record is of another version of Trimtab");
    const std::uint64_t json_bytes = little_endian(section.subspan(magic_bytes));
    const std::uint64_t details_bytes = little_endian(section.subspan(magic_bytes + 8));
    const std::size_t left = section.size() - record_header_bytes;
    if (json_bytes > left || details_bytes > left - json_bytes)
        return std::unexpected(fmt::format("the record says {} bytes of JSON and {} of details, {} are left",
                                           json_bytes, details_bytes, left));
    const auto* text = reinterpret_cast<const char*>(section.data()) + record_header_bytes;
    auto record = parsed({text, json_bytes}, "the record is no JSON object");
    if (!record) return std::unexpected(record.error());
    UnpackedRecord out{.json = std::move(*record), .bytes = 0};
    if (!out.json.is_object()) return std::unexpected("the record is no JSON object");
    const auto abi = out.json.find("abi");
    if (abi == out.json.end() || *abi != record_abi)
        return std::unexpected("the record is of another version of Trimtab");
    if (auto joined = join(out.json, {text + json_bytes, details_bytes}); !joined)
        return std::unexpected(joined.error());
    const std::size_t used = record_header_bytes + json_bytes + details_bytes;
    // The last record's padding may have been cut off.
    out.bytes = std::min((used + record_alignment - 1) / record_alignment * record_alignment, section.size());
    return out;
}

}  // namespace trimtab::driver_gen
