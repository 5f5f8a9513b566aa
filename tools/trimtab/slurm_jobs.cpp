// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/slurm_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>

#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/shell_word.h"
#include "tools/trimtab/validation_results.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;

// What a step takes beside its time: the start, and what it writes at its end.
constexpr unsigned slack_s = 120, seconds_a_minute = 60;

// In a line "#SBATCH ...", a space ends an option, and "%" stands for something.
bool is_plain(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("/._-+=:,@").contains(c);
    });
}

std::expected<void, Error> write_text(const fs::path& path, const std::string& text) {
    if ((std::ofstream(path, std::ios::binary | std::ios::trunc) << text).flush()) return {};
    return std::unexpected(Error{.message = "cannot be written", .file = path.string()});
}

// The bundle's script, of a bundle that may have to be unpacked.
std::expected<std::string, Error> script_of(const SlurmOptions& options, const fs::path& folder) {
    constexpr const char* name = "gpu_validate.sh";
    std::error_code none;
    const fs::path given = fs::absolute(options.bundle, none);
    if (fs::is_directory(given, none)) {
        if (fs::exists(given / name, none)) return (given / name).string();
        return std::unexpected(Error{.message = fmt::format("holds no {}", name), .file = options.bundle});
    }
    if (!fs::exists(given, none))
        return std::unexpected(Error{.message = "no such file", .file = options.bundle});
    if (const auto unpacked = base::run_to_success(
            {.words = {"tar", "-xf", given.string(), "-C", folder.string()}, .environment = {}});
        !unpacked)
        return std::unexpected(
            Error{.message = "is no bundle: " + unpacked.error().text(), .file = options.bundle});
    const fs::path script = folder / "trimtab-gpu-bundle" / name;
    if (fs::exists(script, none)) return script.string();
    return std::unexpected(Error{.message = fmt::format("holds no {}", name), .file = options.bundle});
}

std::string script_text(const SlurmOptions& options, const SlurmJob& job, const std::string& folder,
                        const std::string& validate) {
    std::string out = "#!/usr/bin/env bash\n";
    const auto option = [&](const std::string& text) { out += "#SBATCH " + text + "\n"; };
    option("--job-name=trimtab-" + job.kind);
    option(job.kind == "any" ? "--gres=gpu:1" : fmt::format("--gres=gpu:{}:1", job.kind));
    option("--nodes=1");
    option("--ntasks=1");
    option(fmt::format("--time={}", (options.seconds + slack_s + seconds_a_minute - 1) / seconds_a_minute));
    // One after the other: they write into one folder, and times of GPUs that are shared say little.
    option(fmt::format("--array=0-{}%1", job.steps.size() - 1));
    option(fmt::format("--output={}/slurm-%A_%a.txt", folder));
    for (const std::string& own : options.options) option(own);
    out += fmt::format("steps=({})\nstep=${{steps[$SLURM_ARRAY_TASK_ID]}}\n", fmt::join(job.steps, " "));
    if (!validate.empty())
        return out + fmt::format("exec {} --out {} --seconds {} \"$step\"\n", base::shell_word(validate),
                                 base::shell_word(folder), options.seconds);
    std::vector<std::string> words;
    for (const std::string& word : options.program) words.push_back(base::shell_word(word));
    std::error_code none;
    return out + fmt::format(
                     "cd {0} || exit 3\n"
                     "mkdir -p {1}/done\n"
                     "case $step in\n"
                     "    bench) results=(-o {1}/bench) ;;\n"
                     "    profile) mkdir -p {1}/profile && results=(--store {1}/profile) ;;\n"
                     "esac\n"
                     "trimtab \"$step\" --device gpu \"${{results[@]}}\" -- {2} && : >{1}/done/\"$step\"\n",
                     base::shell_word(fs::current_path(none).string()), base::shell_word(folder),
                     fmt::join(words, " "));
}

bool is_under_way(const std::string& id) {
    if (!is_plain(id)) return false;
    const auto asked = base::run({.words = {"squeue", "--noheader", "--jobs=" + id}}, base::Capture::output);
    return asked && asked->is_success() && asked->captured.find_first_not_of(" \n") != std::string::npos;
}

