// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench/fit_forms: the metrics of every kernel of FILE..., fitted with quotients of sums allowed and without, as JSON: each form,
// and its mean error on the points that no coefficient was made from.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "driver_gen/fit_kernel.h"
#include "tools/trimtab/fitted_kernel.h"

namespace trimtab::bench {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const driver_gen::FittedMetric& fit) {
    return {{"form", driver_gen::name(fit.form)},
            {"held_out_points", fit.quality.held_out_points},
            {"held_out_error", fit.quality.held_out_mean_error}};
}

Json metrics_of(const driver_gen::KernelFits& fits, const driver_gen::KernelFits& plain) {
    Json all = Json::array();
    for (const driver_gen::FittedMetric& fit : fits.metrics) {
        Json one = json_of(fit);
        one["metric"] = model::name(fit.metric);
        if (const driver_gen::FittedMetric* const without = plain.find(fit.metric))
            one["without_quotients"] = json_of(*without);
        all.push_back(std::move(one));
    }
    return all;
}

int run(std::span<char*> files) {
    Json kernels = Json::array();
    for (const std::string file : files) {
        auto loaded = tools::load_kernels(file);
        if (!loaded) {
            fmt::print(stderr, "fit_forms: {}\n", loaded.error().text());
            return 3;
        }
        for (tools::FileKernel& kernel : loaded->kernels) {
            const auto fits = tools::fits_of(kernel, file);
            if (!fits) {
                fmt::print(stderr, "left out: {}\n", fits.error().text());
                continue;
            }
            const auto plain = driver_gen::fit_kernel(*kernel.record.profile, {.quotients = false});
            if (!plain) continue;
            kernels.push_back({{"file", file},
                               {"kernel", kernel.record.description.demangled},
                               {"metrics", metrics_of(**fits, *plain)}});
        }
    }
    std::cout << kernels.dump(1) << '\n';
    return 0;
}

}  // namespace

}  // namespace trimtab::bench

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "usage: fit_forms FILE...\n");
        return 2;
    }
    return trimtab::bench::run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}
