// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/components.h"

#include <algorithm>

#include "emulation/schedule/architecture.h"

namespace trimtab::pruning {

namespace {

using schedule::Resource;

// CUDA C++ Programming Guide, technical specifications: the working set of constant memory that an SM caches.
constexpr std::uint64_t constant_cache_bytes = 8 * 1024;

bool is_special(Resource resource) {
    return resource == Resource::special_function;
}

}  // namespace

std::string_view name(Component component) {
    constexpr std::array<std::string_view, component_count> names{"FPU", "SFU", "LM", "CM", "GM", "CC", "GC"};
    return names[index(component)];
}

double Latencies::fpu_cycles(const schedule::Instruction& i) const {
    double cycles = is_special(i.resource) ? 0 : i.slots * pass_cycles[schedule::index(i.resource)];
    if (i.second_slots > 0 && !is_special(i.second))
        cycles += i.second_slots * pass_cycles[schedule::index(i.second)];
    return cycles;
}

double Latencies::sfu_cycles(const schedule::Instruction& i) const {
    double cycles = is_special(i.resource) ? i.slots * pass_cycles[schedule::index(i.resource)] : 0;
    if (i.second_slots > 0 && is_special(i.second))
        cycles += i.second_slots * pass_cycles[schedule::index(i.second)];
    return cycles;
}

Latencies latencies_of(const model::Device& device, double active_sms) {
    const schedule::Machine machine = schedule::machine_of(device, active_sms);
    Latencies out;
    for (std::size_t r = 0; r < schedule::resource_count; ++r) {
        const schedule::Pipe& pipe = machine.pipes[r];
        out.pass_cycles[r] = pipe.gap_cycles / (pipe.per_scheduler ? machine.schedulers : 1);
    }
    const auto set = [&](Component c, double latency, double delay) {
        // A latency is never less than the transfer that it ends with.
        out.latency_cycles[index(c)] = std::max(latency, delay);
        out.delay_cycles[index(c)] = delay;
    };
    const auto& l2 = machine.of(Resource::l2);
    const auto& dram = machine.of(Resource::dram);
    const auto& constant = machine.of(Resource::constant);
    const auto& shared = machine.of(Resource::shared);
    // A slot of L2 is a segment of two sectors.
    const double l2_sector = l2.gap_cycles / 2;
    set(Component::lm, shared.latency_cycles, shared.gap_cycles);
    set(Component::cc, constant.latency_cycles, constant.gap_cycles);
    set(Component::cm, l2.latency_cycles,
        l2_sector * static_cast<double>(constant_line_bytes) / static_cast<double>(sector_bytes));
    set(Component::gc, l2.latency_cycles, l2_sector);
    set(Component::gm, dram.latency_cycles, dram.gap_cycles);
    out.l2_bytes = machine.l2_bytes;
    out.constant_bytes = constant_cache_bytes;
    return out;
}

}  // namespace trimtab::pruning
