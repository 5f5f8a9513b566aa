// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/coarsened_bodies.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "pass/code_text.h"
#include "pass/fixed_rounding.h"
#include "pass/independent_threads.h"
#include "pass/joined_threads.h"
#include "pass/kernel_sources.h"
#include "trimtab/body_name.h"

namespace trimtab::pass {
namespace {

constexpr std::size_t x = 0, y = 1;
constexpr std::uint32_t warp_size = 32, most_elements = 32;
constexpr std::size_t most_joined_instructions = 8192;

// Along y, where the kernel has rows: neighbours in a column often read the same. Else along x.
std::optional<std::size_t> dimension_of(const llvm::Function& kernel) {
    IndexReads reads;
    if (!has_independent_threads(kernel, reads) || !can_fix_rounding(kernel)) return std::nullopt;
    if (reads.block_index[y]) return y;
    if (reads.block_index[x] && reads.thread_index[x] && reads.block_size[x]) return x;
    return std::nullopt;
}

std::vector<llvm::Instruction*> reads_of(llvm::Function& function, llvm::Intrinsic::ID id) {
    std::vector<llvm::Instruction*> found;
    for (llvm::Instruction& instruction : llvm::instructions(function))
        if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            call != nullptr && call->getIntrinsicID() == id)
            found.push_back(&instruction);
    return found;
}
void replace(const std::vector<llvm::Instruction*>& reads, llvm::Value* by) {
    for (llvm::Instruction* read : reads) {
        read->replaceAllUsesWith(by);
        read->eraseFromParent();
    }
}
// They are true of the launch as written alone.
void drop_assumptions(llvm::Function& function) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
        if (llvm::isa<llvm::AssumeInst>(instruction)) instruction.eraseFromParent();
}

// A kernel that becomes such a body.
class Coarsening {
  public:
    Coarsening(llvm::Function& function, std::size_t dimension, std::uint32_t elements)
        : function_(function),
          of_(dimension_registers()[dimension]),
          per_group_(dimension == x ? warp_size : 1),
          elements_(elements),
          first_(function.getEntryBlock()),
          start_(*llvm::BasicBlock::Create(function.getContext(), "start", &function, &first_)),
          builder_(&start_) {}

    // One virtual block after the other, of one thread, or along x of a warp. They are those of the kernel in a launch
    // of such blocks.
    void run() {
        drop_assumptions(function_);
        std::vector<llvm::AllocaInst*> slots;
        for (llvm::Instruction& instruction : llvm::make_early_inc_range(first_))
            if (auto* slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
                slot->moveBefore(start_, start_.end());
                slots.push_back(slot);
            }
        builder_.SetInsertPoint(&start_);
        const std::vector<llvm::Instruction*> blocks = reads_of(function_, of_.block_index),
                                              threads = reads_of(function_, of_.thread_index),
                                              sizes = reads_of(function_, of_.block_size);
        llvm::Value* index = builder_.CreateAdd(
            builder_.CreateMul(read(of_.block_index), read(of_.block_size)), read(of_.thread_index));
        llvm::Value *group = index, *place = number(0);
        if (per_group_ != 1) {
            group = builder_.CreateUDiv(index, number(per_group_));
            place = builder_.CreateAnd(index, number(per_group_ - 1));
        }
        begin_ = builder_.CreateMul(group, number(elements_));
        replace(threads, place);
        replace(sizes, number(per_group_));
        done_ = llvm::BasicBlock::Create(function_.getContext(), "done", &function_);
        llvm::IRBuilder<>(done_).CreateRetVoid();
        auto* apart = llvm::BasicBlock::Create(function_.getContext(), "apart", &function_);
        llvm::BasicBlock* next = joined(blocks, slots, *apart);
        const auto [turn, each] = loop(*apart);
        replace(blocks, each);
        builder_.CreateBr(next != nullptr ? next : apart);
        llvm::removeUnreachableBlocks(function_);
    }

