// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/captured_launch.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "core/analysis/launches/legal_blocks.h"
#include "core/model/occupancy.h"
#include "emulation/emulator/capture/moved_pointers.h"
#include "tools/trimtab/captured_program.h"

namespace trimtab::tools {

namespace {

trimtab_dim3 to_dim3(const std::array<std::uint32_t, 3>& size) {
    return {.x = size[0], .y = size[1], .z = size[2]};
}

// Copies bytes to an address of the launch's memory, which lies in pieces.
bool copy_in(emulator::GlobalMemory& memory, std::uint64_t address, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto range = memory.range_of(address, emulator::Access::write);
        if (range.host == nullptr || address >= range.end) return false;
        const std::size_t count = std::min<std::uint64_t>(bytes.size(), range.end - address);
        std::memcpy(range.host + (address - range.first), bytes.data(), count);
        bytes = bytes.subspan(count);
        address += count;
    }
    return true;
}

}  // namespace

void add_shape_options(CLI::App& command, LaunchOptions& options, std::string& grid, std::string& block) {
    command.get_option("FILE")->required(false);
    command.add_option("--grid", grid, "Launch so many blocks: X[,Y[,Z]]");
    command.add_option("--block", block, "Use so many threads per block: X[,Y[,Z]]");
    add_capture_option(command, options.capture)
        ->description("Use this captured launch (TRIMTAB_CAPTURE) instead of FILE and --arg");
}

std::optional<Error> launch_is_asked(const LaunchOptions& options, const std::string& grid,
                                     const std::string& block) {
    if (options.file.empty() == options.capture.empty())
        return Error{.message = "it takes FILE, or --capture FILE"};
    if (options.capture.empty()) {
        if (grid.empty()) return Error{.message = "--grid is required"};
        if (block.empty()) return Error{.message = "--block is required"};
        return std::nullopt;
    }
    if (!options.kernel.empty() || !options.arguments.empty())
        return Error{.message = "--kernel and --arg do not go with --capture, which has them"};
    return std::nullopt;
}

std::expected<LaunchQuestion, Error> look_up_captured(const LaunchOptions& options) {
    auto read = emulator::capture::read(options.capture);
    if (!read) return std::unexpected(read.error());
    const auto captured = std::make_shared<const emulator::capture::ReadCapture>(std::move(*read));
    const emulator::capture::Capture& launch = captured->capture;
    const bool names_device = options.device_option != nullptr && options.device_option->count() > 0;
    auto device = model::find_device(names_device ? options.device : launch.device);
    if (!device) return std::unexpected(device.error());
    auto file = load_images(launch.images, options.capture);
    if (!file) return std::unexpected(file.error());
    const auto kernel = find_kernel(*file, launch.kernel);
    if (!kernel) return std::unexpected(kernel.error());
    const analysis::KernelDescription& description = file->kernels[*kernel].record.description;
    LaunchArguments arguments{.bytes = {launch.arguments.begin(), launch.arguments.end()},
                              .given = std::vector<bool>(description.parameters.size(), true),
                              .part = {}};
    const analysis::KernelImage image = image_that_runs(file->kernels[*kernel], *device);
    const trimtab_image fitted =
        model::with_addressable_registers(analysis::to_driver_image(image), device->values);
    return LaunchQuestion{.file = std::move(*file),
                          .kernel = *kernel,
                          .device = std::move(*device),
                          .arguments = std::move(arguments),
                          .image = fitted,
                          .registers_from = image.registers_from,
                          .captured = captured};
}

std::expected<trimtab_dim3, Error> grid_of(const LaunchQuestion& question, const std::string& text) {
    if (!text.empty() || question.captured == nullptr) return parse_dim3(text, "--grid");
    return to_dim3(question.captured->capture.grid);
}

std::expected<trimtab_dim3, Error> block_of(const LaunchQuestion& question, const std::string& text) {
    if (!text.empty() || question.captured == nullptr) return parse_dim3(text, "--block");
    return to_dim3(question.captured->capture.block);
}

const emulator::Texture* LaunchMemory::texture(std::uint64_t handle) const {
    const auto found = textures_.find(handle);
    return found == textures_.end() ? nullptr : &found->second;
}

const emulator::Surface* LaunchMemory::surface(std::uint64_t handle) const {
    const auto found = surfaces_.find(handle);
    return found == surfaces_.end() ? nullptr : &found->second;
}

void LaunchMemory::add_objects(const emulator::capture::Capture& captured) {
    const auto placed = [&](emulator::Image image) {
        const emulator::capture::Region region = emulator::capture::region_of(captured, image);
        auto& texels = texels_[region.bytes.data()];
        if (texels.empty()) texels.assign(region.bytes.begin(), region.bytes.end());
        image.host = texels.data() + (reinterpret_cast<std::uint64_t>(image.host) - region.address);
        return image;
    };
    for (const auto& object : captured.textures) {
        emulator::Texture texture = object.texture;
        for (emulator::Image& level : texture.levels) level = placed(level);
        textures_.emplace(object.handle, std::move(texture));
    }
    for (const auto& object : captured.surfaces)
        surfaces_.emplace(object.handle, emulator::Surface{.image = placed(object.surface.image)});
}

std::expected<void, Error> place_captured(const emulator::capture::Capture& captured,
                                          emulator::Program& program, LaunchMemory& memory,
                                          std::vector<std::byte>& parameters) {
    std::vector<emulator::capture::MovedVariable> moved;
    std::vector<std::span<std::byte>> places;
    for (const auto& variable : captured.variables) {
        const auto storage = emulator::variable_storage(program, variable.name);
        // One that this kernel's own image does not hold is none that it reads.
        if (!storage) continue;
        if (storage->size_bytes != variable.region.bytes.size())
            return std::unexpected(Error{
                .message = fmt::format("{} has {} bytes in its device code, and {} were captured",
                                       variable.name, storage->size_bytes, variable.region.bytes.size())});
        std::ranges::copy(variable.region.bytes, storage->host);
        places.emplace_back(storage->host, storage->size_bytes);
        moved.push_back({.captured = variable.region.address,
                         .now = storage->address,
                         .size_bytes = storage->size_bytes});
    }
    emulator::capture::move_pointers(parameters, moved);
    for (const std::span<std::byte> place : places) emulator::capture::move_pointers(place, moved);
    for (const auto& region : captured.allocations) {
        std::vector<std::byte> bytes(region.bytes.begin(), region.bytes.end());
        emulator::capture::move_pointers(bytes, moved);
        if (!copy_in(memory, region.address, bytes))
            return std::unexpected(
                Error{.message = fmt::format("its memory at {:#x} cannot be placed", region.address)});
    }
    memory.add_objects(captured);
    return {};
}

}  // namespace trimtab::tools
