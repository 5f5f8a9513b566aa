// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix instructions. All lanes take part at once: PTX ISA has them all converged (.aligned).
//
// The order in which a hardware sums is not laid down. Here products are exact, sums are of binary64 and
// rounded once, which is within what the ISA promises.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "emulation/emulator/exec/half.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/matrix_info.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/scalar/function.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

bool is_integer(MatrixElement element) {
    switch (element) {
        case MatrixElement::s8:
        case MatrixElement::u8:
        case MatrixElement::s4:
        case MatrixElement::u4:
        case MatrixElement::b1:
        case MatrixElement::s32:
            return true;
        default:
            return false;
    }
}

double real_value(MatrixElement element, u64 bits) {
    switch (element) {
        case MatrixElement::f16:
            return half_to_real(static_cast<u16>(bits));
        case MatrixElement::bf16:
            return bfloat_to_real(static_cast<u16>(bits));
        case MatrixElement::tf32:  // the 13 lowest bits do not take part
            return std::bit_cast<float>(static_cast<u32>(bits) & 0xffffe000u);
        case MatrixElement::f64:
            return std::bit_cast<double>(bits);
        case MatrixElement::e4m3:
            return fp8_to_real(static_cast<std::uint8_t>(bits), false);
        case MatrixElement::e5m2:
            return fp8_to_real(static_cast<std::uint8_t>(bits), true);
        default:
            return std::bit_cast<float>(static_cast<u32>(bits));
    }
}

s64 integer_value(MatrixElement element, u64 bits) {
    switch (element) {
        case MatrixElement::s8:
            return static_cast<std::int8_t>(bits);
        case MatrixElement::s4:
            return static_cast<s64>(bits << 60) >> 60;
        case MatrixElement::s32:
            return static_cast<std::int32_t>(bits);
        default:
            return static_cast<s64>(bits);
    }
}

// Row after row.
template <class Value>
std::vector<Value> gathered(Warp& w, const Fragment& fragment, const std::vector<OperandRef>& registers) {
    std::vector<Value> out(std::size_t{fragment.rows()} * fragment.columns());
    const unsigned bits = element_bits(fragment.element), packed = fragment.per_register();
    const u64 ones = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
    for (unsigned reg = 0; reg < registers.size(); reg++) {
        for (unsigned lane = 0; lane < warp_lanes; lane++) {
            const u64 raw = fragment.register_bytes() == 8 ? w.lanes<u64>(registers[reg])[lane]
                                                           : w.lanes<u32>(registers[reg])[lane];
            for (unsigned i = 0; i < packed; i++) {
                const auto [row, column] = fragment.place(lane, reg, i);
                const u64 own = (raw >> (bits * i)) & ones;
                Value value{};
                if constexpr (std::is_same_v<Value, double>)
                    value = real_value(fragment.element, own);
                else
                    value = integer_value(fragment.element, own);
                out[std::size_t{row} * fragment.columns() + column] = value;
            }
        }
    }
    return out;
}

u64 stored(const MatrixMultiply& info, double value) {
    switch (info.d.element) {
        case MatrixElement::f16:
            if (info.saturates && !std::isnan(value)) value = std::clamp(value, -65504.0, 65504.0);
            return real_to_half(value);
        case MatrixElement::f64:
            return std::isnan(value) ? 0xfff8000000000000u : std::bit_cast<u64>(value);
        default:
            return std::isnan(value) ? 0x7fffffffu : std::bit_cast<u32>(static_cast<float>(value));
    }
}
u64 stored(const MatrixMultiply& info, s64 value) {
    if (info.saturates) value = std::clamp<s64>(value, INT32_MIN, INT32_MAX);
    return static_cast<u32>(value);
}

template <class Value>
void multiply(Warp& w, const MatrixMultiply& info) {
    const auto a = gathered<Value>(w, info.a, info.a_registers);
    const auto b = gathered<Value>(w, info.b, info.b_registers);
    auto sums = gathered<Value>(w, info.c, info.c_registers);
    const std::size_t m = info.d.shape.m, n = info.d.shape.n, k = info.d.shape.k;
    const bool bits = info.a.element == MatrixElement::b1, fused = info.d.element == MatrixElement::f64;
    for (std::size_t i = 0; i < m; i++) {
        Value* row = sums.data() + i * n;
        for (std::size_t l = 0; l < k; l++) {
            const Value left = a[i * k + l];
            const Value* right = b.data() + l * n;
            if constexpr (std::is_same_v<Value, s64>) {
                for (std::size_t j = 0; bits && j < n; j++)
                    row[j] += info.ands ? left & right[j] : left ^ right[j];
            } else {
                for (std::size_t j = 0; fused && j < n; j++) row[j] = std::fma(left, right[j], row[j]);
            }
            if (bits || fused) continue;
            for (std::size_t j = 0; j < n; j++) row[j] += left * right[j];
        }
    }
    const unsigned packed = info.d.per_register(), width = element_bits(info.d.element);
    for (unsigned reg = 0; reg < info.d_registers.size(); reg++) {
        for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            u64 raw = 0;
            for (unsigned i = 0; i < packed; i++) {
                const auto [row, column] = info.d.place(lane, reg, i);
                raw |= stored(info, sums[row * n + column]) << (width * i);
            }
            if (info.d.register_bytes() == 8)
                w.lanes<u64>(info.d_registers[reg])[lane] = raw;
            else
                w.lanes<u32>(info.d_registers[reg])[lane] = static_cast<u32>(raw);
        }
    }
}

