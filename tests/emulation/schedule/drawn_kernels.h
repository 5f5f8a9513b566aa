// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels drawn at random from parts whose work is known as they are put together, and what a device's description says
// of the least and the most time that such work takes. No trace, scheduler or count of the product is asked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>

#include "bench/abstract_emulation/described_sm.h"
#include "tests/emulation/schedule/generated_kernels.h"

namespace trimtab::schedule {

// Of a warp.
struct KnownWork {
    double instructions = 0;  // that take an issue slot
    double fp32 = 0, fp64 = 0, integer = 0, special = 0, branches = 0, barriers = 0, memory = 0;
    double shared_passes = 0;
    double atomic_passes = 0;                                // one after the other at a word
    double loads = 0, sectors = 0, lines = 0, segments = 0;  // of global memory; sectors of loads and atomics
    // Touched by no other warp and in no other iteration.
    double new_bytes = 0, new_segments = 0;
    double l1_slots = 0;

    void add(const KnownWork& more, double times) {
        const auto sum = [&](double KnownWork::* member) { this->*member += times * more.*member; };
        for (const auto member :
             {&KnownWork::instructions, &KnownWork::fp32, &KnownWork::fp64, &KnownWork::integer,
              &KnownWork::special, &KnownWork::branches, &KnownWork::barriers, &KnownWork::memory,
              &KnownWork::shared_passes, &KnownWork::atomic_passes, &KnownWork::loads, &KnownWork::sectors,
              &KnownWork::lines, &KnownWork::segments, &KnownWork::new_bytes, &KnownWork::new_segments,
              &KnownWork::l1_slots})
            sum(member);
    }
};

// Results that wait for each other, by the register that carries them.
using Chains = std::map<std::string, double>;

struct DrawnKernel {
    std::string what, body;
    std::uint32_t threads = 32, iterations = 1;
    std::uint64_t blocks_an_sm = 1;
    model::Device device;
    KnownWork of_warp;                // of all iterations, what stands around the loop left out
    double chain_cycles = 0;          // likewise
    double around_instructions = 40;  // that stand around the loop, at most

    [[nodiscard]] double warps() const { return std::ceil(threads / 32.0); }
    [[nodiscard]] std::uint32_t grid() const {
        return static_cast<std::uint32_t>(device.values.sm_count) * static_cast<std::uint32_t>(blocks_an_sm);
    }
};

// What no launch of the kernel can be faster or slower than, in cycles of an SM.
struct KnownBounds {
    double least_cycles = 0, most_cycles = 0;
    std::string least_by;
};

inline KnownBounds known_bounds(const DrawnKernel& kernel, std::uint32_t resident) {
    const bench::DescribedSm on(kernel.device, kernel.device.values.sm_count);
    const KnownWork& w = kernel.of_warp;
    const auto blocks = static_cast<double>(kernel.blocks_an_sm);
    const double warps = blocks * kernel.warps();
    KnownBounds out;
    const auto at_least = [&](double cycles, const char* by) {
        if (cycles <= out.least_cycles) return;
        out.least_cycles = cycles;
        out.least_by = by;
    };
    at_least(warps * w.instructions * on.issue_cycles(), "issue slots");
    at_least(warps * w.fp32 * on.cycles_on(on.d.fp32_lanes_per_sm), "fp32");
    at_least(warps * w.fp64 * on.cycles_on(on.d.fp64_lanes_per_sm), "fp64");
    at_least(warps * w.integer * on.cycles_on(on.d.int32_lanes_per_sm), "integers");
    at_least(warps * w.special * on.cycles_on(on.d.special_function_lanes_per_sm), "special functions");
    at_least(warps * w.memory * on.cycles_on(on.d.load_store_units_per_sm), "memory's entrance");
    at_least(warps * w.shared_passes * on.pass_cycles(), "shared memory");
    at_least(warps * w.atomic_passes * on.a.gap_atomic_cycles.value, "atomics");
    at_least(warps * w.l1_slots * on.a.gap_l1_cycles.value, "L1");
    at_least(warps * w.new_segments * on.segment_cycles(), "L2");
    // What L2 cannot hold has to come from DRAM.
    const double bytes = warps * w.new_bytes * on.sms;
    at_least((bytes - on.d.l2_bytes) / on.sms / 32 * on.dram_sector_cycles(), "DRAM");
    at_least(std::ceil(blocks / resident) * kernel.chain_cycles, "dependences");

    // One instruction after the other, each access by way of DRAM. What stands around the loop: so many instructions of
    // each kind, and two accesses.
    const double around = kernel.around_instructions, sectors = w.sectors + 64, lines = w.lines + 64;
    // Multiplications of integers take several slots, and so do 64 bits.
    const double integer_slots = 8 * std::max(1.0, on.a.integer_multiply_slots.value);
    double of_warp =
        (w.instructions + around) * (on.a.gap_issue_cycles.value + 1 + on.longest_latency_cycles());
    of_warp += (w.fp32 + around) * on.cycles_on_share(on.d.fp32_lanes_per_sm) +
               w.fp64 * on.cycles_on_share(on.d.fp64_lanes_per_sm) +
               w.special * (on.cycles_on_share(on.d.special_function_lanes_per_sm) +
                            on.a.added_approximation_cycles.value) +
               (w.integer + around) * integer_slots * on.cycles_on_share(on.d.int32_lanes_per_sm) +
               (w.memory + around) * on.cycles_on(on.d.load_store_units_per_sm) +
               (w.branches + around) * on.a.gap_branch_cycles.value +
               w.barriers * on.a.gap_barrier_cycles.value + w.shared_passes * on.pass_cycles() +
               (w.loads + 2) * on.memory_latency_cycles() + (lines + sectors) * on.a.gap_l1_cycles.value +
               (sectors + w.segments) * (1 + on.most_store_slots()) * on.segment_cycles() +
               sectors * on.dram_sector_cycles() + w.atomic_passes * on.a.gap_atomic_cycles.value;
    out.most_cycles = warps * of_warp + blocks * on.block_cycles();
    return out;
}

// Draws one kernel, its launch and its device.
class KernelDraw {
  public:
    explicit KernelDraw(std::uint32_t seed) : random_(seed) {}

