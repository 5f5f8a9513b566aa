// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fetches through texture and surface objects, lane by lane.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/exec/texture_access.h"
#include "emulation/emulator/exec/warp.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator::run {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Most often all lanes have one object: it is looked up once.
template <class Object>
class Lookup {
  public:
    Lookup(Warp& w, const Object* (GlobalMemory::*find)(u64) const)
        : memory_(w.worker->launch().memory), find_(find) {}
    const Object* operator()(u64 handle) {
        if (known_ && handle == handle_) return object_;
        known_ = true;
        handle_ = handle;
        return object_ = (memory_.*find_)(handle);
    }

  private:
    const GlobalMemory& memory_;
    const Object* (GlobalMemory::*find_)(u64) const;
    bool known_ = false;
    u64 handle_ = 0;
    const Object* object_ = nullptr;
};

const Op* no_object(Warp& w, const Op* op, unsigned lane, const char* kind, u64 handle) {
    return w.worker->fault(w, op, Fault::Kind::illegal_address, lane,
                           fmt::format("no {} object has the handle 0x{:x},", kind, handle));
}

float real(Warp& w, OperandRef ref, unsigned lane) {
    return ref == no_operand ? 0.0f : w.lanes<float>(ref)[lane];
}
u32 word(Warp& w, OperandRef ref, unsigned lane) {
    return ref == no_operand ? 0 : w.lanes<u32>(ref)[lane];
}

std::array<u32, 4> fetched(Warp& w, const TextureAccess& info, const Texture& texture, unsigned lane) {
    const unsigned first = info.geometry.layered ? 1 : 0;
    const u32 layer = info.geometry.layered ? word(w, info.coordinates[0], lane) : 0;
    if (info.integer_coordinates) {
        std::array<std::int32_t, 3> at{};
        for (unsigned i = 0; i + first < 4 && i < 3; i++)
            at[i] = static_cast<std::int32_t>(word(w, info.coordinates[first + i], lane));
        const u32 level = info.mode == TextureAccess::Mode::level ? word(w, info.more[0], lane) : 0;
        return fetch_texel(texture, info.geometry, at, layer, level);
    }
    std::array<float, 3> at{};
    for (unsigned i = 0; i + first < 4 && i < 3; i++) at[i] = real(w, info.coordinates[first + i], lane);
    float lod = 0;
    switch (info.mode) {
        case TextureAccess::Mode::gather:
            return gather_texels(texture, at, info.component);
        case TextureAccess::Mode::level:
            lod = real(w, info.more[0], lane);
            break;
        case TextureAccess::Mode::gradient: {
            std::array<float, 3> dx{}, dy{};
            for (unsigned i = 0; i < 3; i++) {
                dx[i] = real(w, info.more[i], lane);
                dy[i] = real(w, info.more[3 + i], lane);
            }
            lod = level_of_gradient(texture, info.geometry.cube ? 2 : info.geometry.dimensions, dx, dy);
            break;
        }
        default:
            break;
    }
    return fetch_texels(texture, info.geometry, at, layer, lod);
}

// A surface's place for one lane; nullptr and `illegal`, or nullptr where the access has no effect.
std::byte* place_of(Warp& w, const SurfaceAccess& info, const Surface& surface, unsigned lane,
                    bool& illegal) {
    const Image& image = surface.image;
    const unsigned first = info.geometry.layered ? 1 : 0;
    const std::int64_t bytes = std::int64_t{info.element_bytes} * info.element_count;
    const auto coordinate = [&](unsigned i) {
        return std::int64_t{static_cast<std::int32_t>(word(w, info.coordinates[i], lane))};
    };
    const std::int64_t row = std::int64_t{image.width} * image.format.bytes();
    std::int64_t at[3] = {coordinate(first), 0, 0};
    const std::int64_t limits[3] = {row - bytes, std::int64_t{image.height} - 1,
                                    std::int64_t{image.depth} - 1};
    if (info.geometry.dimensions > 1) at[1] = coordinate(first + 1);
    if (info.geometry.layered) at[2] = coordinate(0);
    if (!info.geometry.layered && info.geometry.dimensions > 2) at[2] = coordinate(first + 2);
    illegal = at[0] % bytes != 0 || limits[0] < 0;
    if (illegal) return nullptr;
    for (unsigned i = 0; i < 3; i++) {
        if (at[i] >= 0 && at[i] <= limits[i]) continue;
        illegal = info.outside == SurfaceAccess::Outside::trap;
        if (info.outside != SurfaceAccess::Outside::clamp) return nullptr;
        at[i] = std::clamp<std::int64_t>(at[i], 0, limits[i]);
        if (i == 0) at[0] -= at[0] % bytes;
    }
    return image.host + at[0] + static_cast<u64>(at[1]) * image.row_bytes +
           static_cast<u64>(at[2]) * image.slice_bytes;
}

