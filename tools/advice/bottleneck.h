// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bounds a kernel: the rule of Gehrke ("A semi-automated framework for the analysis of kernels", thesis,
// 2015; p. 27), with the peaks of each pipe beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trimtab::advice {

enum class Bound { compute, memory, latency };
[[nodiscard]] std::string_view name(Bound bound);  // "compute-bound"

// A resource's share of its peak.
struct Utilisation {
    std::string name;
    bool is_memory = false;
    double share = 0;
};

// Counters of one run of one kernel, as a profiler reads them, and what the device could do.
struct ProfileRecord {
    double time_s = 0;
    double instructions_issued = 0, instructions_executed = 0;  // of threads: 32 times those of warps
    double dram_transactions = 0, l2_transactions = 0;          // of 32 bytes, reads and writes
    double l2_hit_share = 0;
    double l1_hits = 0, l1_misses = 0, load_requests = 0;  // of global loads, in lines; in warps
    double l1_local_load_misses = 0;
    double branches = 0, divergent_branches = 0;
    double shared_accesses = 0, bank_conflicts = 0;
    std::vector<Utilisation> pipes;  // where they are known

    double peak_instructions_per_s = 0, peak_dram_bytes_per_s = 0;
};

// Gehrke's table 7.1.
struct DerivedMetrics {
    double instructions_per_byte_dram = 0, instructions_per_byte_l2 = 0;
    double balance = 0;  // R*: the device's peak instructions a byte
    double dram_bytes_per_s = 0, l2_bytes_per_s = 0, dram_share = 0;
    double issue_share = 0;  // of executed instructions
    double l2_hit_share = 0, l1_hit_share = 0, transactions_per_request = 0;
    double spill_share = 0;  // of L2's requests
    double serialisation = 0, divergence = 0, bank_conflicts_per_access = 0;
};
[[nodiscard]] DerivedMetrics derive(const ProfileRecord& record);

struct Thresholds {
    double near_peak = 0.7;   // p. 27
    double busy = 0.5;        // below, nothing is: its memory- and compute-bound kernels start at 58 %
    double l2_counts = 0.45;  // hits in L2 beyond which L2's requests decide, not the memory's (chapter 6)
};

struct Label {
    Bound bound = Bound::latency;
    std::string limiter;  // "fp64", "dram", "l2", "issue"; empty: latency
};
// As the thesis states it: it knows issue and the memory alone.
[[nodiscard]] Bound plain_bound(const DerivedMetrics& metrics, const Thresholds& thresholds = {});
// With the pipes: one that is near its peak and the busiest bounds the kernel, whatever the ratios say.
[[nodiscard]] Label bound(const DerivedMetrics& metrics, const std::vector<Utilisation>& pipes,
                          const Thresholds& thresholds = {});
// Of utilisations alone.
[[nodiscard]] Label bound(const std::vector<Utilisation>& utilisations, const Thresholds& thresholds = {});

// p. 86: within 20 % of a roofline there is little left to win.
inline constexpr double close_enough = 0.8;

}  // namespace trimtab::advice