    DrawnKernel draw() {
        constexpr double sms[] = {1, 2, 5, 10, 41, 82, 132, 160};
        const auto& devices = model::devices();
        const model::Device& described = devices[below(static_cast<std::uint32_t>(devices.size()))];
        out_.device = with_sms(described.slug, sms[below(8)]);
        on_.emplace(out_.device, out_.device.values.sm_count);
        out_.threads = 32 * (below(3) == 0 ? 1 + below(32) : 1u << below(6));
        out_.blocks_an_sm = below(2) == 0 ? 1 + below(6) : 1 + below(90);
        const std::uint32_t parts = 1 + below(3);
        for (std::uint32_t i = 0; i < parts; ++i) add_part(below(12));
        finish();
        return std::move(out_);
    }

  private:
    // mt19937's numbers are the same everywhere; distributions' are not.
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

    void emit(const std::string& line) { iteration_ += "    " + line + "\n"; }
    void chain(const std::string& reg, double cycles) { chains_[reg] += cycles; }
    // In each iteration, for what it uses itself. A compiler may have put several such waits side by side.
    void wait_in_order(double cycles) { chains_["in order"] = std::max(chains_["in order"], cycles); }
    [[nodiscard]] double nearest_cycles() const {
        return std::min(on_->d.latency_l1_cycles, on_->d.latency_l2_cycles);
    }

    void add_part(std::uint32_t kind) {
        switch (kind) {
            case 0:
                return add_chain(1 + below(12));
            case 1:
                return add_parallel(1 + below(5));
            case 2:
                return add_integers(1 + below(8));
            case 3:
                return add_doubles(1 + below(4));
            case 4:
                return add_sines(1 + below(4));
            case 5:
                return add_stream(1 + below(3));
            case 6:
                return add_rows();
            case 7:
                return add_shared();
            case 8:
                return add_atomic();
            case 9:
                return add_barrier();
            case 10:
                return add_divergent_loop();
            default:
                return add_halves();
        }
    }

    void name(const std::string& part) { out_.what += (out_.what.empty() ? "" : ", ") + part; }

