// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/store.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/base/cache_path.h"
#include "core/base/json_value.h"

namespace trimtab::profiler {

namespace {

constexpr int busy_milliseconds = 20'000;  // another build writes for far less
constexpr std::string_view profile_kind = "profile", failure_kind = "failure";

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinishStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

bool is_corrupt(int code) {
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

}  // namespace

class ProfileStore::Database {
  public:
    Database(std::string path, Warn warn) : path_(std::move(path)), warn_(std::move(warn)) {
        if (!path_.empty()) open();
    }

    std::optional<std::string> get(std::string_view kind, std::string_view key) {
        if (const auto kept = memory_.find({std::string(kind), std::string(key)}); kept != memory_.end())
            return kept->second;
        for (int attempt = 0; attempt < 2 && handle_; ++attempt) {
            std::string value;
            const int code = read(kind, key, value);
            if (code == SQLITE_ROW) return value;
            if (code == SQLITE_DONE) return std::nullopt;
            if (!trouble(code, "read")) return std::nullopt;
        }
        return std::nullopt;
    }

    void put(std::string_view kind, std::string_view key, std::string_view value) {
        for (int attempt = 0; attempt < 2 && handle_; ++attempt) {
            const int code = write(kind, key, value);
            if (code == SQLITE_DONE) return;
            if (!trouble(code, "written")) break;
        }
        memory_[{std::string(kind), std::string(key)}] = value;
    }

  private:
    void say(const std::string& line) {
        if (!said_ && warn_) warn_(line);
        said_ = true;
    }

    int execute(const char* sql) { return sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr); }

    Statement prepare(const char* sql, int& code) {
        sqlite3_stmt* statement = nullptr;
        code = sqlite3_prepare_v2(handle_.get(), sql, -1, &statement, nullptr);
        return Statement(statement);
    }

    static void bind(const Statement& statement, int index, std::string_view text) {
        sqlite3_bind_blob64(statement.get(), index, text.data(), text.size(), SQLITE_TRANSIENT);
    }

    int read(std::string_view kind, std::string_view key, std::string& value) {
        int code = SQLITE_OK;
        const Statement statement = prepare("SELECT value FROM kept WHERE kind = ?1 AND key = ?2", code);
        if (code != SQLITE_OK) return code;
        bind(statement, 1, kind);
        bind(statement, 2, key);
        code = sqlite3_step(statement.get());
        if (code == SQLITE_ROW) {
            const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement.get(), 0));
            const int size = sqlite3_column_bytes(statement.get(), 0);
            if (bytes != nullptr) value.assign(bytes, static_cast<std::size_t>(size));
        }
        return code;
    }

    int write(std::string_view kind, std::string_view key, std::string_view value) {
        int code = SQLITE_OK;
        const Statement statement = prepare("INSERT OR REPLACE INTO kept VALUES (?1, ?2, ?3)", code);
        if (code != SQLITE_OK) return code;
        bind(statement, 1, kind);
        bind(statement, 2, key);
        bind(statement, 3, value);
        return sqlite3_step(statement.get());
    }

    // Opens and checks; what is no store is set aside once.
    void open() {
        std::error_code failed;
        const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
        if (!folder.empty()) std::filesystem::create_directories(folder, failed);
        for (int attempt = 0; attempt < 2; ++attempt) {
            const int code = try_open();
            if (code == SQLITE_OK) return;
            handle_.reset();
            if (!is_corrupt(code)) {
                give_up("opened", failed ? failed.message() : sqlite3_errstr(code));
                return;
            }
            if (!set_aside()) return;
        }
        give_up("opened", "it stays damaged");
    }

    // Which file the path names now.
    std::uint64_t identity() const {
        struct stat status{};
        return stat(path_.c_str(), &status) == 0 ? status.st_ino : 0;
    }

    int try_open() {
        sqlite3* database = nullptr;
        int code =
            sqlite3_open_v2(path_.c_str(), &database,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
        handle_.reset(database);
        opened_ = identity();
        if (code != SQLITE_OK) return code;
        sqlite3_extended_result_codes(handle_.get(), 1);
        sqlite3_busy_timeout(handle_.get(), busy_milliseconds);
        code = execute("PRAGMA journal_mode = WAL");
        if (code != SQLITE_OK && is_corrupt(code)) return code;
        execute("PRAGMA synchronous = NORMAL");
        code = execute(
            "BEGIN IMMEDIATE;"
            "CREATE TABLE IF NOT EXISTS kept (kind TEXT, key TEXT, value BLOB, PRIMARY KEY (kind, key)) "
            "WITHOUT ROWID;"
            "COMMIT");
        if (code != SQLITE_OK) {
            execute("ROLLBACK");
            return code;
        }
        int prepared = SQLITE_OK;
        const Statement probe = prepare("SELECT kind, key, value FROM kept LIMIT 1", prepared);
        if (prepared != SQLITE_OK) return SQLITE_NOTADB;  // a database, but not ours
        code = sqlite3_step(probe.get());
        return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
    }

    bool set_aside() {
        if (identity() != opened_) return true;  // another build was faster
        std::string aside;
        for (int n = 1; aside.empty() || std::filesystem::exists(aside); ++n)
            aside = fmt::format("{}.corrupt-{}", path_, n);
        std::error_code failed;
        std::filesystem::rename(path_, aside, failed);
        // What belongs to the damaged file would damage the new one.
        std::error_code ignored;
        std::filesystem::remove(path_ + "-wal", ignored);
        std::filesystem::remove(path_ + "-shm", ignored);
        if (failed) {
            give_up("set aside", failed.message());
            return false;
        }
        say(fmt::format("{}: the profile store is damaged; it is now {} and a new one is begun", path_,
                        aside));
        return true;
    }

    // Damage that shows only later: set aside and go on with a new store. True: try again.
    bool trouble(int code, const char* what) {
        if (is_corrupt(code)) {
            handle_.reset();
            if (set_aside()) open();
            return handle_ != nullptr;
        }
        give_up(what, sqlite3_errstr(code));
        return false;
    }

    void give_up(const char* what, const std::string& why) {
        handle_.reset();
        say(fmt::format("{}: the profile store cannot be {} ({}); profiles are not kept", path_, what, why));
    }

    std::string path_;
    Warn warn_;
    bool said_ = false;
    std::uint64_t opened_ = 0;
    Handle handle_;
    std::map<std::pair<std::string, std::string>, std::string> memory_;
};

