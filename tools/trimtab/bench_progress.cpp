// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/bench_progress.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/analysis/launches/demangle.h"
#include "pipeline/progress.h"

namespace trimtab::tools {

BenchProgress::BenchProgress(std::string tool, std::string file, bool quiet)
    : tool_(std::move(tool)),
      file_(std::move(file)),
      quiet_(quiet),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

BenchProgress::~BenchProgress() {
    thread_.request_stop();
    thread_.join();
    read_on();
}

void BenchProgress::watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, std::chrono::milliseconds(500), [] { return false; })) {
        if (stop.stop_requested()) return;
        read_on();
    }
}

void BenchProgress::read_on() {
    std::ifstream lines(file_, std::ios::binary);
    lines.seekg(static_cast<std::streamoff>(read_bytes_));
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
        read_bytes_ += line.size() + 1;
        take(line);
    }
}

void BenchProgress::take(const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("launch") || !json["launch"].is_string()) return;
    Launch& launch = launches_[json["launch"].get<std::string>()];
    if (json.contains("launches")) {
        launch.kernel = analysis::demangle(json.value("kernel", ""));
        launch.total = json.value("launches", std::uint64_t{0}) * json.value("repetitions", std::uint64_t{0});
        launch.bar = std::make_unique<pipeline::Progress>(tool_, "", 1, quiet_);
        return;
    }
    if (launch.bar == nullptr || !json.contains("round")) return;
    launch.bar->point(launch.kernel, ++launch.done, launch.total);
    if (launch.done != launch.total) return;
    launch.bar.reset();
    if (!quiet_) fmt::print(stderr, "{}: {}: {} launches made again\n", tool_, launch.kernel, launch.done);
}

}  // namespace trimtab::tools
