// Which variant this processor runs.
#include "emulator/exec/vector/handlers.h"

namespace trimtab::emulator {

namespace lanes_baseline {
extern const LaneHandlers handlers;
}
#if defined(TRIMTAB_HAS_AVX2_LANES)
namespace lanes_avx2 {
extern const LaneHandlers handlers;
}
#endif

const LaneHandlers& lane_handlers() {
#if defined(TRIMTAB_HAS_AVX2_LANES)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return lanes_avx2::handlers;
#endif
    return lanes_baseline::handlers;
}

}  // namespace trimtab::emulator
