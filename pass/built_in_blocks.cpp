// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/built_in_blocks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "llvm/IR/CallingConv.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "pass/code_text.h"
#include "pass/independent_threads.h"
#include "pass/kernel_sources.h"
#include "trimtab/body_name.h"

namespace trimtab::pass {
namespace {

constexpr std::uint64_t most_threads = 1024, least_threads = 32;

// The value that a cast is of, which keeps indices of threads: they take ten bits.
const llvm::Value* without_casts(const llvm::Value* value) {
    constexpr unsigned least_bits = 16;
    while (const auto* cast = llvm::dyn_cast<llvm::CastInst>(value)) {
        if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst, llvm::TruncInst>(cast) ||
            cast->getType()->getScalarSizeInBits() < least_bits)
            break;
        value = cast->getOperand(0);
    }
    return value;
}
bool reads(const llvm::Value* value, llvm::Intrinsic::ID id) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(without_casts(value));
    return call != nullptr && call->getIntrinsicID() == id;
}
// 0: none.
std::uint64_t constant_of(const llvm::Value* value) {
    constexpr std::uint64_t most = std::uint64_t{1} << 20;
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant != nullptr && constant->getValue().ule(most) ? constant->getZExtValue() : 0;
}
// What a value is multiplied with; 0: it is no product with a constant.
std::uint64_t factor_of(const llvm::Instruction& product) {
    const bool is_shift = product.getOpcode() == llvm::Instruction::Shl;
    if (!is_shift && product.getOpcode() != llvm::Instruction::Mul) return 0;
    const std::uint64_t number = constant_of(product.getOperand(1));
    if (!is_shift) return number;
    return number == 0 || number > 20 ? 0 : std::uint64_t{1} << number;
}

// The thread's index times a number, or a part of it: 4 * threadIdx, threadIdx / 32.
struct ThreadTerm {
    std::uint64_t times = 1, parts = 1;
};
constexpr unsigned most_steps = 3;  // additions and casts on the way

