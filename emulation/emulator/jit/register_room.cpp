// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/register_room.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/ptx/liveness.h"
#include "emulation/emulator/jit/lane_loops.h"
#include "emulation/emulator/jit/register_copies.h"

namespace trimtab::emulator::jit {
namespace {

using llvm::cast;
using llvm::dyn_cast;

// Calls that stand for copies until the room is laid out: service, frame, lanes, and the slots.
constexpr const char *save_mark = "trimtab.save", *restore_mark = "trimtab.restore";
constexpr unsigned first_slot = 3;
// Threads' stacks have 8 MiB.
constexpr std::uint64_t most_room = 2u << 20;

const llvm::CallInst* marked(const llvm::Instruction& instruction, const char* name) {
    const auto* call = dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* called = call == nullptr ? nullptr : call->getCalledFunction();
    return called != nullptr && called->getName() == name ? call : nullptr;
}

template <class F>
void visit_slots(const llvm::CallInst& mark, const F& f) {
    for (unsigned i = first_slot; i < mark.arg_size(); i++) f(cast<llvm::AllocaInst>(mark.getArgOperand(i)));
}

// All its uses are known here: whole loads and stores, and marks.
bool is_slot(const llvm::AllocaInst& slot) {
    return llvm::all_of(slot.users(), [&](const llvm::User* user) {
        if (const auto* load = dyn_cast<llvm::LoadInst>(user))
            return load->isSimple() && load->getType() == slot.getAllocatedType();
        if (const auto* store = dyn_cast<llvm::StoreInst>(user)) {
            return store->isSimple() && store->getValueOperand() != &slot &&
                   store->getValueOperand()->getType() == slot.getAllocatedType();
        }
        const auto* call = dyn_cast<llvm::CallInst>(user);
        return call != nullptr &&
               (marked(*call, save_mark) != nullptr || marked(*call, restore_mark) != nullptr);
    });
}

// Values of all lanes, of the first lane of each run, or of lane 0.
RegisterCopy::Kind kind_of(const llvm::AllocaInst& slot, const Offsets& offsets) {
    using Kind = RegisterCopy::Kind;
    if (const auto* vector = dyn_cast<llvm::FixedVectorType>(slot.getAllocatedType()))
        return vector->getNumElements() == warp_lanes ? Kind::general : Kind::runs;
    return offsets == Offsets{} ? Kind::uniform : Kind::pattern;
}

llvm::GlobalVariable* table(llvm::Module& module, const std::vector<std::uint32_t>& words) {
    llvm::Constant* content = llvm::ConstantDataArray::get(module.getContext(), words);
    auto* made = new llvm::GlobalVariable(module, content->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                          content, "registers");
    made->setAlignment(llvm::Align(8));
    return made;
}

}  // namespace

void RegisterRoom::mark(llvm::IRBuilderBase& b, const char* name, std::span<llvm::Value* const> how,
                        std::span<llvm::AllocaInst* const> slots) {
    if (slots.empty()) return;
    std::vector<llvm::Value*> arguments(how.begin(), how.end());
    arguments.insert(arguments.end(), slots.begin(), slots.end());
    b.CreateCall(module_.getOrInsertFunction(name, llvm::FunctionType::get(b.getVoidTy(), true)), arguments);
}

void RegisterRoom::save(llvm::IRBuilderBase& b, llvm::Value* service, llvm::Value* frame, llvm::Value* lanes,
                        std::span<llvm::AllocaInst* const> slots) {
    llvm::Value* const how[] = {service, frame, lanes};
    mark(b, save_mark, how, slots);
}

void RegisterRoom::restore(llvm::IRBuilderBase& b, llvm::Value* service, llvm::Value* frame,
                           llvm::Value* lanes, std::span<llvm::AllocaInst* const> slots) {
    llvm::Value* const how[] = {service, frame, lanes};
    mark(b, restore_mark, how, slots);
}

void RegisterRoom::forward(llvm::Function& function) {
    struct Sets {
        ptx::RegisterSet in, out, kept;  // kept: not written here
    };
    const auto number = [this](const llvm::Value* pointer) {
        const auto found = numbers_.find(pointer);
        return found == numbers_.end() ? -1 : static_cast<int>(found->second);
    };
    // Which slots are live where blocks end.
    llvm::DenseMap<const llvm::BasicBlock*, Sets> sets;
    for (const llvm::BasicBlock& block : function) {
        ptx::RegisterSet read(slots_.size()), written(slots_.size());
        const auto reads = [&](int slot) {
            if (slot >= 0 && !written.contains(static_cast<unsigned>(slot)))
                read.insert(static_cast<unsigned>(slot));
        };
        for (const llvm::Instruction& instruction : block) {
            if (const auto* load = dyn_cast<llvm::LoadInst>(&instruction)) {
                reads(number(load->getPointerOperand()));
            } else if (const auto* store = dyn_cast<llvm::StoreInst>(&instruction)) {
                if (const int slot = number(store->getPointerOperand()); slot >= 0)
                    written.insert(static_cast<unsigned>(slot));
            } else if (const auto* save = marked(instruction, save_mark)) {
                visit_slots(*save, [&](const llvm::AllocaInst* slot) { reads(number(slot)); });
            } else if (const auto* restore = marked(instruction, restore_mark)) {
                visit_slots(*restore, [&](const llvm::AllocaInst* slot) {
                    written.insert(static_cast<unsigned>(number(slot)));
                });
            }
        }
        sets[&block] = {read, ptx::RegisterSet(slots_.size()), written};
    }
    const std::vector<llvm::BasicBlock*> order(llvm::po_begin(&function), llvm::po_end(&function));
    for (bool changed = true; changed;) {
        changed = false;
        for (const llvm::BasicBlock* block : order) {
            Sets& own = sets[block];
            bool grew = false;
            for (const llvm::BasicBlock* next : llvm::successors(block))
                grew = own.out.merge(sets[next].in) || grew;
            if (!grew) continue;
            ptx::RegisterSet through = own.out;
            for (const std::uint32_t slot : own.kept.list()) through.erase(slot);
            changed = own.in.merge(through) || changed;
        }
    }
    for (llvm::BasicBlock& block : function) {
        llvm::DenseMap<const llvm::Value*, llvm::Value*> known;
        llvm::DenseMap<const llvm::Value*, llvm::StoreInst*> last;
        for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
            if (auto* load = dyn_cast<llvm::LoadInst>(&instruction)) {
                if (number(load->getPointerOperand()) < 0) continue;
                const auto [at, is_new] = known.try_emplace(load->getPointerOperand(), load);
                if (is_new) continue;
                load->replaceAllUsesWith(at->second);
                load->eraseFromParent();
            } else if (auto* store = dyn_cast<llvm::StoreInst>(&instruction)) {
                if (number(store->getPointerOperand()) < 0) continue;
                llvm::StoreInst*& before = last[store->getPointerOperand()];
                if (before != nullptr) before->eraseFromParent();
                before = store;
                known[store->getPointerOperand()] = store->getValueOperand();
            } else if (const auto* save = marked(instruction, save_mark)) {
                visit_slots(*save, [&](const llvm::AllocaInst* slot) { last.erase(slot); });
            } else if (const auto* restore = marked(instruction, restore_mark)) {
                visit_slots(*restore, [&](const llvm::AllocaInst* slot) {
                    if (const auto at = last.find(slot); at != last.end()) {
                        at->second->eraseFromParent();
                        last.erase(at);
                    }
                    known.erase(slot);
                });
            }
        }
        const ptx::RegisterSet& live = sets[&block].out;
        for (const auto& [slot, store] : last) {
            if (!live.contains(static_cast<unsigned>(number(slot)))) store->eraseFromParent();
        }
    }
    // What nothing needs any more.
    for (llvm::BasicBlock* block : order) {
        for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(*block))) {
            if (!llvm::isa<llvm::AllocaInst>(instruction) && llvm::isInstructionTriviallyDead(&instruction))
                instruction.eraseFromParent();
        }
    }
}

