// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posix_spawn() is given, of a command.
#pragma once

#include <spawn.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/process.h"

namespace trimtab::base {

class SpawnCall {
  public:
    // `keeps` of this process's environment; all of it where it is null.
    explicit SpawnCall(const Command& command, bool (*keeps)(std::string_view variable) = nullptr);
    ~SpawnCall();
    SpawnCall(const SpawnCall&) = delete;
    SpawnCall& operator=(const SpawnCall&) = delete;

    void open_as(int stream, const std::string& path, int flags);
    void pass_as(int stream, int descriptor);
    void set_signal_mask(const sigset_t& mask);
    // Of a process group of its own, with SIGPIPE as programs expect it.
    void lead_group();
    void leave_session();  // with no other descriptors than the three streams, in /

    // 0, or why it does not start. `child` is set where it does.
    [[nodiscard]] int spawn(pid_t& child);
    // For execve().
    [[nodiscard]] char* const* arguments() const { return arguments_.data(); }
    [[nodiscard]] char* const* environment() const { return environment_.data(); }

  private:
    std::vector<std::string> words_;
    std::vector<char*> arguments_, environment_;
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
    short flags_ = 0;
};

}  // namespace trimtab::base
