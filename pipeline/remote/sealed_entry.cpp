// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/remote/sealed_entry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "core/base/kept_file.h"

namespace trimtab::remote {
namespace {

constexpr std::string_view entry_magic = "TRS1";
constexpr std::size_t digest_bytes = 32, least_secret_bytes = 16, most_secret_bytes = 4096;
constexpr unsigned long long most_value_bytes = 256ULL << 20;

// Each part with its length before it: no two lists of parts have one text.
std::string text_of(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) {
        const std::uint64_t length = part.size();
        text.append(reinterpret_cast<const char*>(&length), sizeof length);
        text += part;
    }
    return text;
}

std::string digest(std::string_view secret, std::initializer_list<std::string_view> parts) {
    const std::string text = text_of(parts);
    std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
    unsigned length = 0;
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data(), &length);
    return {reinterpret_cast<const char*>(out.data()), digest_bytes};
}

std::unexpected<Error> refused(std::string message, const std::string& path) {
    return std::unexpected(Error{.message = std::move(message), .file = path});
}

}  // namespace

std::expected<std::string, Error> read_secret(const std::string& path) {
    const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status{};
    if (!file.is_open() || fstat(file.number(), &status) != 0) return refused(std::strerror(errno), path);
    if (!S_ISREG(status.st_mode)) return refused("is no file", path);
    if (status.st_uid != geteuid() && status.st_uid != 0) return refused("is another user's", path);
    if ((status.st_mode & (S_IRWXO | S_IWGRP)) != 0)
        return refused("others may read it, or write to it: chmod 600", path);
    std::array<char, most_secret_bytes> bytes{};
    const ssize_t got = read(file.number(), bytes.data(), bytes.size());
    if (got < 0) return refused(std::strerror(errno), path);
    std::string_view secret(bytes.data(), static_cast<std::size_t>(got));
    while (secret.ends_with('\n') || secret.ends_with('\r')) secret.remove_suffix(1);
    if (secret.size() < least_secret_bytes)
        return refused(fmt::format("holds {} bytes; {} are the least: openssl rand -hex 32 makes one",
                                   secret.size(), least_secret_bytes),
                       path);
    return std::string(secret);
}

std::string entry_name(std::string_view secret, std::string_view kind, std::string_view key) {
    std::string name;
    for (const char byte : digest(secret, {"name", kind, key}))
        name += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return name;
}

std::string seal(std::string_view secret, std::string_view kind, std::string_view key,
                 std::string_view value) {
    std::string frame(ZSTD_compressBound(value.size()), '\0');
    const std::size_t bytes =
        ZSTD_compress(frame.data(), frame.size(), value.data(), value.size(), ZSTD_CLEVEL_DEFAULT);
    if (ZSTD_isError(bytes) != 0) return {};
    frame.resize(bytes);
    return std::string(entry_magic) + digest(secret, {"entry", kind, key, frame}) + frame;
}

std::expected<std::string, Error> unseal(std::string_view secret, std::string_view kind, std::string_view key,
                                         std::string_view entry) {
    constexpr std::size_t prefix_bytes = entry_magic.size() + digest_bytes;
    if (entry.size() < prefix_bytes || !entry.starts_with(entry_magic))
        return std::unexpected(Error{"is no entry of Trimtab's"});
    const std::string_view said = entry.substr(entry_magic.size(), digest_bytes),
                           frame = entry.substr(prefix_bytes);
    // Takes as long wherever they differ.
    if (CRYPTO_memcmp(said.data(), digest(secret, {"entry", kind, key, frame}).data(), digest_bytes) != 0)
        return std::unexpected(Error{"is not signed with this key, or not for what it stands for"});
    const unsigned long long bytes = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (bytes > most_value_bytes) return std::unexpected(Error{"is too large"});
    std::string value(static_cast<std::size_t>(bytes), '\0');
    const std::size_t got = ZSTD_decompress(value.data(), value.size(), frame.data(), frame.size());
    if (ZSTD_isError(got) != 0 || got != value.size()) return std::unexpected(Error{"is damaged"});
    return value;
}

}  // namespace trimtab::remote