std::byte* host_of(Warp& w, const MemoryInfo& info, LaneAddresses::Shape shape, unsigned lane) {
    if (shape == LaneAddresses::Shape::uniform) return w.at.host;
    if (shape == LaneAddresses::Shape::contiguous) return w.at.host + std::size_t{lane} * info.total_bytes;
    return w.at.of_lane(lane);
}

// Rows of ldmatrix and stmatrix: lane 8 * i + j has the address of row j of matrix i.
template <class Each>
const Op* each_row(Warp& w, const Op* op, Each each) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const unsigned matrices = op->d_bytes;
    const u32 mask = w.mask;
    w.set_mask(matrices == 4 ? all_lanes : (1u << (8 * matrices)) - 1);
    const LaneAddresses::Shape shape = info.resolve(w, op);
    w.set_mask(mask);
    if (shape == LaneAddresses::Shape::fault) return nullptr;
    for (unsigned matrix = 0; matrix < matrices; matrix++) {
        for (unsigned row = 0; row < 8; row++) each(matrix, row, host_of(w, info, shape, 8 * matrix + row));
    }
    return op + 1;
}

}  // namespace

namespace run {

const Op* matrix_multiply(Warp& w, const Op* op) {
    const MatrixMultiply& info = *static_cast<const MatrixMultiply*>(op->info);
    if (is_integer(info.a.element))
        multiply<s64>(w, info);
    else
        multiply<double>(w, info);
    return op + 1;
}

const Op* matrix_address(Warp& w, const Op* op) {
    const MatrixAddresses& info = *static_cast<const MatrixAddresses*>(op->info);
    const u64* base = w.lanes<u64>(op->a);
    const u32* strides = op->b == no_operand ? nullptr : w.lanes<u32>(op->b);
    u64* d = w.lanes<u64>(op->d);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const u64 stride = strides == nullptr ? info.stride : strides[lane];
        const u64 elements = info.line[lane] * stride + info.position[lane];
        if ((w.mask >> lane) & 1u) d[lane] = base[lane] + op->imm + elements * info.bits / 8;
    }
    return op + 1;
}

// d = {a, b, c, e}, the lowest byte of each.
const Op* pack_bytes(Warp& w, const Op* op) {
    u32* d = w.lanes<u32>(op->d);
    const OperandRef from[4] = {op->a, op->b, op->c, op->e};
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        u32 word = 0;
        for (unsigned i = 0; i < 4; i++) word |= (w.lanes<u16>(from[i])[lane] & 0xffu) << (8 * i);
        if ((w.mask >> lane) & 1u) d[lane] = word;
    }
    return op + 1;
}
// The opposite of mov's unpacking: 16-bit registers d, b, c, e from the bytes of a.
const Op* unpack_bytes(Warp& w, const Op* op) {
    const u32* a = w.lanes<u32>(op->a);
    const OperandRef to[4] = {op->d, op->b, op->c, op->e};
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (((w.mask >> lane) & 1u) == 0) continue;
        for (unsigned i = 0; i < 4; i++)
            w.lanes<u16>(to[i])[lane] = static_cast<u16>((a[lane] >> (8 * i)) & 0xff);
    }
    return op + 1;
}

// A lane's register holds two neighbours of row lane / 4, or with .trans of column lane / 4.
const Op* load_matrix(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const bool transposes = op->a_bytes != 0;
    return each_row(w, op, [&](unsigned matrix, unsigned row, const std::byte* host) {
        u16 values[8];
        std::memcpy(values, host, sizeof values);
        auto* d = w.lanes<u16>(info.elements[matrix]);
        for (unsigned column = 0; column < 8; column++) {
            const unsigned line = transposes ? column : row, position = transposes ? row : column;
            const unsigned lane = line * 4 + position / 2;
            if ((w.mask >> lane) & 1u) d[lane * 2 + position % 2] = values[column];
        }
    });
}

const Op* store_matrix(Warp& w, const Op* op) {
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    const bool transposes = op->a_bytes != 0;
    return each_row(w, op, [&](unsigned matrix, unsigned row, std::byte* host) {
        u16 values[8];
        const auto* s = w.lanes<u16>(info.elements[matrix]);
        for (unsigned column = 0; column < 8; column++) {
            const unsigned line = transposes ? column : row, position = transposes ? row : column;
            values[column] = s[(line * 4 + position / 2) * 2 + position % 2];
        }
        std::memcpy(host, values, sizeof values);
    });
}

const Op* transpose_matrix(Warp& w, const Op* op) {
    const u16* a = w.lanes<u16>(op->a);
    u16 turned[2 * warp_lanes];
    for (unsigned row = 0; row < 8; row++) {
        for (unsigned column = 0; column < 8; column++) turned[column * 8 + row] = a[row * 8 + column];
    }
    u16* d = w.lanes<u16>(op->d);
    for (unsigned i = 0; i < 2 * warp_lanes; i++) {
        if ((w.mask >> (i / 2)) & 1u) d[i] = turned[i];
    }
    return op + 1;
}

}  // namespace run
}  // namespace trimtab::emulator
