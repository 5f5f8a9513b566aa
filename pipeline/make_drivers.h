// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a fat binary to compiled driver programs: its kernels described, profiled and fitted, the C generated
// and compiled. What trimtab++ does for each source, and `trimtab prepare` for a module.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/model/chosen_model.h"
#include "core/ptx/binary.h"
#include "core/ptx/module.h"
#include "driver_gen/bundle.h"
#include "profiler/store.h"
#include "trimtab/error.h"

namespace trimtab::workers {
class WorkerPool;
}

namespace trimtab::pipeline {

struct DriverOptions {
    std::string tool;              // who speaks: "trimtab++"
    std::string input;             // the source or module, for messages and the record
    std::string kernel_sources;    // what the plugin wrote; may be empty
    std::string annotations = {};  // a file of annotations beside the source; may be empty
    bool reassociate = false;      // floating-point sums may be grouped otherwise, in every kernel
    bool profile = true;           // else kernels are described only
    bool check = true;             // verdicts are held against launches on the emulator
    std::uint32_t smallest_size = 0, largest_size = 0;  // 0: the plan's own
    std::string keep;    // a folder for what is made on the way, of this input alone; empty: none
    bool quiet = false;  // no progress
    bool debug = false;  // what is of no consequence is said, too
    driver_gen::Delivery delivery = driver_gen::Delivery::registers_itself;
    workers::WorkerPool* workers = nullptr;  // who profiles; none: this process
    model::ChosenModel model = {};           // what the driver programs predict by
};

class DriverMaker {
  public:
    using Warn = std::function<void(const std::string& text)>;
    DriverMaker(DriverOptions options, profiler::ProfileStore& store, Warn warn);

    // The objects' paths, in `folder` (which exists). A kernel that cannot be profiled or fitted is left
    // alone, with a warning that says why.
    [[nodiscard]] std::expected<std::vector<std::string>, Error> make(const ptx::FatBinary& binary,
                                                                      const driver_gen::CCompiler& compiler,
                                                                      const std::string& folder);
    // Workers were lost with some kernels of the last make(): another try may do better, and what was made is not to
    // be kept.
    [[nodiscard]] bool has_lost_kernels() const { return has_lost_kernels_; }

  private:
    void profile(driver_gen::Bundle& bundle, std::vector<analysis::KernelDescription>& kernels,
                 const ptx::FatBinary& binary, ptx::Module&& module);

    DriverOptions options_;
    profiler::ProfileStore& store_;
    Warn warn_;
    bool has_lost_kernels_ = false;
};

}  // namespace trimtab::pipeline
