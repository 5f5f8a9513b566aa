#include "runtime/modules/module_cache.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "generator_hash.h"
#include "trimtab/driver.h"
#include "trimtab/section.h"

namespace trimtab::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_library_bytes = std::size_t{256} << 20;
constexpr std::size_t max_files = 2000;
constexpr char cut_off[] = "its preparation was cut off";

// What is added to a library's end; the loader reads no further than the library's own headers say.
struct Seal {
    std::array<char, 8> magic;
    std::uint64_t bytes = 0;  // of the library
    std::uint64_t hash = 0;   // XXH3 of them
};
constexpr std::array<char, 8> seal_magic{'T', 'R', 'I', 'M', 'S', 'E', 'A', 'L'};

const std::string& version() {
    static const std::string text = fmt::format(
        "{:08x}", static_cast<std::uint32_t>(XXH3_64bits(TRIMTAB_GENERATOR_HASH TRIMTAB_VERSION,
                                                         sizeof TRIMTAB_GENERATOR_HASH TRIMTAB_VERSION)) ^
                      (TRIMTAB_DRIVER_ABI << 8 | record_abi));
    return text;
}

std::unexpected<Error> refused(std::string message, const std::string& path) {
    return std::unexpected(Error{.message = std::move(message), .file = path});
}

std::unexpected<Error> system_error(const std::string& path) {
    return refused(std::strerror(errno), path);
}

struct flock whole_file(short type) {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

}  // namespace

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

std::string ModuleCache::default_folder() {
    for (const auto& [variable, rest] :
         {std::pair{"XDG_CACHE_HOME", "/trimtab/modules"}, std::pair{"HOME", "/.cache/trimtab/modules"}}) {
        if (const char* value = std::getenv(variable); value != nullptr && *value == '/')
            return std::string(value) + rest;
    }
    return {};
}

std::string ModuleCache::file(const std::string& hash, std::string_view extension) const {
    return fmt::format("{}/{}-{}{}", folder_, hash, version(), extension);
}

std::string ModuleCache::source(const std::string& hash, ModuleImage::Kind kind) const {
    return file(hash, extension(kind));
}

std::expected<void, Error> ModuleCache::make_folder() const {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) return refused(error.message(), folder_);
    if (access(folder_.c_str(), W_OK | X_OK) != 0) return system_error(folder_);
    return {};
}

std::expected<void, Error> ModuleCache::write(const std::string& path, std::span<const std::byte> bytes) {
    static std::atomic<unsigned> count = 0;
    const std::string temporary = fmt::format("{}.{}-{}.new", path, getpid(), count.fetch_add(1));
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    // Whatever the user's umask is: what others may write to is not loaded.
    chmod(temporary.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
        const auto error = system_error(path);
        unlink(temporary.c_str());
        return error;
    }
    return {};
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
    static_cast<void>(write(file(hash, ".failed"), std::as_bytes(std::span(line))));
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
    std::ifstream file(linked, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), {}};
    if (!file || content.empty()) return refused("cannot be read", linked);
    const Seal seal{
        .magic = seal_magic, .bytes = content.size(), .hash = XXH3_64bits(content.data(), content.size())};
    content.append(reinterpret_cast<const char*>(&seal), sizeof seal);
    return write(library(hash), std::as_bytes(std::span(content)));
}

std::expected<std::optional<std::string>, Error> ModuleCache::find(const std::string& hash) const {
    const std::string path = library(hash);
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return std::nullopt;
    // Its code will run in this process.
    if ((status.st_uid != geteuid() && status.st_uid != 0) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refused("others may write to it", path);
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size > max_library_bytes) return refused("is too large for a prepared module", path);
    std::string content(size, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(content.data(), static_cast<std::streamsize>(size));
    Seal seal{};
    if (!file || size < sizeof seal) return refused("is damaged", path);
    std::memcpy(&seal, content.data() + size - sizeof seal, sizeof seal);
    if (seal.magic != seal_magic || seal.bytes != size - sizeof seal ||
        seal.hash != XXH3_64bits(content.data(), seal.bytes))
        return refused("is damaged", path);
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now: prune() leaves it
    return path;
}

void ModuleCache::prune() const {
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
        const auto time = entry.last_write_time(error);
        if (!error && entry.path().extension() != ".lock") files.emplace_back(time, entry.path());
    }
    if (files.size() <= max_files) return;
    std::sort(files.begin(), files.end());
    for (std::size_t i = 0; i < files.size() - max_files; ++i) {
        fs::remove(files[i].second, error);
        fs::remove(files[i].second.replace_extension(".lock"), error);
    }
}

}  // namespace trimtab::runtime
