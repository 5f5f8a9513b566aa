// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// L1, L2 and DRAM: latencies by following addresses, and what streams get.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/model/architecture.h"
#include "core/model/device.h"
#include "tools/calibrate/benchmarks.h"

namespace trimtab::calibrate {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// What plain streams get of the peaks, as the models have it: emulation/schedule/architecture.cpp,
// core/model/trimtab_model.cpp. A description states peaks, so what is measured is brought to them.
constexpr double l2_share = 0.78;
double dram_share_of(const cudaDeviceProp& properties) {
    model::Device device;
    device.values.compute_capability = static_cast<unsigned>(10 * properties.major + properties.minor);
    return model::architecture_of(device).dram_share.value;
}
// What an SM takes of L2 in a cycle, at most: emulation/schedule/architecture.cpp.
constexpr double port_bytes = 64;

// A ring of `count` places, `stride_bytes` apart, each holding the address of the one `step` further on.
void make_ring(Session& session, const Buffer& memory, std::uint64_t stride_bytes, unsigned count,
               unsigned step) {
    char* base = memory.data();
    session.launch("make_chain", {.blocks = (count + 255) / 256, .threads = 256},
                   {static_cast<void*>(&base), &stride_bytes, &count, &step});
    check(cudaDeviceSynchronize(), "make_chain");
}

class Chase {
  public:
    Chase(Session& session, const char* kernel) : session_(session), kernel_(kernel) {}
    static constexpr int shorter = 16, longer = 48;

    // Of the first of `blocks` blocks, which begin `apart` bytes further on each, within `size` bytes.
    double cycles(bool is_longer, std::uint64_t first, int turns, unsigned blocks = 1,
                  std::uint64_t apart = 0, std::uint64_t size = 1) {
        char* out = out_.data();
        return session_.cycles(fmt::format("{}_{}", kernel_, is_longer ? longer : shorter),
                               {.blocks = blocks, .threads = 1},
                               {static_cast<void*>(&out), &first, &apart, &size, &turns});
    }

  private:
    Session& session_;
    const char* kernel_;
    Buffer out_{256};
};

std::vector<double> of_small_ring(Session& session, const char* kernel) {
    constexpr unsigned places = 8;
    constexpr std::uint64_t stride_bytes = 128;
    constexpr int turns = 64;
    const Buffer ring(places * stride_bytes);
    make_ring(session, ring, stride_bytes, places, 1);
    Chase chase(session, kernel);
    return session.differences([&](bool longer) { return chase.cycles(longer, ring.address(), turns); },
                               (Chase::longer - Chase::shorter) * turns);
}

// Places that nothing has brought to L2 since it was filled with other data. As many blocks follow addresses side by side
// as it takes for a launch to touch more than L2 holds, each through places of its own; they are too few to fill the
// memory's pipes.
std::vector<double> of_dram(Session& session) {
    constexpr double launch_share = 2.5, sector_bytes = 32;
    const cudaDeviceProp& device = session.properties();
    const double wanted = launch_share * std::max(device.l2CacheSize, 1 << 20) / sector_bytes;
    const auto resident =
        static_cast<unsigned>(device.multiProcessorCount * device.maxBlocksPerMultiProcessor);
    int turns = 64;
    const auto blocks_of = [&] { return static_cast<unsigned>(wanted / (Chase::longer * turns)) + 1; };
    while (3 * blocks_of() > resident) turns *= 2;
    const unsigned blocks = blocks_of(), places = blocks * static_cast<unsigned>(Chase::longer * turns);
    // What a GPU brings along with a sector must be nobody's; the emulator brings nothing along.
    const std::uint64_t stride_bytes = session.is_emulated() ? 32 : 256;
    const Buffer chain(places * stride_bytes);
    // A prime: no factor in common with the count, and neighbours in time are far apart.
    constexpr unsigned step = 1000003;
    make_ring(session, chain, stride_bytes, places, step);
    Chase chase(session, "chase_l2");
    return session.differences(
        [&](bool longer) {
            // The same places in all, by three times as many blocks where each goes a third as far.
            const std::uint64_t own = static_cast<std::uint64_t>(longer ? Chase::longer : Chase::shorter) *
                                      static_cast<std::uint64_t>(turns);
            session.flush_l2();
            return chase.cycles(longer, chain.address(), turns, longer ? blocks : 3 * blocks,
                                own * step % places * stride_bytes, places * stride_bytes);
        },
        (Chase::longer - Chase::shorter) * turns);
}

// One place in each of `pages` pages of 2 MiB, over and over: in L2 they are few, for the TLB many.
std::vector<double> of_pages(Session& session, const Buffer& memory, unsigned pages) {
    constexpr int turns = 64;
    make_ring(session, memory, 2 * mib + 128, pages, 1);
    Chase chase(session, "chase_l2");
    return session.differences([&](bool longer) { return chase.cycles(longer, memory.address(), turns); },
                               (Chase::longer - Chase::shorter) * turns);
}

void add_tlb_reach(Session& session, std::vector<Measurement>& out) {
    std::size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "free memory");
    // A pass over the pages of the longer chase less that of the shorter one: two passes over what is there by then.
    unsigned most = 1024;
    while (most > 16 && (most + 1) * 2 * (mib + 128) > free_bytes / 2) most /= 2;
    const Buffer memory((most + 1) * (2 * mib + 128));
    double first = 0, reach_bytes = 0;
    bool is_seen = false;
    for (unsigned pages = 16; pages <= most && !is_seen; pages *= 2) {
        const Measurement one = summarized(fmt::format("latency_pages_{}_cycles", pages), "cycles",
                                           of_pages(session, memory, pages),
                                           fmt::format("one line in each of {} pages of 2 MiB", pages));
        if (pages == 16) first = one.value;
        // A miss of the TLB costs more than noise does.
        is_seen = one.value > 1.2 * first;
        if (!is_seen) reach_bytes = static_cast<double>(pages) * 2 * mib;
        out.push_back(one);
    }
    out.push_back(summarized(is_seen ? "tlb_reach_bytes" : "tlb_reach_at_least_bytes", "bytes", {reach_bytes},
                             is_seen ? "the most memory whose pages cost no more"
                                     : "no more memory was tried, and none cost more"));
}

}  // namespace

