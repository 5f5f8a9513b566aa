// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/code_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "core/ptx/control_flow.h"
#include "core/ptx/instruction_registers.h"
#include "core/ptx/opcodes.h"
#include "emulation/schedule/issue_order.h"

namespace trimtab::schedule {

namespace {

using emulator::FunctionCode;
using emulator::RegionInfo;

// Source lines of some instructions: "gemm.cu:12-15", or PTX lines where the source's are not known.
class Lines {
  public:
    void add(const ptx::Module& module, const ptx::Instruction& instruction) {
        least_ptx_ = std::min(least_ptx_, instruction.line);
        most_ptx_ = std::max(most_ptx_, instruction.line);
        if (instruction.location.file == 0 || instruction.location.line == 0) return;
        auto [file, is_new] = files_.try_emplace(instruction.location.file);
        if (is_new) file->second = {instruction.location.line, instruction.location.line};
        file->second.first = std::min(file->second.first, instruction.location.line);
        file->second.second = std::max(file->second.second, instruction.location.line);
        if (files_.size() == 1) {
            const auto named = module.files.find(instruction.location.file);
            if (named != module.files.end()) name_ = named->second.substr(named->second.rfind('/') + 1);
        }
    }
    [[nodiscard]] std::string text() const {
        if (!files_.empty() && !name_.empty()) {
            const auto [first, last] = files_.begin()->second;
            return first == last ? fmt::format("{}:{}", name_, first)
                                 : fmt::format("{}:{}-{}", name_, first, last);
        }
        return least_ptx_ == most_ptx_ ? fmt::format("PTX line {}", least_ptx_)
                                       : fmt::format("PTX lines {}-{}", least_ptx_, most_ptx_);
    }

  private:
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> files_;
    std::string name_;
    std::uint32_t least_ptx_ = ~0u, most_ptx_ = 0;
};

bool is_fence(const ptx::Instruction& i) {
    const auto kind = ptx::info(i.opcode).opcode_class;
    return kind == ptx::OpcodeClass::control || kind == ptx::OpcodeClass::call ||
           kind == ptx::OpcodeClass::barrier || kind == ptx::OpcodeClass::fence ||
           kind == ptx::OpcodeClass::trap || kind == ptx::OpcodeClass::cluster ||
           kind == ptx::OpcodeClass::copy || ptx::ends_block(i.opcode);
}

class Builder {
  public:
    Builder(const ptx::Module& module, const emulator::CompiledKernel& kernel, const Machine& machine,
            const CostSettings& settings, std::span<const Edit> edits)
        : module_(module), kernel_(kernel), machine_(machine), settings_(settings) {
        for (const Edit& edit : edits) edits_[edit.instruction] = edit.kind;
    }

    BuiltCode build() {
        const std::size_t count = kernel_.info().instruction_count;
        out_.stretch_at.assign(count, none);
        out_.request_at.resize(count);
        out_.access_at.assign(count, none);
        for (const auto& function : kernel_.code(true, true).functions) {
            auto flow = ptx::control_flow(*function->source);
            if (!flow) continue;  // an unknown indirect branch: its code takes no part
            flow_ = &*flow;
            number_loops(*function);
            for (const RegionInfo& region : function->regions) add_stretch(*function, region);
            first_register_ += static_cast<std::uint32_t>(function->source->registers.size()) + 1;
        }
        out_.code.register_count = first_register_;
        for (const auto& [key, region] : regions_) {
            const auto [loop, stage] = key;
            out_.code.regions[region].name = loop != none
                                                 ? fmt::format("loop {}", region_lines_[region].text())
                                                 : region_lines_[region].text();
        }
        return std::move(out_);
    }

  private:
    void number_loops(const FunctionCode& function) {
        loop_base_ = static_cast<std::uint32_t>(out_.code.loops.size());
        for (const ptx::Loop& loop : flow_->loops) {
            Lines lines;
            for (const ptx::BlockIndex b : loop.blocks)
                for (std::uint32_t i = flow_->blocks[b].first; i < flow_->blocks[b].last; ++i)
                    lines.add(module_, function.source->body[i]);
            out_.code.loops.push_back(
                {.parent = loop.parent == ptx::no_index ? none : loop_base_ + loop.parent,
                 .name = lines.text()});
        }
    }

    BuiltCode::LoopPlace loops_around(std::uint32_t instruction) const {
        BuiltCode::LoopPlace place;
        const ptx::BlockIndex block = flow_->block_of[instruction];
        const std::uint32_t innermost = flow_->innermost_loop[block];
        for (std::uint32_t l = innermost; l != ptx::no_index; l = flow_->loops[l].parent)
            place.loops.insert(place.loops.begin(), static_cast<std::uint16_t>(loop_base_ + l));
        place.is_header = innermost != ptx::no_index && flow_->loops[innermost].header == block &&
                          flow_->blocks[block].first == instruction;
        return place;
    }

    // Code of one innermost loop, or of none before, between and behind barriers.
    std::uint32_t region_of(std::uint32_t loop, std::uint32_t stage) {
        const auto [found, is_new] = regions_.try_emplace(
            {loop, loop == none ? stage : 0}, static_cast<std::uint32_t>(out_.code.regions.size()));
        if (is_new) {
            out_.code.regions.emplace_back();
            region_lines_.emplace_back();
        }
        return found->second;
    }

