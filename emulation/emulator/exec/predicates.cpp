// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator::run {

const Op* predicate_and(Warp& w, const Op* op) {
    w.write_predicate(op->d, w.predicate(op->a) & w.predicate(op->b));
    return op + 1;
}
const Op* predicate_or(Warp& w, const Op* op) {
    w.write_predicate(op->d, w.predicate(op->a) | w.predicate(op->b));
    return op + 1;
}
const Op* predicate_xor(Warp& w, const Op* op) {
    w.write_predicate(op->d, w.predicate(op->a) ^ w.predicate(op->b));
    return op + 1;
}
const Op* predicate_not(Warp& w, const Op* op) {
    w.write_predicate(op->d, ~w.predicate(op->a));
    return op + 1;
}
const Op* predicate_copy(Warp& w, const Op* op) {
    w.write_predicate(op->d, w.predicate(op->a));
    return op + 1;
}

}  // namespace trimtab::emulator::run
