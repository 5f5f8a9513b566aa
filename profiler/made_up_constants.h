// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module's variables in constant memory hold while it is profiled. Programs write them before they launch; a build
// has nothing to write, and as zeros they are the bounds of loops that are never entered, and pointers to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "emulation/emulator/exec/launch.h"

namespace trimtab::profiler {

// Does the kernel's own code load integers that a build makes up?
[[nodiscard]] bool reads_made_up_integers(const emulator::Program& program, std::string_view kernel);

class MadeUpConstants {
  public:
    // Of what the module's code loads from variables without initial values: how its registers are used tells which are
    // integers and which pointers. Floats stay zeros. `program` outlives this.
    explicit MadeUpConstants(emulator::Program& program);

    // Small numbers other than 0, others for another seed; pointers to regions of `memory` from `first_region` on.
    void write(emulator::SparseMemory& memory, std::uint32_t first_region, unsigned seed) const;

  private:
    enum class Kind : std::uint8_t { integer, pointer };
    struct Word {
        std::byte* place = nullptr;
        unsigned bytes = 0;
        Kind kind = Kind::integer;
    };
    std::vector<Word> words_;
};

}  // namespace trimtab::profiler
