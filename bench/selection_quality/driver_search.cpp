// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/driver_search.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "core/base/process.h"
#include "core/base/temporary_folder.h"
#include "driver_gen/c_driver.h"
#include "tools/trimtab/ranking.h"
#include "trimtab/driver.h"

namespace trimtab::bench {

namespace {

using Clock = std::chrono::steady_clock;

struct Library {
    void* handle = nullptr;
    const trimtab_driver* driver = nullptr;
    Library() = default;
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() {
        if (handle != nullptr) dlclose(handle);
    }
};

std::expected<void, Error> load(Library& library, const tools::FileKernel& kernel,
                                const model::RationalProgram& program, const std::string& compiler,
                                const std::string& include_folder, const base::TemporaryFolder& folder) {
    const analysis::KernelDescription& description = kernel.record.description;
    const auto source = driver_gen::print_driver(description, *kernel.record.fits, program);
    if (!source) return std::unexpected(source.error());
    const std::string text = folder.file(description.id + ".c"), binary = folder.file(description.id + ".so");
    std::ofstream(text) << *source;
    const auto built =
        base::run_to_success({.words = {compiler, "-O2", "-fPIC", "-shared", "-ffp-contract=off",
                                        "-DTRIMTAB_DRIVER_VISIBILITY=\"default\"", "-I" + include_folder,
                                        text, "-o", binary, "-lm"}});
    if (!built)
        return std::unexpected(Error{.message = fmt::format("driver program of {} does not compile: {}",
                                                            description.demangled, built.error().text())});
    library.handle = dlopen(binary.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle != nullptr)
        library.driver = static_cast<const trimtab_driver*>(
            dlsym(library.handle, ("trimtab_driver_" + description.id).c_str()));
    if (library.driver == nullptr)
        return std::unexpected(
            Error{.message = fmt::format("driver program of {} does not load", description.demangled)});
    return {};
}

// Microseconds of one call: the least mean of a few batches, so that what else the machine does hardly
// counts.
template <typename Call>
double microseconds(int calls, const Call& call) {
    double least = INFINITY;
    for (int batch = 0; batch < 5; ++batch) {
        const auto start = Clock::now();
        for (int i = 0; i < calls; ++i) call();
        least =
            std::min(least, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls);
    }
    return least;
}

void add_launch(SearchResult& result, const StudiedCase& one, const CaseLaunches::Launch& launch,
                const trimtab_driver& driver) {
    const trimtab_device& device = one.device.values;
    const auto blocks = tools::legal_candidates(launch.limits, {});
    std::vector<PredictedBlock> ranking;
    const auto evaluate_all = [&] {
        trimtab_prediction prediction;
        ranking.clear();
        for (const trimtab_dim3 block : blocks)
            if (driver.evaluate(&device, &one.launches.image, launch.data.data(), block, 0, &prediction) == 0)
                ranking.push_back({.block = {block.x, block.y}, .ns = prediction.predicted_ns});
    };
    trimtab_choice choice{};
    int found = 0;
    const auto search = [&] {
        found =
            driver.select(&device, &one.launches.image, launch.data.data(), &launch.limits, 0, 1, &choice);
    };
    const double all_us = microseconds(1, evaluate_all), search_us = microseconds(20, search);
    if (found < 1 || ranking.empty()) return;
    // Near ties are decided alike: what that costs by prediction is no loss of the search.
    std::ranges::sort(ranking, {}, &PredictedBlock::ns);
    decide_ties(ranking);
    const double loss = choice.predicted_ns / ranking.front().ns - 1;
    const double n = double(++result.launches);
    result.decision_us += (search_us - result.decision_us) / n;
    result.evaluate_all_us += (all_us - result.evaluate_all_us) / n;
    result.mean_loss += (loss - result.mean_loss) / n;
    result.worst_loss = std::max(result.worst_loss, loss);
    result.legal_blocks = std::max(result.legal_blocks, blocks.size());
}

}  // namespace

std::expected<std::vector<SearchResult>, Error> measure_searches(const Study& study,
                                                                 const model::RationalProgram& program,
                                                                 const std::string& compiler,
                                                                 const std::string& include_folder) {
    std::map<const tools::FileKernel*, std::vector<const StudiedCase*>> kernels;
    for (const StudiedCase& one : study.cases) kernels[one.launches.kernel].push_back(&one);
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    std::vector<SearchResult> results;
    for (const auto& [kernel, cases] : kernels) {
        Library library;
        if (const auto loaded = load(library, *kernel, program, compiler, include_folder, *folder); !loaded)
            return std::unexpected(loaded.error());
        SearchResult result;
        result.kernel = kernel->record.description.demangled;
        result.two_dimensional = cases.front()->launches.two_dimensional;
        for (const StudiedCase* one : cases)
            add_launch(result, *one, one->launches.launches[one->launches.launches.size() / 2],
                       *library.driver);
        results.push_back(std::move(result));
    }
    std::ranges::sort(results, {}, &SearchResult::kernel);
    return results;
}

}  // namespace trimtab::bench
