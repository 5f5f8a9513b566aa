// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA exports calls twice where they use a default stream: under the plain name for the legacy one, and with
// _ptds or _ptsz for a thread's own. Work runs when it is submitted, so both mean the same here.
#pragma once

// A declaration's name stands bare:
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TRIMTAB_SAME_AS(original, name) \
    extern "C" decltype(original) name __attribute__((alias(#original), visibility("default")))
// NOLINTEND(bugprone-macro-parentheses)
