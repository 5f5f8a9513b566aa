// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/choice_store.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "choosing/choices/choice_database.h"
#include "choosing/own_files.h"

namespace trimtab::choosing {
namespace {

constexpr std::size_t rows_at_once = 64, most_pending = 4096;
constexpr int flush_attempts = 100;  // at the end of the process: about a second, and a waiting time each
using ErrorText = std::array<char, 256>;

ChoiceRow row_of(const ChoiceOwner& owner, std::span<const std::uint64_t> key) {
    ChoiceRow row;
    row.kernel = owner.kernel.c_str();
    row.device = owner.device.c_str();
    row.build = owner.build;
    row.key = key.data();
    row.key_bytes = key.size_bytes();
    return row;
}

}  // namespace

struct ChoiceStore::Library {
    decltype(&trimtab_choices_open) open = nullptr;
    decltype(&trimtab_choices_close) close = nullptr;
    decltype(&trimtab_choices_find) find = nullptr;
    decltype(&trimtab_choices_add) add = nullptr;
};

ChoiceStore::ChoiceStore(std::string path, Log& log) : path_(std::move(path)), log_(log) {}

ChoiceStore::~ChoiceStore() {
    flush();
    if (database_ != nullptr) library_->close(database_);
}

void ChoiceStore::give_up(const std::string& why) {
    given_up_ = true;
    pending_.clear();
    log_.warn_once(fmt::format("TRIMTAB_CHOICES={}: {}: choices are not kept", path_, why));
}

// A connection of SQLite's must not be used on both sides of a fork. The child's copy is left as it is:
// closing it would take the parent's locks away.
void ChoiceStore::forget_after_fork() {
    if (owner_process_ == getpid()) return;
    owner_process_ = getpid();
    database_ = nullptr;
    pending_.clear();
}

bool ChoiceStore::open() {
    if (given_up_ || path_.empty()) return false;
    forget_after_fork();
    if (database_ != nullptr) return true;
    if (library_ == nullptr) {
        std::string error;
        void* handle = open_own_library("libtrimtab_choices.so", error);
        if (handle == nullptr) {
            give_up(error);
            return false;
        }
        static Library library;
        const auto set = [handle](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
            return function != nullptr;
        };
        if (!set(library.open, "trimtab_choices_open") || !set(library.close, "trimtab_choices_close") ||
            !set(library.find, "trimtab_choices_find") || !set(library.add, "trimtab_choices_add")) {
            give_up("libtrimtab_choices.so is of another version");
            return false;
        }
        library_ = &library;
    }
    ErrorText error{};
    database_ = library_->open(path_.c_str(), error.data(), error.size());
    if (database_ == nullptr && error[0] != '\0') give_up(error.data());
    return database_ != nullptr;
}

std::optional<StoredChoice> ChoiceStore::find(const ChoiceOwner& owner, std::span<const std::uint64_t> key) {
    const std::lock_guard lock(mutex_);
    if (!open()) return std::nullopt;
    ChoiceRow row = row_of(owner, key);
    ErrorText error{};
    const int found = library_->find(database_, &row, error.data(), error.size());
    if (found == choices_failed) give_up(error.data());
    if (found <= 0) return std::nullopt;
    return StoredChoice{.block = row.block,
                        .grid = row.grid,
                        .body = row.body.data(),
                        .written_ns = row.written_ns,
                        .chosen_ns = row.chosen_ns};
}

void ChoiceStore::add(const ChoiceOwner& owner, std::span<const std::uint64_t> key,
                      const StoredChoice& choice) {
    const std::lock_guard lock(mutex_);
    if (!open() && given_up_) return;
    if (pending_.size() < most_pending)
        pending_.push_back({.owner = owner, .key = {key.begin(), key.end()}, .choice = choice});
    if (pending_.size() % rows_at_once == 0) static_cast<void>(flush_locked());
}

void ChoiceStore::flush() {
    for (int attempt = 0; attempt < flush_attempts; ++attempt) {
        {
            const std::lock_guard lock(mutex_);
            if (flush_locked()) return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

void ChoiceStore::flush_once() {
    const std::lock_guard lock(mutex_);
    static_cast<void>(flush_locked());
}

bool ChoiceStore::flush_locked() {
    if (pending_.empty() || given_up_) return true;
    if (!open()) return given_up_;
    if (pending_.empty()) return true;  // they were a parent process's
    std::vector<ChoiceRow> rows;
    for (const Pending& pending : pending_) {
        ChoiceRow row = row_of(pending.owner, pending.key);
        row.block = pending.choice.block;
        row.grid = pending.choice.grid;
        pending.choice.body.copy(row.body.data(), row.body.size() - 1);
        row.written_ns = pending.choice.written_ns;
        row.chosen_ns = pending.choice.chosen_ns;
        rows.push_back(row);
    }
    ErrorText error{};
    const int status = library_->add(database_, rows.data(), rows.size(), error.data(), error.size());
    if (status == choices_busy) return false;
    if (status == choices_failed) give_up(error.data());
    pending_.clear();
    return true;
}

}  // namespace trimtab::choosing
