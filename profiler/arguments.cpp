// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace trimtab::profiler {

namespace {

using analysis::DataParameter;
using analysis::KernelDescription;
using analysis::KernelParameter;

// "s32" -> 32; 0 where it ends in no number.
unsigned type_bits(std::string_view type) {
    const std::size_t digit = type.find_first_of("0123456789");
    unsigned bits = 0;
    if (digit != std::string_view::npos)
        std::from_chars(type.data() + digit, type.data() + type.size(), bits);
    return bits;
}

void write(std::vector<std::byte>& bytes, std::size_t offset, const void* value, std::size_t size) {
    if (offset + size <= bytes.size()) std::memcpy(bytes.data() + offset, value, size);
}

void write_number(std::vector<std::byte>& bytes, std::size_t offset, std::string_view type, double value) {
    const unsigned bits = type_bits(type);
    if (type.starts_with('f')) {
        if (bits == 64) {
            write(bytes, offset, &value, 8);
        } else if (bits == 32) {
            const auto single = static_cast<float>(value);
            write(bytes, offset, &single, 4);
        } else {
            const std::uint16_t one = 0x3c00;  // half precision
            write(bytes, offset, &one, 2);
        }
        return;
    }
    const auto integer = static_cast<std::int64_t>(std::llround(value));
    write(bytes, offset, &integer, std::min<std::size_t>(8, bits / 8));  // little-endian, as PTX is
}

Fill fill_of(std::string_view pointee) {
    if (pointee.contains("double")) return Fill::f64;
    if (pointee.contains("half")) return Fill::f16;
    if (pointee.empty() || pointee.contains("float")) return Fill::f32;
    return Fill::integer;
}

std::uint32_t pointee_bytes(std::string_view pointee) {
    constexpr std::array<std::pair<std::string_view, std::uint32_t>, 9> sizes{{{"double", 8},
                                                                               {"long", 8},
                                                                               {"size_t", 8},
                                                                               {"64", 8},
                                                                               {"char", 1},
                                                                               {"bool", 1},
                                                                               {"int8", 1},
                                                                               {"short", 2},
                                                                               {"half", 2}}};
    for (const auto& [word, size] : sizes)
        if (pointee.contains(word)) return size;
    return 4;
}

std::string_view pointee_at(const KernelParameter& parameter, std::uint32_t offset) {
    const auto found = std::ranges::find(parameter.members, offset, &analysis::PointerMember::offset);
    return found == parameter.members.end() ? std::string_view() : found->pointee;
}

bool overlaps(const KernelDescription& description, const KernelParameter& parameter, std::uint32_t offset,
              std::uint32_t size) {
    return std::ranges::any_of(description.data, [&](const DataParameter& data) {
        return !data.is_extent && data.parameter == parameter.index && data.offset < offset + size &&
               offset < data.offset + std::max(1u, type_bits(data.type) / 8);
    });
}

}  // namespace

bool is_float_type(std::string_view type) {
    return type.starts_with('f') || type.starts_with("bf");
}
bool is_integer_type(std::string_view type) {
    return !is_float_type(type) && type_bits(type) >= 16;
}

Arguments make_arguments(const KernelDescription& description, std::span<const double> data) {
    Arguments out;
    std::size_t end = 0;
    for (const KernelParameter& parameter : description.parameters)
        end = std::max<std::size_t>(end, parameter.offset + parameter.size);
    out.bytes.resize(end);
    for (const KernelParameter& parameter : description.parameters) {
        if (parameter.is_pointer) {
            out.pointers.push_back({.offset = parameter.offset,
                                    .region = parameter.index,
                                    .fill = fill_of(parameter.pointee),
                                    .element_bytes = pointee_bytes(parameter.pointee)});
            continue;
        }
        if (!parameter.ptx_type.starts_with('b') || parameter.size <= 8) {
            write_number(out.bytes, parameter.offset, parameter.ptx_type, 1);
            continue;
        }
        // An aggregate: what might be addresses in it get regions, after those of the parameters.
        for (std::uint32_t at = 0; at + 8 <= parameter.size; at += 8)
            if (!overlaps(description, parameter, at, 8))
                out.pointers.push_back({.offset = parameter.offset + at,
                                        .region = static_cast<std::uint32_t>(description.parameters.size()) +
                                                  static_cast<std::uint32_t>(out.pointers.size()),
                                        .fill = fill_of(pointee_at(parameter, at)),
                                        .element_bytes = pointee_bytes(pointee_at(parameter, at))});
    }
    for (std::size_t i = 0; i < description.data.size() && i < data.size(); ++i) {
        const DataParameter& parameter = description.data[i];
        if (parameter.is_extent || parameter.parameter >= description.parameters.size()) continue;
        write_number(out.bytes, description.parameters[parameter.parameter].offset + parameter.offset,
                     parameter.type, data[i]);
    }
    return out;
}

Pointee pointee_of(std::string_view text) {
    return {.fill = fill_of(text),
            .bytes = pointee_bytes(text),
            .is_truth = text.contains("bool"),
            .is_address = text.contains('*'),
            .is_guess = text.empty()};
}

std::vector<std::uint32_t> element_bytes(const KernelDescription& description) {
    std::vector<std::uint32_t> sizes;
    for (const KernelParameter& parameter : description.parameters)
        if (parameter.is_pointer)
            sizes.push_back(pointee_bytes(parameter.pointee));
        else
            for (const analysis::PointerMember& member : parameter.members)
                sizes.push_back(pointee_bytes(member.pointee));
    std::ranges::sort(sizes);
    const auto repeats = std::ranges::unique(sizes);
    sizes.erase(repeats.begin(), repeats.end());
    if (sizes.empty()) sizes.push_back(4);
    return sizes;
}

}  // namespace trimtab::profiler