// The job's number.
std::expected<std::string, Error> send(const std::string& script) {
    const auto sent = base::run({.words = {"/bin/sh", "-c", "exec sbatch --parsable \"$0\" 2>&1", script}},
                                base::Capture::output);
    if (!sent) return std::unexpected(sent.error());
    const std::string line = sent->first_line();
    // "17" or "17;cluster".
    std::string id = line.substr(0, line.find(';'));
    if (sent->is_success() && is_plain(id)) return id;
    return std::unexpected(
        Error{.message = fmt::format("sbatch does not take it: {}", line.empty() ? sent->text() : line),
              .file = script});
}

std::optional<Error> fault_of(const SlurmOptions& options, const fs::path& folder) {
    if (!is_plain(folder.string()))
        return Error{
            .message = "sbatch takes no folder of that name: letters, digits and /._-+=:,@ are allowed",
            .file = folder.string()};
    for (const std::string& kind : options.kinds)
        if (!is_plain(kind) || kind.contains('/') || kind.starts_with('.'))
            return Error{fmt::format("--gpu {}: no kind of GPU as Slurm names them", kind)};
    for (const std::string& option : options.options)
        if (!option.starts_with("--") || option.contains('\n'))
            return Error{
                fmt::format("--sbatch-option {}: wants an option of sbatch, --partition=gpus", option)};
    return std::nullopt;
}

}  // namespace

std::expected<std::vector<SlurmJob>, Error> submit(const SlurmOptions& options) {
    std::error_code error;
    const fs::path folder = fs::absolute(options.folder, error).lexically_normal();
    if (const auto fault = fault_of(options, folder)) return std::unexpected(*fault);
    fs::create_directories(folder, error);
    if (error) return std::unexpected(Error{.message = error.message(), .file = folder.string()});
    std::string validate;
    if (options.program.empty()) {
        auto script = script_of(options, folder);
        if (!script) return std::unexpected(script.error());
        validate = std::move(*script);
    }
    std::vector<SlurmJob> jobs;
    for (const std::string& kind : options.kinds) {
        const fs::path own = folder / kind;
        fs::create_directories(own, error);
        if (error) return std::unexpected(Error{.message = error.message(), .file = own.string()});
        SlurmJob job{.kind = kind, .script = (own / "job.sbatch").string(), .id = {}, .steps = {}};
        if (validate.empty()) {
            for (const std::string& step : options.program_steps)
                if (!fs::exists(own / "done" / step, error)) job.steps.push_back(step);
        } else {
            for (const std::string_view step : validation_steps)
                if (!fs::exists(own / "done" / step, error)) job.steps.emplace_back(step);
        }
        std::string earlier = base::read_text(own / "job.txt").value_or("");
        earlier.resize(std::min(earlier.size(), earlier.find('\n')));
        job.is_earlier = is_under_way(earlier);
        if (job.is_earlier) job.id = earlier;
        if (!job.steps.empty() && !job.is_earlier) {
            if (const auto written =
                    write_text(job.script, script_text(options, job, own.string(), validate));
                !written)
                return std::unexpected(written.error());
            if (options.submits) {
                auto id = send(job.script);
                if (!id) return std::unexpected(id.error());
                job.id = std::move(*id);
                if (const auto kept = write_text(own / "job.txt", job.id + "\n"); !kept)
                    return std::unexpected(kept.error());
            }
        }
        jobs.push_back(std::move(job));
    }
    return jobs;
}

void wait_for(const std::vector<SlurmJob>& jobs) {
    constexpr auto between_looks = std::chrono::seconds(2);
    for (const SlurmJob& job : jobs)
        while (!job.id.empty() && is_under_way(job.id)) std::this_thread::sleep_for(between_looks);
}

std::vector<std::string> result_folders(const std::string& folder) {
    constexpr const char* mark = "version.txt";  // gpu_validate.sh begins with it
    std::error_code error;
    if (fs::exists(fs::path(folder) / mark, error)) return {folder};
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.is_directory(error) && fs::exists(entry.path() / mark, error) &&
            !fs::exists(entry.path() / "gpu_validate.sh", error))  // the bundle has one, too
            out.push_back(entry.path().string());
    std::ranges::sort(out);
    if (out.empty()) out.push_back(folder);  // whose fault is told
    return out;
}

}  // namespace trimtab::tools
