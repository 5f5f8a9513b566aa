// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functional emulation: kernels of linked PTX, run exactly, warp by warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/counters.h"
#include "emulation/emulator/exec/memory.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::emulator {

// A module made ready to run: every function lowered, every module variable given an address. Immutable once
// loaded, but for its variables' storage. An instruction that the emulator lacks is an error that names it,
// its line and its kernel; the other kernels still load (CompiledKernel::error says so at launch).
class Program;
class LaunchObserver;

struct KernelInfo {
    std::string name;
    std::uint32_t parameter_bytes = 0;
    std::uint32_t static_shared_bytes = 0, local_bytes = 0;
    std::uint32_t instruction_count = 0;  // static
    std::string error;                    // not empty: the kernel cannot run, and why
};

[[nodiscard]] std::expected<std::shared_ptr<Program>, Error> load_program(ptx::Module module);
[[nodiscard]] std::vector<KernelInfo> kernels(const Program& program);
[[nodiscard]] const KernelInfo* kernel_info(const Program& program, std::string_view name);
[[nodiscard]] const ptx::Module& module_of(const Program& program);
// A module variable's storage (global, constant, managed), for cudaGetSymbolAddress and cudaMemcpyToSymbol.
// Global addresses of variables are their host addresses, so range_of of the launch's memory need not know
// them: the executor does.
struct VariableStorage {
    std::uint64_t address = 0;
    std::byte* host = nullptr;
    std::uint64_t size_bytes = 0;
};
[[nodiscard]] std::expected<VariableStorage, Error> variable_storage(Program& program, std::string_view name);
// For each instruction index of InstructionCount: the PTX line, text and source line.
struct InstructionPlace {
    std::uint32_t ptx_line = 0;
    std::string text, source;
};
[[nodiscard]] std::vector<InstructionPlace> instruction_places(const Program& program,
                                                               std::string_view kernel);

struct CountingPlan {
    bool count = false;       // false: run only, as fast as may be
    bool footprints = false;  // distinct sectors of blocks and groups (needs count)
    // Groups of blocks (linear indices x + gx * (y + gy * z)) whose joint footprint is wanted: the blocks
    // resident together on an SM, or a wave of the whole device. A block of a group that is not in
    // LaunchRequest::blocks is run too.
    std::vector<std::vector<std::uint64_t>> groups;
};

// A launch as its program wrote it.
struct WrittenShape {
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
};

struct LaunchRequest {
    std::string_view kernel;
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    trimtab_dim3 cluster{1, 1, 1};  // in blocks; the grid is whole clusters
    std::uint32_t dynamic_shared_bytes = 0;
    std::span<const std::byte> parameters;  // the parameter buffer
    // Empty: every block; so it is where clusters have several. Else only these linear indices, in this
    // order: what a sampled profile runs.
    std::vector<std::uint64_t> blocks;
    CountingPlan counting;
    std::uint32_t sm_count = 1;           // %nsmid; block b runs on SM b % sm_count
    std::uint64_t instruction_limit = 0;  // warp instructions in all; 0: none. Reached: Fault::limit
    unsigned threads = 0;                 // host threads; 0: as many as there are cores
    bool cooperative = false;             // the grid may wait for all of itself
    // Not 0: blocks start, and the warps of a block take turns, in an order drawn from it. Results that
    // change with it depend on what CUDA leaves open.
    std::uint64_t order_seed = 0;
    std::function<void(std::string_view)> print;  // vprintf's output; empty: stdout
    std::optional<WrittenShape> written;          // where it goes out in another shape: faults name both
    LaunchObserver* observer = nullptr;           // told of what the launch does (observer.h); `threads` is 1
    // Asked now and then by every worker, where there is an instruction_limit at the latest after each 65536
    // instructions of a warp; true: Fault::limit. Empty: it runs to its end.
    std::function<bool()> is_cancelled{};
    // Told once, in one line, of an access outside every allocation that meets memory which a GPU's driver maps
    // (GlobalMemory::mapped_outside); it then goes on there. Empty: such an access is a fault.
    std::function<void(const std::string&)> outside{};
    // Never compiled, however long it runs. Registers are 0 until code writes them, so that launches which read what they
    // never wrote can be compared.
    bool is_interpreted = false;
};

// Why a launch did not finish.
struct Fault {
    enum class Kind : std::uint8_t {
        illegal_address,
        misaligned_address,
        trap,
        assertion,
        illegal_instruction,
        invalid_launch,
        stack,
        limit,
        host  // something of the emulator's host failed: no memory is left, a callback threw
    };
    Kind kind = Kind::trap;
    std::string message;  // one line: the kernel, block, thread, source or PTX line, and what happened
};

struct LaunchResult {
    LaunchCounters counters;              // empty unless counted
    std::uint64_t warp_instructions = 0;  // 0 unless counted
};

[[nodiscard]] std::expected<LaunchResult, Fault> launch(Program& program, GlobalMemory& memory,
                                                        const LaunchRequest& request);

}  // namespace trimtab::emulator
