// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Video instructions, lane by lane: no GPU since Kepler runs them fast, and they are as rare in programs.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/ptx/comparison.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/video_info.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator {
namespace {

using ptx::Opcode;
using VideoOperation = VideoInfo::Operation;
using Second = VideoInfo::Second;
using u32 = std::uint32_t;
using s64 = std::int64_t;
using Wide = __int128;

struct Kind {
    VideoOperation operation;
    std::uint8_t parts;
};

std::optional<Kind> kind_of(Opcode opcode) {
    switch (opcode) {
        case Opcode::vadd:
            return Kind{VideoOperation::add, 1};
        case Opcode::vsub:
            return Kind{VideoOperation::subtract, 1};
        case Opcode::vabsdiff:
            return Kind{VideoOperation::absolute_difference, 1};
        case Opcode::vmin:
            return Kind{VideoOperation::minimum, 1};
        case Opcode::vmax:
            return Kind{VideoOperation::maximum, 1};
        case Opcode::vset:
            return Kind{VideoOperation::compare, 1};
        case Opcode::vshl:
            return Kind{VideoOperation::shift_left, 1};
        case Opcode::vshr:
            return Kind{VideoOperation::shift_right, 1};
        case Opcode::vmad:
            return Kind{VideoOperation::multiply_add, 1};
        case Opcode::vadd2:
            return Kind{VideoOperation::add, 2};
        case Opcode::vsub2:
            return Kind{VideoOperation::subtract, 2};
        case Opcode::vavrg2:
            return Kind{VideoOperation::average, 2};
        case Opcode::vabsdiff2:
            return Kind{VideoOperation::absolute_difference, 2};
        case Opcode::vmin2:
            return Kind{VideoOperation::minimum, 2};
        case Opcode::vmax2:
            return Kind{VideoOperation::maximum, 2};
        case Opcode::vset2:
            return Kind{VideoOperation::compare, 2};
        case Opcode::vadd4:
            return Kind{VideoOperation::add, 4};
        case Opcode::vsub4:
            return Kind{VideoOperation::subtract, 4};
        case Opcode::vavrg4:
            return Kind{VideoOperation::average, 4};
        case Opcode::vabsdiff4:
            return Kind{VideoOperation::absolute_difference, 4};
        case Opcode::vmin4:
            return Kind{VideoOperation::minimum, 4};
        case Opcode::vmax4:
            return Kind{VideoOperation::maximum, 4};
        case Opcode::vset4:
            return Kind{VideoOperation::compare, 4};
        default:
            return std::nullopt;
    }
}

// "b2" or "h1" of a scalar instruction: bits and place.
bool scalar_part(std::string_view text, std::uint8_t& bits, std::uint8_t& part) {
    if (text.empty()) return true;
    if (text.size() != 2 || (text[0] != 'b' && text[0] != 'h')) return false;
    bits = text[0] == 'b' ? 8 : 16;
    part = static_cast<std::uint8_t>(text[1] - '0');
    return part < 32 / bits;
}

// "h10" or "b7654" of a SIMD instruction: the last digit says where part 0 comes from.
bool simd_parts(std::string_view text, unsigned parts, std::array<std::uint8_t, 4>& out) {
    if (text.empty()) return true;
    if (text.size() != parts + 1 || text[0] != (parts == 2 ? 'h' : 'b')) return false;
    for (unsigned i = 0; i < parts; i++) {
        const int digit = text[parts - i] - '0';
        if (digit < 0 || digit >= static_cast<int>(2 * parts)) return false;
        out[i] = static_cast<std::uint8_t>(digit);
    }
    return true;
}

bool simd_mask(std::string_view text, unsigned parts, std::uint8_t& mask) {
    mask = static_cast<std::uint8_t>((1u << parts) - 1);
    if (text.empty()) return true;
    if (text[0] != (parts == 2 ? 'h' : 'b')) return false;
    mask = 0;
    for (const char c : text.substr(1)) {
        if (c < '0' || c >= static_cast<char>('0' + static_cast<int>(parts))) return false;
        mask = static_cast<std::uint8_t>(mask | 1u << (c - '0'));
    }
    return mask != 0;
}

s64 part_of(std::uint64_t pool, unsigned bits, unsigned part, bool is_signed) {
    const std::uint64_t value = pool >> (bits * part);
    if (is_signed) return static_cast<s64>(value << (64 - bits)) >> (64 - bits);
    return static_cast<s64>((value << (64 - bits)) >> (64 - bits));
}

Wide computed(const VideoInfo& info, s64 a, s64 b) {
    const u32 amount = info.wraps ? static_cast<u32>(b) & 31 : std::min<u32>(static_cast<u32>(b), 32);
    switch (info.operation) {
        case VideoOperation::add:
            return Wide{a} + b;
        case VideoOperation::subtract:
            return Wide{a} - b;
        case VideoOperation::absolute_difference:
            return std::abs(a - b);
        case VideoOperation::minimum:
            return std::min(a, b);
        case VideoOperation::maximum:
            return std::max(a, b);
        case VideoOperation::average:
            return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
        case VideoOperation::compare:
            return ptx::holds(info.comparison, a, b) ? 1 : 0;
        case VideoOperation::shift_left:
            return Wide{a} << amount;
        case VideoOperation::shift_right:
            return Wide{a} >> amount;
        case VideoOperation::multiply_add:
            break;
    }
    return 0;
}

Wide saturated(Wide value, unsigned bits, bool is_signed) {
    const Wide highest = (Wide{1} << (is_signed ? bits - 1 : bits)) - 1;
    return std::clamp(value, is_signed ? -highest - 1 : Wide{0}, highest);
}

u32 multiply_add(const VideoInfo& info, s64 a, s64 b, u32 c) {
    const bool is_signed = info.a_signed || info.b_signed || info.negate_product || info.negate_c;
    Wide sum = Wide{a} * b;
    Wide third = is_signed ? Wide{static_cast<std::int32_t>(c)} : Wide{c};
    if (info.plus_one)
        sum += 1;
    else if (info.negate_product)
        sum = -sum;
    else if (info.negate_c)
        third = -third;
    sum = (sum + third) >> info.scale;
    if (info.saturates) sum = saturated(sum, 32, is_signed);
    return static_cast<u32>(sum);
}

u32 scalar(const VideoInfo& info, u32 x, u32 y, u32 c) {
    const s64 a = part_of(x, info.a_bits, info.a_parts[0], info.a_signed);
    const s64 b = part_of(y, info.b_bits, info.b_parts[0], info.b_signed);
    if (info.operation == VideoOperation::multiply_add) return multiply_add(info, a, b, c);
    Wide result = computed(info, a, b);
    if (info.saturates) result = saturated(result, info.part_bits, info.d_signed);
    const u32 value = static_cast<u32>(result);
    const auto below = [&](u32 p, u32 q) {
        return info.d_signed ? static_cast<std::int32_t>(p) < static_cast<std::int32_t>(q) : p < q;
    };
    switch (info.second) {
        case Second::add:
            return value + c;
        case Second::minimum:
            return below(value, c) ? value : c;
        case Second::maximum:
            return below(c, value) ? value : c;
        case Second::merge: {
            const u32 ones = info.part_bits == 32 ? ~0u : (1u << info.part_bits) - 1;
            const unsigned shift = info.part_bits * info.d_parts;
            return (c & ~(ones << shift)) | ((value & ones) << shift);
        }
        default:
            return value;
    }
}

}  // namespace

