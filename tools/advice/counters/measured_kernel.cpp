// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/measured_kernel.h"

#include <algorithm>
#include <cmath>

#include "core/model/launch_configuration.h"

namespace trimtab::advice {
namespace {

using emulator::InstructionClass;
using emulator::InstructionProfile;
using model::Metric;

constexpr double wavefront_bytes = 128;

std::uint64_t whole(double count) {
    return static_cast<std::uint64_t>(std::llround(std::clamp(count, 0.0, 1e18)));
}

struct Warps {
    double of_block = 1, all = 1, lanes = 32;
};

Warps warps_of(const CountedLaunch& launch, const Quantities& quantities) {
    Warps warps;
    warps.of_block = std::ceil(static_cast<double>(model::volume(launch.block)) / 32);
    warps.all = warps.of_block * static_cast<double>(model::volume(launch.grid));
    warps.lanes = std::clamp(quantities.find("lanes").value_or(32), 1.0, 32.0);
    return warps;
}

// Instructions of one kind.
InstructionProfile& add(std::vector<InstructionProfile>& to, InstructionClass kind, double executed,
                        double lanes) {
    InstructionProfile& made = to.emplace_back();
    made.kind = kind;
    made.index = static_cast<std::uint32_t>(to.size() - 1);
    made.count.warp = whole(executed);
    made.count.thread = whole(executed * lanes);
    return made;
}

void add_accesses(std::vector<InstructionProfile>& to, const Quantities& quantities, const Warps& warps) {
    const auto access = [&](InstructionClass kind, std::string_view requests) -> InstructionProfile& {
        const double count = quantities.or_zero(requests);
        InstructionProfile& made = add(to, kind, count, warps.lanes);
        made.count.requests = whole(count);
        return made;
    };
    for (const bool loads : {true, false}) {
        InstructionProfile& made =
            access(loads ? InstructionClass::global_load : InstructionClass::global_store,
                   loads ? "load_requests" : "store_requests");
        const double sectors = quantities.or_zero(loads ? "load_sectors" : "store_sectors");
        made.count.sectors = whole(sectors);
        made.count.lines = whole(quantities.find(loads ? "load_lines" : "store_lines").value_or(sectors / 4));
        const double bytes = quantities.or_zero(loads ? "load_bytes" : "store_bytes");
        made.count.bytes = whole(bytes);
        if (!loads && bytes > 0)
            made.count.partial_sectors = whole(std::max(0.0, sectors - bytes / bytes_of_a_sector));
    }
    access(InstructionClass::local_memory, "local_requests");
    InstructionProfile& shared = access(InstructionClass::shared_memory, "shared_requests");
    const double wavefronts = quantities.or_zero("shared_wavefronts");
    shared.count.wavefronts = whole(wavefronts);
    // As many bytes as take the passes that are no conflict's.
    shared.count.bytes =
        whole(wavefront_bytes * std::max(0.0, wavefronts - quantities.or_zero("shared_conflicts")));
}

std::vector<InstructionProfile> instructions_of(const Quantities& quantities, const Warps& warps) {
    std::vector<InstructionProfile> out;
    add_accesses(out, quantities, warps);
    double named = 0;
    for (const InstructionProfile& access : out) named += static_cast<double>(access.count.warp);
    const auto arithmetic = [&](InstructionClass kind, std::string_view quantity) {
        const double count = quantities.or_zero(quantity);
        named += count;
        if (count > 0) add(out, kind, count, warps.lanes);
    };
    arithmetic(InstructionClass::fp32, "fp32_instructions");
    arithmetic(InstructionClass::fp64, "fp64_instructions");
    arithmetic(InstructionClass::integer, "integer_instructions");
    arithmetic(InstructionClass::conversion, "conversions");
    const double branches = quantities.or_zero("branches");
    InstructionProfile& control = add(out, InstructionClass::control, branches, warps.lanes);
    control.count.divergent = whole(std::min(branches, quantities.or_zero("divergent_branches")));
    named += branches;
    add(out, InstructionClass::other, std::max(0.0, quantities.or_zero("instructions") - named), warps.lanes);
    std::erase_if(out, [](const InstructionProfile& one) { return one.count.warp == 0; });
    return out;
}

model::MetricValues values_of(const Quantities& quantities, const Warps& warps,
                              const std::vector<InstructionProfile>& instructions) {
    model::MetricValues values{};
    const auto set = [&](Metric metric, double of_launch) {
        values[static_cast<std::size_t>(metric)] = of_launch / warps.all;
    };
    const auto take = [&](Metric metric, std::string_view quantity) {
        set(metric, quantities.or_zero(quantity));
    };
    take(Metric::warp_instructions, "instructions");
    take(Metric::fp32_instructions, "fp32_instructions");
    take(Metric::fp64_instructions, "fp64_instructions");
    set(Metric::integer_instructions,
        quantities.or_zero("integer_instructions") + quantities.or_zero("conversions"));
    // The pipe of special functions converts, too.
    set(Metric::special_function_instructions,
        std::max(0.0, quantities.or_zero("special_instructions") - quantities.or_zero("conversions")));
    take(Metric::control_instructions, "branches");
    take(Metric::load_requests, "load_requests");
    take(Metric::store_requests, "store_requests");
    take(Metric::atomic_requests, "atomic_requests");
    take(Metric::local_requests, "local_requests");
    take(Metric::shared_requests, "shared_requests");
    take(Metric::shared_wavefronts, "shared_wavefronts");
    take(Metric::divergent_branches, "divergent_branches");
    for (const InstructionProfile& one : instructions) {
        const auto count = [](std::uint64_t of) { return static_cast<double>(of); };
        if (one.kind == InstructionClass::global_load) {
            set(Metric::load_sectors, count(one.count.sectors));
            set(Metric::load_lines, count(one.count.lines));
        } else if (one.kind == InstructionClass::global_store) {
            set(Metric::store_sectors, count(one.count.sectors) + quantities.or_zero("atomic_sectors"));
            set(Metric::store_lines, count(one.count.lines));
            set(Metric::store_partial_sectors, count(one.count.partial_sectors));
        }
    }
    values[static_cast<std::size_t>(Metric::active_lanes)] = warps.lanes;
    return values;
}

}  // namespace

emulator::LaunchProfile profile_of(const MeasuredShape& shape, const Quantities& quantities,
                                   const model::Device& device) {
    const CountedLaunch& launch = shape.launch;
    const Warps warps = warps_of(launch, quantities);
    const auto blocks = static_cast<double>(model::volume(launch.grid));
    emulator::LaunchProfile out;
    out.kernel = launch.kernel;
    out.device = device.slug;
    out.grid = launch.grid;
    out.block = launch.block;
    out.dynamic_shared_bytes = static_cast<std::uint32_t>(whole(quantities.or_zero("dynamic_shared")));
    out.image.registers_per_thread = quantities.or_zero("registers");
    out.image.static_shared_bytes = quantities.or_zero("static_shared");
    out.time_ns = 1e9 * quantities.or_zero("time");
    out.launches = shape.launches;
    out.total_ns = out.time_ns * static_cast<double>(shape.launches);
    out.counted_blocks = out.counted_active_blocks = blocks;
    out.counted_active_warps = warps.all;
    out.branches = quantities.or_zero("branches");
    out.divergent_branches = quantities.or_zero("divergent_branches");
    out.instructions = instructions_of(quantities, warps);
    out.values = values_of(quantities, warps, out.instructions);
    const auto value = [&](Metric metric) -> double& { return out.values[static_cast<std::size_t>(metric)]; };
    value(Metric::active_warps) = warps.of_block;
    value(Metric::active_blocks) = blocks;
    // One stands for any number: that there are some is what the model asks.
    const bool waits_at_barriers = quantities.has("barrier_stall")
                                       ? quantities.or_zero("barrier_stall") > 0
                                       : quantities.or_zero("shared_requests") > 0;
    value(Metric::barriers) = waits_at_barriers ? 1 : 0;
    return out;
}

ProfileRecord record_of(const Quantities& quantities, const std::vector<UsedResource>& used,
                        const model::Device& device) {
    const trimtab_device& values = device.values;
    ProfileRecord record;
    record.time_s = quantities.or_zero("time");
    record.instructions_executed = values.warp_size * quantities.or_zero("instructions");
    record.instructions_issued =
        values.warp_size * quantities.find("issued").value_or(quantities.or_zero("instructions"));
    record.peak_instructions_per_s =
        values.warp_size * values.schedulers_per_sm * values.sm_count * values.sm_clock_hz;
    record.peak_dram_bytes_per_s = values.dram_bytes_per_s;
    record.dram_transactions = quantities.or_zero("dram_bytes") / bytes_of_a_sector;
    record.l2_transactions = quantities.or_zero("l2_sectors");
    record.l2_hit_share = quantities.or_zero("l2_hit_share");
    const double loaded = quantities.or_zero("load_sectors");
    record.l1_hits = loaded * quantities.or_zero("l1_hit_share");
    record.l1_misses = loaded - record.l1_hits;
    record.load_requests = quantities.or_zero("load_requests");
    record.l1_local_load_misses = quantities.or_zero("local_load_misses") / 4;  // in lines
    record.branches = quantities.or_zero("branches");
    record.divergent_branches = quantities.or_zero("divergent_branches");
    record.shared_accesses = quantities.or_zero("shared_requests");
    record.bank_conflicts = quantities.or_zero("shared_conflicts");
    for (const UsedResource& one : used) {
        record.pipes.push_back(
            {.name = std::string(one.name), .is_memory = one.is_memory, .share = one.share});
        // What was not counted follows from the share of the peak.
        if (one.name == "dram" && record.dram_transactions <= 0)
            record.dram_transactions =
                one.share * record.peak_dram_bytes_per_s * record.time_s / bytes_of_a_sector;
        if (one.name == "issue" && record.instructions_issued <= 0)
            record.instructions_issued = record.instructions_executed =
                one.share * record.peak_instructions_per_s * record.time_s;
    }
    return record;
}

Rooflines measured_rooflines(const Quantities& quantities, const std::vector<UsedResource>& used,
                             const model::Device& device) {
    const trimtab_device& values = device.values;
    const double clocks = values.sm_clock_hz * values.sm_count;
    const double time_ns = 1e9 * quantities.or_zero("time");
    Rooflines out{.time_ns = time_ns, .resources = {}};
    const auto add = [&](std::string_view name, std::string_view title, bool is_memory, double work,
                         double rate) {
        const double ns = rate > 0 ? work / rate * 1e9 : 0;
        out.resources.push_back({.name = name,
                                 .title = title,
                                 .is_memory = is_memory,
                                 .work = work,
                                 .rate = rate,
                                 .ns = ns,
                                 .used = time_ns > 0 ? ns / time_ns : 0});
    };
    const auto add_pipe = [&](std::string_view name, std::string_view title, std::string_view quantity,
                              double lanes) {
        add(name, title, false, quantities.or_zero(quantity), lanes / values.warp_size * clocks);
    };
    add("dram", "the memory's bandwidth", true, quantities.or_zero("dram_bytes"), values.dram_bytes_per_s);
    add("l2", "L2's bandwidth", true, bytes_of_a_sector * quantities.or_zero("l2_sectors"),
        values.l2_bytes_per_clock * values.sm_clock_hz);
    add("shared", "shared memory's bandwidth", true,
        wavefront_bytes * quantities.or_zero("shared_wavefronts"),
        std::min(values.shared_bytes_per_clock, 4 * values.load_store_units_per_sm) * clocks);
    add("issue", "the schedulers", false, quantities.or_zero("instructions"),
        values.schedulers_per_sm * clocks);
    add_pipe("fp32", "single-precision arithmetic", "fp32_instructions", values.fp32_lanes_per_sm);
    add_pipe("fp64", "double-precision arithmetic", "fp64_instructions", values.fp64_lanes_per_sm);
    add_pipe("integer", "integer arithmetic", "integer_instructions", values.int32_lanes_per_sm);
    add_pipe("special", "the special function units", "special_instructions",
             values.special_function_lanes_per_sm);
    // What was measured goes before what the description makes of a count.
    for (const UsedResource& one : used) {
        auto known = std::ranges::find(out.resources, one.name, &Resource::name);
        if (known == out.resources.end()) {
            add(one.name, one.title, one.is_memory, 0, 0);
            known = std::prev(out.resources.end());
        }
        known->used = one.share;
        known->ns = one.share * time_ns;
    }
    std::ranges::sort(out.resources, [](const Resource& a, const Resource& b) {
        return a.used != b.used ? a.used > b.used : a.name < b.name;
    });
    return out;
}

}  // namespace trimtab::advice
