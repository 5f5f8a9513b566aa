// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab prepare: driver programs for the kernels of modules that programs load while they run, and of
// programs of other compilers, put where the runtime looks for them.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "choosing/modules/module_cache.h"
#include "core/analysis/annotations/annotation_file.h"
#include "core/base/compilers.h"
#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "core/ptx/binary.h"
#include "pipeline/make_drivers.h"
#include "pipeline/remote/redis_store.h"
#include "pipeline/workers/pool.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/worker_options.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;
using choosing::FileLock;
using choosing::ModuleCache;
using choosing::ModuleImage;

struct PrepareOptions {
    std::vector<std::string> files;
    std::string sizes;
    std::string annotations;          // a file; empty: none
    std::string annotations_content;  // of it
    std::uint32_t smallest_size = 0, largest_size = 0;
    bool quiet = false;
    bool unchecked = false;  // verdicts are not held against launches
    WorkerOptions workers;
    // Started by the runtime of a program, for a file in the cache's folder; and the program waits for it.
    bool background = false, is_waited_for = false;
};

// One module: what it is prepared from, and where it goes.
struct Module {
    ptx::FatBinary binary;
    ModuleImage::Kind kind = ModuleImage::Kind::fat_binary;
};

std::unexpected<Error> unusable(std::string message, const std::string& file) {
    return std::unexpected(Error{.message = std::move(message), .file = file});
}

ptx::FatBinary as_fat_binary(const ModuleImage& ptx) {
    const std::string_view text(reinterpret_cast<const char*>(ptx.bytes.data()), ptx.bytes.size());
    ptx::FatBinaryImage image{.kind = ptx::FatBinaryImage::Kind::ptx,
                              .architecture = 0,
                              .architecture_name = {},
                              .bytes = {ptx.bytes.begin(), ptx.bytes.end()},
                              .compression = "none"};
    // ".target sm_90a, ..."
    if (const std::size_t at = text.find("sm_", text.find(".target")); at != std::string_view::npos) {
        const std::size_t end = text.find_first_of(", \t\r\n", at);
        image.architecture_name = text.substr(at, end - at);
        image.architecture =
            static_cast<unsigned>(std::strtoul(image.architecture_name.c_str() + 3, nullptr, 10));
    }
    return {.images = {std::move(image)}, .hash = ptx.hash};
}

bool has_ptx(const ptx::FatBinary& binary) {
    return std::ranges::any_of(binary.images, [](const ptx::FatBinaryImage& image) {
        return image.kind == ptx::FatBinaryImage::Kind::ptx;
    });
}

std::expected<std::vector<Module>, Error> modules_of(const std::string& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return unusable("no such file", path);
    if (fs::is_directory(path, ignored)) return unusable("is a folder", path);
    const auto read = base::read_text(path);
    if (!read) return unusable("cannot be read", path);
    const std::string& content = *read;
    std::vector<Module> modules;
    if (ptx::is_elf(path)) {
        constexpr std::size_t machine_at = 18;
        constexpr unsigned char machine_cuda = 190;
        if (content.size() > machine_at && static_cast<unsigned char>(content[machine_at]) == machine_cuda)
            return unusable("is a cubin, machine code alone: driver programs are made from PTX", path);
        auto binaries = ptx::read_fat_binaries(path);
        if (!binaries) return std::unexpected(binaries.error());
        if (binaries->empty()) return unusable("holds no device code", path);
        // nvcc adds an empty module, of machine code alone.
        if (std::ranges::any_of(*binaries, has_ptx))
            std::erase_if(*binaries, [](const ptx::FatBinary& binary) { return !has_ptx(binary); });
        for (ptx::FatBinary& binary : *binaries) modules.push_back({.binary = std::move(binary)});
        return modules;
    }
    const ModuleImage image = choosing::recognise_module(std::as_bytes(std::span(content)));
    if (image.kind == ModuleImage::Kind::none)
        return unusable("is neither PTX, a fat binary, nor a program or library with device code", path);
    if (image.kind == ModuleImage::Kind::ptx) {
        modules.push_back({.binary = as_fat_binary(image), .kind = image.kind});
        return modules;
    }
    auto binary = ptx::read_fat_binary(image.bytes, path);
    if (!binary) return std::unexpected(binary.error());
    modules.push_back({.binary = std::move(*binary)});
    return modules;
}

