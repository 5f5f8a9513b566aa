// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What load_program() makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/heap.h"
#include "emulation/emulator/exec/launch.h"

namespace trimtab::emulator {

inline constexpr std::uint32_t max_threads_per_block = 1024;  // of every GPU

// Addresses that are no global memory: each thread's or block's own windows, and functions. They lie above
// what a host process can own, and below SparseMemory's regions.
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 47;
inline constexpr std::uint64_t local_window = shared_window + window_bytes;
inline constexpr std::uint64_t parameter_window = local_window + window_bytes;
inline constexpr std::uint64_t function_window = parameter_window + window_bytes;
inline constexpr std::uint64_t windows_end = function_window + window_bytes;
// Shared and local memory have addresses of 32 bits: what a wider register has above them does not count (PTX
// ISA, "Addresses as Operands").
[[nodiscard]] constexpr std::uint64_t narrow_address(std::uint64_t address) {
    return address & (window_bytes - 1);
}
// A cluster's shared memory, as offsets in the shared window: a block's own from 0, that of the block with
// rank r in its cluster from (r + 1) strides on.
inline constexpr std::uint64_t cluster_stride = std::uint64_t{1} << 24;
inline constexpr std::uint32_t max_cluster_blocks = 16;
// What stands at a function's address is its index in the module: nothing can be loaded from it.
inline constexpr std::uint64_t function_stride = 16;

class Program {
  public:
    [[nodiscard]] static std::expected<std::shared_ptr<Program>, Error> load(ptx::Module module);

    [[nodiscard]] const ptx::Module& module() const { return module_; }
    [[nodiscard]] const std::vector<std::unique_ptr<CompiledKernel>>& kernels() const { return kernels_; }
    [[nodiscard]] const CompiledKernel* kernel(std::string_view name) const;
    [[nodiscard]] std::optional<VariableStorage> storage(std::string_view name) const;
    // The variable that holds the address; nullptr: the padding between variables, or none of this program's.
    struct PlacedVariable {
        const ptx::Variable* variable = nullptr;
        std::uint64_t first = 0;
    };
    [[nodiscard]] const PlacedVariable* variable_at(std::uint64_t address) const;
    // The address of a function or of a module variable that is neither shared nor local.
    [[nodiscard]] std::optional<std::uint64_t> symbol_address(std::string_view name) const;
    [[nodiscard]] const ptx::Function* function_at(std::uint64_t address) const;
    // The variables' storage as one range: [first, end) are host addresses.
    [[nodiscard]] std::uint64_t variables_first() const { return reinterpret_cast<std::uint64_t>(arena_); }
    [[nodiscard]] std::uint64_t variables_end() const { return variables_first() + arena_bytes_; }
    // Behind them, zeroes: where the granules end that a driver would have mapped.
    [[nodiscard]] std::uint64_t mapped_end() const { return variables_first() + mapped_bytes_; }
    [[nodiscard]] DeviceHeap& heap() { return heap_; }
    // Functions whose address is taken by an initialiser or an instruction: what an indirect call may reach.
    [[nodiscard]] const std::vector<const ptx::Function*>& address_taken() const { return address_taken_; }

  private:
    explicit Program(ptx::Module module) : module_(std::move(module)) {}
    [[nodiscard]] std::optional<Error> lay_out_variables();
    [[nodiscard]] std::optional<Error> initialise(const ptx::Variable& variable);
    void find_address_taken();

    ptx::Module module_;
    DeviceHeap heap_;
    std::unordered_map<std::string_view, const ptx::Function*> functions_;  // definitions win
    std::unordered_map<std::string_view, VariableStorage> variables_;
    std::vector<PlacedVariable> placed_;  // by address
    struct Free {
        void operator()(std::byte* bytes) const { std::free(bytes); }
    };
    std::unique_ptr<std::byte, Free> storage_;
    std::byte* arena_ = nullptr;
    std::size_t arena_bytes_ = 0, mapped_bytes_ = 0;
    std::vector<const ptx::Function*> address_taken_;
    std::vector<std::unique_ptr<CompiledKernel>> kernels_;
};

}  // namespace trimtab::emulator
