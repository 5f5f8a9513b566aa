// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/observed_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "choosing/modules/module_cache.h"
#include "core/base/json_value.h"
#include "core/ptx/binary.h"
#include "driver_gen/fit_kernel.h"
#include "emulation/emulator/capture/capture.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/metrics/launch_profile.h"
#include "pipeline/remote/redis_store.h"
#include "profiler/emulator_backend.h"
#include "profiler/observed_profile.h"
#include "profiler/store.h"
#include "tools/trimtab/doubted_launches.h"
#include "tools/trimtab/kernel_file.h"

namespace trimtab::tools {
namespace {

using profiler::ObservedLaunch;

// By kernel. Lines of other kinds are other records of the run.
std::map<std::string, std::vector<ObservedLaunch>> launches_of(std::string_view lines) {
    std::map<std::string, std::vector<ObservedLaunch>> out;
    for (std::size_t end = 0; (end = lines.find('\n')) != std::string_view::npos;
         lines.remove_prefix(end + 1)) {
        const auto json = base::parse_json(lines.substr(0, end), "a profile record");
        if (!json) continue;
        const auto record = emulator::launch_profile_from_json(*json, "a profile record");
        if (!record) continue;
        ObservedLaunch launch{.parameters = record->parameters,
                              .grid = record->grid,
                              .block = record->block,
                              .values = record->values,
                              .boxes = {}};
        for (const emulator::FootprintSample& sample : record->footprints)
            launch.boxes.push_back(
                {.threads = {sample.x, sample.y, sample.z}, .footprint_sectors = sample.sectors});
        out[record->kernel].push_back(std::move(launch));
    }
    return out;
}

class Keeper {
  public:
    explicit Keeper(const ObservedSettings& settings)
        : settings_(settings),
          store_(
              settings.store.empty() ? profiler::default_store_path() : profiler::store_path(settings.store),
              say, remote::store_of_environment(say)) {}

    // `bench`: of its launches, those as written are what the planned profile is asked about.
    ObservedKernel keep(const FileKernel& kernel, std::vector<ObservedLaunch> launches, const Bench& bench) {
        const analysis::KernelDescription& description = kernel.record.description;
        ObservedKernel out{.name = description.name,
                           .demangled = description.demangled,
                           .launches = launches.size(),
                           .points = 0,
                           .planned = {},
                           .is_stored = false,
                           .is_prepared_again = false,
                           .counted = {},
                           .failure = {}};
        if (kernel.module == nullptr) {
            out.failure = "not profiled: the program holds no PTX of it";
            return out;
        }
        auto program = emulator::load_program(*kernel.module);
        if (!program) {
            out.failure = "not profiled: " + program.error().text();
            return out;
        }
        const auto backend = profiler::make_emulator_backend(std::move(*program));
        const std::string key = profiler::profile_key(description, *backend, {});
        std::optional<profiler::Profile> planned, earlier = store_.profile(key);
        if (earlier && earlier->backend_name != profiler::observed_backend)
            planned = std::move(earlier), earlier.reset();
        if (!planned && !earlier) {
            // As a build would: it may not have been built with profiles, or on another machine.
            auto made = profiler::recall_or_profile(description, *backend, {}, store_);
            if (made)
                planned = std::move(*made);
            else
                out.planned = made.error().text();
        }
        if (planned && !planned->data_dependent.empty()) {
            std::vector<std::string_view> names;
            for (const model::Metric metric : planned->data_dependent) names.push_back(model::name(metric));
            out.planned = fmt::format("the planned profile changes with the contents of arrays ({})",
                                      fmt::join(names, ", "));
        } else if (planned) {
            const std::string why = doubt_of(*planned, description, launches, bench);
            if (!why.empty())
                out.planned = fmt::format("the planned profile does not hold for them: {}", why);
        }
        // Who counted: points of another's are not joined with these.
        std::string version(backend->version());
        if (settings_.counted != nullptr) {
            out.counted = take_counters(*settings_.counted, description, launches);
            if (!out.counted->chip.empty()) version += " and counters of " + out.counted->chip + " by CUPTI";
        }
        auto profile = profiler::observed_profile(description, launches, version, planned, earlier);
        if (!profile) {
            out.failure = "not profiled: " + profile.error().text();
            return out;
        }
        if (const auto fits = driver_gen::fit_kernel(*profile); !fits) {
            out.failure = "its launches fit no form: " + fits.error().text();
            return out;
        }
        out.points = profile->points.size();
        out.is_stored = settings_.replace || earlier || !out.planned.empty();
        if (out.is_stored) profiler::keep_observed(store_, key, *profile);
        return out;
    }

