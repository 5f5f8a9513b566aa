// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/spawn_call.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace trimtab::base {

SpawnCall::SpawnCall(const Command& command, bool (*keeps)(std::string_view variable))
    : words_(command.words) {
    for (const auto& [name, value] : command.environment) words_.push_back(name + "=" + value);
    for (std::string& word : words_) arguments_.push_back(word.data());
    const auto first_variable = arguments_.begin() + static_cast<std::ptrdiff_t>(command.words.size());
    environment_.assign(first_variable, arguments_.end());
    arguments_.erase(first_variable, arguments_.end());
    arguments_.push_back(nullptr);
    const auto is_replaced = [&](std::string_view variable) {
        return std::ranges::any_of(command.environment, [&](const auto& added) {
            return variable.starts_with(added.first) && variable.substr(added.first.size()).starts_with('=');
        });
    };
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        if ((keeps == nullptr || keeps(*entry)) && !is_replaced(*entry)) environment_.push_back(*entry);
    environment_.push_back(nullptr);
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    if (!command.messages_file.empty())
        open_as(STDERR_FILENO, command.messages_file, O_WRONLY | O_CREAT | O_TRUNC);
    if (command.writes_on_stderr) pass_as(STDOUT_FILENO, STDERR_FILENO);
}

SpawnCall::~SpawnCall() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
}

void SpawnCall::open_as(int stream, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, stream, path.c_str(), flags, 0644);
}
void SpawnCall::pass_as(int stream, int descriptor) {
    posix_spawn_file_actions_adddup2(&actions_, descriptor, stream);
}

void SpawnCall::set_signal_mask(const sigset_t& mask) {
    posix_spawnattr_setsigmask(&attributes_, &mask);
    flags_ |= POSIX_SPAWN_SETSIGMASK;
}

void SpawnCall::lead_group() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &set);
    posix_spawnattr_setpgroup(&attributes_, 0);
    flags_ |= POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF;
}

void SpawnCall::leave_session() {
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawn_file_actions_addchdir_np(&actions_, "/");
    sigset_t set;
    sigemptyset(&set);
    set_signal_mask(set);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attributes_, &set);
    flags_ |= POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF;
}

int SpawnCall::spawn(pid_t& child) {
    posix_spawnattr_setflags(&attributes_, flags_);
    return posix_spawnp(&child, arguments_.front(), &actions_, &attributes_, arguments_.data(),
                        environment_.data());
}

}  // namespace trimtab::base
