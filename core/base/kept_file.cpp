// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/kept_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sha2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace trimtab::base {
namespace {

namespace fs = std::filesystem;

using Digest = std::array<std::uint8_t, SHA256_DIGEST_LENGTH>;

// What is added at the end: loaders read no further than a library's own headers say.
struct Seal {
    std::array<char, 8> magic;
    std::uint64_t bytes = 0;  // before it
    Digest digest{};
};
constexpr std::array<char, 8> seal_magic{'T', 'R', 'I', 'M', 'S', 'E', 'A', 'L'};

Digest digest_of(std::span<const std::byte> bytes, std::string_view purpose) {
    SHA2_CTX context;
    Digest digest;
    const std::uint64_t length = purpose.size();
    SHA256Init(&context);
    SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(&length), sizeof length);
    SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(purpose.data()), purpose.size());
    SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    SHA256Final(digest.data(), &context);
    return digest;
}

std::unexpected<Error> refused(std::string message, const std::string& path) {
    return std::unexpected(Error{.message = std::move(message), .file = path});
}
std::unexpected<Error> system_error(const std::string& path) {
    return refused(std::strerror(errno), path);
}

bool write_all(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

std::expected<void, Error> write_parts(const std::string& path,
                                       std::initializer_list<std::span<const std::byte>> parts) {
    // A name that no other thread, process or host makes.
    std::string temporary = path + ".XXXXXX.new";
    const Descriptor file(mkostemps(temporary.data(), 4, O_CLOEXEC));
    if (!file.is_open()) return system_error(path);
    const bool written =
        std::ranges::all_of(parts, [&](auto part) { return write_all(file.number(), part); });
    if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
    auto error = system_error(path);
    unlink(temporary.c_str());
    return error;
}

std::expected<void, Error> check_owner(const struct stat& status, const std::string& path) {
    if (status.st_uid != geteuid() && status.st_uid != 0) return refused("is another user's", path);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return refused("others may write to it", path);
    return {};
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}
Descriptor::~Descriptor() {
    if (number_ >= 0) close(number_);
}

std::expected<void, Error> make_private_folder(const std::string& path) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
        mkdir(path.substr(0, end).c_str(), S_IRWXU);
    if (mkdir(path.c_str(), S_IRWXU) == 0) return {};
    if (errno != EEXIST) return system_error(path);
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return system_error(path);
    if (!S_ISDIR(status.st_mode)) return refused("is no folder", path);
    if (status.st_uid != geteuid()) return refused("is another user's", path);
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0 && chmod(path.c_str(), status.st_mode & S_IRWXU) != 0)
        return system_error(path);
    if (access(path.c_str(), W_OK | X_OK) != 0) return system_error(path);
    return {};
}

std::expected<void, Error> write_whole(const std::string& path, std::span<const std::byte> bytes) {
    return write_parts(path, {bytes});
}

std::expected<void, Error> write_sealed(const std::string& path, std::span<const std::byte> bytes,
                                        std::string_view purpose) {
    const Seal seal{.magic = seal_magic, .bytes = bytes.size(), .digest = digest_of(bytes, purpose)};
    return write_parts(path, {bytes, std::as_bytes(std::span(&seal, 1))});
}

SealedFile::SealedFile(SealedFile&& other) noexcept
    : file_(std::move(other.file_)),
      mapped_(other.mapped_),
      mapped_bytes_(other.mapped_bytes_),
      bytes_(other.bytes_) {
    other.mapped_ = nullptr;
}
SealedFile::~SealedFile() {
    if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

std::expected<std::optional<SealedFile>, Error> read_sealed(const std::string& path, std::size_t most_bytes,
                                                            std::string_view purpose) {
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file.is_open() && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    struct stat status{};
    if (!file.is_open() || fstat(file.number(), &status) != 0) return system_error(path);
    if (!S_ISREG(status.st_mode)) return refused("is no file", path);
    if (const auto owner = check_owner(status, path); !owner) return std::unexpected(owner.error());
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size > most_bytes) return refused("is too large", path);
    if (size < sizeof(Seal)) return refused("is damaged", path);
    // Read, not mapped from the file: what is checked is what is used, and a file that shrinks stops nobody.
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return system_error(path);
    auto* bytes = static_cast<std::byte*>(memory);
    const int number = file.number();
    SealedFile sealed(std::move(file), bytes, size, size - sizeof(Seal));
    for (std::size_t at = 0; at < size;) {
        const ssize_t got = pread(number, bytes + at, size - at, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return refused("is damaged", path);
        at += static_cast<std::size_t>(got);
    }
    Seal seal{};
    std::memcpy(&seal, bytes + sealed.bytes().size(), sizeof seal);
    if (seal.magic != seal_magic || seal.bytes != sealed.bytes().size() ||
        seal.digest != digest_of(sealed.bytes(), purpose))
        return refused("is damaged", path);
    futimens(number, nullptr);  // used now: the last that is pruned
    return sealed;
}

void prune_oldest(const std::string& folder, std::size_t most_files, std::uint64_t most_bytes) {
    struct Entry {
        fs::file_time_type time;
        std::uint64_t bytes;
        fs::path path;
    };
    std::vector<Entry> entries;
    std::uint64_t bytes = 0;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        // Others may be removing them too.
        std::error_code gone;
        if (!entry.is_regular_file(gone)) continue;
        const auto time = entry.last_write_time(gone);
        const auto size = entry.file_size(gone);
        if (gone) continue;
        bytes += size;
        entries.push_back({time, size, entry.path()});
    }
    std::ranges::sort(entries, {}, &Entry::time);
    std::size_t files = entries.size();
    for (const Entry& entry : entries) {
        if (files <= most_files && bytes <= most_bytes) return;
        fs::remove(entry.path, error);
        --files;
        bytes -= entry.bytes;
    }
}

}  // namespace trimtab::base
