// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/instrument.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/analysis/annotations/annotations.h"
#include "core/base/read_text.h"
#include "core/base/reassociation.h"
#include "core/ptx/binary.h"
#include "generator_hash.h"
#include "pipeline/make_drivers.h"
#include "pipeline/remote/redis_store.h"
#include "pipeline/workers/pool.h"
#include "profiler/observed_profile.h"
#include "profiler/store.h"

namespace trimtab::wrapper {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view bundle_kind = "bundle object";
constexpr std::string_view warnings_kind = "bundle warnings";

bool write_file(const std::string& path, std::string_view content) {
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    return file.good();
}

// All that is known of one source file while its kernels get their drivers.
class Instrumentation {
  public:
    Instrumentation(const Compiled& compiled, const CommandLine& line, const Toolchain& tools,
                    const TemporaryFolder& folder)
        : compiled_(compiled),
          line_(line),
          tools_(tools),
          folder_(folder),
          store_(
              line.profile == "off"    ? std::string{}
              : line.profile == "auto" ? profiler::default_store_path()
                                       : profiler::store_path(line.profile),
              [this](const std::string& text) { warn(text); },
              line.profile == "off" ? nullptr : remote::store_of_environment([](const std::string& text) {
                  fmt::print(stderr, "trimtab++: warning: {}\n", text);
              })) {
        if (!line.workers.empty())
            workers_.emplace(workers::PoolOptions{.commands = line.workers}, [](const std::string& text) {
                fmt::print(stderr, "trimtab++: warning: {}\n", text);
            });
    }

    // The object of the bundle of one fat binary, from the store where nothing changed; none where it cannot
    // be made.
    std::optional<std::string> bundle_object(const ptx::FatBinary& binary) {
        const std::string key = key_of(binary);
        const bool may_reuse = line_.keep.empty();
        if (may_reuse) {
            if (auto object = store_.blob(bundle_kind, key)) {
                if (auto warnings = store_.blob(warnings_kind, key)) fmt::print(stderr, "{}", *warnings);
                return object;
            }
        }
        said_.clear();
        auto object = make_bundle(binary);
        if (!object) {
            const Error& error = object.error();
            if (analysis::is_source_error(error))
                fail(error);
            else
                warn(error.text());
            return std::nullopt;
        }
        if (!has_lost_kernels_) {
            store_.put_blob(bundle_kind, key, *object);
            store_.put_blob(warnings_kind, key, said_);
        }
        return *object;
    }

    // As clang says what is wrong with a source.
    void fail(const Error& error) {
        failed_ = true;
        const std::string place = error.line == 0 ? error.file : fmt::format("{}:{}", error.file, error.line);
        fmt::print(stderr, "{}: error: {}\n", place.empty() ? compiled_.input : place, error.message);
    }
    [[nodiscard]] bool failed() const { return failed_; }

    void warn(const std::string& text) {
        const std::string whole = fmt::format("trimtab++: warning: {}: {}\n", compiled_.input, text);
        fmt::print(stderr, "{}", whole);
        said_ += whole;
    }

  private:
    [[nodiscard]] std::string key_of(const ptx::FatBinary& binary) {
        return fmt::format(
            "{}|{}|{}|{}|{}|{}|{}:{}|{}|{}|{}|{}|{} {}", TRIMTAB_VERSION, binary.hash, compiled_.input,
            may_reassociate(), line_.profile == "off", line_.check, line_.smallest_size, line_.largest_size,
            TRIMTAB_GENERATOR_HASH, base::read_text(compiled_.kernel_sources).value_or(""),
            line_.annotations.empty() ? std::string() : base::read_text(line_.annotations).value_or(""),
            profiler::observed_mark(store_), line_.model.program->name, line_.model.program->version);
    }

    [[nodiscard]] static bool may_reassociate() {
        return base::reassociation(std::getenv(base::reassociate_variable)).value_or(false);
    }

