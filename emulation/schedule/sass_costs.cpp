// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/sass_costs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/sass/counter_waits.h"

namespace trimtab::schedule {

namespace {

using std::string_view_literals::operator""sv;

float words(const sass::Instruction& i) {
    return static_cast<float>(std::max(1u, i.access_bytes / 4));
}

void access(Instruction& out, const sass::Instruction& i, const Instruction* of_ptx) {
    const bool returns_nothing =
        i.access() == sass::Access::store || (i.access() == sass::Access::atomic && i.writes.empty());
    out.ends_when_issued = returns_nothing;
    out.slots = words(i);
    out.resource = Resource::load_store;
    switch (i.space()) {
        case sass::Space::constant:
            out.kind = Kind::constant;
            out.resource = Resource::constant;
            out.slots = 1;
            return;
        case sass::Space::texture:
            out.resource = Resource::texture;
            return;
        case sass::Space::local:
            out.kind = Kind::local;
            out.caches_in_l1 = true;
            return;
        case sass::Space::shared:
            if (of_ptx != nullptr && of_ptx->kind == Kind::shared) break;
            out.resource = Resource::shared;  // what it touches is not known: no conflicts
            return;
        default:
            if (of_ptx != nullptr && of_ptx->has_request && i.access() != sass::Access::copy) break;
            out.kind = Kind::local;  // what it touches is not known
            return;
    }
    out.kind = of_ptx->kind;
    out.has_request = true;
    out.caches_in_l1 = of_ptx->caches_in_l1;
    out.access = of_ptx->access;
    if (of_ptx->resource == Resource::texture) out.resource = Resource::texture;
}

// CUDA C++ Programming Guide, arithmetic throughput: shifts and bit fields, comparisons, minima and maxima.
double integer_slots(const sass::Instruction& i, const model::Architecture& architecture) {
    constexpr std::array shifts = {"SHL"sv, "SHR"sv, "SHF"sv, "BFE"sv, "BFI"sv, "ISCADD"sv};
    constexpr std::array comparisons = {"ISETP"sv, "ISET"sv, "ICMP"sv, "IMNMX"sv,
                                        "FSETP"sv, "FSET"sv, "FCMP"sv, "FMNMX"sv};
    if (std::ranges::find(shifts, i.base()) != shifts.end()) return architecture.shift_slots.value;
    if (std::ranges::find(comparisons, i.base()) != comparisons.end())
        return architecture.comparison_slots.value;
    return 1;
}

void compute(Instruction& out, const sass::Instruction& i, const CodeDevice& device) {
    switch (i.pipe()) {
        case sass::Pipe::fp32:
            out.resource = Resource::fp32;
            return;
        case sass::Pipe::fp64:
            out.resource = Resource::fp64;
            return;
        case sass::Pipe::fp16:
            out.resource = Resource::fp16;
            return;
        case sass::Pipe::multiply_add:  // a part of the FP32 pipe
            out.resource = Resource::fp32;
            // Of 16 by 16 bits, at the rate of FP32 (S. Gray, "maxas", 2014).
            if (i.base() == "XMAD") return;
            out.slots = static_cast<float>(
                std::max(1.0, device.device.values.fp32_lanes_per_sm /
                                  device.architecture.integer_multiplications_per_clock.value));
            return;
        case sass::Pipe::special_function:
            out.resource = i.base() == "MUFU" ? Resource::special_function : Resource::conversion;
            return;
        case sass::Pipe::load_store:  // shuffles and the like
            out.resource = Resource::collective;
            return;
        case sass::Pipe::texture:
            out.resource = Resource::texture;
            return;
        case sass::Pipe::tensor:
            out.resource = Resource::tensor;
            return;
        case sass::Pipe::branch:
            out.resource = Resource::branch;
            return;
        case sass::Pipe::other:
            out.resource = Resource::branch;
            if (i.base() == "S2R")
                out.extra_latency_cycles =
                    static_cast<float>(device.architecture.latency_special_register_cycles.value);
            return;
        default:
            out.resource = Resource::integer;
            out.slots = static_cast<float>(integer_slots(i, device.architecture));
            return;
    }
}

}  // namespace

CodeCounters counters_of(const sass::Function& function) {
    CodeCounters out;
    for (const sass::Instruction& i : function.instructions) {
        out.has_copy_groups = out.has_copy_groups || i.base() == "LDGDEPBAR";
        for (const sass::CounterWait& wait : sass::counter_waits(i))
            out.registers = std::max(out.registers, wait.left + 1u);
    }
    if (out.has_copy_groups) out.registers = 1;
    return out;
}

Instruction sass_cost_of(const sass::Instruction& i, const Instruction* of_ptx, const CodeDevice& device,
                         const CodeCounters& counters, std::vector<std::uint32_t>& counter_registers) {
    Instruction out;
    if (i.access() != sass::Access::none) {
        access(out, i, of_ptx);
    } else if (i.base() == "BAR") {
        out.resource = Resource::barrier;
        out.kind = i.has_modifier("ARV") ? Kind::arithmetic : Kind::barrier;
    } else if (i.base() == "DEPBAR") {
        if (counters.has_copy_groups) out.kind = Kind::wait_for_all;
        out.resource = Resource::branch;
    } else {
        compute(out, i, device);
    }
    out.stall_cycles = i.control.issue_cycles();
    for (const sass::CounterWait& wait : sass::counter_waits(i)) {
        if (wait.left >= counters.registers) continue;
        counter_registers.push_back(wait.counter * counters.registers + wait.left);
        ++out.reads;
    }
    // Operands of what returns something are read long before: the results are what others wait for.
    const std::uint8_t sets =
        i.control.write_barrier != sass::no_barrier ? i.control.write_barrier : i.control.read_barrier;
    if (sets < sass::barrier_count) {
        counter_registers.push_back(sets * counters.registers);
        ++out.writes;
    }
    return out;
}

}  // namespace trimtab::schedule
