// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The __nv_atomic_* functions and their constants (CUDA 12.8 and newer), which nvcc has built in, on clang's
// scoped atomics.
#pragma once
#pragma clang system_header

#ifndef __NV_ATOMIC_RELAXED
// By nvcc's crt/device_functions.h, which clang does not read; the orders are numbered as __ATOMIC_RELAXED
// and on.
enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};
enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

// The builtins want constants: one call for each order and scope, all but one of which fold away.
#define TRIMTAB_AT_SCOPE(call, order)                                          \
    (scope == __NV_THREAD_SCOPE_THREAD    ? call(order, __MEMORY_SCOPE_SINGLE) \
     : scope == __NV_THREAD_SCOPE_BLOCK   ? call(order, __MEMORY_SCOPE_WRKGRP) \
     : scope == __NV_THREAD_SCOPE_CLUSTER ? call(order, __MEMORY_SCOPE_DEVICE) \
     : scope == __NV_THREAD_SCOPE_DEVICE  ? call(order, __MEMORY_SCOPE_DEVICE) \
                                          : call(order, __MEMORY_SCOPE_SYSTEM))
#define TRIMTAB_ORDERED(call)                                                  \
    (order == __NV_ATOMIC_RELAXED ? TRIMTAB_AT_SCOPE(call, __ATOMIC_RELAXED)   \
     : order == __NV_ATOMIC_ACQUIRE || order == __NV_ATOMIC_CONSUME            \
         ? TRIMTAB_AT_SCOPE(call, __ATOMIC_ACQUIRE)                            \
     : order == __NV_ATOMIC_RELEASE ? TRIMTAB_AT_SCOPE(call, __ATOMIC_RELEASE) \
     : order == __NV_ATOMIC_ACQ_REL ? TRIMTAB_AT_SCOPE(call, __ATOMIC_ACQ_REL) \
                                    : TRIMTAB_AT_SCOPE(call, __ATOMIC_SEQ_CST))
#define TRIMTAB_LOAD_ORDERED(call)                                             \
    (order == __NV_ATOMIC_RELAXED   ? TRIMTAB_AT_SCOPE(call, __ATOMIC_RELAXED) \
     : order == __NV_ATOMIC_SEQ_CST ? TRIMTAB_AT_SCOPE(call, __ATOMIC_SEQ_CST) \
                                    : TRIMTAB_AT_SCOPE(call, __ATOMIC_ACQUIRE))
#define TRIMTAB_STORE_ORDERED(call)                                            \
    (order == __NV_ATOMIC_RELAXED   ? TRIMTAB_AT_SCOPE(call, __ATOMIC_RELAXED) \
     : order == __NV_ATOMIC_SEQ_CST ? TRIMTAB_AT_SCOPE(call, __ATOMIC_SEQ_CST) \
                                    : TRIMTAB_AT_SCOPE(call, __ATOMIC_RELEASE))

namespace trimtab_nvcc {
template <class T>
struct identity {
    using type = T;
};
}  // namespace trimtab_nvcc

// A value converts to what the pointer points to, as with an ordinary function.
#define TRIMTAB_VALUE typename trimtab_nvcc::identity<T>::type
#define TRIMTAB_ATOMIC static __device__ __forceinline__

