// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/made_up_texture.h"

namespace trimtab::profiler {

namespace {
constexpr std::uint32_t texture_size = 4096;
}  // namespace

MadeUpTexture::MadeUpTexture() : texels_(std::size_t{4} * texture_size) {
    for (std::size_t i = 0; i < texels_.size(); ++i)
        texels_[i] = 0.5f + static_cast<float>(i * 2654435761u % 1024) / 1024;
    texture_.levels = {{.host = reinterpret_cast<std::byte*>(texels_.data()),
                        .format = {.kind = emulator::TexelFormat::Kind::real, .channels = 4},
                        .width = texture_size,
                        .height = texture_size,
                        .depth = texture_size}};
}

}  // namespace trimtab::profiler
