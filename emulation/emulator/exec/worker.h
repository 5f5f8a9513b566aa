// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one host thread needs to run blocks: pools of frames and warps, ranges of memory met before, counters.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emulation/emulator/exec/clock_rate.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/counting.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator {

[[nodiscard]] std::string hexadecimal(std::uint64_t value);

namespace jit {
class Variant;
}

// A copy that a kernel asked for, by host addresses: rows of `width` bytes.
struct DeviceCopy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;  // nullptr: the rows are filled with `value`
    std::uint64_t width = 0, height = 1, to_pitch = 0, from_pitch = 0;
    int value = 0;
};

// A launch that a kernel asked for: it runs when the grid that asked is over.
struct DeviceLaunch {
    const ptx::Function* kernel = nullptr;  // nullptr: it is `copy`
    DeviceCopy copy{};
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    std::vector<std::byte> parameters;
};

// One launch, shared by its workers.
struct Launch {
    Launch(Program& the_program, GlobalMemory& the_memory, const LaunchRequest& the_request,
           const CompiledKernel& the_kernel, const KernelCode& the_code)
        : program(the_program),
          memory(the_memory),
          request(the_request),
          kernel(the_kernel),
          code(the_code) {}

    Program& program;
    GlobalMemory& memory;
    const LaunchRequest& request;
    const CompiledKernel& kernel;
    const KernelCode& code;
    const double cycles_per_instruction = ClockRate::cycles_per_instruction();
    std::vector<LaneBytes> parameters;  // Base::parameters
    // Linear indices of blocks (of clusters, where they have several), in the order in which they start;
    // empty: all.
    std::vector<std::uint64_t> blocks;
    std::uint64_t block_count = 0;    // or of clusters
    jit::Variant* variant = nullptr;  // nullptr: it is interpreted
    // Each on a cache line of its own: all workers write to them, and read what lies around.
    alignas(64) std::atomic<std::uint64_t> next_block = 0;
    alignas(64) std::atomic<std::uint64_t> executed = 0;  // warp instructions, of slices that are over
    alignas(64) std::atomic<bool> stopped = false;
    std::atomic<bool> is_outside_told = false;  // LaunchRequest::outside
    std::mutex wide_atomics;                    // of 128 bits
    std::mutex mutex;                           // of what follows, and of printing
    std::optional<Fault> fault;
    std::uint64_t fault_block = 0;
    std::vector<DeviceLaunch> device_launches;
    // What a cooperative grid synchronizes through: cooperative_groups finds it by %envreg1 and %envreg2, and
    // uses the second word as its barrier (cooperative_groups/details/driver_abi.h).
    alignas(8) std::array<std::uint32_t, 2> grid_workspace{sizeof(grid_workspace), 0};
    std::vector<SectorSet> group_footprints;                        // of CountingPlan::groups
    std::map<std::uint64_t, std::vector<std::uint32_t>> groups_of;  // by block

    [[nodiscard]] std::uint64_t block_at(std::uint64_t position) const {
        return blocks.empty() ? position : blocks[position];
    }
};

// What is the same for every warp of a launch that starts.
struct WarpStart {
    const FunctionCode* entry = nullptr;
    const std::atomic<Handler>* compiled = nullptr;
    std::byte* parameters = nullptr;
    std::uint64_t shared_bytes = 0, check_at = 0;
    std::uint64_t special_registers = 0;  // KernelCode's
    std::uint32_t local_bytes = 0;
    bool in_passing = false;  // Warp::more_warps, Warp::may_pass_on
    [[nodiscard]] bool reads(ptx::SpecialRegister which) const {
        return ((special_registers >> static_cast<unsigned>(which)) & 1) != 0;
    }
};

class Worker {
  public:
    Worker(Launch& launch, unsigned workers);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // Runs blocks until none is left or the launch is stopped. Whatever is thrown becomes the launch's fault.
    void run() noexcept;

    [[nodiscard]] Launch& launch() { return launch_; }
    [[nodiscard]] const WarpStart& start() const { return start_; }
    [[nodiscard]] WorkerCounts& counts() { return counts_; }