  private:
    // Why a launch of the program could not be decided by the profile; empty: all could.
    static std::string doubt_of(const profiler::Profile& planned,
                                const analysis::KernelDescription& description,
                                const std::vector<ObservedLaunch>& launches, const Bench& bench) {
        const auto same = [](const trimtab_dim3& a, const BlockSize& b) {
            return a.x == b[0] && a.y == b[1] && a.z == b[2];
        };
        std::string_view device = model::default_device;
        std::vector<LaunchOfProgram> written;
        for (const ObservedLaunch& launch : launches)
            for (const BenchedLaunch& one : bench.launches)
                if (one.kernel == description.name && same(launch.grid, one.written.grid) &&
                    same(launch.block, one.written.block)) {
                    written.push_back(
                        {.parameters = launch.parameters, .grid = launch.grid, .block = launch.block});
                    device = one.device;
                    break;
                }
        const auto known = model::find_device(device);
        return known ? why_uncertain(description, planned, written, *known) : std::string();
    }
    static void say(const std::string& line) { fmt::print(stderr, "trimtab: {}\n", line); }
    const ObservedSettings& settings_;
    profiler::ProfileStore store_;
};

std::expected<KernelFile, Error> captured_kernels(const std::string& path) {
    const auto read = emulator::capture::read(path);
    if (!read) return std::unexpected(read.error());
    return load_images(read->capture.images, path);
}

// What `trimtab prepare` made of an object's modules with these kernels, without their profiles: whoever wants it next has
// it made anew. What was made with a file of annotations has another name, and stays.
void forget_prepared(const std::string& object, const std::vector<ObservedKernel*>& kernels) {
    const choosing::ModuleCache cache(choosing::ModuleCache::default_folder());
    const auto binaries = ptx::is_elf(object) ? ptx::read_fat_binaries(object)
                                              : std::expected<std::vector<ptx::FatBinary>, Error>();
    if (!cache.is_there() || !binaries) return;
    for (const ptx::FatBinary& binary : *binaries) {
        std::vector<ObservedKernel*> held;
        for (ObservedKernel* const kernel : kernels)
            if (std::ranges::any_of(binary.images, [&](const ptx::FatBinaryImage& image) {
                    const std::string_view text(reinterpret_cast<const char*>(image.bytes.data()),
                                                image.bytes.size());
                    return image.kind == ptx::FatBinaryImage::Kind::ptx && text.contains(kernel->name);
                }))
                held.push_back(kernel);
        std::error_code ignored;
        if (held.empty() || !std::filesystem::remove(cache.library(binary.hash), ignored)) continue;
        for (ObservedKernel* const kernel : held) kernel->is_prepared_again = true;
    }
}

}  // namespace

std::expected<std::vector<ObservedKernel>, Error> observed_kernels(const Bench& bench,
                                                                   std::string_view records,
                                                                   const ObservedSettings& settings) {
    const auto launches = launches_of(records);
    // Where each kernel is: in the program, or in a library of its.
    std::map<std::string, std::string> objects;
    std::vector<std::string> order;
    for (const BenchedLaunch& launch : bench.launches)
        if (objects.try_emplace(launch.kernel, launch.object.empty() ? settings.program : launch.object)
                .second)
            order.push_back(launch.kernel);
    Keeper keeper(settings);
    std::map<std::string, KernelFile> files;
    std::vector<ObservedKernel> out;
    for (const std::string& name : order) {
        const auto own = launches.find(name);
        const std::string& object = objects[name];
        if (own == launches.end()) continue;
        auto file = files.find(object);
        if (file == files.end()) {
            auto loaded =
                settings.capture.empty() ? load_kernels(object) : captured_kernels(settings.capture);
            if (!loaded) return std::unexpected(loaded.error());
            file = files.emplace(object, std::move(*loaded)).first;
        }
        const auto found = find_kernel(file->second, name);
        if (!found) {
            ObservedKernel& kernel = out.emplace_back();
            kernel.name = kernel.demangled = name;
            kernel.failure = "not profiled: " + found.error().text();
            continue;
        }
        out.push_back(keeper.keep(file->second.kernels[*found], own->second, bench));
    }
    std::map<std::string, std::vector<ObservedKernel*>> stored;
    for (ObservedKernel& kernel : out)
        // A program that trimtab++ built has its driver programs with it.
        if (kernel.is_stored && !files.at(objects[kernel.name]).instrumented)
            stored[objects[kernel.name]].push_back(&kernel);
    for (const auto& [object, kernels] : stored) forget_prepared(object, kernels);
    return out;
}

nlohmann::ordered_json to_json(const std::vector<ObservedKernel>& kernels, const Bench& bench) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array(), skipped = Json::array();
    for (const ObservedKernel& kernel : kernels) {
        Json one = {{"kernel", kernel.name},       {"demangled", kernel.demangled},
                    {"launches", kernel.launches}, {"points", kernel.points},
                    {"kept", kernel.is_stored},    {"prepared_again", kernel.is_prepared_again}};
        one["planned"] = kernel.planned.empty() ? Json() : Json(kernel.planned);
        if (kernel.counted) one["counters"] = to_json(*kernel.counted);
        if (!kernel.failure.empty()) one["failure"] = kernel.failure;
        list.push_back(std::move(one));
    }
    for (const auto& [kernel, why] : bench.skipped) skipped.push_back({{"kernel", kernel}, {"why", why}});
    return {{"kernels", std::move(list)}, {"skipped", std::move(skipped)}};
}

}  // namespace trimtab::tools
