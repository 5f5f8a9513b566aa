// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/modules/module_cache.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/read_text.h"
#include "generator_hash.h"
#include "trimtab/driver.h"
#include "trimtab/section.h"

namespace trimtab::choosing {
namespace {

constexpr std::size_t most_library_bytes = std::size_t{256} << 20;
constexpr std::size_t most_files = 4000;
constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30;
constexpr char cut_off[] = "its preparation was cut off";

const std::string& version() {
    static const std::string text = fmt::format(
        "{:08x}", static_cast<std::uint32_t>(XXH3_64bits(TRIMTAB_GENERATOR_HASH TRIMTAB_VERSION,
                                                         sizeof TRIMTAB_GENERATOR_HASH TRIMTAB_VERSION)) ^
                      (TRIMTAB_DRIVER_ABI << 8 | record_abi));
    return text;
}

struct flock whole_file(short type) {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

}  // namespace

std::string annotated_hash(const std::string& hash, std::string_view annotations) {
    const std::uint64_t seed = XXH3_64bits(hash.data(), hash.size());
    return fmt::format("{:016x}", XXH3_64bits_withSeed(annotations.data(), annotations.size(), seed));
}

std::optional<FileLock> FileLock::take(const std::string& path, bool wait, std::string& error) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        error = fmt::format("{}: {}", path, std::strerror(errno));
        return std::nullopt;
    }
    // A lock of this open file, which goes with it: not of the process, nor to be asked for by taking it.
    struct flock lock = whole_file(F_WRLCK);
    int status = 0;
    do {
        status = fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    } while (status != 0 && errno == EINTR);
    if (status == 0) return FileLock(file);
    if (errno != EAGAIN && errno != EACCES) error = fmt::format("{}: {}", path, std::strerror(errno));
    close(file);
    return std::nullopt;
}

bool FileLock::is_held(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    struct flock lock = whole_file(F_WRLCK);
    const bool held = fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(file);
    return held;
}

FileLock::~FileLock() {
    if (file_ >= 0) close(file_);
}

std::string ModuleCache::file(const std::string& hash, std::string_view extension) const {
    return fmt::format("{}/{}-{}{}", folder_, hash, version(), extension);
}

std::string ModuleCache::source(const std::string& hash, ModuleImage::Kind kind) const {
    return file(hash, extension(kind));
}

std::optional<PreparationFailure> ModuleCache::failure(const std::string& hash) const {
    std::ifstream file(ModuleCache::file(hash, ".failed"));
    PreparationFailure failure;
    if (!(file >> failure.attempts)) return std::nullopt;
    std::getline(file >> std::ws, failure.reason);
    failure.was_cut_off = failure.reason == cut_off;
    return failure;
}

void ModuleCache::write_failure(const std::string& hash, unsigned attempts, const std::string& reason) const {
    const std::string line = fmt::format("{} {}\n", attempts, reason);
    // What cannot be remembered is tried again.
    [[maybe_unused]] const auto written =
        base::write_whole(file(hash, ".failed"), std::as_bytes(std::span(line)));
}

void ModuleCache::begin_attempt(const std::string& hash) const {
    const auto before = failure(hash);
    write_failure(hash, before ? before->attempts + 1 : 1, cut_off);
}

void ModuleCache::remember_failure(const std::string& hash, const std::string& reason) const {
    const auto before = failure(hash);
    write_failure(hash, before ? before->attempts : 1, reason.substr(0, reason.find('\n')));
}

void ModuleCache::forget_failure(const std::string& hash) const {
    unlink(file(hash, ".failed").c_str());
}

std::expected<void, Error> ModuleCache::add(const std::string& hash, const std::string& linked) const {
    const auto content = base::read_text(linked);
    if (!content || content->empty())
        return std::unexpected(Error{.message = "cannot be read", .file = linked});
    return base::write_sealed(library(hash), std::as_bytes(std::span(*content)), hash + version());
}

std::expected<std::optional<base::SealedFile>, Error> ModuleCache::find(const std::string& hash) const {
    return base::read_sealed(library(hash), most_library_bytes, hash + version());
}

void ModuleCache::prune() const {
    base::prune_oldest(folder_, most_files, most_bytes);
}

}  // namespace trimtab::choosing
