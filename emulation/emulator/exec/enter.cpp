// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where compiled code takes over from the interpreter.
#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator::run {

#if defined(__clang__)
// UndefinedBehaviorSanitizer looks for a function's type in front of it, where compiled code has nothing.
__attribute__((no_sanitize("function")))
#endif
const Op* enter(Warp& w, const Op* op) {
    if (w.compiled != nullptr) {
        if (const Handler code = w.compiled[op->d].load(std::memory_order_acquire)) {
            const Op* const next = code(w, op);
            w.more_warps = w.may_pass_on = 0;
            if (w.settled != w.index) w.block->settle(w);
            // What it called may have stopped the warp without its knowing.
            return w.stop == Warp::Stop::fault ? nullptr : next;
        }
    }
    return op + 1;
}

}  // namespace trimtab::emulator::run
