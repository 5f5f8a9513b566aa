// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/talking_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "core/base/interruption.h"
#include "core/base/spawn_call.h"

namespace trimtab::base {
namespace {

std::unexpected<Error> cannot_start(int error, const Command& command) {
    return std::unexpected(Error{.message = fmt::format("cannot be started: {}", std::strerror(error)),
                                 .file = command.words.front()});
}

bool is_left(pid_t id) {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == 0;
}

}  // namespace

std::expected<TalkingProcess, Error> TalkingProcess::start(const Command& command) {
    // A socket where a pipe would do: what is sent to a program that has ended is an error there, not a signal.
    std::array<int, 2> sockets{}, pipes{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
        return cannot_start(errno, command);
    Descriptor input(sockets[0]);
    const Descriptor childs_input(sockets[1]);
    if (pipe2(pipes.data(), O_CLOEXEC) != 0) return cannot_start(errno, command);
    Descriptor output(pipes[0]);
    const Descriptor childs_output(pipes[1]);
    fcntl(output.number(), F_SETFL, O_NONBLOCK);

    SpawnCall call(command);
    call.pass_as(STDIN_FILENO, childs_input.number());
    call.pass_as(STDOUT_FILENO, childs_output.number());
    call.lead_group();
    const SignalsHeldBack held_back;
    call.set_signal_mask(held_back.before());
    pid_t child = 0;
    if (const int error = call.spawn(child); error != 0) return cannot_start(error, command);
    end_group_if_interrupted(child);
    return TalkingProcess(child, std::move(input), std::move(output));
}

TalkingProcess::TalkingProcess(TalkingProcess&& other) noexcept
    : id_(std::exchange(other.id_, 0)), input_(std::move(other.input_)), output_(std::move(other.output_)) {}

TalkingProcess::~TalkingProcess() {
    if (id_ != 0) (void)end(0);
}

std::optional<std::size_t> TalkingProcess::send(std::string_view bytes) {
    while (true) {
        const ssize_t sent = ::send(input_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) return static_cast<std::size_t>(sent);
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        return std::nullopt;
    }
}

bool TalkingProcess::receive(std::string& bytes) {
    std::array<char, 65536> buffer;
    while (true) {
        const ssize_t got = read(output_.number(), buffer.data(), buffer.size());
        if (got > 0)
            bytes.append(buffer.data(), static_cast<std::size_t>(got));
        else if (got == 0)
            return false;
        else if (errno != EINTR)
            return errno == EAGAIN || errno == EWOULDBLOCK;
    }
}

Outcome TalkingProcess::end(int patience_ms) {
    constexpr int between_looks_ms = 5;
    input_ = Descriptor();
    output_ = Descriptor();
    for (int waited = 0; waited < patience_ms && is_left(id_); waited += between_looks_ms)
        std::this_thread::sleep_for(std::chrono::milliseconds(between_looks_ms));
    // Before it is waited for: until then the group's number is nobody else's.
    kill(-id_, SIGKILL);
    const SignalsHeldBack held_back;
    forget_group(id_);
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    if (WIFEXITED(status)) return {.exit_code = WEXITSTATUS(status)};
    return {.exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
}

}  // namespace trimtab::base