    [[nodiscard]] static bool is_debugging() {
        const char* level = std::getenv("TRIMTAB_LOG");
        return level != nullptr && std::string_view(level) == "debug";
    }

    // A folder for each source: two may hold kernels of one name.
    [[nodiscard]] std::string kept_folder() const {
        return (fs::path(line_.keep) / fs::path(compiled_.input).filename()).string();
    }

    std::expected<std::string, Error> make_bundle(const ptx::FatBinary& binary) {
        pipeline::DriverMaker maker({.tool = "trimtab++",
                                     .input = compiled_.input,
                                     .kernel_sources = compiled_.kernel_sources,
                                     .annotations = line_.annotations,
                                     .reassociate = may_reassociate(),
                                     .profile = line_.profile != "off",
                                     .check = line_.check,
                                     .smallest_size = line_.smallest_size,
                                     .largest_size = line_.largest_size,
                                     .keep = line_.keep.empty() ? std::string{} : kept_folder(),
                                     .quiet = line_.quiet,
                                     .debug = is_debugging(),
                                     .workers = workers_ ? &*workers_ : nullptr,
                                     .model = line_.model},
                                    store_, [this](const std::string& text) { warn(text); });
        auto objects =
            maker.make(binary, {.command = tools_.clang, .flags = {}, .include_folder = tools_.own_headers},
                       folder_.path());
        if (!objects) return std::unexpected(objects.error());
        has_lost_kernels_ = maker.has_lost_kernels();
        const std::string joined = folder_.file("bundle.o");
        if (!join(*objects, joined))
            return std::unexpected(Error{"the driver programs could not be joined to one object"});
        return base::read_text(joined).value_or("");
    }

  public:
    // One relocatable object of several.
    [[nodiscard]] bool join(const std::vector<std::string>& objects, const std::string& output) const {
        std::vector<std::string> command{tools_.linker, "-r", "-o", output};
        command.insert(command.end(), objects.begin(), objects.end());
        return run(command) == 0;
    }

  private:
    const Compiled& compiled_;
    const CommandLine& line_;
    const Toolchain& tools_;
    const TemporaryFolder& folder_;
    std::string said_;
    bool failed_ = false, has_lost_kernels_ = false;
    profiler::ProfileStore store_;
    std::optional<workers::WorkerPool> workers_;
};

// `object` becomes itself and the bundles, or stays as it is.
bool replace_by_joined(const Instrumentation& work, const Compiled& compiled,
                       const std::vector<std::string>& parts) {
    const std::string joined = compiled.object + ".trimtab";
    std::error_code error;
    if (work.join(parts, joined)) {
        fs::rename(joined, compiled.object, error);
        if (!error) return true;
    }
    fs::remove(joined, error);
    return false;
}

}  // namespace

bool instrument(const Compiled& compiled, const CommandLine& line, const Toolchain& tools,
                const TemporaryFolder& folder) {
    Instrumentation work(compiled, line, tools, folder);
    if (line.link_time_optimization) {
        work.warn("kernels keep their blocks under -flto: driver programs are joined to object files alone");
        return true;
    }
    const auto binaries = ptx::read_fat_binaries(compiled.object);
    if (!binaries) {
        work.warn(binaries.error().text());
        return true;
    }
    std::vector<std::string> parts{compiled.object};
    for (const ptx::FatBinary& binary : *binaries) {
        const auto object = work.bundle_object(binary);
        if (work.failed()) return false;
        if (!object) continue;
        parts.push_back(folder.file(binary.hash + ".o"));
        if (!write_file(parts.back(), *object)) {
            work.warn(parts.back() + " cannot be written");
            return true;
        }
    }
    if (parts.size() > 1 && !replace_by_joined(work, compiled, parts))
        work.warn("the driver programs could not be joined to " + compiled.object +
                  ": kernels keep their blocks");
    return true;
}

}  // namespace trimtab::wrapper
