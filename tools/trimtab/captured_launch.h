// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --capture FILE in the place of a kernel's file and a launch: docs/captures.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulation/emulator/capture/capture.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/exec/texture.h"
#include "tools/trimtab/launch_options.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// --capture, and --grid and --block, which a capture's launch need not be given.
void add_shape_options(CLI::App& command, LaunchOptions& options, std::string& grid, std::string& block);
// FILE, --grid and --block; or --capture FILE. The error says which is missing or too many.
[[nodiscard]] std::optional<Error> launch_is_asked(const LaunchOptions& options, const std::string& grid,
                                                   const std::string& block);

// The kernel, arguments and memory of options.capture, on its device unless --device is given.
[[nodiscard]] std::expected<LaunchQuestion, Error> look_up_captured(const LaunchOptions& options);
// As given, else the capture's.
[[nodiscard]] std::expected<trimtab_dim3, Error> grid_of(const LaunchQuestion& question,
                                                         const std::string& text);
[[nodiscard]] std::expected<trimtab_dim3, Error> block_of(const LaunchQuestion& question,
                                                          const std::string& text);

// Memory for a launch, with the objects that a captured one reads through.
class LaunchMemory : public emulator::SparseMemory {
  public:
    [[nodiscard]] const emulator::Texture* texture(std::uint64_t handle) const override;
    [[nodiscard]] const emulator::Surface* surface(std::uint64_t handle) const override;

    // Their texels are a copy, one for all objects of one allocation: memory itself lies in pages.
    void add_objects(const emulator::capture::Capture& captured);

  private:
    std::map<std::uint64_t, emulator::Texture> textures_;
    std::map<std::uint64_t, emulator::Surface> surfaces_;
    std::map<const std::byte*, std::vector<std::byte>> texels_;  // by where the capture has them
};

// The captured memory, where the launch's pointers expect it: allocations in `memory`, variables in the program's own
// storage, whose addresses replace theirs in `parameters` and in memory.
[[nodiscard]] std::expected<void, Error> place_captured(const emulator::capture::Capture& captured,
                                                        emulator::Program& program, LaunchMemory& memory,
                                                        std::vector<std::byte>& parameters);

}  // namespace trimtab::tools
