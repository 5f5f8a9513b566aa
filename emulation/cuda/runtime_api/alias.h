// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA exports calls twice where they use a default stream: under the plain name for the legacy one, and with
// _ptds or _ptsz for a thread's own. Work runs when it is submitted, so both mean the same here.
#pragma once

// A declaration's name stands bare:
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TRIMTAB_SAME_AS(original, name) \
    extern "C" decltype(original) name __attribute__((alias(#original), visibility("default")))

// A transfer that the host waits for, and the same in a stream, under all of their names. `does` is an expression of their
// parameters and of `order` (emulation/cuda/transfer.h).
#define TRIMTAB_TRANSFER(result, name, async_name, does, ...) \
    result name(__VA_ARGS__) {                                \
        const trimtab::cuda::Order order;                     \
        return does;                                          \
    }                                                         \
    TRIMTAB_SAME_AS(name, name##_ptds);                       \
    result async_name(__VA_ARGS__, cudaStream_t stream) {     \
        const trimtab::cuda::Order order{stream, false};      \
        return does;                                          \
    }                                                         \
    TRIMTAB_SAME_AS(async_name, async_name##_ptsz)
// NOLINTEND(bugprone-macro-parentheses)
