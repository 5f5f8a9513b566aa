// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/ptx_costs.h"

#include <algorithm>

#include "core/ptx/opcodes.h"

namespace trimtab::schedule {

namespace {

using ptx::Opcode;
using ptx::Type;

// Sequences that the machine needs where PTX has one instruction, estimated from the usual algorithms (Newton's
// steps on an approximate reciprocal): slots of the pipe and of the special-function unit. What the chain takes beyond
// one instruction's latency is the architecture's.
struct Sequence {
    float slots = 1, special = 0;
    // Of 32-bit integers the chain is a conversion, a reciprocal and a conversion, which the special function unit runs; of
    // others it is Newton's steps, on the pipe of the operands.
    bool waits_for_special = false;
    model::Sourced model::Architecture::* added_latency = &model::Architecture::added_approximation_cycles;
};
using A = model::Architecture;
constexpr Sequence divide_i32{18, 1, true, &A::added_divide_i32_cycles},
    divide_i64{80, 2, false, &A::added_divide_i64_cycles},
    divide_f32{8, 1, false, &A::added_divide_f32_cycles},
    divide_f64{9, 1, false, &A::added_divide_f64_cycles}, root_f32{7, 1, false, &A::added_root_f32_cycles},
    root_f64{9, 1, false, &A::added_root_f64_cycles},
    reciprocal_f32{4, 1, false, &A::added_reciprocal_f32_cycles},
    approximation{1, 1, false, &A::added_approximation_cycles},
    approximate_root{1, 2, false, &A::added_approximation_cycles};

void take(Instruction& out, Resource resource, const Sequence& sequence, const CostSettings& settings) {
    out.resource = resource;
    out.slots = sequence.slots;
    out.second = Resource::special_function;
    out.second_slots = sequence.special;
    out.waits_for_second = sequence.waits_for_special;
    out.extra_latency_cycles = static_cast<float>((settings.architecture.*sequence.added_latency).value);
}

Resource arithmetic(Type type) {
    switch (ptx::element_of(type)) {
        case Type::f32:
        case Type::tf32:
            return Resource::fp32;
        case Type::f64:
            return Resource::fp64;
        case Type::f16:
        case Type::bf16:
            return Resource::fp16;
        default:
            return Resource::integer;
    }
}

bool is_approximate(const ptx::Instruction& i) {
    return i.modifiers.rounding == ptx::Rounding::approx || i.modifiers.rounding == ptx::Rounding::full ||
           ptx::has(i, "approx") || ptx::has(i, "full");
}

void compute(Instruction& out, const ptx::Instruction& i, const CostSettings& settings) {
    out.resource = arithmetic(i.type);
    const bool is_integer = out.resource == Resource::integer;
    const unsigned bytes = ptx::size_bytes(i.type);
    if (is_integer && bytes == 8) out.slots = 2;  // two instructions of 32 bits
    switch (i.opcode) {
        case Opcode::mul:
        case Opcode::mad:
            if (!is_integer) break;
            out.slots = static_cast<float>(settings.architecture.integer_multiply_slots.value);
            if (i.modifiers.multiply_part != ptx::MultiplyPart::wide && bytes == 8) out.slots *= 4;
            break;
        case Opcode::div:
        case Opcode::rem:
            if (is_integer)
                take(out, Resource::integer, bytes == 8 ? divide_i64 : divide_i32, settings);
            else if (out.resource == Resource::fp64)
                take(out, Resource::fp64, divide_f64, settings);
            else
                take(out, Resource::fp32, is_approximate(i) ? approximation : divide_f32, settings);
            break;
        case Opcode::sqrt:
        case Opcode::rcp:
        case Opcode::rsqrt:
            if (i.type == Type::f64)
                take(out, Resource::fp64, root_f64, settings);
            else if (is_approximate(i))
                take(out, Resource::fp32, i.opcode == Opcode::sqrt ? approximate_root : approximation,
                     settings);
            else
                take(out, Resource::fp32, i.opcode == Opcode::sqrt ? root_f32 : reciprocal_f32, settings);
            break;
        case Opcode::sin:
        case Opcode::cos:
        case Opcode::ex2:
        case Opcode::lg2:
        case Opcode::tanh:
            take(out, Resource::fp32, approximation, settings);  // its argument is brought into range first
            break;
        default:
            break;
    }
}

// Copies that the machine's code does not have, or has as parts of others.
bool is_free(const ptx::Instruction& i) {
    switch (i.opcode) {
        case Opcode::mov:
        case Opcode::cvta:
            return true;
        case Opcode::cvt: {
            // A wider or narrower integer of the same bits: at most a choice of registers.
            const bool integers = !ptx::is_float(i.type) && !ptx::is_float(i.source_type);
            return integers &&
                   (ptx::size_bytes(i.type) <= ptx::size_bytes(i.source_type) ||
                    !ptx::is_signed(i.source_type)) &&
                   ptx::size_bytes(i.type) >= 4;
        }
        case Opcode::ld:
        case Opcode::ldu: {
            // Parameters, and constants at known places, are operands of the instructions that use them.
            const auto space = i.modifiers.space;
            if (space == ptx::Space::param) return true;
            return space == ptx::Space::constant && i.sources().front().reg == ptx::no_index;
        }
        default:
            return false;
    }
}

void access(Instruction& out, const ptx::Instruction& i, const CostSettings& settings) {
    const auto opcode_class = ptx::info(i.opcode).opcode_class;
    const bool stores = opcode_class == ptx::OpcodeClass::store;
    // 32 lanes of 4 bytes pass at once; wider ones in parts.
    const unsigned bytes =
        std::max(1u, ptx::size_bytes(i.type)) * std::max<unsigned>(1, i.modifiers.vector_width);
    out.slots = static_cast<float>(std::max(1u, bytes / 4));
    out.resource = Resource::load_store;
    out.ends_when_issued = stores || i.destination_count == 0;
    switch (i.modifiers.space) {
        case ptx::Space::shared:
        case ptx::Space::shared_cluster:
            out.kind = Kind::shared;
            out.slots = 1;  // its passes are counted
            out.has_request = true;
            return;
        case ptx::Space::local:
            out.kind = Kind::local;
            out.has_request = true;
            return;
        case ptx::Space::param:
            out.kind = stores ? Kind::free : Kind::constant;
            return;
        case ptx::Space::constant:
            out.kind = Kind::constant;
            out.resource = Resource::constant;
            return;
        default:
            break;
    }
    out.has_request = true;
    out.kind = opcode_class == ptx::OpcodeClass::atomic ? Kind::atomic : stores ? Kind::store : Kind::load;
    const auto cache = i.modifiers.cache;
    const bool bypasses = cache == ptx::CacheOp::cg || cache == ptx::CacheOp::cv ||
                          i.modifiers.semantics != ptx::MemorySemantics::weak;
    // What is read-only may be cached near the SM on every architecture.
    out.caches_in_l1 = !bypasses && (settings.l1_caches_loads || i.modifiers.nc ||
                                     cache == ptx::CacheOp::ca || i.opcode == Opcode::ldu);
}

}  // namespace

Instruction cost_of(const ptx::Instruction& i, const CostSettings& settings) {
    Instruction out;
    if (is_free(i)) {
        out.kind = Kind::free;
        return out;
    }
    if (i.opcode == Opcode::mma || i.opcode == Opcode::wmma || i.opcode == Opcode::wgmma) {
        // wmma's loads and stores of fragments go through the memory's entrance.
        const bool moves = ptx::has(i, "load") || ptx::has(i, "store");
        out.resource = moves ? Resource::load_store : Resource::tensor;
        if (moves) out.slots = 8;
        return out;
    }
    const ptx::OpcodeInfo& info = ptx::info(i.opcode);
    switch (info.opcode_class) {
        case ptx::OpcodeClass::load:
        case ptx::OpcodeClass::store:
        case ptx::OpcodeClass::atomic:
            if (i.opcode == Opcode::ldmatrix || i.opcode == Opcode::stmatrix) break;
            access(out, i, settings);
            return out;
        case ptx::OpcodeClass::texture:
        case ptx::OpcodeClass::surface_load:
            out.resource = Resource::texture;
            return out;
        case ptx::OpcodeClass::surface_store:
        case ptx::OpcodeClass::copy:
            out.resource = Resource::load_store;
            return out;
        case ptx::OpcodeClass::hint:
            out.kind = Kind::free;
            return out;
        default:
            break;
    }
    switch (info.pipe) {
        case ptx::Pipe::control:
            out.resource = Resource::branch;
            break;
        case ptx::Pipe::barrier:
            out.resource = Resource::barrier;
            if (i.opcode == Opcode::bar || i.opcode == Opcode::barrier)
                out.kind = ptx::has(i, "arrive") || ptx::has(i, "warp") ? Kind::arithmetic : Kind::barrier;
            break;
        case ptx::Pipe::warp_collective:
            out.resource = Resource::collective;
            break;
        case ptx::Pipe::conversion:
            // Between integers it is a shift or a mask.
            out.resource = ptx::is_float(i.type) || ptx::is_float(i.source_type) ? Resource::conversion
                                                                                 : Resource::integer;
            break;
        default:
            compute(out, i, settings);
            break;
    }
    return out;
}

}  // namespace trimtab::schedule
