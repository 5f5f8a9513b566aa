// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the library in CUPTI's place behaves. In a program it is told by STAND_IN_CUPTI_CHIP, STAND_IN_CUPTI_FAILING and
// STAND_IN_CUPTI_ERROR; STAND_IN_CUPTI_LOG names a file that the calls are written to.
#pragma once

#include <cstddef>

struct CuptiScript {
    const char* chip = "TU106";
    std::size_t passes = 3, dropped = 0;
    const char* failing = nullptr;  // the call that answers with `error`
    int error = 0;
};

extern "C" {
using StandInBegin = void (*)(const CuptiScript* with);  // stand_in_begin
using StandInCalls = const char* (*)();                  // stand_in_calls: "initialize chip ..."
}
