// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/abstract_emulation/counted_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bench/abstract_emulation/described_sm.h"
#include "core/ptx/opcodes.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/launch.h"
#include "tools/trimtab/captured_launch.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::bench {

namespace {

using emulator::InstructionCount;
using ptx::Opcode;
using ptx::OpcodeClass;

bool is_memory(OpcodeClass kind) {
    return kind == OpcodeClass::load || kind == OpcodeClass::store || kind == OpcodeClass::atomic;
}

// What machine code may hold as part of other instructions, or not at all.
bool may_vanish(const ptx::Instruction& i) {
    const OpcodeClass kind = ptx::info(i.opcode).opcode_class;
    return i.opcode == Opcode::mov || i.opcode == Opcode::cvta || i.opcode == Opcode::cvt ||
           kind == OpcodeClass::hint ||
           (is_memory(kind) &&
            (i.modifiers.space == ptx::Space::param || i.modifiers.space == ptx::Space::constant));
}

// One instruction of the units for its type, whatever else it needs.
bool is_arithmetic(const ptx::Instruction& i) {
    switch (i.opcode) {
        case Opcode::add:
        case Opcode::sub:
        case Opcode::mul:
        case Opcode::mad:
        case Opcode::fma:
        case Opcode::and_:
        case Opcode::or_:
        case Opcode::xor_:
        case Opcode::shl:
        case Opcode::shr:
            return true;
        default:
            return false;
    }
}

bool is_special(const ptx::Instruction& i) {
    return i.opcode == Opcode::sin || i.opcode == Opcode::cos || i.opcode == Opcode::ex2 ||
           i.opcode == Opcode::lg2;
}

// Of warps, by unit.
struct Work {
    double issued = 0, fp32 = 0, fp64 = 0, integer = 0, special = 0, memory = 0, shared_passes = 0;
    double one_by_one_cycles = 0;

    void add(const Work& more, double times) {
        for (const auto member : {&Work::issued, &Work::fp32, &Work::fp64, &Work::integer, &Work::special,
                                  &Work::memory, &Work::shared_passes, &Work::one_by_one_cycles})
            this->*member += times * more.*member;
    }
};

class Counting {
  public:
    Counting(const DescribedSm& on, const schedule::KernelTrace& trace) : on_(on) {
        for (const schedule::Access& access : trace.accesses)
            fetched_again_ = std::max(fetched_again_, access.dram_sectors);
        fetched_again_ = std::max(fetched_again_, trace.local.dram_sectors);
    }

    [[nodiscard]] Work work(const emulator::CompiledKernel& kernel,
                            const emulator::LaunchCounters& counters) const {
        Work out;
        double counted = 0, all = 0;
        for (std::uint32_t i = 0; i < counters.instructions.size(); ++i) {
            const InstructionCount& count = counters.instructions[i];
            if (count.warp == 0) continue;
            counted += static_cast<double>(count.warp);
            add(kernel.instruction(i), count, out);
        }
        // Warps without any access are in the sums alone: a few instructions of any kind.
        for (const emulator::ClassCount& one : counters.by_class) all += static_cast<double>(one.warp);
        out.one_by_one_cycles +=
            std::max(0.0, all - counted) * (arithmetic_cycles(sequence_slots) + on_.memory_latency_cycles());
        return out;
    }

  private:
    static constexpr double sequence_slots = 80;  // of the longest sequence that PTX has as one instruction

    // By itself, on the fewest units.
    [[nodiscard]] double arithmetic_cycles(double slots) const {
        const double lanes = std::min({on_.d.fp32_lanes_per_sm, on_.d.int32_lanes_per_sm,
                                       on_.d.special_function_lanes_per_sm, on_.d.load_store_units_per_sm});
        return on_.a.gap_issue_cycles.value + 1 + slots * on_.cycles_on_share(lanes) +
               on_.longest_latency_cycles() + on_.longest_sequence_cycles() + on_.a.gap_branch_cycles.value +
               on_.a.gap_barrier_cycles.value + on_.a.gap_constant_cycles.value +
               on_.a.gap_tensor_cycles.value + 8 * on_.cycles_on(on_.d.load_store_units_per_sm);
    }

    void add(const ptx::Instruction& i, const InstructionCount& count, Work& out) const {
        const auto times = static_cast<double>(count.warp);
        if (!may_vanish(i)) out.issued += times;
        const OpcodeClass kind = ptx::info(i.opcode).opcode_class;
        if (is_memory(kind)) return add_memory(i, count, out);
        if (is_arithmetic(i)) {
            if (i.type == ptx::Type::f32) out.fp32 += times;
            if (i.type == ptx::Type::f64) out.fp64 += times;
            if (ptx::integer_bits(i.type) >= 32) out.integer += times;
        }
        if (is_special(i) && i.type == ptx::Type::f32) out.special += times;
        const bool is_simple = is_arithmetic(i) || i.opcode == Opcode::mov || i.opcode == Opcode::setp ||
                               i.opcode == Opcode::bra;
        const double slots =
            is_simple ? 8 * std::max(1.0, on_.a.integer_multiply_slots.value) : sequence_slots;
        double cycles = arithmetic_cycles(slots);
        if (i.type == ptx::Type::f64) cycles += slots * on_.cycles_on_share(on_.d.fp64_lanes_per_sm);
        if (kind == OpcodeClass::texture || kind == OpcodeClass::surface_load ||
            kind == OpcodeClass::surface_store)
            cycles += on_.memory_latency_cycles() + 32 * on_.a.gap_texture_cycles.value;
        out.one_by_one_cycles += times * cycles;
    }

