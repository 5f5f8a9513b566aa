// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of large functions in memory, not in virtual registers: the time that LLVM takes for those grows
// with their number times the number of places where they are live.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "emulation/emulator/jit/shapes.h"

namespace llvm {
class AllocaInst;
class Function;
class IRBuilderBase;
class Module;
class Value;
}  // namespace llvm

namespace trimtab::emulator::jit {

class RegisterRoom {
  public:
    struct Place {
        std::uint32_t frame_offset = 0;
        unsigned bytes = 0;  // of a lane; 0: a predicate
        Offsets offsets{};   // of lanes from what the slot holds, if that is not all lanes
    };
    explicit RegisterRoom(llvm::Module& module) : module_(module) {}
    void add(llvm::AllocaInst* slot, const Place& place) { places_.emplace(slot, place); }
    // Copies registers to the frame (save_registers), or from it (restore_registers).
    void save(llvm::IRBuilderBase& b, llvm::Value* service, llvm::Value* frame, llvm::Value* lanes,
              std::span<llvm::AllocaInst* const> slots);
    void restore(llvm::IRBuilderBase& b, llvm::Value* service, llvm::Value* frame, llvm::Value* lanes,
                 std::span<llvm::AllocaInst* const> slots);
    // Once all is translated. Every alloca of the function's gets its place in one room; within a block its
    // values pass directly, and are stored only where another block needs them.
    // False: it is too large for a stack.
    [[nodiscard]] bool settle(llvm::Function& function);

  private:
    void mark(llvm::IRBuilderBase& b, const char* name, std::span<llvm::Value* const> how,
              std::span<llvm::AllocaInst* const> slots);
    void forward(llvm::Function& function);
    [[nodiscard]] bool lay_out(llvm::Function& function);

    llvm::Module& module_;
    std::map<const llvm::AllocaInst*, Place> places_;
    std::vector<llvm::AllocaInst*> slots_;
    std::map<const llvm::Value*, unsigned> numbers_;
};

}  // namespace trimtab::emulator::jit