std::string default_store_path() {
    return base::cache_path("profiles.sqlite");
}

std::string store_path(const std::string& folder_or_file) {
    std::error_code ignored;
    const bool folder =
        folder_or_file.ends_with('/') || std::filesystem::is_directory(folder_or_file, ignored);
    return folder ? (std::filesystem::path(folder_or_file) / "profiles.sqlite").string() : folder_or_file;
}

ProfileStore::ProfileStore(const std::string& path, Warn warn, std::unique_ptr<RemoteStore> remote)
    : database_(std::make_unique<Database>(path, std::move(warn))), remote_(std::move(remote)) {}
ProfileStore::~ProfileStore() = default;
ProfileStore::ProfileStore(ProfileStore&&) noexcept = default;
ProfileStore& ProfileStore::operator=(ProfileStore&&) noexcept = default;

std::optional<std::string> ProfileStore::blob(std::string_view kind, std::string_view key) {
    auto value = database_->get(kind, key);
    if (value || !remote_) return value;
    value = remote_->get(kind, key);
    if (value) database_->put(kind, key, *value);
    return value;
}
void ProfileStore::put_blob(std::string_view kind, std::string_view key, std::string_view bytes) {
    database_->put(kind, key, bytes);
    if (remote_) remote_->put(kind, key, bytes);
}

std::optional<Profile> ProfileStore::profile(std::string_view key) {
    const auto text = blob(profile_kind, key);
    if (!text) return std::nullopt;
    const auto json = base::parse_json(*text, "the profile store");
    if (!json) return std::nullopt;
    auto profile = profile_from_json(*json, "the profile store");
    return profile ? std::optional(std::move(*profile)) : std::nullopt;
}
void ProfileStore::put_profile(std::string_view key, const Profile& profile) {
    put_blob(profile_kind, key, to_json(profile).dump());
}

std::string profile_key(const analysis::KernelDescription& description, const Backend& backend,
                        const ProfileOptions& options) {
    // The description's own version is in it by the names and types of D, which analysis may come to see
    // otherwise.
    std::string key = fmt::format("{} {} {} {}:{} {}", description.id, backend.name(), backend.version(),
                                  options.plan.least, options.plan.most, options.instruction_budget);
    for (const analysis::DataParameter& data : description.data)
        key += fmt::format(" {}:{}{}{}", data.name, data.type, data.in_memo ? "" : "-",
                           data.coarse_in_memo ? "~" : "");
    if (!analysis::has_shape_annotations(description)) return key;
    const nlohmann::json json = analysis::to_json(description);
    for (const char* member : {"verdict", "block", "grid", "shared"})
        if (json.contains(member)) key += fmt::format(" {} {}", member, json[member].dump());
    return key;
}

RemoteStore::Claim claim(ProfileStore& store, std::string_view key) {
    return store.remote() != nullptr ? store.remote()->claim(profile_kind, key) : RemoteStore::Claim::mine;
}
void give_up_claim(ProfileStore& store, std::string_view key) {
    if (store.remote() != nullptr) store.remote()->release(profile_kind, key);
}

std::optional<std::expected<Profile, Error>> recall(ProfileStore& store, std::string_view key) {
    if (auto known = store.profile(key)) return std::move(*known);
    if (auto failure = store.blob(failure_kind, key))
        return std::unexpected(Error{.message = std::move(*failure)});
    return std::nullopt;
}

void remember(ProfileStore& store, std::string_view key, const std::expected<Profile, Error>& profile) {
    if (profile)
        store.put_profile(key, *profile);
    else
        store.put_blob(failure_kind, key, profile.error().message);
}

std::expected<Profile, Error> recall_or_profile(const analysis::KernelDescription& description,
                                                Backend& backend, const ProfileOptions& options,
                                                ProfileStore& store, const Progress& progress) {
    const std::string key = profile_key(description, backend, options);
    if (auto known = recall(store, key)) return std::move(*known);
    auto profile = profile_kernel(description, backend, options, progress);
    remember(store, key, profile);
    return profile;
}

}  // namespace trimtab::profiler