    void add_memory(const ptx::Instruction& i, const InstructionCount& count, Work& out) const {
        const auto times = static_cast<double>(count.warp);
        const auto sum = [](std::uint64_t value) { return static_cast<double>(value); };
        const bool is_shared = i.modifiers.space == ptx::Space::shared;
        if (!may_vanish(i)) out.memory += times;
        if (is_shared) out.shared_passes += sum(count.wavefronts);
        const double words =
            std::max(1.0, ptx::size_bytes(i.type) * std::max<double>(1, i.modifiers.vector_width) / 4);
        out.one_by_one_cycles +=
            times * (arithmetic_cycles(1) + words * on_.cycles_on(on_.d.load_store_units_per_sm) +
                     on_.memory_latency_cycles());
        out.one_by_one_cycles += sum(count.wavefronts) * on_.pass_cycles();
        if (is_shared) return;
        // Local memory has a line for each word of a thread; lanes of an atomic may meet at one word.
        const bool is_local = i.modifiers.space == ptx::Space::local;
        const double sectors = is_local ? times * words * 32 : sum(count.sectors),
                     lines = is_local ? times * words * 32 : sum(count.lines);
        out.one_by_one_cycles +=
            (sectors + lines) * on_.a.gap_l1_cycles.value +
            (sectors + sum(count.fragments) + sum(count.partial_sectors) + sum(count.full_segments)) *
                (1 + on_.most_store_slots()) * on_.segment_cycles() +
            sectors * fetched_again_ * on_.dram_sector_cycles();
        if (ptx::info(i.opcode).opcode_class == OpcodeClass::atomic)
            out.one_by_one_cycles += sum(count.thread) * on_.a.gap_atomic_cycles.value;
    }

    const DescribedSm& on_;
    double fetched_again_ = 1;  // DRAM's sectors for one that is asked for, at most
};

}  // namespace

std::expected<CountedBounds, Error> counted_bounds(const tools::LaunchQuestion& question,
                                                   emulator::Program& program, trimtab_dim3 grid,
                                                   trimtab_dim3 block, std::uint32_t dynamic_shared_bytes,
                                                   const schedule::TracedLaunch& traced) {
    const analysis::KernelDescription& description = question.description();
    tools::LaunchMemory memory;
    for (const auto& parameter : description.parameters)
        if (parameter.is_pointer) memory.set_fill(parameter.index, tools::fill_of(parameter.pointee));
    std::vector<std::byte> parameters = question.arguments.bytes;
    if (question.captured != nullptr)
        if (const auto placed =
                tools::place_captured(question.captured->capture, program, memory, parameters);
            !placed)
            return std::unexpected(placed.error());
    const double blocks_of_launch = double(grid.x) * grid.y * grid.z;
    const DescribedSm on(question.device,
                         std::max(1.0, std::min(blocks_of_launch, question.device.values.sm_count)));
    const Counting counting(on, traced.trace);
    const emulator::CompiledKernel& kernel = *program.kernel(description.name);
    const std::uint64_t blocks = traced.blocks_on_sm, kinds = traced.trace.blocks.size();
    Work all;
    double rounds = std::numeric_limits<double>::infinity();
    for (std::uint64_t kind = 0; kind < std::min(kinds, blocks); ++kind) {
        emulator::LaunchRequest request;
        request.kernel = description.name;
        request.grid = grid;
        request.block = block;
        request.dynamic_shared_bytes = dynamic_shared_bytes;
        request.parameters = parameters;
        request.blocks = {traced.trace.blocks[kind].block};
        request.counting = {.count = true, .footprints = false, .groups = {}};
        request.sm_count = static_cast<std::uint32_t>(question.device.values.sm_count);
        request.threads = 1;
        request.print = [](std::string_view) {};
        const auto ran = emulator::launch(program, memory, request);
        if (!ran) return std::unexpected(Error{.message = ran.error().message});
        // An SM's block i does as number i % kinds of those traced.
        const double times = static_cast<double>((blocks - kind + kinds - 1) / kinds);
        all.add(counting.work(kernel, ran->counters), times);
        rounds = std::min(rounds, static_cast<double>(ran->counters.max_dependent_rounds));
    }
    CountedBounds out;
    const auto at_least = [&](double cycles, const char* by) {
        if (cycles <= out.least_cycles) return;
        out.least_cycles = cycles;
        out.least_by = by;
    };
    at_least(all.issued * on.issue_cycles(), "issue slots");
    at_least(all.fp32 * on.cycles_on(on.d.fp32_lanes_per_sm), "fp32");
    at_least(all.fp64 * on.cycles_on(on.d.fp64_lanes_per_sm), "fp64");
    at_least(all.integer * on.cycles_on(on.d.int32_lanes_per_sm), "integers");
    at_least(all.special * on.cycles_on(on.d.special_function_lanes_per_sm), "special functions");
    at_least(all.memory * on.cycles_on(on.d.load_store_units_per_sm), "memory's entrance");
    at_least(all.shared_passes * on.pass_cycles(), "shared memory");
    // Of a block, the warp that waits most often for what is in the nearest cache.
    at_least(std::ceil(static_cast<double>(blocks) / traced.resident) * rounds *
                 std::min(on.d.latency_l1_cycles, on.d.latency_l2_cycles),
             "dependences");
    out.most_cycles = all.one_by_one_cycles + static_cast<double>(blocks) * on.block_cycles();
    out.least_cycles *= traced.work_ratio;
    out.most_cycles *= traced.work_ratio;
    return out;
}

}  // namespace trimtab::bench
