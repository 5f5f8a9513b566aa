// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the C compiler on generated sources.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/process.h"
#include "driver_gen/bundle.h"

namespace trimtab::driver_gen {

namespace {

struct Job {
    std::string source, messages;  // paths
    base::Process process;
};

std::expected<Job, Error> start(const std::string& source, const std::string& object,
                                const CCompiler& compiler) {
    const std::string messages = source + ".messages";
    base::Command command{
        .words = {compiler.command, "-std=c99", "-Os", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-w"},
        .messages_file = messages};
    auto& words = command.words;
    words.insert(words.end(), compiler.flags.begin(), compiler.flags.end());
    if (!compiler.include_folder.empty()) words.insert(words.end(), {"-I", compiler.include_folder});
    words.insert(words.end(), {"-c", source, "-o", object});
    auto process = base::Process::start(command);
    if (!process)
        return std::unexpected(
            Error{.message = "the C compiler " + process.error().message, .file = compiler.command});
    return Job{source, messages, *process};
}

std::expected<void, Error> finish(Job& job, const CCompiler& compiler) {
    const base::Outcome outcome = job.process.wait();
    std::string first;
    std::getline(std::ifstream(job.messages) >> std::ws, first);
    std::error_code ignored;
    std::filesystem::remove(job.messages, ignored);
    if (outcome.is_success()) return {};
    return std::unexpected(Error{.message = fmt::format("the C compiler {} failed: {}", compiler.command,
                                                        first.empty() ? "it " + outcome.text() : first),
                                 .file = job.source});
}

}  // namespace

std::expected<std::vector<std::string>, Error> compile(std::span<const SourceFile> sources,
                                                       const std::string& folder, const CCompiler& compiler) {
    // Others may be building beside this, on a small machine.
    const std::size_t at_once = std::max(2U, std::thread::hardware_concurrency());
    std::vector<std::string> objects;
    std::deque<Job> running;
    std::expected<void, Error> result;
    const auto finish_first = [&] {
        if (auto finished = finish(running.front(), compiler); !finished && result) result = finished;
        running.pop_front();
    };
    for (const SourceFile& source : sources) {
        const std::string path = (std::filesystem::path(folder) / source.name).string();
        const std::string object = std::filesystem::path(path).replace_extension(".o").string();
        std::ofstream file(path, std::ios::binary);
        file.write(source.content.data(), static_cast<std::streamsize>(source.content.size()));
        file.close();
        if (!file) result = std::unexpected(Error{.message = "cannot be written", .file = path});
        if (result && running.size() == at_once) finish_first();
        if (!result) break;
        auto job = start(path, object, compiler);
        if (!job) {
            result = std::unexpected(job.error());
            break;
        }
        running.push_back(std::move(*job));
        objects.push_back(object);
    }
    while (!running.empty()) finish_first();
    if (!result) return std::unexpected(result.error());
    return objects;
}

}  // namespace trimtab::driver_gen
