// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores with cache operators that clang's headers leave out: the toolkit's own definitions,
// without those that clang has.
#pragma once
#pragma clang system_header

#if __has_include(<sm_32_intrinsics.hpp>)
#undef __SM_32_INTRINSICS_HPP__
#pragma push_macro("__ldg")
#pragma push_macro("__ldcg")
#pragma push_macro("__ldcs")
#pragma push_macro("__ldcv")
#pragma push_macro("__stwt")
#pragma push_macro("__funnelshift_l")
#pragma push_macro("__funnelshift_lc")
#pragma push_macro("__funnelshift_r")
#pragma push_macro("__funnelshift_rc")
#define __ldg trimtab_unused_ldg
#define __ldcg trimtab_unused_ldcg
#define __ldcs trimtab_unused_ldcs
#define __ldcv trimtab_unused_ldcv
#define __stwt trimtab_unused_stwt
#define __funnelshift_l trimtab_unused_funnelshift_l
#define __funnelshift_lc trimtab_unused_funnelshift_lc
#define __funnelshift_r trimtab_unused_funnelshift_r
#define __funnelshift_rc trimtab_unused_funnelshift_rc
#include <sm_32_intrinsics.hpp>
#pragma pop_macro("__ldg")
#pragma pop_macro("__ldcg")
#pragma pop_macro("__ldcs")
#pragma pop_macro("__ldcv")
#pragma pop_macro("__stwt")
#pragma pop_macro("__funnelshift_l")
#pragma pop_macro("__funnelshift_lc")
#pragma pop_macro("__funnelshift_r")
#pragma pop_macro("__funnelshift_rc")
#endif

// A counter of the old profiler's, which newer ones do not read.
#ifndef __prof_trigger
#define __prof_trigger(counter) ((void)(counter))
#endif