std::vector<Measurement> pointer_chases(Session& session) {
    std::vector<Measurement> out;
    const auto add = [&](std::string name, std::vector<double> samples, std::string how) {
        out.push_back(summarized(std::move(name), "cycles", std::move(samples), std::move(how)));
    };
    add("latency_l1_cycles", of_small_ring(session, "chase_l1"), "addresses followed through 8 lines, ld.ca");
    add("latency_l2_cycles", of_small_ring(session, "chase_l2"), "addresses followed through 8 lines, ld.cg");
    add("latency_dram_cycles", of_dram(session), "addresses followed through memory that L2 does not hold");
    add_tlb_reach(session, out);
    return out;
}

std::vector<Measurement> bandwidths(Session& session, double sm_clock_hz) {
    const cudaDeviceProp& device = session.properties();
    const auto sms = static_cast<unsigned>(device.multiProcessorCount);
    constexpr unsigned threads = 256;
    constexpr double word_bytes = 16;
    // As many blocks as are resident at once: they live long, and none waits for a place.
    const Shape all{.blocks = sms * static_cast<unsigned>(device.maxThreadsPerMultiProcessor) / threads,
                    .threads = threads};
    const Buffer out_word(256);
    char* out_at = out_word.data();
    std::vector<Measurement> out;

    // All regions together take half of L2.
    const std::size_t region =
        std::clamp(std::bit_floor(static_cast<std::size_t>(device.l2CacheSize) / 2 / all.blocks),
                   threads * static_cast<std::size_t>(word_bytes), std::size_t{32} << 10);
    const Buffer held(region * all.blocks);
    char* held_at = held.data();
    auto mask = static_cast<unsigned>(region / static_cast<std::size_t>(word_bytes) - 1);
    const double l2_bytes_per_iteration = word_bytes * 8 * all.blocks * all.threads;
    constexpr int few = 16, many = 48;
    std::vector<double> l2;
    for (const double ns_per_iteration : session.differences(
             [&](bool longer) {
                 int turns = longer ? many : few;
                 return session.ns([&] {
                     session.launch(
                         "stream_l2", all,
                         {static_cast<void*>(&out_at), static_cast<void*>(&held_at), &mask, &turns});
                 });
             },
             many - few))
        l2.push_back(l2_bytes_per_iteration / ns_per_iteration * 1e9 / sm_clock_hz);
    out.push_back(summarized("l2_bytes_read_per_clock", "bytes a cycle", l2, "all SMs read what L2 holds"));
    // Where the SMs take all that they can, L2 might give more.
    const bool is_port = out.back().value > 0.95 * port_bytes * sms;
    for (double& sample : l2) sample /= l2_share;
    out.push_back(summarized(is_port ? "l2_bytes_per_clock_at_least" : "l2_bytes_per_clock", "bytes a cycle",
                             std::move(l2),
                             fmt::format("what is read over {} of the peak{}", l2_share,
                                         is_port ? "; the SMs take no more" : "")));

    std::size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "free memory");
    // Half of it is several times what L2 holds.
    const std::size_t wanted = std::max<std::size_t>(8 * static_cast<std::size_t>(device.l2CacheSize),
                                                     session.is_emulated() ? 32 * mib : 1024 * mib);
    const std::size_t group_bytes =
        std::size_t{all.blocks} * threads * 4 * static_cast<std::size_t>(word_bytes);
    const int groups =
        static_cast<int>(std::max<std::size_t>(8, std::min(wanted, free_bytes / 2) / group_bytes) / 2 * 2);
    const int half = groups / 2;
    const Buffer large(group_bytes * static_cast<std::size_t>(groups));
    char* large_at = large.data();
    std::vector<double> dram;
    for (const double ns_a_group : session.differences(
             [&](bool longer) {
                 int own = longer ? groups : half;
                 session.flush_l2();
                 return session.ns([&] {
                     session.launch("stream_dram", all,
                                    {static_cast<void*>(&out_at), static_cast<void*>(&large_at), &own});
                 });
             },
             groups - half))
        dram.push_back(static_cast<double>(group_bytes) / ns_a_group * 1e9);
    out.push_back(
        summarized("dram_bytes_read_per_s", "bytes a second", dram, "a stream of reads, each byte once"));
    const double dram_share = dram_share_of(device);
    for (double& sample : dram) sample /= dram_share;
    out.push_back(summarized("dram_bytes_per_s", "bytes a second", std::move(dram),
                             fmt::format("what a stream reads over {} of the peak", dram_share)));
    return out;
}

