// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/replay/objects.h"

#include <dlfcn.h>

#include <cstddef>

namespace trimtab::tools {
namespace {

using emulator::capture::MovedVariable;

// The emulator's, emulation/cuda/texture_objects.h.
template <class Object>
using Place = void (*)(std::uint64_t handle, const Object* object);

emulator::Image placed(emulator::Image image, std::span<const MovedVariable> moved) {
    const auto address = reinterpret_cast<std::uint64_t>(image.host);
    for (const MovedVariable& variable : moved)
        if (address >= variable.captured && address - variable.captured < variable.size_bytes)
            // NOLINTNEXTLINE(performance-no-int-to-ptr): where the variable is now
            image.host = reinterpret_cast<std::byte*>(variable.now + (address - variable.captured));
    return image;
}

}  // namespace

std::expected<void, Error> place_objects(const emulator::capture::Capture& captured,
                                         std::span<const MovedVariable> moved) {
    if (captured.textures.empty() && captured.surfaces.empty()) return {};
    void* const emulator = dlopen("libtrimtab_cudart.so", RTLD_LAZY | RTLD_NOLOAD);
    const auto find = [emulator](const char* name) {
        return emulator == nullptr ? nullptr : dlsym(emulator, name);
    };
    const auto place_texture =
        reinterpret_cast<Place<emulator::Texture>>(find("trimtab_cudart_place_texture"));
    const auto place_surface =
        reinterpret_cast<Place<emulator::Surface>>(find("trimtab_cudart_place_surface"));
    if (place_texture == nullptr || place_surface == nullptr)
        return std::unexpected(
            Error{.message = "it has textures or surfaces, and the runtime is not the emulator's"});
    for (const auto& object : captured.textures) {
        emulator::Texture texture = object.texture;
        for (emulator::Image& level : texture.levels) level = placed(level, moved);
        place_texture(object.handle, &texture);
    }
    for (const auto& object : captured.surfaces) {
        const emulator::Surface surface{.image = placed(object.surface.image, moved)};
        place_surface(object.handle, &surface);
    }
    return {};
}

}  // namespace trimtab::tools
