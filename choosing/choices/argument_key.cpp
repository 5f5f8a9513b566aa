// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/argument_key.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/ptx/types.h"

namespace trimtab::choosing {
namespace {

// The size in bytes of a data parameter, by the name of its type ("s32"); 8 where the name says nothing.
std::uint32_t size_of_type(const std::string& type) {
    if (type.size() < 2) return 8;
    std::uint32_t bits = 0;
    for (const char c : type.substr(type.find_first_of("0123456789") == std::string::npos
                                        ? type.size()
                                        : type.find_first_of("0123456789"))) {
        if (c < '0' || c > '9') break;
        bits = bits * 10 + static_cast<std::uint32_t>(c - '0');
        if (bits > 64) return 8;
    }
    return bits < 8 ? 8 : bits / 8;
}

std::uint64_t sign_extended(std::uint64_t bits, std::uint32_t size) {
    if (size >= 8) return bits;
    const unsigned shift = 64 - 8 * size;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
}

}  // namespace

ArgumentKey::ArgumentKey(const analysis::KernelDescription& description,
                         const std::vector<const analysis::KernelDescription*>& bodies) {
    add_all(description);
    for (const analysis::KernelDescription* body : bodies) add_all(*body);
    words_ = shape_words + fields_.size();
    if (words_ > max_words) {
        fields_.clear();
        words_ = 0;
    }
}

void ArgumentKey::add_all(const analysis::KernelDescription& description) {
    for (const analysis::Guard& guard : description.guards) add_leaves(description, guard.exits);
    // Whether the number of threads is free depends on where pointers lie to each other.
    for (const analysis::GridStrideLoop& loop : description.strides)
        for (const analysis::Expression& exits : loop.exits) add_leaves(description, exits);
    for (const analysis::GridStrideAccess& access : description.stride_accesses)
        add_leaves(description, access.address);
    // And whether there is a choice at all, where barriers were taken for nothing.
    for (const analysis::GridStrideAccess& access : description.apart)
        add_leaves(description, access.address);
    if (description.annotated_block) add_leaves(description, *description.annotated_block);
    if (description.annotated_shared) add_leaves(description, *description.annotated_shared);
    for (const auto& grid : description.annotated_grid) {
        if (grid) add_leaves(description, *grid);
    }
    for (const analysis::DataParameter& data : description.data) {
        // Extents follow from grid and block, which are in every key.
        if (data.is_extent || !data.in_memo) continue;
        const bool is_integer =
            !data.type.empty() && (data.type[0] == 's' || data.type[0] == 'u' || data.type[0] == 'b');
        Bucket bucket = Bucket::exact;
        if (data.coarse_in_memo && is_integer)
            bucket = data.type[0] == 's' ? Bucket::signed_power_of_two : Bucket::unsigned_power_of_two;
        add(description, data.parameter, data.offset, size_of_type(data.type), bucket);
    }
}

void ArgumentKey::add(const analysis::KernelDescription& description, std::uint32_t parameter,
                      std::uint32_t offset, std::uint32_t size, Bucket bucket) {
    if (parameter >= description.parameters.size()) return;
    const std::uint32_t parameter_size = description.parameters[parameter].size;
    if (offset >= parameter_size) return;
    size = std::min(size, parameter_size - offset);
    while (size > 0) {
        const Field field{.parameter = parameter,
                          .offset = offset,
                          .size = std::min(size, 8u),
                          .bucket = bucket,
                          .is_address = description.parameters[parameter].is_pointer};
        const bool known = std::any_of(fields_.begin(), fields_.end(), [&](const Field& other) {
            return other.parameter == field.parameter && other.offset == field.offset &&
                   other.size >= field.size && other.bucket == Bucket::exact;
        });
        if (!known) fields_.push_back(field);
        offset += field.size;
        size -= field.size;
    }
}

void ArgumentKey::make_portable(std::span<std::uint64_t> key) const {
    key[1] &= 0xffffffffu;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (fields_[i].is_address) key[shape_words + i] = 0;
    }
}

void ArgumentKey::add_leaves(const analysis::KernelDescription& description,
                             const analysis::Expression& expression) {
    if (expression.kind == analysis::Expression::Kind::parameter) {
        const std::uint32_t size = ptx::size_bytes(expression.type);
        add(description, expression.parameter, expression.offset, size == 0 ? 8 : size, Bucket::exact);
    }
    for (const analysis::Expression& argument : expression.arguments) add_leaves(description, argument);
}

std::uint64_t ArgumentKey::value(const Field& field, void* const* arguments) {
    const auto* from = static_cast<const std::byte*>(arguments[field.parameter]) + field.offset;
    std::uint64_t bits = 0;
    // The usual sizes without a call: this runs on every launch.
    if (field.size == 4) {
        std::uint32_t half = 0;
        std::memcpy(&half, from, 4);
        bits = half;
    } else if (field.size == 8) {
        std::memcpy(&bits, from, 8);
    } else {
        std::memcpy(&bits, from, field.size);
    }
    if (field.bucket == Bucket::exact) return bits;
    if (field.bucket == Bucket::signed_power_of_two) {
        const std::uint64_t wide = sign_extended(bits, field.size);
        if (static_cast<std::int64_t>(wide) < 0) return 128u + static_cast<unsigned>(std::bit_width(~wide));
        bits = wide;
    }
    return static_cast<std::uint64_t>(std::bit_width(bits));
}

std::vector<std::byte> argument_bytes(const analysis::KernelDescription& description,
                                      void* const* arguments) {
    std::size_t size = 0;
    for (const analysis::KernelParameter& parameter : description.parameters)
        size = std::max<std::size_t>(size, parameter.offset + parameter.size);
    std::vector<std::byte> bytes(size);
    if (arguments == nullptr) return bytes;
    for (std::size_t i = 0; i < description.parameters.size(); ++i) {
        const analysis::KernelParameter& parameter = description.parameters[i];
        if (arguments[i] != nullptr)
            std::memcpy(bytes.data() + parameter.offset, arguments[i], parameter.size);
    }
    return bytes;
}

}  // namespace trimtab::choosing