std::optional<ThreadTerm> thread_term(const llvm::Value* value, llvm::Intrinsic::ID index,
                                      unsigned steps = 0) {
    if (reads(value, index)) return ThreadTerm{};
    const auto* made = llvm::dyn_cast<llvm::Instruction>(without_casts(value));
    if (made == nullptr || steps == most_steps) return std::nullopt;
    if (const std::uint64_t factor = factor_of(*made); factor != 0) {
        auto term = thread_term(made->getOperand(0), index, steps + 1);
        if (!term || term->parts != 1) return std::nullopt;
        term->times *= factor;
        return term;
    }
    switch (made->getOpcode()) {
        case llvm::Instruction::LShr:
        case llvm::Instruction::UDiv: {
            const std::uint64_t number = constant_of(made->getOperand(1));
            const bool is_shift = made->getOpcode() == llvm::Instruction::LShr;
            if (number == 0 || (is_shift && number > 10) || !reads(made->getOperand(0), index))
                return std::nullopt;
            return ThreadTerm{.parts = is_shift ? std::uint64_t{1} << number : number};
        }
        case llvm::Instruction::Add:
        case llvm::Instruction::Or:
            for (const llvm::Value* part : made->operands())
                if (const auto term = thread_term(part, index, steps + 1)) return term;
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

// A constant that may be the block's size, or a multiple or a part of it: the operand of an instruction.
struct Place {
    llvm::Instruction* instruction = nullptr;
    std::uint64_t number = 0;
    bool is_step = false;           // i += number, else a product
    std::set<std::uint64_t> sizes;  // with which it goes with the thread's index
};

class Sizes {
  public:
    Sizes(llvm::Function& kernel, const DimensionRegisters& dimension)
        : of_(dimension), layout_(kernel.getParent()->getDataLayout()) {
        bool has_threads = false;
        for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
            has_threads |= reads(&instruction, of_.thread_index);
            add_product(instruction);
            if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) add_step(*phi);
        }
        if (!has_threads) places_.clear();
    }
    // The one that goes with the thread's index: first of all with the bare one. 0: none, or several.
    std::uint64_t size() const {
        std::set<std::uint64_t> bare, others;
        for (const Place& place : places_)
            for (const std::uint64_t size : place.sizes)
                if (size > 1 && size <= most_threads) (size == place.number ? bare : others).insert(size);
        const std::set<std::uint64_t>& found = bare.empty() ? others : bare;
        return found.size() == 1 ? *found.begin() : 0;
    }
    // Constants that a block of that size explains.
    std::vector<Place> places(std::uint64_t size) const {
        std::set<std::uint64_t> numbers{size};
        for (const Place& place : places_)
            if (place.sizes.contains(size)) numbers.insert(place.number);
        std::vector<Place> found;
        for (const Place& place : places_)
            if (place.is_step ? place.number == size
                              : numbers.contains(place.number) &&
                                    (place.number % size == 0 || size % place.number == 0))
                found.push_back(place);
        return found;
    }

  private:
    // blockIdx * size, gridDim * size; sizes that are powers of two are shifts.
    void add_product(llvm::Instruction& instruction) {
        const std::uint64_t number = factor_of(instruction);
        const llvm::Value* index = number == 0 ? nullptr : instruction.getOperand(0);
        if (index == nullptr || (!reads(index, of_.block_index) && !reads(index, of_.grid_size))) return;
        Place place{&instruction, number, false, {}};
        add_sizes(instruction, number, 0, place.sizes);
        places_.push_back(std::move(place));
    }
    // for (i = thread; ...; i += size)
    void add_step(llvm::PHINode& phi) {
        if (phi.getNumIncomingValues() != 2 || !phi.getType()->isIntegerTy()) return;
        for (unsigned i = 0; i < 2; i++) {
            auto* next = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValue(i));
            if (next == nullptr || next->getOpcode() != llvm::Instruction::Add ||
                next->getOperand(0) != &phi || !reads(phi.getIncomingValue(1 - i), of_.thread_index))
                continue;
            const std::uint64_t size = constant_of(next->getOperand(1));
            if (size != 0 && size <= most_threads) places_.push_back({next, size, true, {size}});
        }
    }
    // Where the thread's index is added to it, by a sum or as the next index of a pointer, both may be parts of
    // one index: number * blockIdx + times * threadIdx / parts, of blocks of number * parts / times threads.
    void add_sizes(const llvm::Value& value, std::uint64_t number, unsigned steps,
                   std::set<std::uint64_t>& sizes) const {
        const auto add = [&](const llvm::Value* other, std::uint64_t unit) {
            const auto term = thread_term(other, of_.thread_index);
            if (term && number * term->parts % (term->times * unit) == 0)
                sizes.insert(number * term->parts / (term->times * unit));
        };
        for (const llvm::User* user : value.users()) {
            std::uint64_t next = number;
            if (const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(user)) {
                if (sum->getOpcode() != llvm::Instruction::Add && sum->getOpcode() != llvm::Instruction::Or)
                    continue;
                add(sum->getOperand(sum->getOperand(0) == &value ? 1 : 0), 1);
            } else if (const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
                const std::uint64_t bytes = layout_.getTypeAllocSize(place->getSourceElementType());
                if (place->getNumIndices() != 1 || bytes == 0) continue;
                if (place->getPointerOperand() == &value)
                    add(place->getOperand(1), bytes);
                else
                    next *= bytes;
            } else if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst>(user)) {
                continue;
            }
            if (steps < most_steps) add_sizes(*user, next, steps + 1, sizes);
        }
    }

    const DimensionRegisters& of_;
    const llvm::DataLayout& layout_;
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

