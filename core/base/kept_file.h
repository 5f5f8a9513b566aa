// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are kept from one run for later ones, which then trust them: whole or not there, of this user
// alone, and as they were written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trimtab/error.h"

namespace trimtab::base {

// An open file; closed with the object.
class Descriptor {
  public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool is_open() const { return number_ >= 0; }

  private:
    int number_;
};

// The folder with those above it, made as needed with mode 0700. One of this user's that others may read is
// closed to them. The error: it cannot be made or written to, or is another user's.
[[nodiscard]] std::expected<void, Error> make_private_folder(const std::string& path);

// The file with these bytes, mode 0600; another process sees the old file or the whole new one.
[[nodiscard]] std::expected<void, Error> write_whole(const std::string& path,
                                                     std::span<const std::byte> bytes);
// The same, with a seal at its end: the SHA-256 of the bytes and of `purpose`, which says what they are for,
// so that a file that takes another's place is found out.
[[nodiscard]] std::expected<void, Error> write_sealed(const std::string& path,
                                                      std::span<const std::byte> bytes,
                                                      std::string_view purpose);

// The bytes lie in memory that goes with the object; `file` is the file that they were read from, whatever
// its name means by now.
class SealedFile {
  public:
    SealedFile(Descriptor file, std::byte* mapped, std::size_t mapped_bytes, std::size_t bytes)
        : file_(std::move(file)), mapped_(mapped), mapped_bytes_(mapped_bytes), bytes_(bytes) {}
    SealedFile(SealedFile&& other) noexcept;
    SealedFile& operator=(SealedFile&&) = delete;
    ~SealedFile();
    [[nodiscard]] std::span<const std::byte> bytes() const { return {mapped_, bytes_}; }
    [[nodiscard]] const Descriptor& file() const { return file_; }

  private:
    Descriptor file_;
    std::byte* mapped_;
    std::size_t mapped_bytes_, bytes_;
};

// nullopt: there is none. The error: it is not this user's (or root's) alone, too large, or not as it was
// written for `purpose`. A file that is read counts as used now.
[[nodiscard]] std::expected<std::optional<SealedFile>, Error> read_sealed(const std::string& path,
                                                                          std::size_t most_bytes,
                                                                          std::string_view purpose);

// Removes the files of a folder that were used longest ago, until it is within both bounds.
void prune_oldest(const std::string& folder, std::size_t most_files, std::uint64_t most_bytes);

}  // namespace trimtab::base
