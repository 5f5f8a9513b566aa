// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel description's lookups, and D at one launch.
#include "core/analysis/launches/description.h"

#include <cstring>

#include "core/analysis/launches/operation.h"

namespace trimtab::analysis {
namespace {

// Integers beyond 2^53 lose their last bits as doubles: no data size is that large.
double number(std::span<const std::byte> bytes, ptx::Type type) {
    if (type == ptx::Type::f32) {
        float value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    if (type == ptx::Type::f64) {
        double value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data(), bytes.size());  // both sides are little-endian
    const unsigned width = width_bits(type);
    return is_signed_type(type) ? static_cast<double>(sign_extend(bits, width)) : static_cast<double>(bits);
}

std::size_t size_of(ptx::Type type) {
    if (type == ptx::Type::f32) return 4;
    if (type == ptx::Type::f64) return 8;
    return width_bits(type) / 8;
}

}  // namespace

std::string_view name(Verdict verdict) {
    switch (verdict) {
        case Verdict::covering:
            return "covering";
        case Verdict::dividing:
            return "dividing";
        case Verdict::annotated:
            return "annotated";
        case Verdict::fixed:
            return "fixed";
    }
    return "fixed";
}

std::vector<std::uint32_t> KernelDescription::parameter_offsets() const {
    std::vector<std::uint32_t> offsets;
    offsets.reserve(parameters.size());
    for (const KernelParameter& parameter : parameters) offsets.push_back(parameter.offset);
    return offsets;
}

std::array<std::uint64_t, 3> KernelDescription::counted_extent(trimtab_dim3 grid, trimtab_dim3 block) const {
    const auto along = [this](std::size_t d, std::uint64_t blocks, std::uint64_t threads) {
        return grid_stays(d) ? blocks : blocks * threads;
    };
    return {along(0, grid.x, block.x), along(1, grid.y, block.y), along(2, grid.z, block.z)};
}

std::optional<std::size_t> KernelDescription::data_index(std::string_view wanted) const {
    for (std::size_t i = 0; i < data.size(); i++)
        if (data[i].name == wanted) return i;
    return std::nullopt;
}

std::vector<double> data_values(const KernelDescription& description, ArgumentBytes arguments,
                                const std::array<std::uint64_t, 3>& extent) {
    std::vector<double> values;
    values.reserve(description.data.size());
    for (const DataParameter& parameter : description.data) {
        if (parameter.is_extent) {
            values.push_back(static_cast<double>(extent[static_cast<std::size_t>(parameter.dimension)]));
            continue;
        }
        const auto type = type_from_name(parameter.type).value_or(ptx::Type::u32);
        const std::size_t size = size_of(type);
        const std::size_t at =
            parameter.parameter < description.parameters.size()
                ? std::size_t{description.parameters[parameter.parameter].offset} + parameter.offset
                : arguments.size();
        const bool inside = size != 0 && at <= arguments.size() && arguments.size() - at >= size;
        values.push_back(inside ? number(arguments.subspan(at, size), type) : 0.0);
    }
    return values;
}

}  // namespace trimtab::analysis
