// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/bottleneck.h"

#include <algorithm>

namespace trimtab::advice {
namespace {

constexpr double transaction_bytes = 32;

double ratio(double a, double b) {
    return b > 0 ? a / b : 0;
}

}  // namespace

std::string_view name(Bound bound) {
    switch (bound) {
        case Bound::compute:
            return "compute-bound";
        case Bound::memory:
            return "memory-bound";
        case Bound::latency:
            break;
    }
    return "latency-bound";
}

DerivedMetrics derive(const ProfileRecord& record) {
    const double dram_bytes = transaction_bytes * record.dram_transactions,
                 l2_bytes = transaction_bytes * record.l2_transactions;
    DerivedMetrics out;
    out.instructions_per_byte_dram = ratio(record.instructions_issued, dram_bytes);
    out.instructions_per_byte_l2 = ratio(record.instructions_issued, l2_bytes);
    out.balance = ratio(record.peak_instructions_per_s, record.peak_dram_bytes_per_s);
    out.dram_bytes_per_s = ratio(dram_bytes, record.time_s);
    out.l2_bytes_per_s = ratio(l2_bytes, record.time_s);
    out.dram_share = ratio(out.dram_bytes_per_s, record.peak_dram_bytes_per_s);
    out.issue_share =
        ratio(ratio(record.instructions_executed, record.time_s), record.peak_instructions_per_s);
    out.l2_hit_share = record.l2_hit_share;
    out.l1_hit_share = ratio(record.l1_hits, record.l1_hits + record.l1_misses);
    out.transactions_per_request = ratio(record.l1_hits + record.l1_misses, record.load_requests);
    // A miss of a local load is a line that is written and read again: twice four transactions.
    out.spill_share = ratio(2 * 4 * record.l1_local_load_misses, record.l2_transactions);
    out.serialisation = record.instructions_issued > 0
                            ? 1 - ratio(record.instructions_executed, record.instructions_issued)
                            : 0;
    out.divergence = ratio(record.divergent_branches, record.branches);
    out.bank_conflicts_per_access = ratio(record.bank_conflicts, record.shared_accesses);
    return out;
}

Bound plain_bound(const DerivedMetrics& metrics, const Thresholds& thresholds) {
    const double r = metrics.instructions_per_byte_dram;
    if (r > metrics.balance && metrics.issue_share >= thresholds.near_peak) return Bound::compute;
    if (r < metrics.balance && metrics.dram_share >= thresholds.near_peak) return Bound::memory;
    return Bound::latency;
}

Label bound(const DerivedMetrics& metrics, const std::vector<Utilisation>& pipes,
            const Thresholds& thresholds) {
    std::vector<Utilisation> all = pipes;
    all.push_back({.name = "issue", .is_memory = false, .share = metrics.issue_share});
    all.push_back({.name = "dram", .is_memory = true, .share = metrics.dram_share});
    const Utilisation& most = *std::ranges::max_element(all, {}, &Utilisation::share);
    if (most.share < thresholds.busy) return {};
    if (most.share >= thresholds.near_peak && most.name != "issue")
        return {.bound = most.is_memory ? Bound::memory : Bound::compute, .limiter = most.name};
    // Something is busy, but nothing that alone explains it: the ratio at the level that serves the requests.
    const bool at_l2 = metrics.l2_hit_share >= thresholds.l2_counts;
    const double r = at_l2 ? metrics.instructions_per_byte_l2 : metrics.instructions_per_byte_dram;
    if (r < metrics.balance) return {.bound = Bound::memory, .limiter = at_l2 ? "l2" : "dram"};
    return {.bound = Bound::compute, .limiter = most.is_memory ? "issue" : most.name};
}

Label bound(const std::vector<Utilisation>& utilisations, const Thresholds& thresholds) {
    if (utilisations.empty()) return {};
    const Utilisation& most = *std::ranges::max_element(utilisations, {}, &Utilisation::share);
    if (most.share < thresholds.busy) return {};
    return {.bound = most.is_memory ? Bound::memory : Bound::compute, .limiter = most.name};
}

}  // namespace trimtab::advice
