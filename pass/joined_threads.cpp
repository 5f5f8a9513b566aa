// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/joined_threads.h"

#include <utility>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

namespace trimtab::pass {
namespace {

using Blocks = llvm::DenseSet<const llvm::BasicBlock*>;

// That control comes to behind `from`, itself too where it is in a loop.
void add_reached(const llvm::BasicBlock& from, Blocks& reached) {
    llvm::SmallVector<const llvm::BasicBlock*, 16> open{&from};
    while (!open.empty())
        for (const llvm::BasicBlock* next : llvm::successors(open.pop_back_val()))
            if (reached.insert(next).second) open.push_back(next);
}

}  // namespace

JoinedThreads::JoinedThreads(llvm::BasicBlock& first, llvm::MapVector<llvm::Value*, PerThread> own,
                             unsigned threads)
    : first_(first), given_(std::move(own)), threads_(threads) {
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::BasicBlock*>(&first))
        order_.push_back(block);
    find_own();
}

bool JoinedThreads::has_effect(const llvm::Instruction& instruction) {
    return instruction.mayWriteToMemory() && !llvm::isa<llvm::NoAliasScopeDeclInst>(instruction) &&
           !instruction.isLifetimeStartOrEnd();
}

// Until nothing more comes: values go around loops.
void JoinedThreads::find_own() {
    for (const auto& [value, each] : given_) own_.insert(value);
    for (bool is_new = true; std::exchange(is_new, false);)
        for (const llvm::BasicBlock* block : order_)
            for (const llvm::Instruction& instruction : *block)
                if (!is_own(&instruction) &&
                    llvm::any_of(instruction.operands(), [&](const llvm::Use& use) { return is_own(use); }))
                    is_new = own_.insert(&instruction).second;
}

// Does each thread choose its own way there?
bool JoinedThreads::splits(const llvm::BasicBlock& block) const {
    const llvm::Instruction* end = block.getTerminator();
    return end->getNumSuccessors() > 1 && is_own(end);
}

bool JoinedThreads::can_join() const {
    Blocks behind_effects;
    for (const llvm::BasicBlock* block : order_)
        if (llvm::any_of(*block, has_effect)) {
            behind_effects.insert(block);
            add_reached(*block, behind_effects);
        }
    for (const llvm::BasicBlock* block : order_) {
        if (!splits(*block)) continue;
        Blocks ahead;
        add_reached(*block, ahead);
        // Threads that go around a loop a different number of times soon disagree.
        if (!llvm::isa<llvm::BranchInst>(block->getTerminator()) || behind_effects.contains(block) ||
            ahead.contains(block))
            return false;
    }
    return true;
}

llvm::Value* JoinedThreads::of_thread(llvm::Value* value, unsigned thread) const {
    if (const auto given = given_.find(value); given != given_.end()) return given->second[thread];
    const auto made = made_.find(value);
    if (made == made_.end()) return value;  // of all, and of no thread's code
    return made->second.size() == 1 ? made->second.front() : made->second[thread];
}

void JoinedThreads::copy(llvm::Instruction& instruction, llvm::BasicBlock& to) {
    PerThread made;
    for (unsigned thread = 0; thread < (is_repeated(instruction) ? threads_ : 1); ++thread) {
        llvm::Instruction* copy = instruction.clone();
        copy->insertInto(&to, to.end());
        if (!llvm::isa<llvm::PHINode>(copy))
            for (llvm::Use& use : copy->operands()) use.set(of_thread(use, thread));
        made.push_back(copy);
    }
    made_.insert({&instruction, std::move(made)});
}

