// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/fitted_programs.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

#include "core/base/process.h"
#include "tools/trimtab/fitted_kernel.h"

namespace trimtab::bench {

namespace fs = std::filesystem;

namespace {

// The preprocessed text and the compiler would be the exact key; the text of every file beside the source
// and the compiler's time are as good and need no compiler.
std::string cache_key(const std::string& source, const std::string& compiler) {
    std::string text = source;
    std::error_code ignored;
    std::vector<fs::path> files{source};
    for (const fs::path& folder :
         {fs::path(source).parent_path(), fs::path(source).parent_path() / "../common"})
        for (const auto& entry : fs::directory_iterator(folder, ignored))
            if (entry.path().extension() == ".h") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        std::ifstream stream(file, std::ios::binary);
        text.append(std::istreambuf_iterator<char>(stream), {});
    }
    text += fmt::format("{}", fs::last_write_time(compiler, ignored).time_since_epoch().count());
    return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::expected<tools::KernelFile, Error> compiled(const std::string& source, const ProgramOptions& options) {
    const std::string stem = fs::path(source).stem().string();
    if (!options.built_folder.empty()) return tools::load_kernels(options.built_folder + "/" + stem);
    std::error_code failed;
    fs::create_directories(options.cache_folder, failed);
    const std::string object =
        fmt::format("{}/{}-{}.o", options.cache_folder, stem, cache_key(source, options.compiler));
    if (!fs::exists(object)) {
        const std::string unfinished = object + ".new";
        const auto built =
            base::run_to_success({.words = {options.compiler, "--trimtab-quiet", "--trimtab-profile=off",
                                            "-O3", "-c", source, "-o", unfinished}});
        if (!built) return std::unexpected(Error{.message = built.error().text(), .file = source});
        fs::rename(unfinished, object, failed);
        if (failed) return std::unexpected(Error{.message = failed.message(), .file = object});
    }
    return tools::load_kernels(object);
}

}  // namespace

FittedPrograms::FittedPrograms(const std::vector<std::string>& sources, const ProgramOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < sources.size(); i = next++) {
            auto file = compiled(sources[i], options);
            std::vector<std::pair<std::string, Error>> failures;
            if (file)
                for (tools::FileKernel& kernel : file->kernels)
                    if (const auto fits = tools::fits_of(kernel, sources[i]); !fits)
                        failures.emplace_back(kernel.record.description.name, fits.error());
            const std::lock_guard lock(mutex);
            for (auto& [name, error] : failures)
                failures_.emplace(std::pair(sources[i], name), std::move(error));
            files_.emplace(sources[i], std::move(file));
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t < options.threads; ++t) threads.emplace_back(work);
    work();
    threads.clear();
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::expected<tools::FileKernel*, Error> FittedPrograms::kernel(const std::string& source,
                                                                const std::string& symbol) {
    const auto file = files_.find(source);
    if (file == files_.end()) return std::unexpected(Error{.message = "was not loaded", .file = source});
    if (!file->second) return std::unexpected(file->second.error());
    const auto found = tools::find_kernel(*file->second, symbol);
    if (!found) return std::unexpected(found.error());
    tools::FileKernel& kernel = file->second->kernels[*found];
    if (const auto failure = failures_.find({source, kernel.record.description.name});
        failure != failures_.end())
        return std::unexpected(failure->second);
    return &kernel;
}

}  // namespace trimtab::bench
