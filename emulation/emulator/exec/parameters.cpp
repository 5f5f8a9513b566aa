// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld.param and st.param of functions: values that travel through the frame's parameter storage.
#include <bit>
#include <cstring>

#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator::run {
namespace {

template <class R>
void load_lanes(Warp& w, const Op* op, const MemoryInfo& info, const std::byte* storage, std::size_t stride) {
    const unsigned shift = 64 - 8u * info.element_bytes;
    for (unsigned element = 0; element < info.element_count; element++) {
        if (info.elements[element] == no_operand) continue;
        R* d = w.lanes<R>(info.elements[element]);
        for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            std::uint64_t value = 0;
            std::memcpy(&value, storage + lane * stride + element * info.element_bytes, info.element_bytes);
            if (op->a_bytes != 0)
                value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
            d[lane] = static_cast<R>(value);
        }
    }
}

template <class R>
void store_lanes(Warp& w, const MemoryInfo& info, std::byte* storage, std::size_t stride) {
    for (unsigned element = 0; element < info.element_count; element++) {
        if (info.elements[element] == no_operand) continue;
        const R* s = w.lanes<R>(info.elements[element]);
        for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            std::memcpy(storage + lane * stride + element * info.element_bytes, &s[lane], info.element_bytes);
        }
    }
}

std::byte* storage_of(Warp& w, const Op* op) {
    return w.frame->registers + w.frame->function->register_bytes + op->imm;
}

}  // namespace

const Op* load_parameter(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const std::size_t stride = w.frame->function->parameter_bytes;
    switch (op->d_bytes) {
        case 2:
            load_lanes<std::uint16_t>(w, op, info, storage_of(w, op), stride);
            break;
        case 4:
            load_lanes<std::uint32_t>(w, op, info, storage_of(w, op), stride);
            break;
        default:
            load_lanes<std::uint64_t>(w, op, info, storage_of(w, op), stride);
            break;
    }
    return op + 1;
}

const Op* store_parameter(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const std::size_t stride = w.frame->function->parameter_bytes;
    switch (op->d_bytes) {
        case 2:
            store_lanes<std::uint16_t>(w, info, storage_of(w, op), stride);
            break;
        case 4:
            store_lanes<std::uint32_t>(w, info, storage_of(w, op), stride);
            break;
        default:
            store_lanes<std::uint64_t>(w, info, storage_of(w, op), stride);
            break;
    }
    return op + 1;
}

const Op* spill_parameter(Warp& w, const Op* op) {
    const auto& spill = *static_cast<const CallValue*>(op->info);
    const std::size_t stride = w.frame->function->parameter_bytes;
    const std::byte* from = w.frame->registers + w.frame->function->register_bytes + spill.caller_offset;
    std::byte* to = w.local.data() + w.frame->local_base + spill.callee_offset;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        std::memcpy(to + std::size_t{lane} * w.local_stride, from + lane * stride, spill.bytes);
    }
    return op + 1;
}

}  // namespace trimtab::emulator::run
