// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What warps did, as the scheduler wants it: straight stretches of code, the steps of each warp through them,
// and what each access to memory touched. Made from PTX by the recorder; nothing here knows where a trace
// comes from, so machine code can feed the same scheduler.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulation/schedule/resources.h"

namespace trimtab::schedule {

enum class Kind : std::uint8_t {
    arithmetic,  // `resource` alone decides
    free,        // takes no issue slot: a copy or constant that the machine's code has not
    load,        // global memory, by way of load_store, l1, l2 and dram as its Request says
    store,
    atomic,       // global memory
    shared,       // loads, stores and atomics of shared memory
    local,        // a thread's own memory, of which no other thread has any: cached as its Request says
    constant,     // the constant cache
    barrier,      // of the block
    wait_for_all  // nothing after it issues before all before it has ended (a wait for asynchronous copies)
};

inline constexpr std::uint32_t none = 0xffffffffu;

// A static instruction.
struct Instruction {
    Kind kind = Kind::arithmetic;
    Resource resource = Resource::integer;
    Resource second = Resource::integer;  // a further pipe that it goes through, if second_slots > 0
    bool has_request = false;             // each execution takes the warp's next Request
    bool caches_in_l1 = false;            // loads of global memory
    bool ends_when_issued = false;        // stores: nothing waits for them
    std::uint8_t reads = 0, writes = 0;   // registers and predicates: in Code::registers, reads first
    std::uint16_t stall_cycles = 1;       // least from its issue to the warp's next; machine code states it
    float slots = 1, second_slots = 0;    // gaps that it takes; of memory: passes through load_store
    float extra_latency_cycles = 0;       // of sequences that count as one instruction here
    bool waits_for_second =
        false;  // it is the second pipe's, else the first one's: with its latency it changes
    std::uint32_t first_register = 0;  // in Code::registers
    std::uint32_t access = none;       // to global memory: in KernelTrace::accesses
    std::uint32_t region = 0;          // in Code::regions
    std::uint32_t source = none;       // the place in the kernel's numbering, for timelines
};

// Straight code in the order in which it issues: instructions [first, first + count).
struct Stretch {
    std::uint32_t first = 0, count = 0;
    std::uint32_t requests = 0;  // that one pass through it takes
};

inline constexpr std::size_t loop_depth = 3;  // deeper loops are never cut short
inline constexpr std::uint16_t no_loop = 0xffff;

// Iterations of a loop that a trace keeps: a multiple of those that walk a sector of bytes, floats or doubles; half of
// it is, too.
inline constexpr std::uint16_t kept_iterations = 64;
// Of a loop around one that is cut short: each of its iterations has so many of the other's that fewer show a steady state.
inline constexpr std::uint16_t kept_iterations_around = 16;

struct Loop {
    std::uint32_t parent = none;
    std::string name;  // its source lines
    std::uint16_t kept_iterations = schedule::kept_iterations;
    bool is_cut = false;  // some warp had more iterations at a time than were kept
};

struct Region {
    std::string name;  // source lines, and what they are: a loop, or the code around it
};

struct Code {
    std::vector<Instruction> instructions;
    std::vector<std::uint32_t> registers;
    std::uint32_t register_count = 0;  // of a warp's scoreboard
    // Machine code: the scoreboard's registers are counters, free when all that set them has ended; what has a
    // fixed latency says in its stall cycles when the next may issue, counted from its start in its pipe. With none,
    // the next may issue in the same cycle.
    bool waits_by_counters = false;
    // A warp's loads end in the order in which they were issued: of several, only the last needs a counter.
    bool loads_end_in_order = false;
    // Registers of each counter: when all that set it has ended, all but the youngest, all but the two youngest ... Those
    // that set it name the first.
    std::uint32_t registers_of_counter = 1;

    // When an instruction ends that would be done at `end`; `last` is when the warp's last load did.
    [[nodiscard]] double end_in_order(const Instruction& i, double end, double& last) const {
        const bool is_load = i.kind == Kind::load || i.kind == Kind::local || i.kind == Kind::atomic;
        if (!loads_end_in_order || !is_load || i.ends_when_issued) return end;
        last = std::max(last, end);
        return last;
    }
    // What has set that counter ends then; it ends no sooner than those before it.
    void set_counter(std::vector<double>& registers, std::uint32_t first, double end) const {
        for (std::uint32_t r = first + registers_of_counter - 1; r > first; --r)
            registers[r] = registers[r - 1];
        registers[first] = std::max(registers[first], end);
    }
    std::vector<Stretch> stretches;
    std::vector<Loop> loops;
    std::vector<Region> regions;
};

// What one access touched.
struct Request {
    std::uint16_t lanes = 0;    // 0: the guard held for none, it touches nothing
    std::uint16_t sectors = 0;  // distinct 32-byte sectors
    std::uint16_t lines = 0;    // distinct 128-byte lines
    std::uint16_t in_one_bank =
        0;                     // most sectors at one place of their lines: banks of L1 are interleaved so
    float store_slots = 0;     // of L2: stores and atomics; loads take one for each 64 bytes that they need
    std::uint16_t passes = 1;  // shared memory: bank conflicts; atomics: most lanes at one address
    std::uint32_t first_line = 0;  // in BlockTrace::lines: `lines` entries
};

struct Line {
    std::uint64_t number = 0;  // address / 128
    std::uint8_t sectors = 0;  // bit i: its sector i
};

// A pass through a stretch.
struct Step {
    std::uint32_t stretch = 0, first_request = 0;
    // Loops that it lies in, outermost first, and the iteration of each, from 1.
    std::array<std::uint16_t, loop_depth> loops{no_loop, no_loop, no_loop}, iteration{};
};

struct WarpTrace {
    std::vector<Step> steps;
    std::vector<Request> requests;
    std::vector<std::uint64_t>
        iterations;  // by loop: of the whole run, those included that no step stands for
};

struct BlockTrace {
    std::uint64_t block = 0;  // linear index in the grid
    std::vector<WarpTrace> warps;
    std::vector<Line> lines;
};

// What becomes of sectors that this SM asks of L2 for the first time, on average over the SMs.
struct Access {
    double dram_sectors = 1;  // sectors from DRAM for each of them: another SM may have brought it
    double dram_waits = 1;    // share of requests that wait for DRAM
};

struct KernelTrace {
    Code code;
    std::vector<BlockTrace> blocks;
    std::vector<Access> accesses;
    Access local;  // of all accesses to local memory
};

}  // namespace trimtab::schedule
