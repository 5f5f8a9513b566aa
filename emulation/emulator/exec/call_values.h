// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments and results of calls to functions that the host stands in for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator::run {

// A lane's storage of an argument or result in the caller's frame.
inline std::byte* value_place(Warp& w, const CallValue& value, unsigned lane) {
    if (value.caller_register != no_operand) {
        return w.bases[value.caller_register >> base_shift] +
               (value.caller_register & ((1u << base_shift) - 1)) + std::size_t{lane} * value.register_bytes;
    }
    const FunctionCode& function = *w.frame->function;
    return w.frame->registers + function.register_bytes + std::size_t{lane} * function.parameter_bytes +
           value.caller_offset;
}

inline std::uint64_t argument(Warp& w, const CallInfo& info, std::size_t index, unsigned lane) {
    std::uint64_t value = 0;
    if (index < info.arguments.size()) {
        const std::uint32_t bytes = std::min<std::uint32_t>(info.arguments[index].bytes, sizeof value);
        std::memcpy(&value, value_place(w, info.arguments[index], lane), bytes);
    }
    return value;
}

inline void give_result(Warp& w, const CallInfo& info, unsigned lane, std::uint64_t value) {
    if (info.results.empty()) return;
    std::memcpy(value_place(w, info.results[0], lane), &value,
                std::min<std::uint32_t>(info.results[0].bytes, sizeof value));
}

// device_launches.cpp: HostFunction::get_parameter_buffer and what comes after it.
const Op* call_device_runtime(Warp& w, const Op* op, const CallInfo& info);

}  // namespace trimtab::emulator::run
