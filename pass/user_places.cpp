// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/user_places.h"

#include "core/base/user_file.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

namespace trimtab::pass {
namespace {

bool is_users(const llvm::DILocation& place) {
    const llvm::StringRef folder = place.getDirectory(), name = place.getFilename();
    return base::is_user_file({name.data(), name.size()}) &&
           (name.starts_with("/") || base::is_user_file({folder.data(), folder.size()}));
}

// The innermost place in a user's file; null where that is the place itself, or there is none.
llvm::DILocation* users_place(llvm::DILocation* place) {
    if (is_users(*place)) return nullptr;
    do place = place->getInlinedAt();
    while (place != nullptr && !is_users(*place));
    return place;
}

}  // namespace

bool move_places_to_users(llvm::Module& module) {
    if (module.debug_compile_units().empty()) return false;
    bool changed = false;
    for (llvm::Function& function : module) {
        for (llvm::Instruction& instruction : llvm::instructions(function)) {
            llvm::DILocation* const own = instruction.getDebugLoc().get();
            llvm::DILocation* const moved = own == nullptr ? nullptr : users_place(own);
            if (moved == nullptr) continue;
            instruction.setDebugLoc(llvm::DebugLoc(moved));
            changed = true;
        }
    }
    return changed;
}

}  // namespace trimtab::pass
