// Runs the C compiler on generated sources.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "driver_gen/bundle.h"

extern char** environ;

namespace trimtab::driver_gen {

namespace {

struct Job {
    std::string source, object, messages;  // paths
    pid_t pid = 0;
};

std::expected<void, Error> start(Job& job, const CCompiler& compiler) {
    std::vector<std::string> words{compiler.command,    "-std=c99",        "-O2", "-fPIC",
                                   "-ffp-contract=off", "-fno-math-errno", "-w"};
    words.insert(words.end(), compiler.flags.begin(), compiler.flags.end());
    if (!compiler.include_folder.empty()) words.insert(words.end(), {"-I", compiler.include_folder});
    words.insert(words.end(), {"-c", job.source, "-o", job.object});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, job.messages.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int failed = posix_spawnp(&job.pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return std::unexpected(Error{.message = fmt::format("the C compiler {} does not start: {}",
                                                            compiler.command, std::strerror(failed))});
    return {};
}

std::expected<void, Error> finish(const Job& job, const CCompiler& compiler) {
    int status = 0;
    while (waitpid(job.pid, &status, 0) < 0 && errno == EINTR) {
    }
    std::string first;
    std::getline(std::ifstream(job.messages) >> std::ws, first);
    std::error_code ignored;
    std::filesystem::remove(job.messages, ignored);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return std::unexpected(Error{.message = fmt::format("the C compiler {} failed: {}", compiler.command,
                                                        first.empty() ? "it says nothing" : first),
                                 .file = job.source});
}

}  // namespace

std::expected<std::vector<std::string>, Error> compile(std::span<const SourceFile> sources,
                                                       const std::string& folder, const CCompiler& compiler) {
    constexpr std::size_t at_once = 2;
    std::vector<std::string> objects;
    std::vector<Job> running;
    std::expected<void, Error> result;
    for (const SourceFile& source : sources) {
        const std::string path = (std::filesystem::path(folder) / source.name).string();
        Job job{.source = path,
                .object = std::filesystem::path(path).replace_extension(".o").string(),
                .messages = path + ".messages"};
        std::ofstream file(path, std::ios::binary);
        file.write(source.content.data(), static_cast<std::streamsize>(source.content.size()));
        file.close();
        if (!file) result = std::unexpected(Error{.message = "cannot be written", .file = path});
        if (result && running.size() == at_once) {
            result = finish(running.front(), compiler);
            running.erase(running.begin());
        }
        if (result) result = start(job, compiler);
        if (!result) break;
        objects.push_back(job.object);
        running.push_back(std::move(job));
    }
    for (const Job& job : running)
        if (auto finished = finish(job, compiler); !finished && result) result = finished;
    if (!result) return std::unexpected(result.error());
    return objects;
}

}  // namespace trimtab::driver_gen
