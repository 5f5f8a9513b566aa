#include "profiler/evidence/float_atomics.h"

#include <bit>

#include "emulator/exec/warp.h"

namespace trimtab::profiler {

using emulator::LaneAddresses;
using ptx::Type;

namespace {

// The numbers that one element of an atomic's type is; none: whole numbers.
Type number_type(Type type) {
    switch (type) {
        case Type::f32:
        case Type::f64:
        case Type::f16:
        case Type::bf16:
            return type;
        case Type::f16x2:
            return Type::f16;
        case Type::bf16x2:
            return Type::bf16;
        default:
            return Type::none;
    }
}

}  // namespace

LaneAddresses::Shape FloatAtomics::accesses(emulator::Warp& w, const emulator::Op* op,
                                            LaneAddresses::Shape shape) {
    const auto& info = *static_cast<const emulator::MemoryInfo*>(op->info);
    const Type number = info.is_atomic ? number_type(info.type) : Type::none;
    if (number == Type::none || info.space == ptx::Space::shared) return shape;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        std::uint64_t address = w.at.first;
        if (w.at.is_apart)
            address = w.at.seen[lane];
        else if (shape == LaneAddresses::Shape::scattered)
            address = w.at.address[lane];
        else if (shape == LaneAddresses::Shape::contiguous)
            address += std::uint64_t{lane} * info.total_bytes;
        for (std::uint32_t at = 0; at < info.total_bytes; at += ptx::size_bytes(number))
            places_[address + at] = number;
    }
    return shape;
}

}  // namespace trimtab::profiler
