// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of one thread, made code of several: what differs between them is done for each, side by side, and what is the
// same for all of them once. Loads of several threads are then in flight together, and what they share is loaded once.
#pragma once

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Instructions.h"

namespace trimtab::pass {

class JoinedThreads {
  public:
    using PerThread = llvm::SmallVector<llvm::Value*, 8>;

    // `first`: where the threads' code begins; all that it reaches is of it. `own`: values that differ from thread to
    // thread, with each thread's.
    JoinedThreads(llvm::BasicBlock& first, llvm::MapVector<llvm::Value*, PerThread> own, unsigned threads);

    // The threads go side by side as long as their branches agree. Where they do not, they have stored nothing yet, and
    // go one after the other, from the beginning. False: that cannot be had of this code.
    [[nodiscard]] bool can_join() const;

    // The joint code. It leaves to `done`, and to `apart` where branches do not agree.
    [[nodiscard]] llvm::BasicBlock& join(llvm::BasicBlock& done, llvm::BasicBlock& apart);

  private:
    void find_own();
    [[nodiscard]] bool is_own(const llvm::Value* value) const { return own_.contains(value); }
    // What each thread does, whatever it is made of.
    [[nodiscard]] static bool has_effect(const llvm::Instruction& instruction);
    [[nodiscard]] bool is_repeated(const llvm::Instruction& instruction) const {
        return is_own(&instruction) || has_effect(instruction);
    }
    [[nodiscard]] static bool works(const llvm::BasicBlock& block);
    [[nodiscard]] bool splits(const llvm::BasicBlock& block) const;
    [[nodiscard]] llvm::Value* of_thread(llvm::Value* value, unsigned thread) const;
    void copy(llvm::Instruction& instruction, llvm::BasicBlock& to);
    void end(llvm::BasicBlock& block, llvm::BasicBlock& done, llvm::BasicBlock& apart);
    void complete(llvm::PHINode& phi);
    [[nodiscard]] llvm::BasicBlock* edge_from(llvm::BasicBlock* from, const llvm::BasicBlock* to) const;

    llvm::BasicBlock& first_;
    llvm::MapVector<llvm::Value*, PerThread> given_;
    const unsigned threads_;
    llvm::SmallVector<llvm::BasicBlock*, 16> order_;
    llvm::DenseSet<const llvm::Value*> own_;
    llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> copies_;
    // Where not all go the first way, and the other one works, too.
    llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> otherwise_;
    llvm::DenseMap<llvm::Value*, PerThread> made_;  // of what is done once, one
};

}  // namespace trimtab::pass
