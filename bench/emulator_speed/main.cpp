// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast the emulator runs kernels: compiled, interpreted, on one core and on all, against the same kernels
// as OpenCL on PoCL. The ratios at the end are of this very run.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string>

#include "bench/emulator_speed/cases.h"
#include "bench/emulator_speed/emulated.h"
#include "bench/emulator_speed/opencl.h"

namespace {

using namespace trimtab::bench;
using Clock = std::chrono::steady_clock;

// The shortest time of each case and way.
std::map<std::string, std::map<std::string, double>>& times() {
    static std::map<std::string, std::map<std::string, double>> made;
    return made;
}

// Of all threads of this process: what a busy machine leaves alone.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Run>
void measure(benchmark::State& state, const Case& of, const char* way, const Run& run) {
    double best = std::numeric_limits<double>::infinity(), processor = best;
    for (auto _ : state) {
        const auto start = Clock::now();
        const double before = processor_seconds();
        if (!run()) return;
        best = std::min(best, seconds_since(start));
        processor = std::min(processor, processor_seconds() - before);
    }
    times()[of.name][way] = best;
    times()[of.name][std::string(way) + " processor"] = processor;
}

bool agree(std::span<const float> a, const std::vector<float>& b, double tolerance) {
    // Fused and separate multiplications differ: at a fractal's border by whole steps.
    std::size_t off = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
        const double scale = std::max(1.0, std::abs(static_cast<double>(b[i])));
        if (!(std::abs(static_cast<double>(a[i]) - b[i]) <= tolerance * scale)) off++;
    }
    return off <= a.size() / 200 && a.size() == b.size();
}

void emulate(benchmark::State& state, const Case& of, const char* way, const char* mode, unsigned threads,
             bool counted = false) {
    Emulated emulated(of);
    const auto fail = [&] { state.SkipWithError(emulated.error().c_str()); };
    if (!emulated.error().empty() || !emulated.run(mode, threads, counted)) return fail();
    measure(state, of, way, [&] { return emulated.run(mode, threads, counted); });
    if (!emulated.error().empty()) return fail();
    OpenCl opencl(of);
    if (opencl.error().empty() && opencl.run() && !agree(emulated.result(), opencl.result(), of.tolerance))
        state.SkipWithError("the result is another than PoCL's");
}

void open_cl(benchmark::State& state, const Case& of) {
    OpenCl opencl(of);
    if (!opencl.error().empty() || !opencl.run()) {
        state.SkipWithError(opencl.error().c_str());
        return;
    }
    measure(state, of, "pocl", [&] { return opencl.run(); });
}

// What a first launch takes longer than a later one.
void first_launch(benchmark::State& state, const Case& of, bool cached) {
    Emulated emulated(of);
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("trimtab-speed-" + std::to_string(getpid()));
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    std::filesystem::remove_all(folder);
    double best = std::numeric_limits<double>::infinity(), processor = best;
    if (!emulated.run("compiled", 1)) state.SkipWithError(emulated.error().c_str());
    for (auto _ : state) {
        if (!cached) std::filesystem::remove_all(folder);
        emulated.reload();
        auto start = Clock::now();
        double before = processor_seconds();
        if (!emulated.run("compiled", 1)) break;
        const double first = seconds_since(start), first_processor = processor_seconds() - before;
        double later = first, later_processor = first_processor;
        for (int i = 0; i < 3; i++) {
            start = Clock::now();
            before = processor_seconds();
            if (!emulated.run("compiled", 1)) break;
            later = std::min(later, seconds_since(start));
            later_processor = std::min(later_processor, processor_seconds() - before);
        }
        state.SetIterationTime(first - later);
        best = std::min(best, first - later);
        processor = std::min(processor, first_processor - later_processor);
    }
    times()[of.name][cached ? "load" : "compile"] = best;
    times()[of.name][cached ? "load processor" : "compile processor"] = processor;
    std::filesystem::remove_all(folder);
    unsetenv("XDG_CACHE_HOME");
}

void print_ratios() {
    std::printf("\nWith every counter, in processor time of all threads.\n%-20s %12s %12s %12s\n", "case",
                "counted", "interpreted", "to compiled");
    for (auto& [name, of] : times()) {
        const auto ms = [&of](const std::string& way) {
            return of.contains(way) ? of[way] * 1e3 : std::nan("");
        };
        const double counted = ms("counted processor");
        std::printf("%-20s %9.2f ms %9.2f ms %12.2f\n", name.c_str(), counted,
                    ms("counted interpreted processor"), counted / ms("compiled processor"));
    }
    std::printf("\nShortest times; in brackets processor time of all threads. Ratios to PoCL likewise.\n");
    std::printf("%-20s %22s %11s %11s %22s %14s %8s %19s %16s\n", "case", "compiled", "one core",
                "interpreted", "pocl", "to pocl", "speed-up", "compile", "load");
    for (auto& [name, of] : times()) {
        const auto ms = [&of](const std::string& way) {
            return of.contains(way) ? of[way] * 1e3 : std::nan("");
        };
        std::printf("%-20s %8.2f (%8.2f) ms %8.2f ms %8.2f ms ", name.c_str(), ms("compiled"),
                    ms("compiled processor"), ms("one core"), ms("interpreted"));
        std::printf("%8.2f (%8.2f) ms %5.2f (%5.2f) %8.2f ", ms("pocl"), ms("pocl processor"),
                    ms("compiled") / ms("pocl"), ms("compiled processor") / ms("pocl processor"),
                    ms("one core") / ms("compiled"));
        std::printf("%8.1f (%6.1f) ms %6.2f (%4.2f) ms\n", ms("compile"), ms("compile processor"), ms("load"),
                    ms("load processor"));
    }
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    static const std::vector<Case> all = cases();
    for (const Case& one : all) {
        const auto add = [&one](const char* way, auto run) {
            return benchmark::RegisterBenchmark((one.name + "/" + way).c_str(), run)
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime();
        };
        add("pocl", [&one](benchmark::State& state) { open_cl(state, one); });
        add("compiled", [&one](benchmark::State& state) { emulate(state, one, "compiled", "compiled", 0); });
        add("one core", [&one](benchmark::State& state) { emulate(state, one, "one core", "compiled", 1); });
        add("interpreted",
            [&one](benchmark::State& state) { emulate(state, one, "interpreted", "interpreter", 0); });
        add("counted", [&one](benchmark::State& s) { emulate(s, one, "counted", "compiled", 0, true); });
        add("counted interpreted",
            [&one](benchmark::State& s) { emulate(s, one, "counted interpreted", "interpreter", 0, true); });
        for (const bool cached : {false, true}) {
            benchmark::RegisterBenchmark(
                (one.name + (cached ? "/load" : "/compile")).c_str(),
                [&one, cached](benchmark::State& s) { first_launch(s, one, cached); })
                ->Unit(benchmark::kMillisecond)
                ->UseManualTime()
                ->Iterations(3);
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    print_ratios();
    return 0;
}
