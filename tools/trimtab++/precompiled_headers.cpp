// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/precompiled_headers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/cache_path.h"
#include "core/base/kept_file.h"
#include "core/base/process.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"

namespace trimtab::wrapper {
namespace {

namespace fs = std::filesystem;

// Some 20 MB each; those used last are kept.
constexpr std::size_t most_kept = 8;
// Options that were seen once leave an empty folder.
constexpr std::size_t most_folders = 200;

// What shows headers as they are read, reads them otherwise or others before them, or has parsed headers of its own.
constexpr std::array<std::string_view, 21> refused_options = {
    "-include",      "-fplugin",     "-Xclang",      "-Xpreprocessor",
    "-Wp,",          "-imacros",     "-fmodule",     "-fpch",
    "-save-temps",   "--save-temps", "-H",           "--trace-includes",
    "-fcoverage",    "-fprofile",    "--coverage",   "-ftest-coverage",
    "-nocudainc",    "-nogpuinc",    "-ivfsoverlay", "-Wsystem-headers",
    "-fshow-skipped"};

// Options whose value is a folder: where it is relative, it means another one in another folder.
constexpr std::array<std::string_view, 9> path_options = {
    "-I", "-F", "-B", "-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot", "--cuda-path"};

bool fits(const CommandLine& line, const Command& command) {
    // What debuggers are told of types would be less.
    if (line.debug || line.link_time_optimization) return false;
    const auto is_refused = [](std::string_view token) {
        return std::ranges::any_of(refused_options,
                                   [&](std::string_view option) { return token.starts_with(option); });
    };
    // A compile for one body of a kernel looks at the macros of all that is read.
    return std::ranges::none_of(command,
                                [](std::string_view token) { return token.starts_with("-fplugin="); }) &&
           std::ranges::none_of(line.arguments, [&](const Argument& argument) {
               return std::ranges::any_of(argument.tokens, is_refused);
           });
}

bool has_relative_paths(const Command& command) {
    for (std::size_t i = 0; i < command.size(); ++i) {
        for (const std::string_view option : path_options) {
            std::string_view value = command[i];
            if (!value.starts_with(option)) continue;
            value.remove_prefix(option.size());
            if (value.starts_with('=')) value.remove_prefix(1);
            if (value.empty() && i + 1 < command.size()) value = command[i + 1];
            if (!value.starts_with('/')) return true;
        }
    }
    return false;
}

// The compile without what differs from source to source: its name, the object's, and where dependencies are written.
Command common_part(const CommandLine& line, std::size_t input, const Command& command) {
    constexpr std::array<std::string_view, 4> with_value = {"-o", "-MF", "-MT", "-MQ"};
    constexpr std::array<std::string_view, 6> alone = {"-c", "-MD", "-MMD", "-MP", "-MG", "-MV"};
    const std::string& source = line.arguments[input].tokens.front();
    Command common;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const std::string& token = command[i];
        if (std::ranges::find(with_value, token) != with_value.end()) {
            ++i;
            continue;
        }
        const bool attached =
            token.starts_with("-MF") || token.starts_with("-MT") || token.starts_with("-MQ");
        if (attached || token == source || std::ranges::find(alone, token) != alone.end()) continue;
        common.push_back(token);
    }
    return common;
}

std::string key_of(const Command& common) {
    std::string text = fmt::format("{}\n{}", TRIMTAB_VERSION, fmt::join(common, "\n"));
    for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"})
        if (const char* value = std::getenv(name)) text += fmt::format("\n{}={}", name, value);
    std::error_code ignored;
    if (has_relative_paths(common)) text += "\n" + fs::current_path(ignored).string();
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// clang's own steps of a compile, device and host, as the driver would start them.
std::vector<Command> compiler_steps(Command common, const std::string& source) {
    common.insert(common.end(), {"-x", "cuda", "-c", source, "-o", source + ".o", "-###"});
    const auto said = base::run({.words = common}, base::Capture::messages);
    std::vector<Command> steps;
    if (!said || !said->is_success()) return steps;
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(said->captured).split(lines, '\n');
    for (const llvm::StringRef text : lines) {
        if (!text.contains("\"-cc1\"")) continue;
        llvm::BumpPtrAllocator allocator;
        llvm::StringSaver saver(allocator);
        llvm::SmallVector<const char*> words;
        llvm::cl::TokenizeGNUCommandLine(text, saver, words);
        steps.emplace_back(words.begin(), words.end());
    }
    return steps;
}

// A step that would compile precompiled.h as a source makes precompiled headers of it.
bool precompile(Command step, const std::string& compatibility, const std::string& output) {
    for (std::size_t i = 0; i + 1 < step.size(); ++i) {
        const bool includes = step[i] == "-include" && step[i + 1] == compatibility + "/nvcc.h";
        if (!includes && step[i] != "-fcuda-include-gpubinary") continue;
        step.erase(step.begin() + static_cast<std::ptrdiff_t>(i),
                   step.begin() + static_cast<std::ptrdiff_t>(i) + 2);
        --i;
    }
    step.insert(step.end() - 1, {"-emit-pch", "-w", "-o", output});
    const auto made = base::run({.words = step}, base::Capture::messages);
    return made && made->is_success();
}

// Held for as long as it lives; another process makes the same where it is not.
class Lock {
  public:
    explicit Lock(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        is_held_ = file_.is_open() && flock(file_.number(), LOCK_EX | LOCK_NB) == 0;
    }
    [[nodiscard]] bool is_held() const { return is_held_; }

  private:
    base::Descriptor file_;
    bool is_held_ = false;
};

std::string kept_in(const std::string& folder) {
    return folder + "/precompiled";
}

bool make(const Command& common, const std::string& compatibility, const std::string& folder) {
    const Lock lock(folder + "/lock");
    std::error_code error;
    if (!lock.is_held()) return false;
    if (fs::exists(kept_in(folder), error)) return true;
    const std::string unfinished = folder + "/unfinished";
    fs::remove_all(unfinished, error);
    if (!fs::create_directory(unfinished, error)) return false;
    const std::vector<Command> steps = compiler_steps(common, compatibility + "/precompiled.h");
    bool is_whole = !steps.empty();
    for (std::size_t i = 0; i < steps.size() && is_whole; ++i)
        is_whole = precompile(steps[i], compatibility, fmt::format("{}/{}.pch", unfinished, i));
    // An empty folder stands for: these options have none.
    if (!is_whole) {
        fs::remove_all(unfinished, error);
        fs::create_directory(unfinished, error);
    }
    fs::rename(unfinished, kept_in(folder), error);
    return !error && is_whole;
}

void remove_oldest(const fs::path& root) {
    std::error_code error;
    std::vector<std::pair<fs::file_time_type, fs::path>> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error))
        folders.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
    std::ranges::sort(folders, std::greater<>());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const fs::path& folder = folders[i].second;
        const bool is_full = fs::exists(kept_in(folder.string()), error);
        kept += is_full ? 1 : 0;
        if (i >= most_folders || (is_full && kept > most_kept)) fs::remove_all(folder, error);
    }
}

}  // namespace

