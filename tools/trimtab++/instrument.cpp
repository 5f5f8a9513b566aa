#include "tools/trimtab++/instrument.h"

#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/describe.h"
#include "driver_gen/bundle.h"
#include "driver_gen/fit_kernel.h"
#include "emulator/exec/launch.h"
#include "generator_hash.h"
#include "model/performance_model.h"
#include "profiler/emulator_backend.h"
#include "profiler/profile_kernel.h"
#include "profiler/store.h"
#include "ptx/binary.h"
#include "tools/trimtab++/kept_files.h"
#include "tools/trimtab++/progress.h"

namespace trimtab::wrapper {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view bundle_kind = "bundle object";
constexpr std::string_view warnings_kind = "bundle warnings";

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool write_file(const std::string& path, std::string_view content) {
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    return file.good();
}

// Where driver.h lies: in an install beside us, else in the source tree that this was built from.
std::string include_folder(const Toolchain& tools) {
    const fs::path installed = fs::path(tools.runtime_dir).parent_path() / "include";
    std::error_code ignored;
    return fs::exists(installed / "trimtab" / "driver.h", ignored) ? installed.string()
                                                                   : TRIMTAB_SOURCE_INCLUDE;
}

// Whether a launch of it could take another block: none does where every dimension that it reads stays as
// wide as one thread, as in a kernel of one-thread blocks.
bool has_choice(const analysis::KernelDescription& kernel) {
    if (kernel.verdict == analysis::Verdict::fixed) return false;
    for (std::size_t d = 0; d < kernel.dimensions.size(); ++d)
        if (kernel.dimensions[d] && !kernel.block_stays_one[d]) return true;
    return false;
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
          store_(line.profile == "off"    ? std::string{}
                 : line.profile == "auto" ? profiler::default_store_path()
                                          : profiler::store_path(line.profile),
                 [this](const std::string& text) { warn(text); }) {}

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
            warn(object.error().text());
            return std::nullopt;
        }
        store_.put_blob(bundle_kind, key, *object);
        store_.put_blob(warnings_kind, key, said_);
        return *object;
    }

    void warn(const std::string& text) {
        const std::string whole = fmt::format("trimtab++: warning: {}: {}\n", compiled_.input, text);
        fmt::print(stderr, "{}", whole);
        said_ += whole;
    }

  private:
    [[nodiscard]] std::string key_of(const ptx::FatBinary& binary) const {
        return fmt::format("{}|{}|{}|{}|{}:{}|{}|{}", TRIMTAB_VERSION, binary.hash, compiled_.input,
                           line_.profile == "off", line_.smallest_size, line_.largest_size,
                           TRIMTAB_GENERATOR_HASH, read_file(compiled_.kernel_sources));
    }

    // A folder for each source: two may hold kernels of one name.
    [[nodiscard]] std::string kept_folder() const {
        return (fs::path(line_.keep) / fs::path(compiled_.input).filename()).string();
    }

    std::expected<std::string, Error> make_bundle(const ptx::FatBinary& binary) {
        analysis::KernelSources sources;
        if (auto read = analysis::read_kernel_sources(compiled_.kernel_sources)) sources = std::move(*read);
        auto described = analysis::describe_fat_binary(binary, sources, compiled_.input);
        if (!described) return std::unexpected(described.error());
        if (!line_.keep.empty()) keep_descriptions(kept_folder(), *described);

        driver_gen::Bundle bundle{.fat_binary_hash = binary.hash,
                                  .compiler = "trimtab++ " TRIMTAB_VERSION,
                                  .input = compiled_.input,
                                  .kernels = {}};
        for (const analysis::KernelDescription& kernel : described->kernels)
            bundle.kernels.push_back({.description = &kernel, .profile = {}, .fits = {}});
        if (line_.profile != "off") profile(bundle, *described);

        const auto program = model::performance_model(model::default_model);
        if (!program) return std::unexpected(program.error());
        auto sources_of_bundle = driver_gen::generate(bundle, **program);
        if (!sources_of_bundle) return std::unexpected(sources_of_bundle.error());
        if (!line_.keep.empty()) keep_sources(kept_folder(), *sources_of_bundle);
        return compile(*sources_of_bundle);
    }

    // A kernel that cannot be profiled or fitted is left alone, with a warning that says why.
    void profile(driver_gen::Bundle& bundle, analysis::DescribedFatBinary& described) {
        std::vector<driver_gen::BundleKernel*> chosen;
        for (driver_gen::BundleKernel& kernel : bundle.kernels)
            if (has_choice(*kernel.description)) chosen.push_back(&kernel);
        if (chosen.empty()) return;

        auto program = emulator::load_program(std::move(described.modules.front()));
        if (!program) {
            warn(program.error().text());
            return;
        }
        const auto backend = profiler::make_emulator_backend(*program, /*threads=*/0);
        profiler::ProfileOptions options;
        if (line_.smallest_size != 0)
            options.plan = {.least = line_.smallest_size, .most = line_.largest_size};
        Progress progress(fs::path(compiled_.input).filename().string(), chosen.size(), line_.quiet);
        for (driver_gen::BundleKernel* kernel : chosen) profile(*kernel, *backend, options, progress);
    }

    void profile(driver_gen::BundleKernel& kernel, profiler::Backend& backend,
                 const profiler::ProfileOptions& options, Progress& progress) {
        const std::string& name = kernel.description->demangled;
        const auto start = std::chrono::steady_clock::now();
        bool measured = false;
        auto profile = profiler::recall_or_profile(*kernel.description, backend, options, store_,
                                                   [&](std::size_t done, std::size_t total) {
                                                       measured = true;
                                                       progress.point(name, done, total);
                                                   });
        if (!profile) {
            warn(fmt::format("{} keeps its block: {}", name, profile.error().text()));
            return;
        }
        auto fits = driver_gen::fit_kernel(*profile);
        if (!fits) {
            warn(fmt::format("{} keeps its block: {}", name, fits.error().text()));
            return;
        }
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        if (measured) progress.finished(name, profile->points.size(), seconds.count());
        kernel.profile = std::move(*profile);
        kernel.fits = std::move(*fits);
    }

    std::expected<std::string, Error> compile(const driver_gen::GeneratedSources& sources) {
        std::vector<driver_gen::SourceFile> files = sources.drivers;
        files.push_back(sources.bundle);
        auto objects = driver_gen::compile(
            files, folder_.path(),
            {.command = tools_.clang, .flags = {}, .include_folder = include_folder(tools_)});
        if (!objects) return std::unexpected(objects.error());
        const std::string joined = folder_.file("bundle.o");
        if (!join(*objects, joined))
            return std::unexpected(Error{"the driver programs could not be joined to one object"});
        return read_file(joined);
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
    profiler::ProfileStore store_;
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

void instrument(const Compiled& compiled, const CommandLine& line, const Toolchain& tools,
                const TemporaryFolder& folder) {
    Instrumentation work(compiled, line, tools, folder);
    if (line.link_time_optimization) {
        work.warn("kernels keep their blocks under -flto: driver programs are joined to object files alone");
        return;
    }
    const auto binaries = ptx::read_fat_binaries(compiled.object);
    if (!binaries) {
        work.warn(binaries.error().text());
        return;
    }
    std::vector<std::string> parts{compiled.object};
    for (const ptx::FatBinary& binary : *binaries) {
        const auto object = work.bundle_object(binary);
        if (!object) continue;
        parts.push_back(folder.file(binary.hash + ".o"));
        if (!write_file(parts.back(), *object)) {
            work.warn(parts.back() + " cannot be written");
            return;
        }
    }
    if (parts.size() > 1 && !replace_by_joined(work, compiled, parts))
        work.warn("the driver programs could not be joined to " + compiled.object +
                  ": kernels keep their blocks");
}

}  // namespace trimtab::wrapper