std::expected<driver_gen::CCompiler, Error> find_c_compiler() {
    for (const char* name : {"clang", "cc", "gcc"}) {
        const auto program =
            name == std::string_view("clang") ? base::find_llvm_program(name) : base::find_program(name);
        if (!program) continue;
        std::error_code ignored;
        const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
        return driver_gen::CCompiler{
            .command = *program,
            .flags = {},
            .include_folder = (self.parent_path().parent_path() / "include").string()};
    }
    return std::unexpected(Error{"there is no C compiler: clang 22, or any other as cc"});
}

bool is_debugging() {
    const char* level = std::getenv("TRIMTAB_LOG");
    return level != nullptr && std::string_view(level) == "debug";
}

class Preparation {
  public:
    Preparation(const PrepareOptions& options, const ModuleCache& cache, driver_gen::CCompiler compiler,
                workers::WorkerPool* workers)
        : options_(options),
          cache_(cache),
          workers_(workers),
          compiler_(std::move(compiler)),
          store_(
              profiler::default_store_path(), [this](const std::string& text) { warn(text); },
              remote::store_of_environment([this](const std::string& text) { warn(text); })) {}

    std::expected<void, Error> prepare(const Module& module, const std::string& path) {
        path_ = path;
        const auto folder = base::TemporaryFolder::make();
        if (!folder) return std::unexpected(folder.error());
        pipeline::DriverMaker maker({.tool = "trimtab",
                                     .input = path,
                                     .kernel_sources = {},
                                     .annotations = options_.annotations,
                                     .profile = true,
                                     .check = !options_.unchecked,
                                     .smallest_size = options_.smallest_size,
                                     .largest_size = options_.largest_size,
                                     .keep = {},
                                     .quiet = options_.quiet,
                                     .debug = is_debugging(),
                                     .delivery = driver_gen::Delivery::is_asked_for,
                                     .workers = workers_},
                                    store_, [this](const std::string& text) { warn(text); });
        const auto objects = maker.make(module.binary, compiler_, folder->file(""));
        if (!objects) return std::unexpected(objects.error());
        has_lost_kernels_ = maker.has_lost_kernels();
        if (has_lost_kernels_)
            return unusable(
                "is not prepared: workers died on some of its kernels; run this again to continue", path);
        const std::string library = folder->file("module.so");
        std::vector<std::string> command{compiler_.command, "-shared", "-nostartfiles", "-Wl,-Bsymbolic"};
        command.insert(command.end(), objects->begin(), objects->end());
        command.insert(command.end(), {"-o", library, "-lm"});
        if (const auto linked = base::run_to_success({.words = command}); !linked)
            return unusable("the driver programs do not link: " + linked.error().text(), path);
        // Whoever sees the library sees nothing else of the module's any more.
        cache_.forget_failure(module.binary.hash);
        std::error_code ignored;
        fs::remove(cache_.source(module.binary.hash, module.kind), ignored);
        return cache_.add(module.binary.hash, library);
    }

    // Workers were lost: that says nothing of the module.
    [[nodiscard]] bool has_lost_kernels() const { return has_lost_kernels_; }

  private:
    void warn(const std::string& text) const {
        fmt::print(stderr, "trimtab: warning: {}: {}\n", path_, text);
    }

    const PrepareOptions& options_;
    const ModuleCache& cache_;
    workers::WorkerPool* workers_;
    driver_gen::CCompiler compiler_;
    std::string path_;
    bool has_lost_kernels_ = false;
    profiler::ProfileStore store_;
};

// What is started by a program that runs gives way to all else, and to others of its kind.
std::optional<FileLock> give_way(const ModuleCache& cache) {
    constexpr int niceness = 10;  // at 19 it would never end beside programs that keep every core busy
    setpriority(PRIO_PROCESS, 0, niceness);
    // Of thousands of kernels, no one waits for all.
    constexpr rlim_t longest_s = 1800;
    const rlimit limit{.rlim_cur = longest_s, .rlim_max = longest_s};
    setrlimit(RLIMIT_CPU, &limit);
    std::string ignored;
    return FileLock::take(cache.folder() + "/turn", /*wait=*/true, ignored);
}

