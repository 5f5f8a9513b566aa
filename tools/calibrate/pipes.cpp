// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic pipes, shared memory and the SM's entrance to memory: latencies and rates.
#include <fmt/format.h>

#include <algorithm>

#include "tools/calibrate/benchmarks.h"

namespace trimtab::calibrate {
namespace {

constexpr double warp_lanes = 32;

// A kernel of two lengths, named for how often its body holds the instruction.
struct Pair {
    std::string name;
    int shorter = 64, longer = 192;
    [[nodiscard]] std::string kernel(bool is_longer) const {
        return fmt::format("{}_{}", name, is_longer ? longer : shorter);
    }
    [[nodiscard]] double difference() const { return longer - shorter; }
};

// Of `type out, type a, type b, int turns`.
template <typename Type>
std::vector<double> of_arithmetic(Session& session, const Pair& pair, const Shape& shape, int turns, Type a,
                                  Type b) {
    const Buffer out(shape.threads * sizeof(double));
    char* at = out.data();
    return session.differences(
        [&](bool longer) {
            return session.cycles(pair.kernel(longer), shape, {static_cast<void*>(&at), &a, &b, &turns});
        },
        pair.difference() * turns);
}

std::vector<double> of_shared(Session& session, const Pair& pair, const Shape& shape, int turns) {
    const Buffer out(shape.threads * sizeof(unsigned));
    char* at = out.data();
    return session.differences(
        [&](bool longer) {
            return session.cycles(pair.kernel(longer), shape, {static_cast<void*>(&at), &turns});
        },
        pair.difference() * turns);
}

std::vector<double> scaled(std::vector<double> samples, double factor) {
    for (double& sample : samples) sample *= factor;
    return samples;
}

// What each step of a block takes, in units of so many `per_warp` a cycle.
std::vector<double> rates(std::vector<double> cycles_a_step, double per_warp, const Shape& shape) {
    for (double& sample : cycles_a_step) sample = per_warp * (shape.threads / warp_lanes) / sample;
    return cycles_a_step;
}

}  // namespace

std::vector<Measurement> clocks(Session& session) {
    // Long enough that an event's resolution of half a microsecond is nothing.
    int turns = session.is_emulated() ? 2000 : 50000;
    const Pair pair{"latency_fp32"};
    const Buffer out(256);
    char* at = out.data();
    float a = 1, b = 0;
    std::vector<double> samples;
    for (unsigned i = 0; i < session.repetitions(); ++i) {
        double cycles[2] = {}, ns[2] = {};
        for (const bool longer : {false, true})
            ns[longer] = session.ns([&] {
                cycles[longer] =
                    session.cycles(pair.kernel(longer), {}, {static_cast<void*>(&at), &a, &b, &turns});
            });
        samples.push_back((cycles[1] - cycles[0]) / (ns[1] - ns[0]) * 1e9);
    }
    return {summarized("sm_clock_hz", "Hz", std::move(samples), "clock64 over events, one warp at work")};
}

std::vector<Measurement> latencies(Session& session) {
    std::vector<Measurement> out;
    const auto add = [&](std::string name, std::vector<double> samples, std::string how) {
        out.push_back(summarized(std::move(name), "cycles", std::move(samples), std::move(how)));
    };
    constexpr int turns = 64;
    add("latency_fp32_cycles", of_arithmetic(session, {"latency_fp32"}, {}, turns, 1.0f, 0.0f),
        "a chain of fused multiply-adds");
    add("latency_fp64_cycles", of_arithmetic(session, {"latency_fp64"}, {}, turns, 1.0, 0.0),
        "a chain of fused multiply-adds");
    add("latency_integer_cycles", scaled(of_arithmetic(session, {"latency_integer"}, {}, turns, 5u, 7u), 0.5),
        "a chain of exclusive ors and additions");
    add("latency_special_function_cycles",
        of_arithmetic(session, {"latency_special_function"}, {}, turns, 1.0f, 0.0f), "a chain of ex2.approx");
    add("latency_shuffle_cycles", of_arithmetic(session, {"latency_shuffle"}, {}, turns, 0u, 0u),
        "a chain of shfl.bfly");
    add("latency_shared_cycles", of_shared(session, {"latency_shared", 16, 48}, {}, turns),
        "addresses followed in shared memory");
    const Buffer cell(256), results(256);
    char *at = cell.data(), *answers = results.data();
    const Pair atomics{"latency_atomic", 4, 12};
    int some = turns;
    add("latency_atomic_cycles",
        session.differences(
            [&](bool longer) {
                return session.cycles(atomics.kernel(longer), {.blocks = 1, .threads = 1},
                                      {static_cast<void*>(&answers), static_cast<void*>(&at), &some});
            },
            atomics.difference() * turns),
        "a chain of atom.exch of one lane");
    return out;
}

std::vector<Measurement> pipe_rates(Session& session) {
    const Shape block{
        .blocks = 1,
        .threads = static_cast<unsigned>(std::min(session.properties().maxThreadsPerBlock, 1024))};
    constexpr int turns = 64;
    std::vector<Measurement> out;
    const auto add = [&](std::string name, std::string unit, std::vector<double> samples, std::string how) {
        out.push_back(summarized(std::move(name), std::move(unit), std::move(samples), std::move(how)));
    };
    const std::string lanes = "results a cycle and SM";
    add("fp32_lanes_per_sm", lanes,
        rates(of_arithmetic(session, {"rate_fp32"}, block, turns, 1.0f, 0.0f), warp_lanes, block),
        "fused multiply-adds, eight chains a thread");
    add("fp64_lanes_per_sm", lanes,
        rates(of_arithmetic(session, {"rate_fp64"}, block, turns, 1.0, 0.0), warp_lanes, block),
        "fused multiply-adds, eight chains a thread");
    add("int32_lanes_per_sm", lanes,
        rates(of_arithmetic(session, {"rate_integer"}, block, turns, 5u, 7u), 2 * warp_lanes, block),
        "exclusive ors and additions, eight chains a thread");
    add("special_function_lanes_per_sm", lanes,
        rates(of_arithmetic(session, {"rate_special_function"}, block, turns, 1.0f, 0.0f), warp_lanes, block),
        "ex2.approx, eight chains a thread");
    add("shuffle_lanes_per_sm", lanes,
        rates(of_arithmetic(session, {"rate_shuffle"}, block, turns, 0u, 0u), warp_lanes, block),
        "shfl.bfly, eight chains a thread");
    const std::vector<double> words = of_shared(session, {"rate_shared", 32, 96}, block, turns),
                              wide = of_shared(session, {"rate_shared_wide", 32, 96}, block, turns);
    const auto bytes = rates(words, 4 * warp_lanes, block), wide_bytes = rates(wide, 8 * warp_lanes, block);
    const bool is_wide = *std::ranges::max_element(wide_bytes) > 1.1 * *std::ranges::max_element(bytes);
    add("shared_bytes_per_clock", "bytes a cycle and SM", is_wide ? wide_bytes : bytes,
        is_wide ? "loads of 8 bytes, no bank conflicts" : "loads of 4 bytes, no bank conflicts");
    add("load_store_units_per_sm", "addresses a cycle and SM", rates(words, warp_lanes, block),
        "loads of 4 bytes from shared memory");
    return out;
}

std::vector<Measurement> request_rates(Session& session) {
    const Shape block{
        .blocks = 1,
        .threads = static_cast<unsigned>(std::min(session.properties().maxThreadsPerBlock, 1024))};
    const Buffer data(64 * 1024), out_words(block.threads * sizeof(unsigned));
    char *from = data.data(), *to = out_words.data();
    int turns = 64;
    const Pair pair{"rate_request", 16, 48};
    std::vector<Measurement> out;
    std::vector<double> coalesced, apart;
    for (int stride : {4, 8, 16, 32, 64, 128}) {
        std::vector<double> cycles = session.differences(
            [&](bool longer) {
                return session.cycles(pair.kernel(longer), block,
                                      {static_cast<void*>(&to), static_cast<void*>(&from), &stride, &turns});
            },
            pair.difference() * turns * (block.threads / warp_lanes));
        if (stride == 4) coalesced = cycles;
        if (stride == 128) apart = cycles;
        out.push_back(summarized(fmt::format("request_cycles_stride_{}", stride), "cycles a request",
                                 std::move(cycles),
                                 fmt::format("loads from L2, lanes {} bytes apart", stride)));
    }
    out.push_back(summarized("departure_delay_coalesced_cycles", "cycles", std::move(coalesced),
                             "loads from L2, a line each"));
    out.push_back(summarized("departure_delay_uncoalesced_cycles", "cycles",
                             scaled(std::move(apart), 1 / warp_lanes), "loads from L2, 32 lines each"));
    const Pair atomics{"rate_atomic", 4, 12};
    for (const auto& [stride, name] :
         {std::pair(0, "atomic_one_address_cycles"), std::pair(1, "atomic_apart_cycles")}) {
        int lanes = stride;
        out.push_back(summarized(
            name, "cycles a warp's atomic",
            session.differences(
                [&](bool longer) {
                    return session.cycles(atomics.kernel(longer), block,
                                          {static_cast<void*>(&from), &lanes, &turns});
                },
                atomics.difference() * turns * (block.threads / warp_lanes)),
            stride == 0 ? "red.add of all lanes on one address" : "red.add, each lane on its own"));
    }
    return out;
}

}  // namespace trimtab::calibrate
