// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where profiles are kept between builds: an SQLite file that several builds may share. A kernel whose PTX,
// plan and backend are unchanged is never profiled twice.
//
// The store is a convenience: nothing that happens to it fails a build. A file that is no store is set aside
// (renamed <file>.corrupt-<n>) and a new one begun; where nothing can be written, what is put is kept for the
// life of this object. Each of these is said once, through `warn`.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/profile.h"
#include "profiler/profile_kernel.h"
#include "profiler/remote_store.h"
#include "trimtab/error.h"

namespace trimtab::profiler {

// $XDG_CACHE_HOME/trimtab/profiles.sqlite, ~/.cache/trimtab/profiles.sqlite without it; "" where neither is
// set.
[[nodiscard]] std::string default_store_path();
// What --trimtab-profile names: a folder (that exists, or whose name ends in '/') holds profiles.sqlite,
// anything else is the file itself.
[[nodiscard]] std::string store_path(const std::string& folder_or_file);

class ProfileStore {
  public:
    using Warn = std::function<void(const std::string& line)>;
    // Folders are made as needed. An empty path: kept in memory alone, without a word.
    // `remote`: another store behind it, read where this one has nothing, and written to as well.
    explicit ProfileStore(const std::string& path, Warn warn, std::unique_ptr<RemoteStore> remote = nullptr);
    ~ProfileStore();
    ProfileStore(ProfileStore&&) noexcept;
    ProfileStore& operator=(ProfileStore&&) noexcept;

    // Keys are any text. What was put last under a key is found; a value that cannot be read is not there.
    [[nodiscard]] std::optional<Profile> profile(std::string_view key);
    void put_profile(std::string_view key, const Profile& profile);
    // Anything else worth keeping: fits, compiled drivers. `kind` keeps their keys apart.
    [[nodiscard]] std::optional<std::string> blob(std::string_view kind, std::string_view key);
    void put_blob(std::string_view kind, std::string_view key, std::string_view bytes);

    // Null: there is none.
    [[nodiscard]] RemoteStore* remote() const { return remote_.get(); }

  private:
    class Database;
    std::unique_ptr<Database> database_;
    std::unique_ptr<RemoteStore> remote_;
};

// The kernel, the plan and its options, and the backend.
[[nodiscard]] std::string profile_key(const analysis::KernelDescription& description, const Backend& backend,
                                      const ProfileOptions& options);

// Whether this process is the one to profile it, of all that share a remote store; `others` are at it, and what they find
// may be recalled soon. Who has claimed gives up the claim in the end.
[[nodiscard]] RemoteStore::Claim claim(ProfileStore& store, std::string_view key);
void give_up_claim(ProfileStore& store, std::string_view key);

// What the store knows of a kernel: its profile, or why it has none; nullopt: nothing.
[[nodiscard]] std::optional<std::expected<Profile, Error>> recall(ProfileStore& store, std::string_view key);
// An error must be the kernel's own: it is what every later build is told.
void remember(ProfileStore& store, std::string_view key, const std::expected<Profile, Error>& profile);

// profile_kernel, unless the store has it. A failure is remembered too.
[[nodiscard]] std::expected<Profile, Error> recall_or_profile(const analysis::KernelDescription& description,
                                                              Backend& backend, const ProfileOptions& options,
                                                              ProfileStore& store,
                                                              const Progress& progress = {});

}  // namespace trimtab::profiler
