// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tool shows while kernels are profiled: a bar on a terminal, one plain line a kernel elsewhere,
// nothing when quiet.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace trimtab::pipeline {

class Progress {
  public:
    // `tool` is who speaks, `input` the file's name; `kernels` how many will be profiled.
    Progress(std::string tool, std::string input, std::size_t kernels, bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void point(const std::string& kernel, std::size_t done, std::size_t total);
    // By workers: how many of all kernels are done, by how many, and the part of the work.
    void tasks(std::size_t done, std::size_t total, std::size_t workers, double part);
    // `left_out`: points that were planned and would have taken too long.
    void finished(const std::string& kernel, std::size_t points, std::size_t left_out, double seconds);

  private:
    void erase_bar();
    void draw_bar(double part, const std::string& text);
    std::string tool_, input_;
    std::size_t kernels_;
    std::size_t finished_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::string shown_;  // beside the bar
    int shown_percent_ = -1;
    bool quiet_;
    bool terminal_;
};

}  // namespace trimtab::pipeline