// In a launch whose block has that size, the constant is blockDim, a multiple or a part of it: nothing changes.
void put_block_size(const Place& place, std::uint64_t size, const DimensionRegisters& dimension) {
    llvm::Instruction& instruction = *place.instruction;
    llvm::IRBuilder<> builder(&instruction);
    llvm::Type* type = builder.getInt32Ty();  // which all of these numbers fit into
    llvm::Value* number = builder.CreateIntrinsic(type, dimension.block_size, {});
    if (place.number > size)
        number = builder.CreateMul(number, llvm::ConstantInt::get(type, place.number / size));
    else if (place.number < size)
        number = builder.CreateUDiv(number, llvm::ConstantInt::get(type, size / place.number));
    number = builder.CreateZExtOrTrunc(number, instruction.getType());
    if (place.is_step) {
        instruction.setOperand(1, number);
        instruction.dropPoisonGeneratingFlags();
        return;
    }
    llvm::Value* product = builder.CreateMul(instruction.getOperand(0), number);
    if (instruction.getOpcode() == llvm::Instruction::Shl && place.number >= size)
        add_threads(instruction, dimension.thread_index);
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

// A kernel that asks for the numbers of its block and never of its thread is one of blocks of one thread, in the
// dimensions that it asks for.
std::array<std::uint32_t, 3> one_thread_a_block(llvm::Function& kernel) {
    std::array<std::uint32_t, 3> block{};
    for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
        const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        if (call == nullptr) continue;
        const llvm::Intrinsic::ID asked = call->getIntrinsicID();
        for (std::size_t d = 0; d < dimension_registers().size(); d++) {
            if (asked == dimension_registers()[d].thread_index ||
                asked == dimension_registers()[d].block_size)
                return {};
            if (asked == dimension_registers()[d].block_index || asked == dimension_registers()[d].grid_size)
                block[d] = 1;
        }
    }
    return block;
}
// In a launch of such blocks, blockIdx is the global index and gridDim the number of threads: nothing changes.
void put_global_index(llvm::Function& kernel, const DimensionRegisters& dimension) {
    std::vector<llvm::IntrinsicInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(kernel))
        if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            call != nullptr && (call->getIntrinsicID() == dimension.block_index ||
                                call->getIntrinsicID() == dimension.grid_size))
            calls.push_back(call);
    for (llvm::IntrinsicInst* call : calls) {
        llvm::IRBuilder<> builder(call->getNextNode());
        llvm::Type* type = builder.getInt32Ty();
        llvm::Value* size = builder.CreateIntrinsic(type, dimension.block_size, {});
        auto* product = llvm::cast<llvm::Instruction>(builder.CreateMul(call, size));
        llvm::Value* value = product;
        if (call->getIntrinsicID() == dimension.block_index)
            value = builder.CreateAdd(product, builder.CreateIntrinsic(type, dimension.thread_index, {}));
        call->replaceUsesWithIf(value, [&](const llvm::Use& use) { return use.getUser() != product; });
    }
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
        for (std::size_t d = 0; d < dimension_registers().size(); d++) {
            block[d] = static_cast<std::uint32_t>(Sizes(*kernel, dimension_registers()[d]).size());
            threads *= std::max<std::uint64_t>(block[d], 1);
        }
        const bool is_of_one = threads == 1;
        if (is_of_one) block = one_thread_a_block(*kernel);
        if (is_of_one ? block == std::array<std::uint32_t, 3>{}
                      : threads < least_threads || threads > most_threads)
            continue;
        llvm::ValueToValueMapTy copies;
        llvm::Function* body = llvm::CloneFunction(kernel, copies);
        body->setName(built_in_body_name(kernel->getName().str(), block));
        for (std::size_t d = 0; d < dimension_registers().size(); d++) {
            if (block[d] == 0) continue;
            if (is_of_one) {
                put_global_index(*body, dimension_registers()[d]);
                continue;
            }
            for (const Place& place : Sizes(*body, dimension_registers()[d]).places(block[d]))
                put_block_size(place, block[d], dimension_registers()[d]);
        }
        add_instead_of_or(*body);
        bodies.emplace(body->getName().str(), kernel->getName().str());
    }
    if (bodies.empty()) return false;
    add_bodies(bodies, kernel_sources);
    return true;
}

}  // namespace trimtab::pass
