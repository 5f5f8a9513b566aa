// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace trimtab::pipeline {
namespace {

constexpr int bar_columns = 24;

}  // namespace

Progress::Progress(std::string tool, std::string input, std::size_t kernels, bool quiet)
    : tool_(std::move(tool)),
      input_(std::move(input)),
      kernels_(kernels),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
    erase_bar();
}

void Progress::erase_bar() {
    if (shown_percent_ >= 0) fmt::print(stderr, "\r\033[K");
    shown_percent_ = -1;
}

void Progress::point(const std::string& kernel, std::size_t done, std::size_t total) {
    if (quiet_ || !terminal_ || total == 0 || kernels_ == 0) return;
    const double part =
        (static_cast<double>(finished_) + static_cast<double>(done) / static_cast<double>(total)) /
        static_cast<double>(kernels_);
    draw_bar(part, kernel);
}

void Progress::draw_bar(double part, const std::string& text) {
    const int percent = static_cast<int>(part * 100);
    if (percent == shown_percent_ && text == shown_) return;
    shown_percent_ = percent;
    shown_ = text;
    const int full = percent * bar_columns / 100;
    fmt::print(stderr, "\r\033[K{} [{:=<{}}{: <{}}] {:3d}% {}", input_, "", full, "", bar_columns - full,
               percent, text);
    std::fflush(stderr);
}

void Progress::tasks(std::size_t done, std::size_t total, std::size_t workers, double part) {
    if (quiet_ || total == 0) return;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    const double rate = static_cast<double>(done) / std::max(passed.count(), 1e-3);
    if (done == total) {
        erase_bar();
        fmt::print(stderr, "{}: {}: {} kernels by {} workers in {:.2f} s, {:.2g} a second\n", tool_, input_,
                   total, workers, passed.count(), rate);
    } else if (terminal_) {
        draw_bar(part,
                 fmt::format("{} of {} kernels, {:.2g} a second, {} workers", done, total, rate, workers));
    }
}

void Progress::finished(const std::string& kernel, std::size_t points, std::size_t left_out, double seconds) {
    ++finished_;
    if (quiet_) return;
    erase_bar();
    fmt::print(
        stderr, "{}: {}: {} profiled at {} points in {:.2f} s{}\n", tool_, input_, kernel, points, seconds,
        left_out == 0 ? ""
                      : fmt::format("; {} more were left out, which would have taken too long", left_out));
}

}  // namespace trimtab::pipeline
