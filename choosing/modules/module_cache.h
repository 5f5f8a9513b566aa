// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folder of prepared modules: for each module that a program loads while it runs, a library of its
// kernels' driver programs, made by `trimtab prepare`.
//
//     HASH-VERSION.so        the driver programs and their record, and a seal: nothing that was cut short or
//                            damaged is loaded
//     HASH-VERSION.ptx       (or .fatbin) the module, until it is prepared
//     HASH-VERSION.lock      locked while it is being prepared
//     HASH-VERSION.failed    how often it was tried, and why it failed
//
// HASH is the module's (with annotations beside the source, annotated_hash() of it), VERSION that of Trimtab and everything that makes driver programs.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "choosing/modules/module_image.h"
#include "core/base/cache_path.h"
#include "core/base/kept_file.h"
#include "trimtab/error.h"

namespace trimtab::choosing {

// Held from take() until it is destroyed, or the process ends, however that comes.
class FileLock {
  public:
    // nullopt: another process holds it, or the file cannot be made (`error` says so).
    [[nodiscard]] static std::optional<FileLock> take(const std::string& path, bool wait, std::string& error);
    [[nodiscard]] static bool is_held(const std::string& path);  // by another process
    FileLock(FileLock&& other) noexcept : file_(other.file_) { other.file_ = -1; }
    FileLock& operator=(FileLock&&) = delete;
    ~FileLock();

  private:
    explicit FileLock(int file) : file_(file) {}
    int file_ = -1;
};

struct PreparationFailure {
    unsigned attempts = 0;
    std::string reason;
    bool was_cut_off = false;  // it ended without saying anything
};

// The hash of a module whose kernels are prepared as a file of annotations says (its content).
[[nodiscard]] std::string annotated_hash(const std::string& hash, std::string_view annotations);

class ModuleCache {
  public:
    // Empty: there is none.
    explicit ModuleCache(std::string folder) : folder_(std::move(folder)) {}
    [[nodiscard]] static std::string default_folder() { return base::cache_path("modules"); }

    [[nodiscard]] bool is_there() const { return !folder_.empty(); }
    [[nodiscard]] const std::string& folder() const { return folder_; }
    [[nodiscard]] std::string library(const std::string& hash) const { return file(hash, ".so"); }
    [[nodiscard]] std::string lock(const std::string& hash) const { return file(hash, ".lock"); }
    [[nodiscard]] std::string source(const std::string& hash, ModuleImage::Kind kind) const;

    // The folder, made as needed.
    [[nodiscard]] std::expected<void, Error> make_folder() const {
        return base::make_private_folder(folder_);
    }

    [[nodiscard]] std::optional<PreparationFailure> failure(const std::string& hash) const;
    void begin_attempt(const std::string& hash) const;  // until it is told how it ended, it was cut off
    void remember_failure(const std::string& hash, const std::string& reason) const;
    void forget_failure(const std::string& hash) const;

    // Seals the library, which the linker has just made, in its place in the folder.
    [[nodiscard]] std::expected<void, Error> add(const std::string& hash, const std::string& linked) const;
    // nullopt: there is none. An error: it is damaged, or another user's. What is loaded must be the file
    // that was checked, not what its name means by then.
    [[nodiscard]] std::expected<std::optional<base::SealedFile>, Error> find(const std::string& hash) const;
    // Keeps the modules that were used last.
    void prune() const;

  private:
    [[nodiscard]] std::string file(const std::string& hash, std::string_view extension) const;
    void write_failure(const std::string& hash, unsigned attempts, const std::string& reason) const;
    std::string folder_;
};

}  // namespace trimtab::choosing