    void add_stretch(const FunctionCode& function, const RegionInfo& region) {
        const ptx::Function& source = *function.source;
        const std::uint32_t base = function.instruction_base, first = region.slot - base;
        if (first >= source.body.size()) return;
        if (taken_.contains(region.slot)) return;  // under a guard amid another stretch
        std::uint32_t last = first + 1;
        const std::uint32_t end = flow_->blocks[flow_->block_of[first]].last;
        while (last < end &&
               (function.counted_at[last] == region.slot ||
                (function.counted_at[last] == base + last && is_amid(function, region, last, end))))
            ++last;
        const auto loops = loops_around(first);
        const std::uint32_t innermost = loops.loops.empty() ? none : loops.loops.back();
        std::vector<Ordered> code;
        for (std::uint32_t i = first; i < last; ++i) {
            if (i != first) taken_.insert(base + i);
            const ptx::Instruction& instruction = source.body[i];
            Ordered one{.instruction = cost_of(instruction, settings_), .reads = {}, .writes = {}};
            ptx::visit_reads(instruction,
                             [&](std::uint32_t reg) { one.reads.push_back(first_register_ + reg); });
            ptx::visit_writes(instruction,
                              [&](std::uint32_t reg) { one.writes.push_back(first_register_ + reg); });
            const auto carry = first_register_ + static_cast<std::uint32_t>(source.registers.size());
            if (ptx::reads(instruction, ptx::State::carry)) one.reads.push_back(carry);
            if (ptx::writes(instruction, ptx::State::carry)) one.writes.push_back(carry);
            one.is_fence = is_fence(instruction);
            one.reads_constant_memory = one.instruction.kind == Kind::load && instruction.modifiers.nc;
            one.instruction.source = base + i;
            edit(one);
            if (one.instruction.kind == Kind::barrier) ++stage_;
            one.instruction.region = region_of(innermost, stage_);
            region_lines_[one.instruction.region].add(module_, instruction);
            if (one.instruction.kind == Kind::load || one.instruction.kind == Kind::store ||
                one.instruction.kind == Kind::atomic) {
                one.instruction.access = out_.access_count++;
                out_.access_at[base + i] = one.instruction.access;
            }
            code.push_back(std::move(one));
        }
        append(code, region.slot, loops);
    }

    void edit(Ordered& one) const {
        const auto found = edits_.find(one.instruction.source);
        if (found == edits_.end()) return;
        Instruction& instruction = one.instruction;
        if (found->second == EditKind::removed) {
            instruction = {.kind = Kind::free, .source = instruction.source};
        } else if (found->second == EditKind::cached_near) {
            instruction.caches_in_l1 = one.reads_constant_memory = true;
        } else if (found->second == EditKind::single_precision && instruction.resource == Resource::fp64) {
            instruction.resource = Resource::fp32;
        }
    }
    [[nodiscard]] bool is_arranged(std::uint32_t instruction) const {
        const auto found = edits_.find(instruction);
        return found != edits_.end() &&
               (found->second == EditKind::side_by_side || found->second == EditKind::without_conflicts);
    }

    // An instruction under a guard of its own that code of the stretch follows.
    static bool is_amid(const FunctionCode& function, const RegionInfo& region, std::uint32_t i,
                        std::uint32_t end) {
        for (; i < end; ++i) {
            if (function.counted_at[i] == region.slot) return true;
            if (function.counted_at[i] != function.instruction_base + i) return false;
        }
        return false;
    }

    void append(const std::vector<Ordered>& code, std::uint32_t slot, const BuiltCode::LoopPlace& loops) {
        const auto number = static_cast<std::uint32_t>(out_.code.stretches.size());
        out_.stretch_at[slot] = number;
        out_.loops_at.push_back(loops);
        Stretch stretch{.first = static_cast<std::uint32_t>(out_.code.instructions.size()),
                        .count = static_cast<std::uint32_t>(code.size())};
        for (const std::uint32_t i : issue_order(code, machine_)) {
            Instruction instruction = code[i].instruction;
            instruction.first_register = static_cast<std::uint32_t>(out_.code.registers.size());
            const auto add = [&](const std::vector<std::uint32_t>& registers) {
                const auto count = std::min<std::size_t>(registers.size(), 255);
                out_.code.registers.insert(out_.code.registers.end(), registers.begin(),
                                           registers.begin() + static_cast<std::ptrdiff_t>(count));
                return static_cast<std::uint8_t>(count);
            };
            instruction.reads = add(code[i].reads);
            instruction.writes = add(code[i].writes);
            if (instruction.has_request)
                out_.request_at[instruction.source] = {
                    .stretch = number,
                    .request = stretch.requests++,
                    .is_shared = instruction.kind == Kind::shared,
                    .is_atomic = instruction.kind == Kind::atomic,
                    .stores = instruction.kind == Kind::store || instruction.kind == Kind::atomic,
                    .is_arranged = is_arranged(instruction.source)};
            out_.code.instructions.push_back(instruction);
        }
        out_.code.stretches.push_back(stretch);
    }

    const ptx::Module& module_;
    const emulator::CompiledKernel& kernel_;
    const Machine& machine_;
    const CostSettings& settings_;
    std::unordered_map<std::uint32_t, EditKind> edits_;
    const ptx::ControlFlow* flow_ = nullptr;
    std::uint32_t loop_base_ = 0, first_register_ = 0, stage_ = 0;
    std::set<std::uint32_t> taken_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> regions_;
    std::vector<Lines> region_lines_;
    BuiltCode out_;
};

}  // namespace

BuiltCode build_code(const ptx::Module& module, const emulator::CompiledKernel& kernel,
                     const Machine& machine, const CostSettings& settings, std::span<const Edit> edits) {
    return Builder(module, kernel, machine, settings, edits).build();
}

}  // namespace trimtab::schedule