std::optional<VideoInfo> video_info(const ptx::Instruction& instruction) {
    const auto kind = kind_of(instruction.opcode);
    const auto sources = instruction.sources();
    if (!kind || instruction.destination_count != 1 || sources.size() < 2 || sources.size() > 3)
        return std::nullopt;
    const bool compares = kind->operation == VideoOperation::compare;
    VideoInfo info;
    info.operation = kind->operation;
    info.parts = kind->parts;
    info.comparison = instruction.modifiers.comparison;
    info.saturates = instruction.modifiers.sat;
    info.wraps = instruction.modifiers.wrap;
    info.a_signed = ptx::is_signed(compares ? instruction.type : instruction.source_type);
    info.d_signed = !compares && ptx::is_signed(instruction.type);
    unsigned types = 0;
    for (const std::string& suffix : instruction.suffixes) {
        if (suffix == "u32" || suffix == "s32") {
            if (++types == (compares ? 2u : 3u)) info.b_signed = suffix == "s32";
        }
        if (suffix == "add") info.second = Second::add;
        if (suffix == "min") info.second = Second::minimum;
        if (suffix == "max") info.second = Second::maximum;
        if (suffix == "po") info.plus_one = true;
        if (suffix == "shr7") info.scale = 7;
        if (suffix == "shr15") info.scale = 15;
    }
    if (compares && info.comparison == ptx::Comparison::none) return std::nullopt;
    const ptx::Operand& d = instruction.operands[0];
    if (info.parts == 1) {
        if (!scalar_part(sources[0].text, info.a_bits, info.a_parts[0]) ||
            !scalar_part(sources[1].text, info.b_bits, info.b_parts[0])) {
            return std::nullopt;
        }
        if (info.operation == VideoOperation::multiply_add) {
            info.negate_product = sources[0].negated != sources[1].negated;
            info.negate_c = sources.size() == 3 && sources[2].negated;
            return sources.size() == 3 ? std::optional(info) : std::nullopt;
        }
        if (!d.text.empty()) {
            if (!scalar_part(d.text, info.part_bits, info.d_parts)) return std::nullopt;
            info.second = Second::merge;
        }
        if ((info.second != Second::none) != (sources.size() == 3)) return std::nullopt;
        return info;
    }
    info.part_bits = static_cast<std::uint8_t>(32 / info.parts);
    for (unsigned i = 0; i < info.parts; i++) {
        info.a_parts[i] = static_cast<std::uint8_t>(i);
        info.b_parts[i] = static_cast<std::uint8_t>(info.parts + i);
    }
    if (sources.size() != 3 || !simd_parts(sources[0].text, info.parts, info.a_parts) ||
        !simd_parts(sources[1].text, info.parts, info.b_parts) ||
        !simd_mask(d.text, info.parts, info.d_parts)) {
        return std::nullopt;
    }
    return info;
}