    // Stops the warp, and the launch with it. `lane` is to blame.
    const Op* fault(Warp& w, const Op* op, Fault::Kind kind, unsigned lane, const std::string& what);
    // The same, of an exception that is being handled: for whoever may let none pass.
    void fault_of_exception() noexcept;
    // For handlers that resolve addresses.
    LaneAddresses::Shape address_fault(Warp& w, const Op* op, Fault::Kind kind, unsigned lane,
                                       const std::string& what);
    // Where `bytes` at an address outside every allocation go on, which is said once a launch; empty: nowhere,
    // it is a fault. `inside`: the range in which they begin, if they do.
    [[nodiscard]] CachedRange find_outside(Warp& w, const Op* op, unsigned lane, std::uint64_t address,
                                           std::uint64_t bytes, const CachedRange& inside);
    // Where such an address lies.
    [[nodiscard]] std::string explain_outside(std::uint64_t address) const;
    // After a slice of instructions: the launch's limit, another worker's fault, spinning lanes.
    [[nodiscard]] const Op* check_limits(Warp& w, const Op* op, const Op* next);

    [[nodiscard]] Frame* take_frame(Warp& w, const Op* op, const FunctionCode& function);
    void give_back(Frame* frame);
    // The current frame's local memory reaches `bytes` past `first`; false: it faulted, no thread may have so
    // much.
    [[nodiscard]] bool extend_frame(Warp& w, const Op* op, std::uint64_t first, std::uint64_t bytes);
    [[nodiscard]] const FunctionCode* function_at(std::uint64_t address) const;
    [[nodiscard]] std::unique_ptr<Warp> take_warp();
    void give_back(std::unique_ptr<Warp> warp);
    // Room for `bytes` of local memory a lane; false: more than a thread may have.
    [[nodiscard]] static bool grow_local(Warp& w, std::uint32_t bytes);

    // The range that holds an address: looked up among those met lately first.
    [[nodiscard]] CachedRange find_range(std::uint64_t address, Access access);
    // The host's address of `bytes` at a lane's generic address; nullptr: there is no memory.
    [[nodiscard]] std::byte* host_address(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes);
    [[nodiscard]] CachedRange* ranges() { return ranges_.data(); }
    // %tid.x of all lanes of a block's warp, then %tid.y, then %tid.z.
    [[nodiscard]] const std::uint32_t* thread_indices(std::uint32_t warp) const {
        return thread_indices_.data() + std::size_t{warp} * 3 * warp_lanes;
    }
    // Warp instructions of a warp that has come to its end.
    void executed(std::uint64_t warp_instructions);
    void print(const std::string& text);
    // Of the block or cluster that is to start next; none: there is none left, or the launch is stopped.
    [[nodiscard]] std::optional<std::uint64_t> next_index();
    [[nodiscard]] bool has_more_at_hand() const { return next_position_ != positions_end_; }
    // A block has run to its end: its footprint goes where it is counted.
    void finish_block(std::uint64_t linear_index, bool active);

  private:
    static constexpr std::size_t recent_ranges = 1024;
    // "kernel f: WHAT by thread (0,0,0) of block (1,0,0) at f.cu:3: ld.global.f32 %f1, [%rd4]"
    [[nodiscard]] std::string text_of_event(Warp& w, const Op* op, unsigned lane,
                                            const std::string& what) const;
    void tell_executed();
    // Blocks or clusters: another of the launch, started; nullptr: there is none left. `free`: to be reused.
    template <class Unit>
    [[nodiscard]] std::unique_ptr<Unit> next_unit(std::vector<std::unique_ptr<Unit>>& free);
    template <class Unit>
    void run_all(std::vector<std::unique_ptr<Unit>>& free);
    [[nodiscard]] std::vector<Frame*>& free_frames(const FunctionCode& function);

    Launch& launch_;
    WarpStart start_;
    std::uint64_t next_position_ = 0, positions_end_ = 0, positions_at_once_ = 1;  // in Launch::blocks
    std::vector<std::unique_ptr<Block>> free_blocks_;
    WorkerCounts counts_;
    std::vector<CachedRange> ranges_;             // by instruction of the kernel's numbering
    std::vector<CachedRange> recent_;             // by 64 KiB of the address
    CachedRange outside_;                         // met last
    std::vector<std::unique_ptr<Frame>> frames_;  // all that were ever made
    std::map<const FunctionCode*, std::vector<Frame*>> free_frames_;
    std::vector<Frame*> free_outermost_;  // of the kernel itself
    std::vector<std::uint32_t> thread_indices_;
    std::uint64_t executed_ = 0;  // that the launch has not been told of
    std::vector<std::unique_ptr<Warp>> free_warps_;
};

}  // namespace trimtab::emulator
