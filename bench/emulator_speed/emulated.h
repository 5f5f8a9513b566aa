// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A case on the emulator.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/emulator_speed/cases.h"
#include "emulation/emulator/exec/launch.h"

namespace trimtab::bench {

class Emulated {
  public:
    // Compiles the CUDA source; the message of a failure is in error().
    explicit Emulated(const Case& from);
    ~Emulated();
    [[nodiscard]] const std::string& error() const { return error_; }
    // TRIMTAB_EMULATOR's words; 0 threads: as many as there are cores. False: error() says why.
    bool run(const char* mode, unsigned threads, bool counted = false);
    [[nodiscard]] std::span<const float> result() const;
    // Forgets what is compiled, as a new process would.
    void reload();

  private:
    class Memory;
    const Case& case_;
    std::string error_, ptx_;
    std::unique_ptr<Memory> memory_;
    std::shared_ptr<emulator::Program> program_;
    // Aligned as cudaMalloc() and clCreateBuffer() do it, which vector<float> does not.
    struct alignas(256) Unit {
        std::array<float, 64> floats;
    };
    std::vector<std::vector<Unit>> buffers_;
    std::vector<std::byte> parameters_;
    std::size_t result_ = 0, result_floats_ = 0;
};

}  // namespace trimtab::bench
