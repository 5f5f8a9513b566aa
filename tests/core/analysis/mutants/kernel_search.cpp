// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks for a kernel whose verdict is wrong: of several kinds, by seeds that go up. Ends with the first one.
//
// With the verdicts of another build of the proof (--verdicts, which --write makes), only kernels that this build says
// something else of are launched: with a mistake planted in it, these are few.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cuda_compiler.h"
#include "generator/kernel_kinds.h"

namespace {

using namespace trimtab::analysis::test;

using Verdicts = std::map<std::pair<std::string, std::uint64_t>, std::size_t>;  // hashes, by kind and seed

Verdicts read_verdicts(const std::string& path) {
    Verdicts verdicts;
    std::ifstream file(path);
    std::string kind;
    std::uint64_t seed = 0;
    std::size_t hash = 0;
    while (file >> kind >> seed >> hash) verdicts[{kind, seed}] = hash;
    return verdicts;
}

struct Request {
    std::vector<std::string> kinds{kernel_kinds.begin(), kernel_kinds.end()};
    std::vector<std::string> skipped;  // kind:seed
    std::uint64_t first = 1, count = 2000;
    std::string verdicts, write, file;
    bool goes_on = false, shows = false, shows_all = false;
};

struct Counts {
    std::uint64_t kernels = 0, tried = 0, compared = 0, wrong = 0;
};

// Is there a wrong one?
bool look(const Request& request, Counts& counts) {
    const Verdicts before = request.verdicts.empty() ? Verdicts() : read_verdicts(request.verdicts);
    std::ofstream written;
    if (!request.write.empty()) written.open(request.write);
    std::vector<KernelSource> sources;
    for (const std::string& kind : request.kinds) sources.emplace_back(kind);
    // A file's worth of each kind in turn.
    constexpr std::uint64_t step = 40;
    for (std::uint64_t first = request.first; first < request.first + request.count; first += step)
        for (std::size_t k = 0; k < sources.size(); k++)
            for (std::uint64_t seed = first; seed < std::min(first + step, request.first + request.count);
                 seed++) {
                KernelText kernel = sources[k].of_seed(seed);
                counts.kernels++;
                const std::string name = fmt::format("{}:{}", request.kinds[k], seed);
                if (std::ranges::find(request.skipped, name) != request.skipped.end()) continue;
                if (!request.write.empty() || !request.verdicts.empty()) {
                    const std::size_t hash = std::hash<std::string>()(verdict_on(kernel.text()));
                    if (written.is_open()) {
                        written << request.kinds[k] << ' ' << seed << ' ' << hash << '\n';
                        continue;
                    }
                    const auto at = before.find({request.kinds[k], seed});
                    if (at != before.end() && at->second == hash) continue;
                }
                counts.tried++;
                // Few are: each gets more launches.
                const TrialResult result = tried(kernel, seed, request.verdicts.empty() ? 3 : 12);
                counts.compared += result.compared;
                if (request.shows_all)
                    fmt::print("{} {}: outcome {}\n{}\n", request.kinds[k], seed,
                               static_cast<unsigned>(result.outcome), sources[k].source_of_seed(seed));
                if (result.outcome != Outcome::different) continue;
                counts.wrong++;
                fmt::print("wrong {} {} after {} kernels, {} launched: {}\n", request.kinds[k], seed,
                           counts.kernels, counts.tried, result.text);
                if (request.shows) {
                    const auto differs = [&](const KernelText& less) {
                        return try_blocks(less.text(), seed, 12).outcome == Outcome::different;
                    };
                    fmt::print("{}\n{}\n", sources[k].source_of_seed(seed), shrunk(kernel, differs).text());
                }
                std::fflush(stdout);
                if (!request.goes_on) return true;
            }
    return counts.wrong > 0;
}

// The kernels of a file, with arguments and shapes of each seed.
bool look_in_file(const Request& request, Counts& counts) {
    for (const KernelText& kernel : kernels_of(read_file(request.file))) {
        const std::uint64_t wrong = counts.wrong;
        const bool is_fixed = verdict_on(kernel.text()).empty();
        counts.kernels++;
        for (std::uint64_t seed = request.first; seed < request.first + request.count && !is_fixed; seed++) {
            counts.tried++;
            KernelText changed = kernel;
            const TrialResult result = tried(changed, seed);
            counts.compared += result.compared;
            if (result.outcome != Outcome::different) continue;
            counts.wrong++;
            fmt::print("wrong, seed {}: {}\n", seed, result.text);
            break;
        }
        const std::string text = kernel.text();
        const std::size_t name = text.find(".entry ");
        fmt::print("{}: {}\n", text.substr(name, text.find('(', name) - name),
                   is_fixed               ? "fixed"
                   : counts.wrong > wrong ? "wrong"
                                          : "no difference found");
        if (request.shows) fmt::print("{}", reasons_of(kernel.text()));
    }
    return counts.wrong > 0;
}

}  // namespace

int main(int argc, char** argv) {
    Request request;
    CLI::App app("Looks for a generated kernel whose verdict is wrong; exits with 1 if there is one");
    app.add_option("--kinds", request.kinds, "kinds of kernels; all by default")->delimiter(',');
    app.add_option("--from", request.first, "first seed")->capture_default_str();
    app.add_option("--kernels", request.count, "kernels of each kind")->capture_default_str();
    app.add_option("--verdicts", request.verdicts,
                   "launch only kernels whose verdict is not that in this file");
    app.add_option("--write", request.write, "write the verdicts to this file instead, and launch nothing");
    app.add_option("--skip", request.skipped, "leave out the kernel of this kind:seed; may be repeated");
    app.add_flag("--all", request.goes_on, "go on after a wrong verdict");
    app.add_option("--ptx", request.file, "try the kernels in this file of PTX instead, with as many seeds");
    app.add_flag("--show", request.shows, "print wrong ones in CUDA C++, and their PTX, shrunk");
    app.add_flag("--show-all", request.shows_all, "print every kernel in CUDA C++, and what became of it");
    CLI11_PARSE(app, argc, argv);
    Counts counts;
    const bool found = request.file.empty() ? look(request, counts) : look_in_file(request, counts);
    fmt::print("{} kernels, {} tried, {} launches compared, {} wrong\n", counts.kernels, counts.tried,
               counts.compared, counts.wrong);
    return found ? 1 : 0;
}
