#include "pass/built_in_blocks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "llvm/IR/CallingConv.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "pass/kernel_sources.h"
#include "trimtab/body_name.h"

namespace trimtab::pass {
namespace {

struct Dimension {
    llvm::Intrinsic::ID block_index, grid_size, thread_index, block_size;
};
constexpr std::array<Dimension, 3> dimensions{{
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x},
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y},
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z},
}};
constexpr std::uint64_t most_threads = 1024, least_threads = 32;

// The value that a cast is of.
const llvm::Value* without_casts(const llvm::Value* value) {
    while (const auto* cast = llvm::dyn_cast<llvm::CastInst>(value)) {
        if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst, llvm::TruncInst>(cast)) break;
        value = cast->getOperand(0);
    }
    return value;
}
bool reads(const llvm::Value* value, llvm::Intrinsic::ID id) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(without_casts(value));
    return call != nullptr && call->getIntrinsicID() == id;
}
// 0: none that a block could have.
std::uint64_t size_of(const llvm::Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant != nullptr && constant->getValue().ule(most_threads) ? constant->getZExtValue() : 0;
}

// A constant that may be the block's size: the operand of an instruction.
struct Place {
    llvm::Instruction* instruction = nullptr;
    std::uint64_t size = 0;
    bool is_step = false;  // i += size, else a product
};

class Sizes {
  public:
    Sizes(llvm::Function& kernel, const Dimension& dimension) : of_(dimension) {
        bool has_threads = false;
        for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
            has_threads |= reads(&instruction, of_.thread_index);
            add_product(instruction);
            if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) add_step(*phi);
        }
        if (!has_threads) places_.clear();
    }
    // The one that goes with the thread's index; 0: none, or several.
    std::uint64_t size() const {
        std::set<std::uint64_t> found;
        for (const Place& place : places_)
            if (place.size > 1 && (place.is_step || meets_thread(*place.instruction, 0)))
                found.insert(place.size);
        return found.size() == 1 ? *found.begin() : 0;
    }
    std::vector<Place> places(std::uint64_t size) const {
        std::vector<Place> found;
        for (const Place& place : places_)
            if (place.size == size) found.push_back(place);
        return found;
    }

  private:
    // blockIdx * size, gridDim * size; sizes that are powers of two are shifts.
    void add_product(llvm::Instruction& instruction) {
        const bool is_shift = instruction.getOpcode() == llvm::Instruction::Shl;
        if (!is_shift && instruction.getOpcode() != llvm::Instruction::Mul) return;
        const llvm::Value* factor = instruction.getOperand(0);
        if (!reads(factor, of_.block_index) && !reads(factor, of_.grid_size)) return;
        const std::uint64_t number = size_of(instruction.getOperand(1));
        if (number == 0 || (is_shift && number > 10)) return;
        places_.push_back({&instruction, is_shift ? std::uint64_t{1} << number : number, false});
    }
    // for (i = thread; ...; i += size)
    void add_step(llvm::PHINode& phi) {
        if (phi.getNumIncomingValues() != 2 || !phi.getType()->isIntegerTy()) return;
        for (unsigned i = 0; i < 2; i++) {
            auto* next = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValue(i));
            if (next == nullptr || next->getOpcode() != llvm::Instruction::Add ||
                next->getOperand(0) != &phi || !reads(phi.getIncomingValue(1 - i), of_.thread_index))
                continue;
            if (const std::uint64_t size = size_of(next->getOperand(1)); size != 0)
                places_.push_back({next, size, true});
        }
    }
    // Is the thread's index added to it?
    bool meets_thread(const llvm::Value& value, unsigned depth) const {
        constexpr unsigned most = 3;  // additions and casts on the way
        return std::ranges::any_of(value.users(), [&](const llvm::User* user) {
            if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(user))
                return depth < most && meets_thread(*user, depth + 1);
            const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(user);
            if (sum == nullptr ||
                (sum->getOpcode() != llvm::Instruction::Add && sum->getOpcode() != llvm::Instruction::Or))
                return false;
            return reads(sum->getOperand(0), of_.thread_index) ||
                   reads(sum->getOperand(1), of_.thread_index) ||
                   (depth < most && meets_thread(*user, depth + 1));
        });
    }

    const Dimension& of_;
    std::vector<Place> places_;
};

