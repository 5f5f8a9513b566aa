// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the handle of any texture object stands for in launches that nobody wrote.
#pragma once

#include <vector>

#include "emulation/emulator/exec/texture.h"

namespace trimtab::profiler {

// A large texture of floats in [0.5, 1.5), whose rows and slices are all the same one.
class MadeUpTexture {
  public:
    MadeUpTexture();
    MadeUpTexture(const MadeUpTexture&) = delete;
    MadeUpTexture& operator=(const MadeUpTexture&) = delete;
    [[nodiscard]] const emulator::Texture* get() const { return &texture_; }

  private:
    std::vector<float> texels_;
    emulator::Texture texture_;
};

}  // namespace trimtab::profiler
