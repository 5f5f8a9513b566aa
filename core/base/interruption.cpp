// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/interruption.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>

namespace trimtab::base {
namespace {

constexpr std::array ending_signals{SIGHUP, SIGINT, SIGTERM};
// More at once than these are not tidied.
constexpr std::size_t most_folders = 64, most_children = 64, most_groups = 1024;

// A signal's handler is given nothing but these.
constinit std::array<std::atomic<const char*>, most_folders> folders{};
constinit std::array<std::atomic<pid_t>, most_children> children{};
constinit std::array<std::atomic<pid_t>, most_groups> groups{};

template <class List, class Value>
void replace(List& list, Value from, Value to) {
    for (auto& place : list) {
        Value expected = from;
        if (place.compare_exchange_strong(expected, to)) return;
    }
}

void remove_entry(int parent, const char* name, unsigned depth) {
    constexpr unsigned deepest = 32, most_passes = 1000;
    if (unlinkat(parent, name, 0) == 0 || depth > deepest) return;
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    alignas(dirent64) std::array<char, 4096> buffer;
    // Others may still write into it: until a pass finds nothing.
    for (unsigned pass = 0; pass < most_passes; ++pass) {
        bool any = false;
        lseek(folder, 0, SEEK_SET);
        for (ssize_t bytes; (bytes = getdents64(folder, buffer.data(), buffer.size())) > 0;) {
            for (ssize_t at = 0; at < bytes;) {
                const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
                at += entry->d_reclen;
                const std::string_view entry_name(entry->d_name);
                if (entry_name == "." || entry_name == "..") continue;
                any = true;
                remove_entry(folder, entry->d_name, depth + 1);
            }
        }
        if (!any || unlinkat(parent, name, AT_REMOVEDIR) == 0) break;
    }
    close(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void tidy_and_end(int signal, siginfo_t* info, void* /*context*/) {
    for (const auto& group : groups)
        if (const pid_t id = group; id > 0) {
            kill(-id, SIGTERM);
            kill(-id, SIGCONT);
        }
    for (const auto& child : children)
        // A terminal sends it to all that run in its foreground.
        if (const pid_t pid = child; pid > 0 && info->si_code != SI_KERNEL) kill(pid, signal);
    for (const auto& child : children)
        if (const pid_t pid = child; pid > 0)
            while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
            }
    for (const auto& folder : folders)
        if (const char* path = folder; path != nullptr) remove_tree(path);
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    sigaction(signal, &usual, nullptr);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    raise(signal);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void handle_signals() {
    static std::once_flag once;
    std::call_once(once, [] {
        for (const int signal : ending_signals) {
            struct sigaction action{};
            if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
            action.sa_sigaction = tidy_and_end;
            action.sa_flags = SA_SIGINFO;
            sigaction(signal, &action, nullptr);
        }
    });
}

}  // namespace

SignalsHeldBack::SignalsHeldBack() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : ending_signals) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
}
SignalsHeldBack::~SignalsHeldBack() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void remove_if_interrupted(const char* folder) {
    handle_signals();
    replace<decltype(folders), const char*>(folders, nullptr, folder);
}
void forget_folder(const char* folder) {
    replace<decltype(folders), const char*>(folders, folder, nullptr);
}
void end_if_interrupted(pid_t child) {
    handle_signals();
    replace<decltype(children), pid_t>(children, 0, child);
}
void forget_child(pid_t child) {
    replace<decltype(children), pid_t>(children, child, 0);
}

void end_group_if_interrupted(pid_t group) {
    handle_signals();
    replace<decltype(groups), pid_t>(groups, 0, group);
}
void forget_group(pid_t group) {
    replace<decltype(groups), pid_t>(groups, group, 0);
}

void remove_tree(const char* path) {
    remove_entry(AT_FDCWD, path, 0);
}

}  // namespace trimtab::base
