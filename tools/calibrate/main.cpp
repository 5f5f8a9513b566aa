// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab-calibrate: runs the micro-benchmarks on the CUDA runtime that it finds, and writes what they measured as JSON
// (docs/calibrate.md).
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "pipeline/progress.h"
#include "tools/calibrate/benchmarks.h"
#include "tools/calibrate/told_device.h"

namespace trimtab::calibrate {
namespace {

constexpr int exit_no = 1, exit_usage = 2;

Calibration calibrated(unsigned repetitions, bool quiet) {
    pipeline::Progress progress("trimtab calibrate", "calibrating", 1, quiet);
    constexpr std::size_t parts = 7;
    std::size_t done = 0;
    Calibration out;
    Session session(repetitions);
    out.told = told_device(session);
    out.is_emulated = session.is_emulated();
    const auto add = [&](const char* what, const auto& measure) {
        progress.point(what, done++, parts);
        std::vector<Measurement> found = measure();
        if (!quiet) fmt::print(stderr, "trimtab calibrate: {} of {}: {}\n", done, parts, what);
        out.measurements.insert(out.measurements.end(), std::make_move_iterator(found.begin()),
                                std::make_move_iterator(found.end()));
    };
    add("clocks", [&] { return clocks(session); });
    const double hz = out.measurements.front().value;
    add("latencies", [&] { return latencies(session); });
    add("caches and memory", [&] { return pointer_chases(session); });
    add("pipes", [&] { return pipe_rates(session); });
    add("requests", [&] { return request_rates(session); });
    add("bandwidths", [&] { return bandwidths(session, hz); });
    add("launches", [&] { return launches(session, hz); });
    return out;
}

int calibrate_main(int argc, char** argv) {
    unsigned repetitions = 0;
    const std::string_view count = argc > 2 ? argv[2] : "";
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), repetitions);
    const bool quiet = argc == 4 && std::string_view(argv[3]) == "--quiet";
    if ((argc != 3 && !quiet) || error != std::errc() || end != count.data() + count.size() ||
        repetitions == 0) {
        fmt::print(stderr, "usage: trimtab-calibrate FILE REPETITIONS [--quiet]\n");
        return exit_usage;
    }
    try {
        std::ofstream file(argv[1], std::ios::binary);
        if (file << to_json(calibrated(repetitions, quiet)).dump(1) << '\n' && file.flush()) return 0;
        fmt::print(stderr, "trimtab: {} cannot be written\n", argv[1]);
    } catch (const CudaFailure& failure) {
        fmt::print(stderr, "trimtab: calibrate: {}\n", failure.text);
    } catch (const std::exception& error) {
        fmt::print(stderr, "trimtab: calibrate: {}\n", error.what());
    }
    return exit_no;
}

}  // namespace
}  // namespace trimtab::calibrate

int main(int argc, char** argv) {
    return trimtab::calibrate::calibrate_main(argc, argv);
}