std::optional<PrecompiledHeaders> precompiled_headers(const CommandLine& line, const Toolchain& tools,
                                                      std::size_t input, const Command& command) {
    const std::string root = base::cache_path("headers");
    if (!line.precompile || root.empty() || !fits(line, command)) return std::nullopt;
    const Command common = common_part(line, input, command);
    const std::string folder = root + "/" + key_of(common);
    std::error_code error;
    const bool was_seen = fs::exists(folder, error);
    if (error || !base::make_private_folder(root) || !base::make_private_folder(folder)) return std::nullopt;
    if (!was_seen) return std::nullopt;
    if (!fs::exists(kept_in(folder), error)) {
        if (!make(common, tools.compatibility, folder)) return std::nullopt;
        remove_oldest(root);
    }
    if (fs::is_empty(kept_in(folder), error) || error) return std::nullopt;
    fs::last_write_time(folder, fs::file_time_type::clock::now(), error);

    PrecompiledHeaders headers{.command = command, .folder = folder};
    for (std::size_t i = 0; i + 1 < command.size(); ++i) {
        if (command[i] != "-include" || command[i + 1] != tools.compatibility + "/nvcc.h") continue;
        headers.command[i] = "-include-pch";
        headers.command[i + 1] = kept_in(folder);
        // Headers of the system are asked for their age, too.
        headers.command.emplace_back("-fmodules-validate-system-headers");
        return headers;
    }
    return std::nullopt;
}

void forget(const PrecompiledHeaders& headers) {
    std::error_code ignored;
    fs::remove_all(kept_in(headers.folder), ignored);
}

}  // namespace trimtab::wrapper
