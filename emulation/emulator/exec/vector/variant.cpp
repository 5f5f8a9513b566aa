// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One variant's table.
#include "emulation/emulator/exec/vector/variants.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {

extern const VectorHandlers handlers{&integer_handler, &real_handler,   &compare_handler, &convert_handler,
                                     &load_handler,    &store_handler,  &copy_handler,    &pack_handler,
                                     &unpack_handler,  &select_handler, &global_resolver, &shared_resolver};

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