bool RegisterRoom::lay_out(llvm::Function& function) {
    const llvm::DataLayout& layout = module_.getDataLayout();
    llvm::IRBuilder<> b(module_.getContext());
    b.SetInsertPoint(&*function.getEntryBlock().begin());
    std::vector<llvm::CallInst*> marks;
    for (llvm::BasicBlock& block : function) {
        for (llvm::Instruction& instruction : block) {
            if (marked(instruction, save_mark) != nullptr || marked(instruction, restore_mark) != nullptr)
                marks.push_back(cast<llvm::CallInst>(&instruction));
        }
    }
    // By their alignment, the widest vectors first.
    std::uint64_t size = 0;
    std::vector<std::uint64_t> at(slots_.size());
    for (const std::uint64_t alignment : {64, 32, 16, 8}) {
        for (std::size_t i = 0; i < slots_.size(); i++) {
            const std::uint64_t bytes = layout.getTypeAllocSize(slots_[i]->getAllocatedType());
            if (slots_[i]->use_empty() ||
                std::clamp<std::uint64_t>(std::bit_floor(bytes), 8, 64) != alignment)
                continue;
            at[i] = size;
            size = (size + bytes + alignment - 1) / alignment * alignment;
        }
    }
    if (size > most_room) return false;
    llvm::AllocaInst* room = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), size));
    room->setAlignment(llvm::Align(64));
    // The tables: RegisterCopy of each register that is copied, the patterns, and a list for each copy.
    std::vector<std::uint32_t> copies;
    llvm::DenseMap<const llvm::Value*, std::uint32_t> copy_of;
    std::vector<const Place*> copied;
    for (const llvm::CallInst* call : marks) {
        visit_slots(*call, [&](const llvm::AllocaInst* slot) {
            if (copy_of.try_emplace(slot, static_cast<std::uint32_t>(copied.size())).second)
                copied.push_back(&places_.at(slot));
        });
    }
    copies.resize(copied.size() * sizeof(RegisterCopy) / sizeof(std::uint32_t));
    std::map<Offsets, std::uint32_t> patterns;
    for (const auto& [slot, i] : copy_of) {
        const Place& place = *copied[i];
        RegisterCopy copy;
        copy.frame_offset = place.frame_offset;
        copy.room_offset = static_cast<std::uint32_t>(at[numbers_.at(slot)]);
        copy.bytes = static_cast<std::uint8_t>(place.bytes);
        copy.kind = kind_of(*slots_[numbers_.at(slot)], place.offsets);
        if (const auto* firsts =
                dyn_cast<llvm::FixedVectorType>(slots_[numbers_.at(slot)]->getAllocatedType()))
            copy.run_lanes = static_cast<std::uint16_t>(warp_lanes / firsts->getNumElements());
        if (copy.kind == RegisterCopy::Kind::pattern || copy.kind == RegisterCopy::Kind::runs) {
            const auto [found, is_new] = patterns.try_emplace(
                place.offsets, static_cast<std::uint32_t>(copies.size() * sizeof(std::uint32_t)));
            if (is_new) {
                const std::size_t words = copies.size();
                copies.resize(words + sizeof(Offsets) / sizeof(std::uint32_t));
                std::memcpy(&copies[words], place.offsets.data(), sizeof(Offsets));
            }
            copy.pattern = found->second;
        }
        std::memcpy(&copies[i * sizeof copy / sizeof(std::uint32_t)], &copy, sizeof copy);
    }
    std::vector<std::uint32_t> lists;
    std::map<std::vector<std::uint32_t>, std::uint64_t> list_at;
    std::vector<std::uint64_t> list_of;
    for (const llvm::CallInst* call : marks) {
        std::vector<std::uint32_t> list{call->arg_size() - first_slot};
        visit_slots(*call, [&](const llvm::AllocaInst* slot) { list.push_back(copy_of.lookup(slot)); });
        const auto [found, is_new] = list_at.try_emplace(list, lists.size() * sizeof(std::uint32_t));
        if (is_new) lists.insert(lists.end(), list.begin(), list.end());
        list_of.push_back(found->second);
    }
    llvm::GlobalVariable* const copy_table = copies.empty() ? nullptr : table(module_, copies);
    llvm::GlobalVariable* const list_table = lists.empty() ? nullptr : table(module_, lists);
    auto* pointer = b.getPtrTy();
    auto* type =
        llvm::FunctionType::get(b.getVoidTy(), {pointer, b.getInt32Ty(), pointer, pointer, pointer}, false);
    for (std::size_t i = 0; i < marks.size(); i++) {
        llvm::CallInst* call = marks[i];
        b.SetInsertPoint(call);
        b.CreateCall(type, call->getArgOperand(0),
                     {call->getArgOperand(1), call->getArgOperand(2), room, copy_table,
                      b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), list_table, list_of[i])})
            ->setDoesNotThrow();
        call->eraseFromParent();
    }
    b.SetInsertPoint(room->getNextNode());
    for (std::size_t i = 0; i < slots_.size(); i++) {
        if (!slots_[i]->use_empty())
            slots_[i]->replaceAllUsesWith(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), room, at[i]));
        slots_[i]->eraseFromParent();
    }
    for (const char* name : {save_mark, restore_mark}) {
        llvm::Function* mark = module_.getFunction(name);
        if (mark != nullptr && mark->use_empty()) mark->eraseFromParent();
    }
    return true;
}

bool RegisterRoom::settle(llvm::Function& function) {
    for (llvm::Instruction& instruction : function.getEntryBlock()) {
        auto* slot = dyn_cast<llvm::AllocaInst>(&instruction);
        if (slot == nullptr || !is_slot(*slot)) continue;
        numbers_[slot] = static_cast<unsigned>(slots_.size());
        slots_.push_back(slot);
    }
    forward(function);
    llvm::DenseSet<const llvm::AllocaInst*> slots;
    for (const llvm::AllocaInst* slot : slots_) slots.insert(slot);
    make_lane_loops(function, slots);
    return lay_out(function);
}

}  // namespace trimtab::emulator::jit