// blockIdx * 512 | threadIdx, where a block has 512 threads: no bit is in both.
void add_threads(const llvm::Value& product, llvm::Intrinsic::ID thread_index) {
    std::vector<llvm::Instruction*> unions;
    for (const llvm::User* user : product.users()) {
        if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(user)) add_threads(*user, thread_index);
        if (const auto* both = llvm::dyn_cast<llvm::BinaryOperator>(user);
            both != nullptr && both->getOpcode() == llvm::Instruction::Or &&
            (reads(both->getOperand(0), thread_index) || reads(both->getOperand(1), thread_index)))
            unions.push_back(const_cast<llvm::BinaryOperator*>(both));
    }
    for (llvm::Instruction* both : unions) {
        llvm::IRBuilder<> builder(both);
        both->replaceAllUsesWith(builder.CreateAdd(both->getOperand(0), both->getOperand(1)));
        both->eraseFromParent();
    }
}

// In a launch whose block has that size, blockDim is the constant: nothing changes.
void put_block_size(llvm::Instruction& instruction, bool is_step, const Dimension& dimension) {
    llvm::IRBuilder<> builder(&instruction);
    llvm::Value* size = builder.CreateZExtOrTrunc(
        builder.CreateIntrinsic(builder.getInt32Ty(), dimension.block_size, {}), instruction.getType());
    if (is_step) {
        instruction.setOperand(1, size);
        instruction.dropPoisonGeneratingFlags();
        return;
    }
    llvm::Value* product = builder.CreateMul(instruction.getOperand(0), size);
    if (instruction.getOpcode() == llvm::Instruction::Shl) add_threads(instruction, dimension.thread_index);
    instruction.replaceAllUsesWith(product);
    instruction.eraseFromParent();
}

// Where no bit is in both, they are one; with another block size the sum is meant.
void add_instead_of_or(llvm::Function& kernel) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(kernel))) {
        const auto* disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
        if (disjoint == nullptr || !disjoint->isDisjoint()) continue;
        llvm::IRBuilder<> builder(&instruction);
        llvm::Value* sum = builder.CreateAdd(instruction.getOperand(0), instruction.getOperand(1));
        instruction.replaceAllUsesWith(sum);
        instruction.eraseFromParent();
    }
}

bool is_kernel(const llvm::Function& function) {
    return !function.isDeclaration() && function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

}  // namespace

bool add_built_in_bodies(llvm::Module& module, const std::string& kernel_sources) {
    const std::set<std::string> plain = kernels_as_written(kernel_sources);
    std::vector<llvm::Function*> kernels;
    for (llvm::Function& function : module)
        if (is_kernel(function) && plain.contains(function.getName().str()) &&
            !function.hasFnAttribute("nvvm.reqntid") && !function.hasFnAttribute("nvvm.cluster_dim"))
            kernels.push_back(&function);
    std::map<std::string, std::string> bodies;  // by their names, the kernels'
    for (llvm::Function* kernel : kernels) {
        std::array<std::uint32_t, 3> block{};
        std::uint64_t threads = 1;
        for (std::size_t d = 0; d < dimensions.size(); d++) {
            block[d] = static_cast<std::uint32_t>(Sizes(*kernel, dimensions[d]).size());
            threads *= std::max<std::uint64_t>(block[d], 1);
        }
        if (threads < least_threads || threads > most_threads) continue;
        llvm::ValueToValueMapTy copies;
        llvm::Function* body = llvm::CloneFunction(kernel, copies);
        body->setName(built_in_body_name(kernel->getName().str(), block));
        for (std::size_t d = 0; d < dimensions.size(); d++) {
            if (block[d] == 0) continue;
            for (const Place& place : Sizes(*body, dimensions[d]).places(block[d]))
                put_block_size(*place.instruction, place.is_step, dimensions[d]);
        }
        add_instead_of_or(*body);
        bodies.emplace(body->getName().str(), kernel->getName().str());
    }
    if (bodies.empty()) return false;
    add_bodies(bodies, kernel_sources);
    return true;
}

}  // namespace trimtab::pass
