#include "runtime/modules/module_preparation.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "runtime/stand_in/libraries.h"

namespace trimtab::runtime {
namespace {

struct Start {
    const char* program = nullptr;
    char* const* arguments = nullptr;
    char* const* environment = nullptr;
    const posix_spawn_file_actions_t* actions = nullptr;
    const posix_spawnattr_t* attributes = nullptr;
    int error = 0;
};

// In a child that shares this process's memory, as vfork()'s does, while the calling thread stands still.
int start_and_leave(void* argument) {
    auto& start = *static_cast<Start*>(argument);
    pid_t ignored = 0;
    start.error = posix_spawn(&ignored, start.program, start.actions, start.attributes, start.arguments,
                              start.environment);
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

// Without what is meant for the program alone.
std::vector<char*> environment_for_tools() {
    std::vector<char*> out;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("LD_AUDIT=") &&
            !text.starts_with("TRIMTAB"))
            out.push_back(*entry);
    }
    out.push_back(nullptr);
    return out;
}

}  // namespace

std::string start_preparation(const std::string& source, bool is_waited_for) {
    const std::string program = find_own_program("trimtab");
    if (program.empty()) return "trimtab is not installed beside libtrimtab.so, nor on PATH";
    std::array<std::string, 5> words{program, "prepare", is_waited_for ? "--waited-for" : "--background",
                                     "--quiet", source};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::vector<char*> environment = environment_for_tools();

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    Start start{.program = program.c_str(),
                .arguments = arguments.data(),
                .environment = environment.data(),
                .actions = &actions,
                .attributes = &attributes};
    const int error = start_without_parent(start);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error == 0 ? std::string{} : program + " does not start: " + std::strerror(error);
}

}  // namespace trimtab::runtime
