// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/register_copies.h"

#include <bit>
#include <cstring>

namespace trimtab::emulator::jit {
namespace {

#if defined(__x86_64__)
#define TRIMTAB_WIDE __attribute__((target("avx2")))  // there is no compiled code without it
#else
#define TRIMTAB_WIDE
#endif

// Paths of so few lanes are copied lane by lane.
constexpr int few_lanes = 6;

template <class T>
TRIMTAB_WIDE void merge(T* __restrict to, const T* __restrict from, std::uint32_t lanes) {
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const T mask = static_cast<T>(T{0} - static_cast<T>((lanes >> lane) & 1));
        to[lane] = static_cast<T>((from[lane] & mask) | (to[lane] & static_cast<T>(~mask)));
    }
}

template <class F>
void visit(std::uint32_t lanes, const F& f) {
    if (lanes == all_lanes) {
        for (unsigned lane = 0; lane < warp_lanes; lane++) f(lane);
        return;
    }
    for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

template <class T>
void save(std::byte* frame, std::uint32_t lanes, const std::byte* from, const RegisterCopy& copy,
          const std::byte* copies) {
    T* const to = reinterpret_cast<T*>(frame);
    if (copy.kind == RegisterCopy::Kind::general) {
        if (lanes == all_lanes)
            std::memcpy(to, from, sizeof(T) * warp_lanes);
        else if (std::popcount(lanes) > few_lanes)
            merge(to, reinterpret_cast<const T*>(from), lanes);
        else
            visit(lanes, [&](unsigned lane) { to[lane] = reinterpret_cast<const T*>(from)[lane]; });
        return;
    }
    T one;
    std::memcpy(&one, from, sizeof one);
    if (copy.kind == RegisterCopy::Kind::uniform) {
        visit(lanes, [&](unsigned lane) { to[lane] = one; });
        return;
    }
    const auto* offsets = reinterpret_cast<const std::uint64_t*>(copies + copy.pattern);
    if (copy.kind == RegisterCopy::Kind::pattern) {
        visit(lanes, [&](unsigned lane) { to[lane] = static_cast<T>(one + static_cast<T>(offsets[lane])); });
        return;
    }
    visit(lanes, [&](unsigned lane) {
        std::memcpy(&one, from + lane / copy.run_lanes * sizeof one, sizeof one);
        to[lane] = static_cast<T>(one + static_cast<T>(offsets[lane]));
    });
}

template <class T>
void restore(const std::byte* frame, std::uint32_t lanes, std::byte* to, const RegisterCopy& copy,
             const std::byte* copies) {
    if (copy.kind == RegisterCopy::Kind::general) {
        std::memcpy(to, frame, sizeof(T) * warp_lanes);
        return;
    }
    const auto first_of = [&](std::uint32_t of) {
        const auto lane = static_cast<unsigned>(std::countr_zero(of));
        const T one = reinterpret_cast<const T*>(frame)[lane];
        if (copy.kind == RegisterCopy::Kind::uniform) return one;
        const auto* offsets = reinterpret_cast<const std::uint64_t*>(copies + copy.pattern);
        return static_cast<T>(one - static_cast<T>(offsets[lane]));
    };
    const unsigned run_lanes = copy.kind == RegisterCopy::Kind::runs ? copy.run_lanes : warp_lanes;
    for (unsigned lane = 0; lane < warp_lanes; lane += run_lanes) {
        const std::uint32_t own = lanes & ((all_lanes >> (warp_lanes - run_lanes)) << lane);
        // Of a run without a lane on the path, nobody needs anything.
        const T one = first_of(own != 0 ? own : lanes);
        std::memcpy(to + lane / run_lanes * sizeof one, &one, sizeof one);
    }
}

void save_predicate(std::byte* frame, std::uint32_t lanes, const std::byte* from, const RegisterCopy& copy) {
    auto& to = *reinterpret_cast<std::uint32_t*>(frame);
    std::uint32_t bits = 0;
    if (copy.kind == RegisterCopy::Kind::general)
        std::memcpy(&bits, from, sizeof bits);
    else if ((*from & std::byte{1}) != std::byte{0})
        bits = all_lanes;
    to = (bits & lanes) | (to & ~lanes);
}

void restore_predicate(const std::byte* frame, std::uint32_t lanes, std::byte* to, const RegisterCopy& copy) {
    const auto bits = *reinterpret_cast<const std::uint32_t*>(frame);
    if (copy.kind == RegisterCopy::Kind::general)
        std::memcpy(to, &bits, sizeof bits);
    else
        *to = static_cast<std::byte>((bits >> std::countr_zero(lanes)) & 1);
}

}  // namespace

void save_registers(std::byte* frame, std::uint32_t lanes, const std::byte* room, const RegisterCopy* copies,
                    const std::uint32_t* list) noexcept {
    const auto* base = reinterpret_cast<const std::byte*>(copies);
    for (std::uint32_t i = 1; i <= list[0]; i++) {
        const RegisterCopy& copy = copies[list[i]];
        std::byte* const to = frame + copy.frame_offset;
        const std::byte* const from = room + copy.room_offset;
        if (copy.bytes == 8)
            save<std::uint64_t>(to, lanes, from, copy, base);
        else if (copy.bytes == 4)
            save<std::uint32_t>(to, lanes, from, copy, base);
        else if (copy.bytes == 2)
            save<std::uint16_t>(to, lanes, from, copy, base);
        else
            save_predicate(to, lanes, from, copy);
    }
}

void restore_registers(const std::byte* frame, std::uint32_t lanes, std::byte* room,
                       const RegisterCopy* copies, const std::uint32_t* list) noexcept {
    const auto* base = reinterpret_cast<const std::byte*>(copies);
    for (std::uint32_t i = 1; i <= list[0]; i++) {
        const RegisterCopy& copy = copies[list[i]];
        const std::byte* const from = frame + copy.frame_offset;
        std::byte* const to = room + copy.room_offset;
        if (copy.bytes == 8)
            restore<std::uint64_t>(from, lanes, to, copy, base);
        else if (copy.bytes == 4)
            restore<std::uint32_t>(from, lanes, to, copy, base);
        else if (copy.bytes == 2)
            restore<std::uint16_t>(from, lanes, to, copy, base);
        else
            restore_predicate(from, lanes, to, copy);
    }
}

}  // namespace trimtab::emulator::jit
