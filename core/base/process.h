// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running other programs.
#pragma once

#include <sys/types.h>

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::base {

struct Command {
    // The program first; without a slash in its name it is looked for along PATH.
    std::vector<std::string> words;
    std::vector<std::pair<std::string, std::string>> environment = {};  // beside this process's own
    std::string messages_file = {};                                     // takes what it writes on stderr
    bool writes_on_stderr = false;                                      // what it would write on stdout, too
};

struct Outcome {
    int exit_code = 0;  // 128 + the signal where one ended it
    int signal = 0;
    std::string captured = {};  // what it wrote on the stream that was asked for

    [[nodiscard]] bool is_success() const { return exit_code == 0; }
    [[nodiscard]] std::string first_line() const { return captured.substr(0, captured.find('\n')); }
    // "ended with status 3", "was ended by signal 11 (Segmentation fault)".
    [[nodiscard]] std::string text() const;
};

enum class Capture {
    nothing,
    output,    // stdout; what it says on stderr is dropped
    messages,  // stderr
};

// A program that runs. It must be waited for.
class Process {
  public:
    // The error: it cannot be started, and why.
    [[nodiscard]] static std::expected<Process, Error> start(const Command& command);
    [[nodiscard]] Outcome wait();
    [[nodiscard]] pid_t id() const { return id_; }  // until it has been waited for

  private:
    explicit Process(pid_t id) : id_(id) {}
    friend std::expected<Outcome, Error> run(const Command& command, Capture capture);
    [[nodiscard]] static std::expected<Process, Error> start(const Command& command, Capture capture,
                                                             int pipe);
    pid_t id_;
};

// Runs to the end.
[[nodiscard]] std::expected<Outcome, Error> run(const Command& command, Capture capture = Capture::nothing);
// The same, where all but success is an error: it names the program and the first line that it said.
[[nodiscard]] std::expected<void, Error> run_to_success(const Command& command);
// Becomes the other program, whose words[0] is a path; returns only where that fails.
[[nodiscard]] Error become(const Command& command);

// Starts a program that nobody waits for: its own session, no streams, no child of this process, none of this
// process's signal handlers. It gets those of this process's variables ("NAME=value") that `keeps` takes. For
// use in other people's programs: touches none of their children.
[[nodiscard]] std::expected<void, Error> start_detached(const Command& command,
                                                        bool (*keeps)(std::string_view variable));

}  // namespace trimtab::base
