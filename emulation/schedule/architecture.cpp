// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace trimtab::schedule {

namespace {

// The micro-benchmark studies that the numbers are from. "estimated: after": their order is the study's, for a
// neighbouring architecture or another mix of instructions.
constexpr std::string_view after_wong =
    "estimated: after Wong et al., Demystifying GPU Microarchitecture through Microbenchmarking, ISPASS 2010 "
    "(GT200)";
constexpr std::string_view after_mei =
    "estimated: after Mei and Chu, Dissecting GPU Memory Hierarchy through Microbenchmarking, TPDS 2017";
constexpr std::string_view jia_volta =
    "estimated: as remembered of Jia et al., Dissecting the NVIDIA Volta GPU Architecture via "
    "Microbenchmarking, 2018";
constexpr std::string_view jia_turing =
    "estimated: as remembered of Jia et al., Dissecting the NVidia Turing T4 GPU via Microbenchmarking, 2019";
constexpr std::string_view after_jia = "estimated: after Jia et al., 2018 (Volta) and 2019 (Turing)";
constexpr std::string_view after_abdelkhalik =
    "estimated: after Abdelkhalik et al., Demystifying the Nvidia Ampere Architecture through "
    "Microbenchmarking "
    "and Instruction-level Analysis, HPEC 2022";
constexpr std::string_view as_ampere =
    "estimated: as Ampere's; studies of Hopper find its arithmetic latencies alike";
constexpr std::string_view as_fma = "estimated: as the architecture's fused multiply-add";
constexpr std::string_view as_neighbour = "estimated: as the neighbouring architectures'";
constexpr std::string_view judgement = "estimated: judgement, nothing is published";
constexpr std::string_view guide = "vendor: CUDA C++ Programming Guide, arithmetic throughput";
constexpr std::string_view sweeps_pascal =
    "estimated: saturated matrix products in the block sweeps published with KLARAPTOR, GTX 1080 Ti";
constexpr std::string_view sweeps_turing =
    "estimated: saturated matrix products in the block sweeps published with KLARAPTOR, RTX 2070 SUPER";

// Sums of rows, a row a thread, where few SMs have a block of many warps: of a turn's 37 segments a warp (32 rows, the
// vector's, the sums') 0.86 cycles each on the GTX 1080 Ti and 1.38 on the RTX 2070 SUPER; 4.8 a line on the C2075, of
// which a segment of 64 bytes is half.
constexpr std::string_view rows_on_few_sms =
    "estimated: sums of rows on one to sixteen SMs in the block sweeps published with KLARAPTOR";
constexpr std::string_view port_of_64_bytes = "estimated: 64 bytes a cycle between an SM and L2";

constexpr Architecture architectures[] = {
    {.name = "Fermi",
     .first_capability = 20,
     .integer_latency = {18, as_fma},
     .fp64_latency = {24, after_wong},
     .conversion_latency = {24, after_wong},
     .special_function_latency = {28, after_wong},
     .collective_latency = {26, judgement},
     .constant_latency = {32, after_wong},
     .texture_latency = {240, after_wong},
     .atomic_latency = {100, judgement},
     .barrier_latency = {24, after_wong},
     .branch_latency = {18, judgement},
     .tensor_latency = {0, judgement},
     .tensor_gap = {1, judgement},
     .atomic_gap = {9, judgement},
     .issues_per_cycle = {1, guide},
     .integer_multiply_slots = {2, guide},
     .port_gap = {2.4, rows_on_few_sms},
     .store_whole_sector = {0, sweeps_pascal},
     .store_partial_sector = {0, sweeps_pascal},
     .store_fragment = {1, sweeps_pascal},
     .block_start_cycles = {300, judgement}},
    {.name = "Kepler",
     .first_capability = 30,
     .integer_latency = {9, as_fma},
     .fp64_latency = {10, as_neighbour},
     .conversion_latency = {18, as_neighbour},
     .special_function_latency = {18, as_neighbour},
     .collective_latency = {24, judgement},
     .constant_latency = {32, as_neighbour},
     .texture_latency = {108, after_mei},
     .atomic_latency = {60, judgement},
     .barrier_latency = {16, judgement},
     .branch_latency = {16, judgement},
     .tensor_latency = {0, judgement},
     .tensor_gap = {1, judgement},
     .atomic_gap = {1, guide},
     .issues_per_cycle = {2, guide},
     .integer_multiply_slots = {1, guide},
     .port_gap = {1, port_of_64_bytes},
     .store_whole_sector = {0, sweeps_pascal},
     .store_partial_sector = {0, sweeps_pascal},
     .store_fragment = {1, sweeps_pascal},
     .block_start_cycles = {200, judgement}},
    {.name = "Maxwell",
     .first_capability = 50,
     .integer_latency = {6, jia_volta},
     .fp64_latency = {48, as_neighbour},
     .conversion_latency = {13, after_jia},
     .special_function_latency = {13, after_jia},
     .collective_latency = {24, judgement},
     .constant_latency = {26, as_neighbour},
     .texture_latency = {92, after_mei},
     .atomic_latency = {40, judgement},
     .barrier_latency = {16, judgement},
     .branch_latency = {12, judgement},
     .tensor_latency = {0, judgement},
     .tensor_gap = {1, judgement},
     .atomic_gap = {1, guide},
     .issues_per_cycle = {2, guide},
     .integer_multiply_slots = {3, after_jia},
     .port_gap = {1, port_of_64_bytes},
     .store_whole_sector = {0, sweeps_pascal},
     .store_partial_sector = {0, sweeps_pascal},
     .store_fragment = {1, sweeps_pascal},
     .block_start_cycles = {200, judgement}},
    {.name = "Pascal",
     .first_capability = 60,
     .integer_latency = {6, jia_volta},
     .fp64_latency = {48, as_neighbour},
     .conversion_latency = {13, after_jia},
     .special_function_latency = {13, after_jia},
     .collective_latency = {24, judgement},
     .constant_latency = {26, as_neighbour},
     .texture_latency = {92, as_neighbour},
     .atomic_latency = {40, judgement},
     .barrier_latency = {16, judgement},
     .branch_latency = {12, judgement},
     .tensor_latency = {0, judgement},
     .tensor_gap = {1, judgement},
     .atomic_gap = {1, guide},
     .issues_per_cycle = {2, guide},
     .integer_multiply_slots = {3, after_jia},
     .port_gap = {0.86, rows_on_few_sms},
     .store_whole_sector = {0, sweeps_pascal},
     .store_partial_sector = {0, sweeps_pascal},
     .store_fragment = {1, sweeps_pascal},
     .block_start_cycles = {200, judgement}},
    {.name = "Volta",
     .first_capability = 70,
     .integer_latency = {4, jia_volta},
     .fp64_latency = {8, jia_volta},
     .conversion_latency = {14, after_jia},
     .special_function_latency = {18, as_neighbour},
     .collective_latency = {23, judgement},
     .constant_latency = {27, after_jia},
     .texture_latency = {80, as_neighbour},
     .atomic_latency = {30, judgement},
     .barrier_latency = {16, judgement},
     .branch_latency = {8, judgement},
     .tensor_latency = {33, as_neighbour},
     .tensor_gap = {8, judgement},
     .atomic_gap = {1, guide},
     .issues_per_cycle = {1, jia_volta},
     .integer_multiply_slots = {1, guide},
     .port_gap = {1.38, as_neighbour},
     .store_whole_sector = {0.5, sweeps_turing},
     .store_partial_sector = {1, sweeps_turing},
     .store_fragment = {0, sweeps_turing},
     .block_start_cycles = {200, judgement}},
    {.name = "Turing",
     .first_capability = 75,
     .integer_latency = {4, jia_turing},
     .fp64_latency = {40, jia_turing},
     .conversion_latency = {14, after_jia},
     .special_function_latency = {18, as_neighbour},
     .collective_latency = {23, judgement},
     .constant_latency = {27, after_jia},
     .texture_latency = {80, as_neighbour},
     .atomic_latency = {30, judgement},
     .barrier_latency = {16, judgement},
     .branch_latency = {8, judgement},
     .tensor_latency = {33, as_neighbour},
     .tensor_gap = {16, judgement},
     .atomic_gap = {1, guide},
     .issues_per_cycle = {1, jia_turing},
     .integer_multiply_slots = {1, guide},
     .port_gap = {1.38, rows_on_few_sms},
     .store_whole_sector = {0.5, sweeps_turing},
     .store_partial_sector = {1, sweeps_turing},
     .store_fragment = {0, sweeps_turing},
     .block_start_cycles = {200, judgement}},
    {.name = "Ampere",
     .first_capability = 80,
     .integer_latency = {4, as_fma},
     .fp64_latency = {8, as_neighbour},
     .conversion_latency = {14, as_neighbour},
     .special_function_latency = {18, after_abdelkhalik},
     .collective_latency = {23, judgement},
     .constant_latency = {27, as_neighbour},
     .texture_latency = {80, as_neighbour},
     .atomic_latency = {30, judgement},
     .barrier_latency = {16, judgement},
     .branch_latency = {8, judgement},
     .tensor_latency = {33, after_abdelkhalik},
     .tensor_gap = {16, judgement},
     .atomic_gap = {1, guide},
     .issues_per_cycle = {1, guide},
     .integer_multiply_slots = {1, guide},
     .port_gap = {1.38, as_neighbour},
     .store_whole_sector = {0.5, sweeps_turing},
     .store_partial_sector = {1, sweeps_turing},
     .store_fragment = {0, sweeps_turing},
     .block_start_cycles = {200, judgement}},
    {.name = "Hopper",
     .first_capability = 90,
     .integer_latency = {4, as_ampere},
     .fp64_latency = {8, as_ampere},
     .conversion_latency = {14, as_ampere},
     .special_function_latency = {18, as_ampere},
     .collective_latency = {23, judgement},
     .constant_latency = {27, as_ampere},
     .texture_latency = {80, as_neighbour},
     .atomic_latency = {30, judgement},
     .barrier_latency = {16, judgement},
     .branch_latency = {8, judgement},
     .tensor_latency = {33, as_ampere},
     .tensor_gap = {8, judgement},
     .atomic_gap = {1, guide},
     .issues_per_cycle = {1, guide},
     .integer_multiply_slots = {1, guide},
     .port_gap = {1.38, as_neighbour},
     .store_whole_sector = {0.5, sweeps_turing},
     .store_partial_sector = {1, sweeps_turing},
     .store_fragment = {0, sweeps_turing},
     .block_start_cycles = {200, judgement}},
};

// A slice of L2 serves 64 bytes of one line a cycle, or a part of them: what 65, 33, 17, 7 and 5 such parts a
// warp and turn take in saturated matrix products is 1.54 to 1.62 cycles each on the GTX 1080 Ti and 3.1 to 3.4 on
// the RTX 2070 SUPER, 80 and 76 % of what their slices could do.
constexpr double segment_bytes = 64, l2_share = 0.78;
constexpr std::string_view l2_share_source =
    "of that 78 %, as saturated matrix products in the block sweeps published with KLARAPTOR show";

// Before an SM's path to memory stands a queue of each scheduler's own: who finds it full does not issue, and other
// warps go on in their order. Huerta et al., Analyzing Modern NVIDIA GPU Cores, 2025, as remembered: five instructions
// one after the other, on Ampere; older SMs (before Volta's) are another design.
constexpr unsigned memory_queue = 5, memory_queue_since = 70;

// L1 is four banks, interleaved by sector, each of which looks up one a cycle: Khairy et al., Accel-Sim, ISCA 2020, as
// remembered, validated on Volta and Turing. The architectures before have other caches.
constexpr unsigned banked_l1_since = 70;
constexpr std::string_view l1_banks_source =
    "estimated: a sector a cycle of each of four banks, as remembered of Khairy et al., Accel-Sim, ISCA 2020";

// Of DRAM's peak, what streams reach.
constexpr double dram_share = 0.85;
constexpr std::string_view dram_share_source = "estimated: 85 % of the peak is what plain streams reach";

std::string source_of(const model::Device& device, std::string_view field) {
    const auto found = std::ranges::find(device.sources, field, &model::Device::Source::field);
    return fmt::format("{}: {}", field,
                       found == device.sources.end() ? "the device's description" : found->source);
}

}  // namespace

