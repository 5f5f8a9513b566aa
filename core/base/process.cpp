// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/interruption.h"
#include "core/base/spawn_call.h"

namespace trimtab::base {
namespace {

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
        const ssize_t got = read(descriptor, buffer.data(), buffer.size());
        if (got > 0)
            text.append(buffer.data(), static_cast<std::size_t>(got));
        else if (got == 0 || errno != EINTR)
            return text;
    }
}

}  // namespace

std::string Outcome::text() const {
    if (signal != 0) return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
    return fmt::format("ended with status {}", exit_code);
}

std::expected<Process, Error> Process::start(const Command& command, Capture capture, int pipe) {
    SpawnCall call(command);
    if (capture == Capture::output) call.open_as(STDERR_FILENO, "/dev/null", O_WRONLY);
    if (pipe >= 0) call.pass_as(capture == Capture::output ? STDOUT_FILENO : STDERR_FILENO, pipe);
    const SignalsHeldBack held_back;
    call.set_signal_mask(held_back.before());
    pid_t child = 0;
    if (const int error = call.spawn(child); error != 0)
        return std::unexpected(Error{.message = fmt::format("cannot be started: {}", std::strerror(error)),
                                     .file = command.words.front()});
    end_if_interrupted(child);
    return Process(child);
}

std::expected<Process, Error> Process::start(const Command& command) {
    return start(command, Capture::nothing, -1);
}

Outcome Process::wait() {
    // While it is a zombie its id is no other's: whoever is interrupted now may still send it a signal.
    siginfo_t ignored{};
    while (waitid(P_PID, static_cast<id_t>(id_), &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    const SignalsHeldBack held_back;
    forget_child(id_);
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) return {.exit_code = WEXITSTATUS(status)};
    return {.exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
}

std::expected<Outcome, Error> run(const Command& command, Capture capture) {
    std::array<int, 2> pipes{-1, -1};
    if (capture != Capture::nothing && pipe2(pipes.data(), O_CLOEXEC) != 0)
        return std::unexpected(Error{.message = fmt::format("no pipe can be made: {}", std::strerror(errno)),
                                     .file = command.words.front()});
    auto process = Process::start(command, capture, pipes[1]);
    if (pipes[1] >= 0) close(pipes[1]);
    std::string captured;
    if (process && pipes[0] >= 0) captured = read_all(pipes[0]);
    if (pipes[0] >= 0) close(pipes[0]);
    if (!process) return std::unexpected(process.error());
    Outcome outcome = process->wait();
    outcome.captured = std::move(captured);
    return outcome;
}

std::expected<void, Error> run_to_success(const Command& command) {
    const auto outcome = run(command, Capture::messages);
    if (!outcome) return std::unexpected(outcome.error());
    if (outcome->is_success()) return {};
    const std::string said = outcome->first_line();
    return std::unexpected(
        Error{.message = said.empty() || outcome->signal != 0 ? outcome->text() : "failed: " + said,
              .file = command.words.front()});
}

Error become(const Command& command) {
    const SpawnCall call(command);
    execve(command.words.front().c_str(), call.arguments(), call.environment());
    return {.message = std::strerror(errno), .file = command.words.front()};
}

}  // namespace trimtab::base
