// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What holds a program's kernels back, and what mending it would win: from the profile records of its
// launches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/occupancy.h"
#include "emulation/emulator/metrics/run_record.h"
#include "tools/advice/bottleneck.h"
#include "tools/advice/counters/measured.h"
#include "tools/advice/rooflines.h"
#include "tools/advice/second_opinion.h"
#include "tools/advice/what_if.h"

namespace trimtab::advice {

// What the code alone says of a kernel.
struct KernelFacts {
    std::string demangled, source;  // "gemm.cu:7"; may be empty
    bool block_is_free = false;     // Trimtab may choose it
};

struct Finding {
    std::string rule, title, remedy, change;
    std::string by;  // "you", "trimtab"
    // Times faster: by emulation where it can be asked, else by the model; and within what bounds.
    double gain = 1, least = 1, most = 1;
    std::optional<double> emulated_gain{};  // what emulation predicts
    std::optional<double> model_gain{};     // what the model predicts, where emulation says something, too
    double saves_ns = 0;                    // of all launches of the kernel
    std::vector<Evidence> evidence;

    // Emulation says that the kernel gets slower.
    [[nodiscard]] bool is_doubted() const { return emulated_gain && *emulated_gain < 1; }
};

// How many times as fast, for a person: no decimals from 10 on, for no gain is known that well.
[[nodiscard]] std::string factor_text(double factor);

// What the model says of a finding that emulation judges, with `before` and the sign that follows a number of times; empty
// of others.
[[nodiscard]] std::string by_the_model(const Finding& finding, std::string_view before,
                                       std::string_view times);

struct SourceLine {
    std::string source;
    double share = 0;  // of the kernel's issue slots and sectors
    double instructions = 0, requests = 0, sectors = 0, passes = 0;  // a warp
};

struct KernelAdvice {
    std::string kernel;  // mangled
    KernelFacts facts;
    std::uint64_t launches = 0;
    std::size_t shapes = 0;
    double total_ns = 0, share = 0;  // of the run's modelled time in kernels
    // Of the shape that took longest in all:
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    double time_ns = 0;
    std::optional<double> emulated_ns;  // by abstract emulation
    std::string not_emulated;           // why not, where it was tried
    Rooflines rooflines;
    Label label;
    std::string bottleneck;  // a sentence
    bool is_close = false;   // to its roofline: Gehrke stops here
    std::map<std::string, double> derived;
    // GPUPerf, in ns of a launch: "T_comp", "T_mem", "T_overlap", "T_fp", "T_mem_min", "B_itilp" ...
    std::map<std::string, double> benefits;
    std::string no_benefits;  // why there are none
    model::Occupancy occupancy;
    struct BlockPoint {
        std::uint32_t threads = 0;
        double occupancy = 0;
    };
    std::vector<BlockPoint> occupancy_by_block;
    std::vector<SourceLine> lines;
    std::vector<Finding> findings;  // the one that saves most first
    // Where a GPU counted it: times and rooflines are measured ones.
    std::optional<Measured> measured;
};

struct Advice {
    std::string device, device_name;
    std::vector<std::string> program;
    double total_ns = 0;
    std::vector<KernelAdvice> kernels;  // by time, the longest first
    // The program's copies, and what it lacks beside its single kernels.
    emulator::RunRecord run;
    std::vector<Finding> program_findings;
    std::vector<std::string> notes;  // what it could not look at, and why
    std::string set;  // JSON: numbers of the device that were set (tools/trimtab/machine_options.h)
};

// Facts are by mangled name; where there are none, the name is all that is known. The opinion is asked of the kernels
// that take longest first.
[[nodiscard]] Advice advise(const std::vector<emulator::LaunchProfile>& profiles, const model::Device& device,
                            const std::map<std::string, KernelFacts>& facts,
                            const emulator::RunRecord& run = {}, SecondOpinion* opinion = nullptr);
// Of one launch: what its rules find, the largest gain first.
[[nodiscard]] std::vector<Finding> findings(const emulator::LaunchProfile& profile,
                                            const trimtab_device& device, const KernelFacts& facts);

}  // namespace trimtab::advice
