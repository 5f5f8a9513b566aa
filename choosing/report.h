// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_REPORT: one JSON line a launch.
#pragma once

#include <string>

#include "choosing/choices/choose.h"
#include "choosing/launch_shape.h"
#include "choosing/log.h"
#include "core/analysis/launches/description.h"

namespace trimtab::choosing {

// What is told of one launch, in the report and in the log.
struct LaunchRecord {
    std::string kernel;  // the mangled name
    std::string device;
    const analysis::KernelDescription* description = nullptr;  // null where there is none
    LaunchShape shape;
    Decision decision;
    double unix_time_s = 0;
    std::vector<PredictedBlock> blocks;  // where the report asks for them: all that are legal
    std::string body;  // not empty: the mangled name of the kernel's body that was chosen in its place
};

[[nodiscard]] std::string report_line(const LaunchRecord& record);
// "gemm(int, float*) on rtx2070super: NI=512: 16x16x1 of 32x32x1 as written -> ..."
[[nodiscard]] std::string log_line(const LaunchRecord& record);

class Report {
  public:
    // Appends to the file, a whole line at a time, so that several processes may share it. A file that
    // cannot be opened is warned of once, and the program goes on without.
    Report(const std::string& path, Log& log);
    ~Report();
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    [[nodiscard]] bool is_open() const { return file_ >= 0; }
    void add(const LaunchRecord& record);

  private:
    int file_ = -1;
    std::string path_;
    Log& log_;
};

}  // namespace trimtab::choosing