    void add_chain(std::uint32_t count) {
        name(fmt::format("a chain of {}", count));
        for (std::uint32_t i = 0; i < count; ++i)
            emit(below(2) == 0 ? "fma.rn.f32 %f1, %f1, %f1, %f1;" : "mul.f32 %f1, %f1, %f1;");
        one_.instructions += count;
        one_.fp32 += count;
        chain("f1", count * on_->d.latency_fp32_cycles);
    }
    void add_parallel(std::uint32_t count) {
        name(fmt::format("{} chains", count));
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::string reg = fmt::format("f{}", 3 + i);
            emit(fmt::format("fma.rn.f32 %{0}, %{0}, %{0}, %{0};", reg));
            chain(reg, on_->d.latency_fp32_cycles);
        }
        one_.instructions += count;
        one_.fp32 += count;
    }
    void add_integers(std::uint32_t count) {
        name(fmt::format("{} integers", count));
        for (std::uint32_t i = 0; i < count; ++i) emit("xor.b32 %r8, %r8, %r2;");
        one_.instructions += count;
        one_.integer += count;
        chain("r8", count * on_->a.latency_integer_cycles.value);
    }
    void add_doubles(std::uint32_t count) {
        name(fmt::format("{} doubles", count));
        for (std::uint32_t i = 0; i < count; ++i) emit("fma.rn.f64 %d1, %d1, %d1, %d1;");
        one_.instructions += count;
        one_.fp64 += count;
        chain("d1", count * on_->a.latency_fp64_cycles.value);
    }
    void add_sines(std::uint32_t count) {
        name(fmt::format("{} sines", count));
        for (std::uint32_t i = 0; i < count; ++i) emit("sin.approx.f32 %f2, %f2;");
        one_.instructions += count;
        one_.special += count;
        chain("f2", count * on_->a.latency_special_function_cycles.value);
    }

    void need_own_address() {
        if (has_own_address_) return;
        has_own_address_ = true;
        before_ += fmt::format(
            "    mad.lo.u32 %r5, %r3, {}, %r2;\n    mul.wide.u32 %rd4, %r5, 4;\n    add.s64 %rd4, %rd1, "
            "%rd4;\n"
            "    mov.u64 %rd5, %rd4;\n",
            out_.threads);
    }
    // Each iteration reads what nobody has read before.
    void add_stream(std::uint32_t count) {
        if (has_stream_) return;
        has_stream_ = true;
        need_own_address();
        name(fmt::format("a stream of {} loads", count));
        const std::uint64_t apart = std::uint64_t{4} * out_.grid() * out_.threads;
        for (std::uint32_t i = 0; i < count; ++i) {
            emit(fmt::format("ld.global.f32 %f8, [%rd4+{}];", i * apart));
            emit("add.f32 %f9, %f9, %f8;");
        }
        emit(fmt::format("add.s64 %rd4, %rd4, {};", count * apart));
        one_.instructions += 2 * count + 1;
        one_.fp32 += count;
        one_.integer += 1;
        one_.memory += count;
        one_.loads += count;
        one_.lines += count;
        one_.sectors += 4 * count;
        one_.segments += 2 * count;
        one_.new_bytes += 128 * count;
        one_.new_segments += 2 * count;
        one_.l1_slots += count;
        wait_in_order(nearest_cycles());
    }
    // A row a thread.
    void add_rows() {
        if (has_rows_) return;
        has_rows_ = true;
        name("rows");
        before_ += fmt::format(
            "    mad.lo.u32 %r5, %r3, {}, %r2;\n    mul.wide.u32 %rd6, %r5, 65536;\n    add.s64 %rd6, %rd1, "
            "%rd6;\n",
            out_.threads);
        emit("ld.global.f32 %f8, [%rd6];");
        emit("add.f32 %f9, %f9, %f8;");
        emit("add.s64 %rd6, %rd6, 4;");
        one_.instructions += 3;
        one_.fp32 += 1;
        one_.integer += 1;
        one_.memory += 1;
        one_.loads += 1;
        one_.lines += 32;
        one_.sectors += 32;
        one_.segments += 32;
        one_.l1_slots += 32;
        wait_in_order(nearest_cycles());
    }
    // A word a lane, so many words apart: as many lanes meet in a bank as divide both.
    void add_shared() {
        if (has_shared_) return;
        has_shared_ = true;
        constexpr std::uint32_t strides[] = {1, 2, 3, 4, 8, 16, 32, 33};
        const std::uint32_t stride = strides[below(8)];
        name(fmt::format("shared words {} apart", stride));
        before_ += fmt::format(
            "    mov.u32 %r5, buffer;\n    and.b32 %r6, %r2, 31;\n    mul.lo.u32 %r6, %r6, {};\n    add.u32 "
            "%r6, "
            "%r5, %r6;\n",
            4 * stride);
        emit("ld.shared.f32 %f8, [%r6];");
        emit("add.f32 %f9, %f9, %f8;");
        emit("st.shared.f32 [%r6], %f1;");
        one_.instructions += 3;
        one_.fp32 += 1;
        one_.memory += 2;
        one_.shared_passes += 2.0 * std::gcd(stride, 32u);
        wait_in_order(on_->d.latency_shared_cycles);
    }
    void add_atomic() {
        if (below(2) == 0) {
            name("an atomic on one word");
            emit("red.global.add.u32 [%rd1], 1;");
            one_.instructions += 1;
            one_.atomic_passes += 32;
            one_.sectors += 1;
        } else {
            name("an atomic a thread");
            need_own_address();
            emit("atom.global.add.u32 %r13, [%rd5], 1;");
            emit("add.u32 %r9, %r9, %r13;");
            one_.instructions += 2;
            one_.integer += 1;
            one_.atomic_passes += 1;
            one_.sectors += 4;
            wait_in_order(on_->d.latency_l2_cycles + on_->a.latency_atomic_cycles.value);
        }
        one_.memory += 1;
        one_.loads += 1;
        one_.lines += 1;
        one_.segments += 2;
        runs_every_iteration_ = true;
    }
    void add_barrier() {
        name("a barrier");
        emit("bar.sync 0;");
        one_.instructions += 1;
        one_.barriers += 1;
        wait_in_order(on_->a.latency_barrier_cycles.value);
        runs_every_iteration_ = true;
    }
    // Lane l makes l % size + 1 turns: the warp size of them.
    void add_divergent_loop() {
        if (has_inner_) return;
        has_inner_ = true;
        const std::uint32_t turns = 4u << below(4);
        name(fmt::format("a loop of up to {} turns", turns));
        before_ += fmt::format("    and.b32 %r11, %r2, {};\n", turns - 1);
        iteration_ += "    mov.u32 %r10, 0;\n$D:\n";
        emit("fma.rn.f32 %f1, %f1, %f1, %f1;");
        emit("add.u32 %r10, %r10, 1;");
        emit("setp.le.u32 %p2, %r10, %r11;");
        emit("@%p2 bra $D;");
        const double times = turns;
        one_.add({.instructions = 4, .fp32 = 1, .integer = 2, .branches = 1}, times);
        chain("f1", times * on_->d.latency_fp32_cycles);
        runs_every_iteration_ = true;
    }
    // Half of a warp's lanes go each way.
    void add_halves() {
        if (has_inner_) return;
        has_inner_ = true;
        name("halves that part");
        before_ += "    and.b32 %r12, %r2, 16;\n    setp.eq.u32 %p3, %r12, 0;\n";
        emit("@%p3 bra $A;");
        emit("fma.rn.f32 %f1, %f1, %f1, %f1;");
        emit("fma.rn.f32 %f1, %f1, %f1, %f1;");
        emit("bra.uni $B;");
        iteration_ += "$A:\n";
        emit("mul.f32 %f2, %f2, %f2;");
        iteration_ += "$B:\n";
        one_.instructions += 5;
        one_.fp32 += 3;
        one_.branches += 2;
        chain("f1", 2 * on_->d.latency_fp32_cycles);
        chain("f2", on_->d.latency_fp32_cycles);
        runs_every_iteration_ = true;
    }

