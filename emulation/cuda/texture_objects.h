// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texture and surface objects by handle: what kernels read through, and what programs ask back.
#pragma once

#include <driver_types.h>
#include <texture_types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "emulation/cuda/machine.h"

namespace trimtab::cuda {

struct TextureObject {
    Texture texture;
    cudaResourceDesc resource{};
    cudaTextureDesc description{};
    cudaResourceViewDesc view{};
    bool has_view = false;
};

struct SurfaceObject {
    Surface surface;
    cudaResourceDesc resource{};
};

// Has its own lock. What a handle stands for stays where it is until the handle is given up.
class TextureObjects {
  public:
    [[nodiscard]] std::uint64_t add(TextureObject object);
    [[nodiscard]] std::uint64_t add(SurfaceObject object);
    [[nodiscard]] const TextureObject* texture(std::uint64_t handle) const;
    [[nodiscard]] const SurfaceObject* surface(std::uint64_t handle) const;
    // What there is now, by handle.
    [[nodiscard]] std::map<std::uint64_t, Texture> textures() const;
    [[nodiscard]] std::map<std::uint64_t, Surface> surfaces() const;
    // Under a handle that another process gave out.
    void place(std::uint64_t handle, const Texture& texture);
    void place(std::uint64_t handle, const Surface& surface);
    // False: there is no such object.
    bool remove_texture(std::uint64_t handle);
    bool remove_surface(std::uint64_t handle);

  private:
    mutable std::mutex mutex_;
    std::uint64_t next_ = 1;
    std::map<std::uint64_t, std::unique_ptr<TextureObject>> textures_;
    std::map<std::uint64_t, std::unique_ptr<SurfaceObject>> surfaces_;
};

// The heap as kernels see it during one launch, with the objects that they read through.
class LaunchMemory : public HeapMemory {
  public:
    LaunchMemory(Heap& heap, const TextureObjects& objects) : HeapMemory(heap), objects_(objects) {}
    [[nodiscard]] const Texture* texture(std::uint64_t handle) const override;
    [[nodiscard]] const Surface* surface(std::uint64_t handle) const override;

  private:
    const TextureObjects& objects_;
};

}  // namespace trimtab::cuda

// For trimtab-replay: a captured object, under the handle that the captured launch knows. Its texels are memory of this
// process; nobody may ask the runtime what it was made of.
extern "C" void trimtab_cudart_place_texture(std::uint64_t handle, const trimtab::emulator::Texture* texture);
extern "C" void trimtab_cudart_place_surface(std::uint64_t handle, const trimtab::emulator::Surface* surface);
