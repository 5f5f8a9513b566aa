#include "tools/trimtab/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace trimtab::tools {

namespace fs = std::filesystem;

namespace {

std::vector<char*> pointers(const std::vector<std::string>& command) {
    std::vector<char*> list;
    for (const std::string& argument : command) list.push_back(const_cast<char*>(argument.c_str()));
    list.push_back(nullptr);
    return list;
}

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

fs::path own_folder() {
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

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

TemporaryFolder::TemporaryFolder() {
    std::error_code ignored;
    fs::path base = fs::temp_directory_path(ignored);
    if (base.empty()) base = "/tmp";
    path_ = (base / "trimtab-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) path_ = base.string() + "/trimtab-unavailable";
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

Outcome run_program(const std::vector<std::string>& command, Capture capture) {
    std::array<int, 2> pipes{-1, -1};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (capture == Capture::output)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (capture != Capture::nothing && pipe2(pipes.data(), O_CLOEXEC) == 0) {
        posix_spawn_file_actions_adddup2(&actions, pipes[1],
                                         capture == Capture::output ? STDOUT_FILENO : STDERR_FILENO);
    }
    pid_t child = 0;
    const auto arguments = pointers(command);
    const int error = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (pipes[1] >= 0) close(pipes[1]);
    Outcome outcome{.started = error == 0, .exit_code = -1, .captured = {}};
    if (pipes[0] >= 0) {
        if (outcome.started) outcome.captured = read_all(pipes[0]);
        close(pipes[0]);
    }
    if (!outcome.started) return outcome;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

std::optional<std::string> find_program(const std::string& name) {
    if (name.contains('/')) return is_program(name) ? std::optional(name) : std::nullopt;
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
    while (!name.empty()) {
        const std::size_t end = rest.find(':');
        const fs::path candidate = fs::path(rest.substr(0, end)) / name;
        if (is_program(candidate)) return candidate.string();
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    return std::nullopt;
}

std::optional<std::string> find_sibling(const std::string& name) {
    const fs::path path = own_folder() / name;
    return is_program(path) ? std::optional(path.string()) : std::nullopt;
}

std::optional<std::string> find_own_library(const std::string& name) {
    for (const char* folder : {"../lib", "../lib64", "../" TRIMTAB_LIBDIR}) {
        std::error_code ignored;
        const fs::path path = (own_folder() / folder / name).lexically_normal();
        if (fs::is_regular_file(path, ignored)) return path.string();
    }
    return std::nullopt;
}

}  // namespace trimtab::tools
