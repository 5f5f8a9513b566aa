// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/launch.h"
#include "tests/fuzz/run_kernels.h"
#include "tests/fuzz/targets.h"

namespace trimtab::fuzz {
namespace {

// tests/fuzz/kernels.ptx, compiled from kernels.cu.
std::string kernels_text() {
    std::ifstream file(TRIMTAB_SOURCE_DIR "/tests/fuzz/kernels.ptx", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

void fuzz_launch(Input input) {
    static const auto module = ptx::parse(kernels_text(), "kernels.ptx");
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        if (!module) return all;
        for (const ptx::Function* kernel : module->kernels()) all.push_back(kernel->name);
        return all;
    }();
    if (names.empty()) __builtin_trap();  // the target itself is broken
    // Kernel, way of watching, then the shape, then parameters.
    struct Shape {
        std::uint8_t kernel = 0, watch = 0;
        std::uint16_t shared = 0;
        std::array<std::uint32_t, 3> grid{}, block{};
    } shape;
    if (input.size() < sizeof shape) return;
    std::memcpy(&shape, input.data(), sizeof shape);
    const auto parameters = input.subspan(sizeof shape);
    // Variables keep what kernels left in them: a program of its own for each input.
    auto program = emulator::load_program(ptx::Module(*module));
    if (!program) __builtin_trap();
    Regions memory;
    run_some(**program, memory, names[shape.kernel % names.size()],
             {shape.grid[0], shape.grid[1], shape.grid[2]}, {shape.block[0], shape.block[1], shape.block[2]},
             std::uint32_t{shape.shared} * 16, parameters, static_cast<Watch>(shape.watch % 3));
}

}  // namespace trimtab::fuzz
