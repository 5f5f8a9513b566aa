// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices kept across runs, where TRIMTAB_CHOICES names a file. Never needed: whatever goes wrong is one
// warning, and choices are made anew.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "choosing/log.h"
#include "trimtab/driver.h"

namespace trimtab::choosing {

// Whose choice it is.
struct ChoiceOwner {
    std::string kernel;       // the description's id
    std::string device;       // its name
    std::uint64_t build = 0;  // of all that a choice follows from beside D: another build's choices are void
};

struct StoredChoice {
    trimtab_dim3 block{};
    trimtab_dim3 grid{};  // zeros: the one that covers the launch's threads
    std::string body{};   // the id of the kernel's body that it is a launch of; empty: its own
    double written_ns = 0, chosen_ns = 0;
};

class ChoiceStore {
  public:
    // Opens nothing: that is for the first choice. An empty path: nothing is kept.
    ChoiceStore(std::string path, Log& log);
    ~ChoiceStore();
    ChoiceStore(const ChoiceStore&) = delete;
    ChoiceStore& operator=(const ChoiceStore&) = delete;

    [[nodiscard]] bool is_on() const { return !path_.empty(); }
    [[nodiscard]] std::optional<StoredChoice> find(const ChoiceOwner& owner,
                                                   std::span<const std::uint64_t> key);
    // Written with others, at the latest when the process ends.
    void add(const ChoiceOwner& owner, std::span<const std::uint64_t> key, const StoredChoice& choice);
    void flush();
    // Without waiting: where another process is writing, what is pending stays so.
    void flush_once();

  private:
    struct Library;
    struct Pending {
        ChoiceOwner owner;
        std::vector<std::uint64_t> key;
        StoredChoice choice;
    };
    [[nodiscard]] bool open();
    [[nodiscard]] bool flush_locked();  // false: another process is writing
    void give_up(const std::string& why);
    void forget_after_fork();

    std::string path_;
    Log& log_;
    std::mutex mutex_;
    bool given_up_ = false;
    pid_t owner_process_ = 0;
    const Library* library_ = nullptr;
    void* database_ = nullptr;
    std::vector<Pending> pending_;
};

}  // namespace trimtab::choosing
