// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/occupancy.h"

#include <algorithm>

#include "core/model/occupancy_program.h"
#include "core/model/performance_model.h"

namespace trimtab::model {

OccupancyValues add_occupancy(RationalProgramBuilder& builder, Value threads_per_block) {
    const auto device = [&](const char* field) { return builder.input(std::string("device.") + field); };
    const auto image = [&](const char* field) { return builder.input(std::string("image.") + field); };
    const auto round_up = [](Value x, Value unit) { return ceil(x / unit) * unit; };
    constexpr auto rule = "cuda_occupancy.h";
    const Value zero = builder.constant(0, ""), one = builder.constant(1, "");

    const Value warps = ceil(threads_per_block / device("warp_size")).named("warps_per_block", "warps", rule);
    const Value max_warps =
        min(floor(device("max_threads_per_sm") / device("warp_size")), device("max_warps_per_sm"));
    const Value by_threads =
        floor(max_warps / max(warps, one)).named("blocks_by_threads", "blocks per SM", rule);
    const Value by_blocks = device("max_blocks_per_sm");

    // A warp's registers come from one part of the SM's register file.
    const Value parts = device("warp_allocation_granularity");
    const Value warp_registers =
        round_up(image("registers_per_thread") * device("warp_size"), device("register_allocation_unit"))
            .named("registers_per_warp", "registers", rule);
    const Value warps_by_registers =
        floor(floor(device("registers_per_sm") / parts) / max(warp_registers, one)) * parts;
    const Value by_registers =
        select(zero < warp_registers, floor(warps_by_registers / max(warps, one)), by_blocks)
            .named("blocks_by_registers", "blocks per SM", rule);
    // The launch check counts a block's warps in whole rounds over the parts. GP100 has two, but must accept
    // no block that the other Pascal parts, which have four, would not.
    const Value gp100 = device("compute_capability") <= builder.constant(60, "GP100") &&
                        builder.constant(60, "GP100") <= device("compute_capability");
    const Value check_parts =
        select(gp100, builder.constant(4, "GP10x register file parts, cuda_occupancy.h"), parts)
            .named("parts_of_launch_check", "", rule);
    const Value registers_fit =
        warp_registers * round_up(warps, check_parts) <= device("registers_per_block") &&
        image("registers_per_thread") <= device("max_registers_per_thread");

    const Value reserved = device("shared_reserved_bytes_per_block");
    const Value shared =
        round_up(image("static_shared_bytes") + reserved + builder.input("dynamic_shared_bytes"),
                 device("shared_allocation_bytes"))
            .named("shared_bytes_allocated", "bytes per block", rule);
    const Value by_shared_memory =
        select(zero < shared, floor(device("shared_bytes_per_sm") / max(shared, one)), by_blocks)
            .named("blocks_by_shared_memory", "blocks per SM", rule);
    const Value shared_fits = shared <= device("shared_bytes_per_block_optin") + reserved;

    const Value own_limit = image("max_threads_per_block");
    const Value threads_fit = one <= threads_per_block &&
                              threads_per_block <= device("max_threads_per_block") &&
                              (own_limit <= zero || threads_per_block <= own_limit);
    const Value limit = min(min(by_threads, by_blocks), min(by_registers, by_shared_memory));
    const Value fits = (threads_fit && registers_fit && shared_fits && one <= limit)
                           .named("block_fits", "", "CUDA launch limits");
    const Value blocks =
        select(fits, limit, zero).named("blocks_per_sm", "blocks per SM", "theoretical occupancy");
    return {warps, by_threads, by_blocks, by_registers, by_shared_memory, fits, blocks};
}

namespace {

struct OccupancyProgram {
    RationalProgram program;
    NodeIndex warps, by_threads, by_blocks, by_registers, by_shared_memory;
};

const OccupancyProgram& occupancy_program() {
    static const OccupancyProgram built = [] {
        RationalProgramBuilder builder("occupancy");
        const OccupancyValues values = add_occupancy(builder, builder.input("block.x"));
        OccupancyProgram result{.program = {},
                                .warps = values.warps_per_block.index(),
                                .by_threads = values.by_threads.index(),
                                .by_blocks = values.by_blocks.index(),
                                .by_registers = values.by_registers.index(),
                                .by_shared_memory = values.by_shared_memory.index()};
        result.program = std::move(builder).finish(values.blocks_per_sm, !values.fits);
        return result;
    }();
    return built;
}

}  // namespace

std::string_view name(OccupancyLimiter limiter) {
    switch (limiter) {
        case OccupancyLimiter::threads:
            return "threads";
        case OccupancyLimiter::blocks:
            return "blocks";
        case OccupancyLimiter::registers:
            return "registers";
        case OccupancyLimiter::shared_memory:
            return "shared memory";
        case OccupancyLimiter::does_not_fit:
            return "does not fit";
    }
    return "";
}

Occupancy occupancy(const trimtab_device& device, const trimtab_image& image, std::uint32_t threads_per_block,
                    double dynamic_shared_bytes) {
    const OccupancyProgram& rule = occupancy_program();
    const Launch launch{.block = {threads_per_block, 1, 1}, .dynamic_shared_bytes = dynamic_shared_bytes};
    const std::vector<double> inputs = input_values(rule.program, device, image, launch);
    const std::vector<double> values = rule.program.trace(inputs, {});
    if (values[rule.program.unlaunchable] != 0) return {.limiter = OccupancyLimiter::does_not_fit};

    const double blocks = values[rule.program.time_ns];
    Occupancy result{.blocks_per_sm = static_cast<std::uint32_t>(blocks),
                     .warps_per_sm = static_cast<std::uint32_t>(blocks * values[rule.warps])};
    result.fraction = result.warps_per_sm / device.max_warps_per_sm;
    // Where several limits are equal, the one that no change to the kernel can lift comes first.
    if (blocks == values[rule.by_threads])
        result.limiter = OccupancyLimiter::threads;
    else if (blocks == values[rule.by_blocks])
        result.limiter = OccupancyLimiter::blocks;
    else if (blocks == values[rule.by_registers])
        result.limiter = OccupancyLimiter::registers;
    else
        result.limiter = OccupancyLimiter::shared_memory;
    return result;
}

trimtab_image with_addressable_registers(trimtab_image image, const trimtab_device& device) {
    image.registers_per_thread = std::min(image.registers_per_thread, device.max_registers_per_thread);
    return image;
}

}  // namespace trimtab::model