void transfer(Warp& w, const SurfaceAccess& info, std::byte* host, unsigned lane) {
    for (unsigned i = 0; i < info.element_count; i++) {
        if (info.values[i] == no_operand) continue;
        std::byte* const value = w.lanes<std::byte>(info.values[i]) + std::size_t{lane} * info.register_bytes;
        if (info.stores) {
            if (host != nullptr) std::memcpy(host + i * info.element_bytes, value, info.element_bytes);
            continue;
        }
        std::memset(value, 0, info.register_bytes);
        if (host != nullptr) std::memcpy(value, host + i * info.element_bytes, info.element_bytes);
    }
}

u32 answer(const ImageQuery& query, const Image& image, std::size_t levels, bool normalized) {
    switch (query.what) {
        case ImageQuery::What::width:
            return image.width;
        case ImageQuery::What::height:
            return image.height;
        case ImageQuery::What::depth:
        case ImageQuery::What::array_size:
            return image.depth;
        case ImageQuery::What::levels:
            return static_cast<u32>(levels);
        case ImageQuery::What::normalized:
            return normalized ? 1 : 0;
        case ImageQuery::What::channel_order:
            return image.channel_order;
        case ImageQuery::What::channel_type:
            return image.channel_type;
        default:
            return 1;
    }
}

}  // namespace

const Op* fetch_texture(Warp& w, const Op* op) {
    const TextureAccess& info = *static_cast<const TextureAccess*>(op->info);
    Lookup<Texture> find(w, &GlobalMemory::texture);
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const u64 handle = w.lanes<u64>(info.handle)[lane];
        const Texture* texture = find(handle);
        if (texture == nullptr || texture->levels.empty()) return no_object(w, op, lane, "texture", handle);
        const auto texel = fetched(w, info, *texture, lane);
        for (unsigned i = 0; i < 4; i++) {
            if (info.results[i] != no_operand) w.lanes<u32>(info.results[i])[lane] = texel[i];
        }
    }
    return op + 1;
}

const Op* access_surface(Warp& w, const Op* op) {
    const SurfaceAccess& info = *static_cast<const SurfaceAccess*>(op->info);
    Lookup<Surface> find(w, &GlobalMemory::surface);
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const u64 handle = w.lanes<u64>(info.handle)[lane];
        const Surface* surface = find(handle);
        if (surface == nullptr) return no_object(w, op, lane, "surface", handle);
        bool illegal = false;
        std::byte* const host = place_of(w, info, *surface, lane, illegal);
        if (illegal) {
            return w.worker->fault(
                w, op, Fault::Kind::illegal_address, lane,
                fmt::format("an access outside a surface of {} x {} x {} texels,", surface->image.width,
                            surface->image.height, surface->image.depth));
        }
        transfer(w, info, host, lane);
    }
    return op + 1;
}

const Op* query_image(Warp& w, const Op* op) {
    const ImageQuery& query = *static_cast<const ImageQuery*>(op->info);
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const u64 handle = w.lanes<u64>(op->a)[lane];
        const GlobalMemory& memory = w.worker->launch().memory;
        u32& d = w.lanes<u32>(op->d)[lane];
        if (query.of_surface) {
            const Surface* surface = memory.surface(handle);
            if (surface == nullptr) return no_object(w, op, lane, "surface", handle);
            d = answer(query, surface->image, 1, false);
        } else {
            const Texture* texture = memory.texture(handle);
            if (texture == nullptr || texture->levels.empty())
                return no_object(w, op, lane, "texture", handle);
            d = answer(query, texture->levels[0], texture->levels.size(), texture->normalized_coordinates);
        }
    }
    return op + 1;
}

}  // namespace trimtab::emulator::run
