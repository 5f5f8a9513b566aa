// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far a benchmark is, read off the file that the program's process writes to meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

namespace trimtab::pipeline {
class Progress;
}

namespace trimtab::tools {

// A bar on a terminal, a plain line for each launch elsewhere, until it is destroyed.
class BenchProgress {
  public:
    // Looks at `file` twice a second. `tool` is who speaks.
    BenchProgress(std::string tool, std::string file, bool quiet);
    ~BenchProgress();
    BenchProgress(const BenchProgress&) = delete;
    BenchProgress& operator=(const BenchProgress&) = delete;

  private:
    struct Launch {
        std::string kernel;
        std::uint64_t done = 0, total = 0;
        std::unique_ptr<pipeline::Progress> bar;
    };
    void watch(const std::stop_token& stop);
    void read_on();
    void take(const std::string& line);

    const std::string tool_, file_;
    const bool quiet_;
    std::uint64_t read_bytes_ = 0;
    std::map<std::string, Launch> launches_;
    std::jthread thread_;
};

}  // namespace trimtab::tools