  private:
    llvm::Value* number(std::uint32_t value) { return builder_.getInt32(value); }
    llvm::Value* read(llvm::Intrinsic::ID id) {
        return builder_.CreateIntrinsic(builder_.getInt32Ty(), id, {});
    }
    // Null: only one after the other.
    llvm::BasicBlock* joined(const std::vector<llvm::Instruction*>& blocks,
                             const std::vector<llvm::AllocaInst*>& slots, llvm::BasicBlock& apart) {
        if (function_.getInstructionCount() * elements_ > most_joined_instructions) return nullptr;
        llvm::MapVector<llvm::Value*, JoinedThreads::PerThread> own;
        for (std::uint32_t i = 0; i < elements_; ++i) {
            llvm::Value* block = builder_.CreateAdd(begin_, number(i));
            for (llvm::Instruction* blocks_own : blocks) own[blocks_own].push_back(block);
            for (llvm::AllocaInst* slot : slots) own[slot].push_back(builder_.Insert(slot->clone()));
        }
        JoinedThreads threads(first_, std::move(own), elements_);
        return threads.can_join() ? &threads.join(*done_, apart) : nullptr;
    }
    // for (turn = 0; turn < elements; turn++): what the kernel does, as virtual block `each`.
    std::pair<llvm::PHINode*, llvm::Value*> loop(llvm::BasicBlock& apart) {
        llvm::LLVMContext& context = function_.getContext();
        auto* head = llvm::BasicBlock::Create(context, "each", &function_);
        auto* end = llvm::BasicBlock::Create(context, "next", &function_);
        // Blocks that are being made have no end yet.
        for (llvm::BasicBlock& block : function_)
            if (auto* leave = llvm::dyn_cast_or_null<llvm::ReturnInst>(block.getTerminator());
                leave != nullptr && &block != done_) {
                llvm::IRBuilder<>(leave).CreateBr(end);
                leave->eraseFromParent();
            }
        llvm::IRBuilder<>(&apart).CreateBr(head);
        llvm::IRBuilder<> builder(head);
        llvm::PHINode* turn = builder.CreatePHI(builder.getInt32Ty(), 2);
        llvm::Value* each = builder.CreateAdd(begin_, turn);
        builder.CreateBr(&first_);
        builder.SetInsertPoint(end);
        llvm::Value* after = builder.CreateAdd(turn, builder.getInt32(1));
        llvm::BranchInst* back =
            builder.CreateCondBr(builder.CreateICmpULT(after, builder.getInt32(elements_)), head, done_);
        turn->addIncoming(builder.getInt32(0), &apart);
        turn->addIncoming(after, end);
        llvm::MDNode* as_it_is =
            llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
        llvm::MDNode* about = llvm::MDNode::getDistinct(context, {nullptr, as_it_is});
        about->replaceOperandWith(0, about);
        back->setMetadata(llvm::LLVMContext::MD_loop, about);
        return {turn, each};
    }

    llvm::Function& function_;
    const DimensionRegisters& of_;
    const std::uint32_t per_group_, elements_;
    llvm::BasicBlock& first_;
    llvm::BasicBlock& start_;
    llvm::IRBuilder<> builder_;
    llvm::Value* begin_ = nullptr;
    llvm::BasicBlock* done_ = nullptr;
};

// What neighbours share is once in the joint code.
void simplify(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::GVNPass());
    analyses.invalidate(function, passes.run(function, analyses));
}

}  // namespace

std::vector<std::uint32_t> asked_elements(const std::string& text) {
    std::set<std::uint32_t> asked;
    for (const llvm::StringRef word : llvm::split(llvm::StringRef(text), ','))
        if (std::uint32_t number = 0; !word.getAsInteger(10, number) && number > 1 && number <= most_elements)
            asked.insert(number);
    return {asked.begin(), asked.end()};
}

bool add_coarsened_bodies(llvm::Module& module, llvm::FunctionAnalysisManager& analyses,
                          const std::vector<std::uint32_t>& elements, const std::string& kernel_sources) {
    const std::set<std::string> plain = kernels_as_written(kernel_sources);
    std::vector<std::pair<llvm::Function*, std::size_t>> kernels;
    for (llvm::Function& function : module)
        if (is_kernel(function) && plain.contains(function.getName().str()) &&
            !function.hasFnAttribute("nvvm.reqntid") && !function.hasFnAttribute("nvvm.cluster_dim"))
            if (const auto dimension = dimension_of(function)) kernels.emplace_back(&function, *dimension);
    std::map<std::string, std::string> bodies;  // by their names, the kernels'
    if (elements.empty()) return false;
    for (const auto& [kernel, dimension] : kernels) {
        // The kernel's, too: it and its bodies round alike.
        fix_rounding(*kernel);
        for (const std::uint32_t count : elements) {
            llvm::ValueToValueMapTy copies;
            llvm::Function* body = llvm::CloneFunction(kernel, copies);
            body->setName(coarsened_body_name(kernel->getName().str(), dimension, count));
            Coarsening(*body, dimension, count).run();
            if (llvm::verifyFunction(*body)) {
                body->eraseFromParent();
                continue;
            }
            simplify(*body, analyses);
            bodies.emplace(body->getName().str(), kernel->getName().str());
        }
    }
    if (kernels.empty()) return false;
    add_bodies(bodies, kernel_sources);
    return true;
}

}  // namespace trimtab::pass
