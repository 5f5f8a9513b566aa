// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/texture_objects.h"

#include <algorithm>

#include "emulation/cuda/state.h"

namespace trimtab::cuda {

std::uint64_t TextureObjects::add(TextureObject object) {
    const std::lock_guard lock(mutex_);
    textures_[next_] = std::make_unique<TextureObject>(std::move(object));
    return next_++;
}

std::uint64_t TextureObjects::add(SurfaceObject object) {
    const std::lock_guard lock(mutex_);
    surfaces_[next_] = std::make_unique<SurfaceObject>(object);
    return next_++;
}

const TextureObject* TextureObjects::texture(std::uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto place = textures_.find(handle);
    return place == textures_.end() ? nullptr : place->second.get();
}

const SurfaceObject* TextureObjects::surface(std::uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto place = surfaces_.find(handle);
    return place == surfaces_.end() ? nullptr : place->second.get();
}

std::map<std::uint64_t, Texture> TextureObjects::textures() const {
    const std::lock_guard lock(mutex_);
    std::map<std::uint64_t, Texture> out;
    for (const auto& [handle, object] : textures_) out.emplace(handle, object->texture);
    return out;
}

std::map<std::uint64_t, Surface> TextureObjects::surfaces() const {
    const std::lock_guard lock(mutex_);
    std::map<std::uint64_t, Surface> out;
    for (const auto& [handle, object] : surfaces_) out.emplace(handle, object->surface);
    return out;
}

void TextureObjects::place(std::uint64_t handle, const Texture& texture) {
    const std::lock_guard lock(mutex_);
    textures_[handle] = std::make_unique<TextureObject>(TextureObject{.texture = texture});
    next_ = std::max(next_, handle + 1);
}

void TextureObjects::place(std::uint64_t handle, const Surface& surface) {
    const std::lock_guard lock(mutex_);
    surfaces_[handle] = std::make_unique<SurfaceObject>(SurfaceObject{.surface = surface});
    next_ = std::max(next_, handle + 1);
}

bool TextureObjects::remove_texture(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    return textures_.erase(handle) != 0;
}

bool TextureObjects::remove_surface(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    return surfaces_.erase(handle) != 0;
}

const Texture* LaunchMemory::texture(std::uint64_t handle) const {
    const TextureObject* object = objects_.texture(handle);
    return object == nullptr ? nullptr : &object->texture;
}

const Surface* LaunchMemory::surface(std::uint64_t handle) const {
    const SurfaceObject* object = objects_.surface(handle);
    return object == nullptr ? nullptr : &object->surface;
}

}  // namespace trimtab::cuda

extern "C" void trimtab_cudart_place_texture(std::uint64_t handle,
                                             const trimtab::emulator::Texture* texture) {
    trimtab::cuda::State::instance().textures.place(handle, *texture);
}

extern "C" void trimtab_cudart_place_surface(std::uint64_t handle,
                                             const trimtab::emulator::Surface* surface) {
    trimtab::cuda::State::instance().textures.place(handle, *surface);
}
