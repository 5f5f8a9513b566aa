// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which variant this processor runs.
#include "emulation/emulator/exec/vector/handlers.h"

namespace trimtab::emulator {

namespace vector_baseline {
extern const VectorHandlers handlers;
}
#if defined(TRIMTAB_HAS_AVX2_VECTORS)
namespace vector_avx2 {
extern const VectorHandlers handlers;
}
#endif

const VectorHandlers& vector_handlers() {
#if defined(TRIMTAB_HAS_AVX2_VECTORS)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return vector_avx2::handlers;
#endif
    return vector_baseline::handlers;
}

}  // namespace trimtab::emulator