std::expected<void, Error> prepare_one(const Module& module, const std::string& path,
                                       const PrepareOptions& options, const ModuleCache& cache,
                                       workers::WorkerPool* workers) {
    const std::string& hash = module.binary.hash;
    std::string lock_error;
    const auto lock = FileLock::take(cache.lock(hash), /*wait=*/!options.background, lock_error);
    if (!lock && lock_error.empty()) return {};  // another process is at it
    if (!lock) return std::unexpected(Error{lock_error});
    cache.begin_attempt(hash);
    const auto turn = options.background && !options.is_waited_for ? give_way(cache) : std::nullopt;
    auto compiler = find_c_compiler();
    std::expected<void, Error> prepared;
    bool has_lost_kernels = false;
    try {
        if (compiler) {
            Preparation preparation(options, cache, std::move(*compiler), workers);
            prepared = preparation.prepare(module, path);
            has_lost_kernels = preparation.has_lost_kernels();
        } else {
            prepared = std::unexpected(compiler.error());
        }
    } catch (const std::exception& error) {  // out of memory, a full disk
        prepared = std::unexpected(Error{.message = error.what(), .file = path});
    }
    if (has_lost_kernels)
        cache.forget_failure(hash);
    else if (!prepared)
        cache.remember_failure(hash, prepared.error().text());
    return prepared;
}

// "64:256", as trimtab++ takes it.
bool read_sizes(PrepareOptions& options) {
    if (options.sizes.empty()) return true;
    char* end = nullptr;
    const unsigned long low = std::strtoul(options.sizes.c_str(), &end, 10);
    if (*end != ':') return false;
    const unsigned long high = std::strtoul(end + 1, &end, 10);
    if (*end != '\0' || low < 8 || low > high || high > 4096) return false;
    options.smallest_size = static_cast<std::uint32_t>(low);
    options.largest_size = static_cast<std::uint32_t>(high);
    return true;
}

int prepare(PrepareOptions& options) {
    options.background |= options.is_waited_for;
    if (!read_sizes(options))
        return fail(ExitCode::usage, "--sizes takes LOW:HIGH, with 8 <= LOW <= HIGH <= 4096");
    if (!options.annotations.empty()) {
        if (const auto read = analysis::read_annotation_file(options.annotations); !read)
            return fail(read.error());
        auto content = base::read_text(options.annotations);
        if (!content) return fail(content.error());
        options.annotations_content = std::move(*content);
    }
    const auto workers = make_pool(options.workers);
    if (!workers) return fail(ExitCode::usage, workers.error().text());
    const ModuleCache cache(ModuleCache::default_folder());
    if (!cache.is_there())
        return fail(ExitCode::bad_input, "neither XDG_CACHE_HOME nor HOME names a folder for the cache");
    if (const auto made = cache.make_folder(); !made) return fail(made.error());
    for (const std::string& path : options.files) {
        auto modules = modules_of(path);
        if (!modules) return fail(modules.error());
        for (Module& module : *modules) {
            if (!options.annotations.empty())
                module.binary.hash =
                    choosing::annotated_hash(module.binary.hash, options.annotations_content);
            if (const auto done = prepare_one(module, path, options, cache, workers->get()); !done)
                return fail(done.error());
            if (!options.quiet) fmt::print("{}: {}\n", path, cache.library(module.binary.hash));
        }
    }
    cache.prune();
    return code(ExitCode::ok);
}

}  // namespace

void add_prepare(CLI::App& app, Action& action) {
    auto options = std::make_shared<PrepareOptions>();
    CLI::App* command = app.add_subcommand("prepare", "Prepare modules, and programs of other compilers")
                            ->group(groups::set_up);
    command->footer(
        "Modules are what programs load while they run. The results go into the cache.\n"
        "Example: trimtab prepare kernels.ptx");
    command->add_option("FILE", options->files, "PTX, a fat binary, or a program or library with device code")
        ->required()
        ->expected(-1);
    command->add_option("--sizes", options->sizes, "Profile these sizes, LOW:HIGH (default 64:256)");
    command->add_option("--annotations", options->annotations,
                        "Read annotations from this file, as trimtab suggest writes them");
    command->add_flag("--no-check", options->unchecked, "Do not try other blocks on the emulator first");
    add_worker_options(*command, options->workers);
    command->add_flag("--quiet", options->quiet, "Print no progress, but warnings");
    command->add_flag("--background", options->background)->group("");
    command->add_flag("--waited-for", options->is_waited_for)->group("");
    command->callback([options, &action] { action = [options] { return prepare(*options); }; });
}

}  // namespace trimtab::tools