const Architecture& architecture_of(unsigned capability) {
    const Architecture* found = &architectures[0];
    for (const Architecture& one : architectures)
        if (one.first_capability <= capability) found = &one;
    return *found;
}

StoreRules store_rules(const Architecture& architecture) {
    return {.whole_sector = architecture.store_whole_sector.value,
            .partial_sector = architecture.store_partial_sector.value,
            .fragment = architecture.store_fragment.value};
}

Machine machine_of(const model::Device& device, double active_sms) {
    const trimtab_device& d = device.values;
    const Architecture& a = architecture_of(d.compute_capability);
    Machine machine;
    machine.schedulers = static_cast<unsigned>(std::max(1.0, d.schedulers_per_sm));
    machine.issues_per_cycle = static_cast<unsigned>(a.issues_per_cycle.value);
    machine.memory_queue = d.compute_capability >= memory_queue_since ? memory_queue : 0;
    machine.block_start_cycles = a.block_start_cycles.value;
    machine.l1_bytes = d.l1_caches_global_loads != 0 ? static_cast<std::uint64_t>(d.l1_bytes) : 0;
    machine.l2_bytes = static_cast<std::uint64_t>(d.l2_bytes / std::max(1.0, active_sms));

    const auto set_latency = [&](Resource resource, const Sourced& latency) {
        machine.of(resource).latency_cycles = latency.value;
        machine.of(resource).latency_source = latency.source;
    };
    const auto latency_from = [&](Resource resource, double cycles, std::string_view field) {
        machine.of(resource).latency_cycles = cycles;
        machine.of(resource).latency_source = source_of(device, field);
    };
    const auto set_gap = [&](Resource resource, double cycles, std::string source) {
        machine.of(resource).gap_cycles = cycles;
        machine.of(resource).gap_source = std::move(source);
    };
    // Units that are many enough are divided among the schedulers; a few belong to the SM.
    const auto lanes = [&](Resource resource, double count, std::string_view field) {
        const double schedulers = machine.schedulers, each = count / schedulers;
        machine.of(resource).per_scheduler = each >= 1;
        set_gap(resource, d.warp_size / (each >= 1 ? each : std::max(count, 1.0)), source_of(device, field));
    };
    latency_from(Resource::fp32, d.latency_fp32_cycles, "latency_fp32_cycles");
    lanes(Resource::fp32, d.fp32_lanes_per_sm, "fp32_lanes_per_sm");
    latency_from(Resource::fp16, d.latency_fp32_cycles, "latency_fp32_cycles");
    lanes(Resource::fp16, d.fp32_lanes_per_sm, "fp32_lanes_per_sm");  // two halves a lane
    set_latency(Resource::fp64, a.fp64_latency);
    lanes(Resource::fp64, d.fp64_lanes_per_sm, "fp64_lanes_per_sm");
    set_latency(Resource::integer, a.integer_latency);
    lanes(Resource::integer, d.int32_lanes_per_sm, "int32_lanes_per_sm");
    set_latency(Resource::conversion, a.conversion_latency);
    lanes(Resource::conversion, d.special_function_lanes_per_sm, "special_function_lanes_per_sm");
    set_latency(Resource::special_function, a.special_function_latency);
    lanes(Resource::special_function, d.special_function_lanes_per_sm, "special_function_lanes_per_sm");
    set_latency(Resource::tensor, a.tensor_latency);
    set_gap(Resource::tensor, a.tensor_gap.value, std::string(a.tensor_gap.source));
    machine.of(Resource::tensor).per_scheduler = true;
    set_latency(Resource::branch, a.branch_latency);
    set_gap(Resource::branch, 1, std::string(judgement));
    machine.of(Resource::branch).per_scheduler = true;
    set_latency(Resource::barrier, a.barrier_latency);
    set_gap(Resource::barrier, 1, std::string(judgement));
    set_latency(Resource::collective, a.collective_latency);
    lanes(Resource::collective, d.load_store_units_per_sm, "load_store_units_per_sm");
    machine.of(Resource::collective).per_scheduler = false;
    set_gap(Resource::collective, d.warp_size / std::max(1.0, d.load_store_units_per_sm),
            source_of(device, "load_store_units_per_sm"));
    set_gap(Resource::load_store, d.warp_size / std::max(1.0, d.load_store_units_per_sm),
            source_of(device, "load_store_units_per_sm"));
    machine.of(Resource::load_store).latency_source = "none of its own: it is part of the others'";
    latency_from(Resource::shared, d.latency_shared_cycles, "latency_shared_cycles");
    set_gap(Resource::shared, d.warp_size * 4 / std::max(1.0, d.shared_bytes_per_clock),
            source_of(device, "shared_bytes_per_clock"));
    set_latency(Resource::constant, a.constant_latency);
    set_gap(Resource::constant, 1, std::string(judgement));
    set_latency(Resource::texture, a.texture_latency);
    set_gap(Resource::texture, 1, std::string(judgement));
    latency_from(Resource::l1, d.latency_l1_cycles, "latency_l1_cycles");
    machine.has_banked_l1 = d.compute_capability >= banked_l1_since;
    set_gap(Resource::l1, 1, std::string(machine.has_banked_l1 ? l1_banks_source : judgement));
    machine.l1_sectors_a_slot = std::max(1.0, d.shared_bytes_per_clock / 32);  // one memory with shared
    latency_from(Resource::l2, d.latency_l2_cycles, "latency_l2_cycles");
    const double of_device =
        segment_bytes * std::max(1.0, active_sms) / (l2_share * std::max(1.0, d.l2_bytes_per_clock));
    if (of_device > a.port_gap.value)
        set_gap(Resource::l2, of_device,
                fmt::format("{}; {}", source_of(device, "l2_bytes_per_clock"), l2_share_source));
    else
        set_gap(Resource::l2, a.port_gap.value, std::string(a.port_gap.source));
    latency_from(Resource::dram, d.latency_dram_cycles, "latency_dram_cycles");
    set_gap(Resource::dram,
            32 * std::max(1.0, active_sms) * d.sm_clock_hz / (dram_share * std::max(1.0, d.dram_bytes_per_s)),
            fmt::format("{}; {}", source_of(device, "dram_bytes_per_s"), dram_share_source));
    machine.of(Resource::issue) = {.latency_cycles = 0,
                                   .gap_cycles = 1,
                                   .per_scheduler = true,
                                   .latency_source = "none: an instruction's latency is its unit's",
                                   .gap_source = std::string(a.issues_per_cycle.source)};
    set_latency(Resource::atomic, a.atomic_latency);
    set_gap(Resource::atomic, a.atomic_gap.value, std::string(a.atomic_gap.source));
    return machine;
}

}  // namespace trimtab::schedule
