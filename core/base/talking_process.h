// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that this one talks to: what is sent arrives on its stdin, what it writes on stdout is received, and what
// it says on stderr goes where this process's messages go.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/kept_file.h"
#include "core/base/process.h"
#include "trimtab/error.h"

namespace trimtab::base {

// In a process group of its own, which ends with the object, and gets SIGTERM where a signal ends this process: a
// terminal's Ctrl-C does not reach it by itself.
class TalkingProcess {
  public:
    [[nodiscard]] static std::expected<TalkingProcess, Error> start(const Command& command);
    TalkingProcess(TalkingProcess&& other) noexcept;
    TalkingProcess& operator=(TalkingProcess&& other) = delete;
    ~TalkingProcess();

    // For poll(); neither call below waits.
    [[nodiscard]] int input() const { return input_.number(); }
    [[nodiscard]] int output() const { return output_.number(); }
    [[nodiscard]] pid_t id() const { return id_; }

    // How much of it went out; nullopt: it reads no more.
    [[nodiscard]] std::optional<std::size_t> send(std::string_view bytes);
    // Adds what has come to `bytes`; false: it writes no more.
    [[nodiscard]] bool receive(std::string& bytes);
    // Closes the streams, and lets it end by itself for that long before SIGKILL ends its group.
    [[nodiscard]] Outcome end(int patience_ms);

  private:
    TalkingProcess(pid_t id, Descriptor input, Descriptor output)
        : id_(id), input_(std::move(input)), output_(std::move(output)) {}
    pid_t id_ = 0;  // 0: waited for
    Descriptor input_, output_;
};

}  // namespace trimtab::base
