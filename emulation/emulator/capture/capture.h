// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch in a file, with all that it can reach, so that it can be made again anywhere: docs/captures.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/emulator/exec/texture.h"
#include "trimtab/error.h"

namespace trimtab::emulator::capture {

// The latest one. A capture without texture and surface objects is written in version 1, for readers that know no other.
inline constexpr std::uint32_t format_version = 2;

// Bytes of memory as the launch finds them, at the address that its pointers name.
struct Region {
    std::uint64_t address = 0;
    std::span<const std::byte> bytes;
};

// A __device__, __constant__ or __managed__ variable of the kernel's module.
struct Variable {
    std::string name;
    Region region;
};

struct Parameter {
    std::uint32_t offset_bytes = 0, size_bytes = 0;  // in Capture::arguments
};

// What a handle in arguments or memory stands for. Image::host is where the texels lay: an address in an allocation or
// in a variable.
struct TextureObject {
    std::uint64_t handle = 0;
    Texture texture;
};
struct SurfaceObject {
    std::uint64_t handle = 0;
    Surface surface;
};

// The bytes are another's: of the process that is captured, or of ReadCapture::storage.
struct Capture {
    std::string kernel;  // mangled
    std::string device;  // the emulated one's slug
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    bool cooperative = false;
    std::vector<Parameter> parameters;
    std::span<const std::byte> arguments;
    std::vector<std::span<const std::byte>> images;  // fat binaries, or one text of PTX with its NUL
    std::vector<Region> allocations;                 // by address; no two overlap
    std::vector<Variable> variables;
    std::vector<TextureObject> textures;  // each handle once, over both
    std::vector<SurfaceObject> surfaces;

    // Of allocations and variables.
    [[nodiscard]] std::uint64_t memory_bytes() const;
};

// The allocation or variable that holds an image's texels, all of them; without bytes: none does.
[[nodiscard]] Region region_of(const Capture& capture, const Image& image);

struct ReadCapture {
    std::vector<std::byte> storage;
    Capture capture;
};

// The whole file's bytes. The error: the compressor has no memory.
[[nodiscard]] std::expected<std::vector<std::byte>, Error> to_bytes(const Capture& capture);
// Whatever the bytes are: a capture that holds together, or one line that names `file` and the byte.
[[nodiscard]] std::expected<ReadCapture, Error> from_bytes(std::span<const std::byte> bytes,
                                                           const std::string& file);

// Others see the old file or the whole new one.
[[nodiscard]] std::expected<void, Error> write(const std::string& file, const Capture& capture);
[[nodiscard]] std::expected<ReadCapture, Error> read(const std::string& file);

// What TRIMTAB_CAPTURE asks for: KERNEL[:n], the n-th launch of that kernel, from 1.
struct Request {
    std::string kernel;
    std::uint64_t launch = 1;
};
// The error: there is no name, or n is no number from 1.
[[nodiscard]] std::expected<Request, Error> parse_request(std::string_view text);
// Does a request for `asked` mean this kernel? By its mangled name, or its demangled one with its parameters or
// without.
[[nodiscard]] bool names_kernel(std::string_view asked, std::string_view mangled, std::string_view demangled);

}  // namespace trimtab::emulator::capture
