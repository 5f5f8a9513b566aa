// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "core/base/process.h"
#include "core/base/spawn_call.h"

namespace trimtab::base {
namespace {

struct Start {
    SpawnCall* call = nullptr;
    int error = 0;
};

// In a child that shares this process's memory, as vfork()'s does, while the calling thread stands still.
int start_and_leave(void* argument) {
    auto& start = *static_cast<Start*>(argument);
    pid_t ignored = 0;
    start.error = start.call->spawn(ignored);
    _exit(0);
}

// A parent of its own that ends at once: whom its child outlives has no child. It sends no signal when it
// ends, and only a wait with __WCLONE sees it.
int start_without_parent(Start& start) {
    constexpr std::size_t stack_bytes = 256 * 1024;
    void* stack =
        mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return errno;
    // No handler of the program's may run in that child.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const pid_t parent =
        clone(&start_and_leave, static_cast<std::byte*>(stack) + stack_bytes, CLONE_VM | CLONE_VFORK, &start);
    const int error = parent < 0 ? errno : start.error;
    if (parent > 0) {
        while (waitpid(parent, nullptr, __WCLONE) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    munmap(stack, stack_bytes);
    return error;
}

}  // namespace

std::expected<void, Error> start_detached(const Command& command, bool (*keeps)(std::string_view variable)) {
    SpawnCall call(command, keeps);
    call.open_as(STDIN_FILENO, "/dev/null", O_RDONLY);
    call.open_as(STDOUT_FILENO, "/dev/null", O_WRONLY);
    call.open_as(STDERR_FILENO, "/dev/null", O_WRONLY);
    call.leave_session();
    Start start{.call = &call};
    if (const int error = start_without_parent(start); error != 0)
        return std::unexpected(Error{.message = fmt::format("cannot be started: {}", std::strerror(error)),
                                     .file = command.words.front()});
    return {};
}

}  // namespace trimtab::base