// Both the form that gives the old value (fetch) and the one that does not.
#define TRIMTAB_FETCH(name)                                                           \
    template <class T>                                                                \
    TRIMTAB_ATOMIC T __nv_atomic_fetch_##name(T* at, TRIMTAB_VALUE value, int order,  \
                                              int scope = __NV_THREAD_SCOPE_SYSTEM) { \
        return TRIMTAB_ORDERED(TRIMTAB_CALL_##name);                                  \
    }                                                                                 \
    template <class T>                                                                \
    TRIMTAB_ATOMIC void __nv_atomic_##name(T* at, TRIMTAB_VALUE value, int order,     \
                                           int scope = __NV_THREAD_SCOPE_SYSTEM) {    \
        (void)TRIMTAB_ORDERED(TRIMTAB_CALL_##name);                                   \
    }
#define TRIMTAB_CALL_add(order, scope) __scoped_atomic_fetch_add(at, value, order, scope)
#define TRIMTAB_CALL_sub(order, scope) __scoped_atomic_fetch_sub(at, value, order, scope)
#define TRIMTAB_CALL_and(order, scope) __scoped_atomic_fetch_and(at, value, order, scope)
#define TRIMTAB_CALL_or(order, scope) __scoped_atomic_fetch_or(at, value, order, scope)
#define TRIMTAB_CALL_xor(order, scope) __scoped_atomic_fetch_xor(at, value, order, scope)
#define TRIMTAB_CALL_min(order, scope) __scoped_atomic_fetch_min(at, value, order, scope)
#define TRIMTAB_CALL_max(order, scope) __scoped_atomic_fetch_max(at, value, order, scope)
TRIMTAB_FETCH(add)
TRIMTAB_FETCH(sub)
TRIMTAB_FETCH(and)
TRIMTAB_FETCH(or)
TRIMTAB_FETCH(xor)
TRIMTAB_FETCH(min)
TRIMTAB_FETCH(max)

#define TRIMTAB_CALL_load(order, scope) __scoped_atomic_load_n(at, order, scope)
template <class T>
TRIMTAB_ATOMIC T __nv_atomic_load_n(T* at, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return TRIMTAB_LOAD_ORDERED(TRIMTAB_CALL_load);
}
#define TRIMTAB_CALL_load_into(order, scope) (__scoped_atomic_load(at, into, order, scope), 0)
template <class T>
TRIMTAB_ATOMIC void __nv_atomic_load(T* at, T* into, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    (void)TRIMTAB_LOAD_ORDERED(TRIMTAB_CALL_load_into);
}
#define TRIMTAB_CALL_store(order, scope) (__scoped_atomic_store_n(at, value, order, scope), 0)
template <class T>
TRIMTAB_ATOMIC void __nv_atomic_store_n(T* at, TRIMTAB_VALUE value, int order,
                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {
    (void)TRIMTAB_STORE_ORDERED(TRIMTAB_CALL_store);
}
#define TRIMTAB_CALL_store_from(order, scope) (__scoped_atomic_store(at, from, order, scope), 0)
template <class T>
TRIMTAB_ATOMIC void __nv_atomic_store(T* at, T* from, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    (void)TRIMTAB_STORE_ORDERED(TRIMTAB_CALL_store_from);
}
#define TRIMTAB_CALL_exchange_n(order, scope) __scoped_atomic_exchange_n(at, value, order, scope)
template <class T>
TRIMTAB_ATOMIC T __nv_atomic_exchange_n(T* at, TRIMTAB_VALUE value, int order,
                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return TRIMTAB_ORDERED(TRIMTAB_CALL_exchange_n);
}
#define TRIMTAB_CALL_exchange(order, scope) (__scoped_atomic_exchange(at, from, into, order, scope), 0)
template <class T>
TRIMTAB_ATOMIC void __nv_atomic_exchange(T* at, T* from, T* into, int order,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM) {
    (void)TRIMTAB_ORDERED(TRIMTAB_CALL_exchange);
}
// A failure is at least as ordered as it was asked to be.
#define TRIMTAB_CALL_compare_n(order, scope) \
    __scoped_atomic_compare_exchange_n(at, expected, wanted, weak, order, __ATOMIC_RELAXED, scope)
#define TRIMTAB_CALL_compare_n_seq(order, scope) \
    __scoped_atomic_compare_exchange_n(at, expected, wanted, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, scope)
template <class T>
TRIMTAB_ATOMIC bool __nv_atomic_compare_exchange_n(T* at, T* expected, TRIMTAB_VALUE wanted, bool weak,
                                                   int order, int failure_order,
                                                   int scope = __NV_THREAD_SCOPE_SYSTEM) {
    if (failure_order == __NV_ATOMIC_RELAXED) return TRIMTAB_ORDERED(TRIMTAB_CALL_compare_n);
    return TRIMTAB_AT_SCOPE(TRIMTAB_CALL_compare_n_seq, __ATOMIC_SEQ_CST);
}
template <class T>
TRIMTAB_ATOMIC bool __nv_atomic_compare_exchange(T* at, T* expected, T* wanted, bool weak, int order,
                                                 int failure_order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_compare_exchange_n(at, expected, *wanted, weak, order, failure_order, scope);
}

static __device__ __forceinline__ void __nv_atomic_thread_fence(int order,
                                                                int scope = __NV_THREAD_SCOPE_SYSTEM) {
    if (order == __NV_ATOMIC_RELAXED || scope == __NV_THREAD_SCOPE_THREAD) return;
    if (scope == __NV_THREAD_SCOPE_BLOCK) {
        __threadfence_block();
    } else if (scope == __NV_THREAD_SCOPE_SYSTEM) {
        __threadfence_system();
    } else {
        __threadfence();
    }
}

#undef TRIMTAB_AT_SCOPE
#undef TRIMTAB_ORDERED
#undef TRIMTAB_LOAD_ORDERED
#undef TRIMTAB_STORE_ORDERED
#undef TRIMTAB_VALUE
#undef TRIMTAB_ATOMIC
#undef TRIMTAB_FETCH
#undef TRIMTAB_CALL_add
#undef TRIMTAB_CALL_sub
#undef TRIMTAB_CALL_and
#undef TRIMTAB_CALL_or
#undef TRIMTAB_CALL_xor
#undef TRIMTAB_CALL_min
#undef TRIMTAB_CALL_max
#undef TRIMTAB_CALL_load
#undef TRIMTAB_CALL_load_into
#undef TRIMTAB_CALL_store
#undef TRIMTAB_CALL_store_from
#undef TRIMTAB_CALL_exchange_n
#undef TRIMTAB_CALL_exchange
#undef TRIMTAB_CALL_compare_n
#undef TRIMTAB_CALL_compare_n_seq
#endif
