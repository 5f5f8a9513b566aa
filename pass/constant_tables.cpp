// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/constant_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace trimtab::pass {
namespace {

constexpr std::uint64_t constant_memory_bytes =
    64 * 1024;  // CUDA C++ programming guide, "Technical specifications"

struct Table {
    llvm::GlobalVariable* variable = nullptr;
    std::uint64_t bytes = 0;
    std::size_t place = 0;  // among the others of the module
};

// Through generic addresses alone, as clang writes every use: the space can be another.
bool can_move(const llvm::GlobalVariable& variable) {
    return llvm::all_of(variable.users(), [](const llvm::User* user) {
        const auto* cast = llvm::dyn_cast<llvm::ConstantExpr>(user);
        return cast != nullptr && cast->getOpcode() == llvm::Instruction::AddrSpaceCast &&
               cast->getType()->getPointerAddressSpace() == llvm::NVPTXAS::ADDRESS_SPACE_GENERIC;
    });
}

void move_to_global_memory(llvm::GlobalVariable& variable) {
    auto* moved = new llvm::GlobalVariable(
        *variable.getParent(), variable.getValueType(), variable.isConstant(), variable.getLinkage(),
        variable.getInitializer(), "", &variable, variable.getThreadLocalMode(),
        llvm::NVPTXAS::ADDRESS_SPACE_GLOBAL, variable.isExternallyInitialized());
    moved->copyAttributesFrom(&variable);
    moved->setComdat(variable.getComdat());
    moved->copyMetadata(&variable, 0);
    moved->takeName(&variable);
    const std::vector<llvm::User*> casts(variable.users().begin(), variable.users().end());
    for (llvm::User* cast : casts)
        cast->replaceAllUsesWith(llvm::ConstantExpr::getAddrSpaceCast(moved, cast->getType()));
    variable.removeDeadConstantUsers();
    variable.eraseFromParent();
}

}  // namespace

bool move_large_tables(llvm::Module& module) {
    std::uint64_t total_bytes = 0;
    std::vector<Table> tables;
    for (llvm::GlobalVariable& variable : module.globals()) {
        if (variable.getAddressSpace() != llvm::NVPTXAS::ADDRESS_SPACE_CONST || !variable.hasInitializer())
            continue;
        const std::uint64_t bytes = module.getDataLayout().getTypeAllocSize(variable.getValueType());
        total_bytes += bytes;
        if (can_move(variable))
            tables.push_back({.variable = &variable, .bytes = bytes, .place = tables.size()});
    }
    if (total_bytes <= constant_memory_bytes) return false;
    // The host can write what is initialised from outside, __constant__ among it: that goes last.
    const auto order = [](const Table& table) {
        return std::tuple(table.variable->isExternallyInitialized(), ~table.bytes, table.place);
    };
    std::ranges::sort(tables, std::ranges::less(), order);
    bool changed = false;
    for (const Table& table : tables) {
        if (total_bytes <= constant_memory_bytes) break;
        move_to_global_memory(*table.variable);
        total_bytes -= table.bytes;
        changed = true;
    }
    return changed;
}

}  // namespace trimtab::pass