void JoinedThreads::end(llvm::BasicBlock& block, llvm::BasicBlock& done, llvm::BasicBlock& apart) {
    llvm::Instruction& end = *block.getTerminator();
    llvm::BasicBlock& to = *copies_[&block];
    llvm::IRBuilder<> builder(&to);
    builder.SetCurrentDebugLocation(end.getDebugLoc());
    if (llvm::isa<llvm::ReturnInst>(end)) {
        builder.CreateBr(&done);
        return;
    }
    if (!splits(block)) {
        llvm::Instruction* copy = end.clone();
        copy->insertInto(&to, to.end());
        for (llvm::Use& use : copy->operands())
            if (auto* successor = llvm::dyn_cast<llvm::BasicBlock>(use.get()))
                use.set(copies_[successor]);
            else
                use.set(of_thread(use, 0));
        return;
    }
    auto& branch = llvm::cast<llvm::BranchInst>(end);
    llvm::Value *all = nullptr, *any = nullptr;
    for (unsigned thread = 0; thread < threads_; ++thread) {
        llvm::Value* one = of_thread(branch.getCondition(), thread);
        all = all == nullptr ? one : builder.CreateAnd(all, one);
        any = any == nullptr ? one : builder.CreateOr(any, one);
    }
    llvm::BasicBlock *yes = copies_[branch.getSuccessor(0)], *no = copies_[branch.getSuccessor(1)];
    // A way that only ends is one of an edge.
    const bool works_if = works(*branch.getSuccessor(0)), works_if_not = works(*branch.getSuccessor(1));
    auto* otherwise = llvm::BasicBlock::Create(to.getContext(), "otherwise", to.getParent());
    if (works_if || !works_if_not) {
        builder.CreateCondBr(all, yes, otherwise);
        builder.SetInsertPoint(otherwise);
        builder.CreateCondBr(any, &apart, works_if_not ? no : &done);
        if (works_if_not) otherwise_[&block] = otherwise;
    } else {
        builder.CreateCondBr(any, otherwise, no);
        builder.SetInsertPoint(otherwise);
        builder.CreateCondBr(all, &done, &apart);
    }
}

// Does it store anything, there or behind?
bool JoinedThreads::works(const llvm::BasicBlock& block) {
    Blocks reached{&block};
    add_reached(block, reached);
    return llvm::any_of(reached, [](const llvm::BasicBlock* one) { return llvm::any_of(*one, has_effect); });
}

// The block of the joint code from which it comes to a copy.
llvm::BasicBlock* JoinedThreads::edge_from(llvm::BasicBlock* from, const llvm::BasicBlock* to) const {
    const auto otherwise = otherwise_.find(from);
    return otherwise != otherwise_.end() && from->getTerminator()->getSuccessor(1) == to
               ? otherwise->second
               : copies_.lookup(from);
}

void JoinedThreads::complete(llvm::PHINode& phi) {
    const PerThread& made = made_[&phi];
    for (unsigned thread = 0; thread < made.size(); ++thread) {
        auto& copy = llvm::cast<llvm::PHINode>(*made[thread]);
        while (copy.getNumIncomingValues() != 0) copy.removeIncomingValue(0u, /*DeletePHIIfEmpty=*/false);
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
            if (llvm::BasicBlock* from = edge_from(phi.getIncomingBlock(i), phi.getParent());
                llvm::is_contained(llvm::successors(from), copy.getParent()))
                copy.addIncoming(of_thread(phi.getIncomingValue(i), thread), from);
    }
}

llvm::BasicBlock& JoinedThreads::join(llvm::BasicBlock& done, llvm::BasicBlock& apart) {
    llvm::Function* function = first_.getParent();
    for (llvm::BasicBlock* block : order_)
        copies_[block] = llvm::BasicBlock::Create(function->getContext(), "joined", function);
    for (llvm::BasicBlock* block : order_) {
        for (llvm::Instruction& instruction : *block)
            if (!instruction.isTerminator() && !given_.contains(&instruction))
                copy(instruction, *copies_[block]);
        end(*block, done, apart);
    }
    for (llvm::BasicBlock* block : order_)
        for (llvm::PHINode& phi : block->phis()) complete(phi);
    return *copies_[&first_];
}

}  // namespace trimtab::pass