std::uint32_t run_video(const VideoInfo& info, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (info.parts == 1) return scalar(info, a, b, c);
    const std::uint64_t pool = (std::uint64_t{b} << 32) | a;
    const u32 ones = (1u << info.part_bits) - 1;
    u32 out = c;
    for (unsigned i = 0; i < info.parts; i++) {
        if (((info.d_parts >> i) & 1u) == 0) continue;
        Wide value = computed(info, part_of(pool, info.part_bits, info.a_parts[i], info.a_signed),
                              part_of(pool, info.part_bits, info.b_parts[i], info.b_signed));
        if (info.saturates) value = saturated(value, info.part_bits, info.d_signed);
        const u32 bits = static_cast<u32>(value) & ones;
        if (info.second == Second::add) {
            out += static_cast<u32>(part_of(bits, info.part_bits, 0, info.d_signed));
        } else {
            out = (out & ~(ones << (info.part_bits * i))) | bits << (info.part_bits * i);
        }
    }
    return out;
}

namespace run {

const Op* video(Warp& w, const Op* op) {
    const VideoInfo& info = *static_cast<const VideoInfo*>(op->info);
    const u32* a = w.lanes<u32>(op->a);
    const u32* b = w.lanes<u32>(op->b);
    const u32* c = op->c == no_operand ? nullptr : w.lanes<u32>(op->c);
    u32* d = w.lanes<u32>(op->d);
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if ((w.mask >> lane) & 1u) d[lane] = run_video(info, a[lane], b[lane], c == nullptr ? 0 : c[lane]);
    }
    return op + 1;
}

}  // namespace run
}  // namespace trimtab::emulator
