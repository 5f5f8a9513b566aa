// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/trace.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trimtab::pruning {

TraceSums sums_of(const WarpTrace& trace) {
    TraceSums out;
    out.phase_cycles.push_back(0);
    for (const Operation& one : trace) {
        if (one.is_barrier) {
            out.phase_cycles.push_back(0);
            continue;
        }
        const std::size_t c = index(one.component);
        const double weight = one.weight, serial = weight * (one.busy_cycles + one.wait_cycles);
        if (out.accesses[c] == 0) out.head_cycles[c] = out.serial_cycles;
        out.busy_cycles[c] += weight * one.busy_cycles;
        out.accesses[c] += weight;
        out.serial_cycles += serial;
        out.phase_cycles.back() += serial;
        for (std::size_t other = 0; other < component_count; ++other) out.tail_cycles[other] += serial;
        out.tail_cycles[c] = one.wait_cycles;
        out.is_cut = out.is_cut || one.weight != 1;
    }
    return out;
}

TraceIndex TracePool::intern(const WarpTrace& trace) {
    const std::uint64_t hash = XXH3_64bits(trace.data(), trace.size() * sizeof(Operation));
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto known = first; known != last; ++known)
        if (traces_[known->second] == trace) return known->second;
    const auto index = static_cast<TraceIndex>(traces_.size());
    traces_.push_back(trace);
    sums_.push_back(sums_of(trace));
    by_hash_.emplace(hash, index);
    return index;
}

}  // namespace trimtab::pruning