std::vector<Measurement> launches(Session& session, double sm_clock_hz) {
    std::vector<Measurement> out;
    std::vector<double> empty;
    for (unsigned i = 0; i <= session.repetitions(); ++i) {
        const double ns = session.ns([&] { session.launch("nothing", {}, {}); });
        if (i > 0) empty.push_back(ns);  // the first loads the code
    }
    out.push_back(
        summarized("launch_overhead_ns", "ns", std::move(empty), "an empty kernel between two events"));
    constexpr unsigned few = 16384, many = 49152;
    std::vector<double> rates;
    for (const double ns_a_block : session.differences(
             [&](bool longer) {
                 return session.ns([&] { session.launch("nothing", {.blocks = longer ? many : few}, {}); });
             },
             many - few))
        rates.push_back(ns_a_block * sm_clock_hz / 1e9);
    out.push_back(summarized("block_start_cycles", "cycles a block", std::move(rates),
                             "empty blocks of 32 threads, the whole device"));
    constexpr std::size_t copied = 16 * mib;
    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, 2 * copied), "pinned memory");
    const Buffer device(2 * copied);
    std::vector<double> bytes_per_s;
    try {
        for (const double ns_a_byte : session.differences(
                 [&](bool longer) {
                     return session.ns([&] {
                         check(cudaMemcpyAsync(device.data(), pinned, longer ? 2 * copied : copied,
                                               cudaMemcpyHostToDevice, nullptr),
                               "a copy");
                     });
                 },
                 static_cast<double>(copied)))
            bytes_per_s.push_back(1e9 / ns_a_byte);
    } catch (...) {
        cudaFreeHost(pinned);
        throw;
    }
    cudaFreeHost(pinned);
    out.push_back(summarized("pcie_bytes_per_s", "bytes a second", std::move(bytes_per_s),
                             "copies from pinned memory to the device"));
    return out;
}

}  // namespace trimtab::calibrate
