// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/image_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace trimtab::cuda {
namespace {

using ptx::FatBinaryImage;

// The header of a fat binary, as the toolkit lays it out.
struct FatBinaryHeader {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t body_bytes;
};
constexpr std::uint32_t fat_binary_magic = 0xba55ed50;

// Smaller is better: below the device's architecture and near, then above it and near.
unsigned distance(unsigned architecture, unsigned compute_capability) {
    return architecture <= compute_capability ? compute_capability - architecture
                                              : 1000 + architecture - compute_capability;
}

const FatBinaryImage* nearest(const ptx::FatBinary& binary, FatBinaryImage::Kind kind,
                              unsigned compute_capability) {
    const FatBinaryImage* best = nullptr;
    for (const FatBinaryImage& image : binary.images) {
        if (image.kind != kind) continue;
        if (best == nullptr || distance(image.architecture, compute_capability) <
                                   distance(best->architecture, compute_capability))
            best = &image;
    }
    return best;
}

LoadError no_ptx(const ptx::FatBinary& binary, const std::string& origin) {
    std::set<std::string> names;
    for (const FatBinaryImage& image : binary.images) names.insert(image.architecture_name);
    return {.code = cudaErrorNoKernelImageForDevice,
            .line = fmt::format(
                "{} has machine code alone ({}), and the emulator runs PTX: build it with "
                "--cuda-include-ptx=all (clang++) or -gencode arch=compute_75,code=compute_75 (nvcc)",
                origin, fmt::join(names, ", "))};
}

std::expected<ptx::Module, LoadError> parse(std::span<const std::byte> bytes, const std::string& origin) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text = text.substr(0, text.find('\0'));
    auto module = ptx::parse(text, origin);
    if (!module)
        return std::unexpected(LoadError{.code = cudaErrorInvalidPtx, .line = module.error().text()});
    return std::move(*module);
}

// 75 of "sm_75" or "sm_90a".
unsigned architecture_of(const ptx::Module& module) {
    unsigned out = 0;
    for (const char c : module.target) {
        if (c >= '0' && c <= '9') out = out * 10 + static_cast<unsigned>(c - '0');
    }
    return out;
}

std::expected<void, LoadError> add_ptx(std::span<const std::byte> text, const std::string& origin,
                                       ChosenImage& chosen, std::vector<ptx::Module>& parts) {
    auto module = parse(text, origin);
    if (!module) return std::unexpected(std::move(module.error()));
    chosen.architecture = std::max(chosen.architecture, architecture_of(*module));
    parts.push_back(std::move(*module));
    return {};
}

std::expected<void, LoadError> add_fat_binary(std::span<const std::byte> bytes, const std::string& origin,
                                              unsigned compute_capability, ChosenImage& chosen,
                                              std::vector<ptx::Module>& parts) {
    const auto binary = ptx::read_fat_binary(bytes, origin);
    if (!binary)
        return std::unexpected(LoadError{.code = cudaErrorInvalidKernelImage, .line = binary.error().text()});
    const FatBinaryImage* ptx = nearest(*binary, FatBinaryImage::Kind::ptx, compute_capability);
    if (ptx == nullptr) return std::unexpected(no_ptx(*binary, origin));
    if (const FatBinaryImage* cubin = nearest(*binary, FatBinaryImage::Kind::cubin, compute_capability)) {
        // Only numbers are taken from it, and the program runs without them too.
        if (auto resources = ptx::read_cubin(cubin->bytes, origin)) {
            for (auto& [name, numbers] : *resources) chosen.resources.emplace(name, numbers);
        }
    }
    return add_ptx(ptx->bytes, fmt::format("{} ({} PTX)", origin, ptx->architecture_name), chosen, parts);
}

}  // namespace

std::size_t fat_binary_bytes(const std::byte* start) {
    FatBinaryHeader header{};
    std::memcpy(&header, start, sizeof header);
    return header.magic == fat_binary_magic ? header.header_bytes + header.body_bytes : 0;
}

std::expected<ChosenImage, LoadError> choose_image(const Module& module, unsigned compute_capability) {
    ChosenImage chosen;
    std::vector<ptx::Module> parts;
    const auto add = [&](const std::byte* start) -> std::expected<void, LoadError> {
        const std::size_t size = fat_binary_bytes(start);
        if (size == 0)
            return std::unexpected(LoadError{.code = cudaErrorInvalidKernelImage,
                                             .line = module.origin + " does not begin as a fat binary does"});
        return add_fat_binary({start, size}, module.origin, compute_capability, chosen, parts);
    };
    for (const std::byte* start : module.borrowed) {
        if (auto added = add(start); !added) return std::unexpected(std::move(added.error()));
    }
    for (const std::vector<std::byte>& bytes : module.containers) {
        auto added = fat_binary_bytes(bytes.data()) != 0 ? add(bytes.data())
                                                         : add_ptx(bytes, module.origin, chosen, parts);
        if (!added) return std::unexpected(std::move(added.error()));
    }
    if (parts.empty())
        return std::unexpected(
            LoadError{.code = cudaErrorInvalidKernelImage, .line = module.origin + " is of an unknown kind"});
    if (parts.size() == 1) {
        chosen.module = std::move(parts[0]);
        return chosen;
    }
    auto linked = ptx::link(std::move(parts));
    if (!linked)
        return std::unexpected(LoadError{.code = cudaErrorInvalidKernelImage, .line = linked.error().text()});
    chosen.module = std::move(*linked);
    return chosen;
}

}  // namespace trimtab::cuda