    void finish() {
        // What counts the iterations.
        one_.add({.instructions = 3, .integer = 2, .branches = 1}, 1);
        constexpr std::uint32_t counts[] = {1, 7, 63, 64, 65, 200, 1000, 10'000};
        out_.iterations = counts[below(8)];
        if (runs_every_iteration_) {
            constexpr double most_instructions = 400'000;
            const double at_once = std::min<double>({16.0, static_cast<double>(out_.blocks_an_sm),
                                                     double(resident_blocks(out_.device, out_.threads))});
            const double most = most_instructions / (one_.instructions * out_.warps() * at_once);
            out_.iterations = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(most), 1, out_.iterations);
        }
        out_.of_warp.add(one_, out_.iterations);
        // Eight floats of a row share a sector.
        const double sectors = has_rows_ ? 32 * std::ceil(out_.iterations / 8.0) : 0;
        out_.of_warp.add({.new_bytes = 32 * sectors, .new_segments = sectors}, 1);
        for (const auto& [reg, cycles] : chains_)
            out_.chain_cycles = std::max(out_.chain_cycles, cycles * out_.iterations);
        out_.body = loop(before_, iteration_);
    }

    std::mt19937 random_;
    DrawnKernel out_;
    std::optional<bench::DescribedSm> on_;
    KnownWork one_;  // an iteration's
    Chains chains_;  // likewise
    std::string before_, iteration_;
    bool has_own_address_ = false, has_stream_ = false, has_rows_ = false, has_shared_ = false,
         has_inner_ = false, runs_every_iteration_ = false;
};

inline DrawnKernel drawn_kernel(std::uint32_t seed) {
    return KernelDraw(seed).draw();
}

}  // namespace trimtab::schedule
