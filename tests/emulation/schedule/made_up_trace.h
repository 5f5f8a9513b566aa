// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traces put together by hand.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "emulation/schedule/scheduler.h"

namespace trimtab::schedule {

inline Machine simple_machine(Policy policy = Policy::greedy_then_oldest, unsigned schedulers = 1) {
    Machine machine;
    machine.policy = policy;
    machine.schedulers = schedulers;
    return machine;
}

class MadeUpTrace {
  public:
    using Registers = std::initializer_list<std::uint32_t>;

    // Appends to the stretch begun last.
    Instruction& add(Resource resource, Registers writes, Registers reads = {}) {
        Code& code = trace_.code;
        if (code.stretches.empty()) begin_stretch();
        Instruction i;
        i.resource = resource;
        i.reads = static_cast<std::uint8_t>(reads.size());
        i.writes = static_cast<std::uint8_t>(writes.size());
        i.first_register = static_cast<std::uint32_t>(code.registers.size());
        for (const Registers& all : {reads, writes})
            for (const std::uint32_t reg : all) {
                code.registers.push_back(reg);
                code.register_count = std::max(code.register_count, reg + 1);
            }
        code.instructions.push_back(i);
        ++code.stretches.back().count;
        return code.instructions.back();
    }
    std::uint32_t begin_stretch(std::size_t loops = 0) {
        Code& code = trace_.code;
        code.stretches.push_back({.first = static_cast<std::uint32_t>(code.instructions.size()), .count = 0});
        code.loops.resize(std::max(code.loops.size(), loops));
        return static_cast<std::uint32_t>(code.stretches.size() - 1);
    }
    // Blocks of warps that all go through `steps`.
    KernelTrace& with_blocks(std::size_t blocks, std::size_t warps, const std::vector<Step>& steps,
                             const std::vector<Request>& requests = {}) {
        WarpTrace warp{.steps = steps, .requests = requests, .iterations = {}};
        warp.iterations.assign(trace_.code.loops.size(), 0);
        for (const Step& step : steps)
            for (std::size_t d = 0; d < loop_depth; ++d)
                if (step.iteration[d] != 0) ++warp.iterations[step.loops[d]];
        trace_.blocks.assign(blocks, BlockTrace{.block = 0, .warps = {warps, warp}, .lines = {}});
        return trace_;
    }
    KernelTrace& once(std::size_t blocks, std::size_t warps) {
        std::vector<Step> steps;
        for (std::uint32_t s = 0; s < trace_.code.stretches.size(); ++s) steps.push_back({.stretch = s});
        return with_blocks(blocks, warps, steps);
    }
    // `iterations` iterations of the first stretch, which is a loop.
    KernelTrace& looped(std::size_t blocks, std::size_t warps, std::uint16_t iterations) {
        trace_.code.loops.resize(1);
        std::vector<Step> steps;
        for (std::uint16_t t = 1; t <= iterations; ++t)
            steps.push_back({.loops = {0, no_loop, no_loop}, .iteration = {t, 0, 0}});
        return with_blocks(blocks, warps, steps);
    }
    [[nodiscard]] KernelTrace& trace() { return trace_; }

  private:
    KernelTrace trace_;
};

}  // namespace trimtab::schedule
