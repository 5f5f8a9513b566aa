// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel reaches, how its shared memory is laid out, and its ops.
#include <algorithm>
#include <unordered_set>

#include "core/base/align_up.h"
#include "emulation/emulator/exec/lower.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/jit/variants.h"

namespace trimtab::emulator {
namespace {

bool calls_indirectly(const ptx::Function& function) {
    return std::any_of(function.body.begin(), function.body.end(), [](const ptx::Instruction& instruction) {
        return instruction.opcode == ptx::Opcode::call &&
               instruction.operands[instruction.destination_count].kind == ptx::Operand::Kind::reg;
    });
}

bool is_dynamic(const ptx::Variable& variable) {
    return variable.is_extern && variable.size_bytes == 0;
}

}  // namespace

CompiledKernel::CompiledKernel(const Program& program, const ptx::Function& function)
    : program_(&program), function_(&function) {}

const KernelInfo& CompiledKernel::info() const {
    prepare();
    return info_;
}

const std::vector<const ptx::Function*>& CompiledKernel::reached() const {
    prepare();
    return reached_;
}

void CompiledKernel::prepare() const {
    std::call_once(prepared_, [this] {
        info_.name = function_->name;
        info_.parameter_bytes = function_->parameter_bytes();
        find_reached();
        lay_out_shared();
        lower(plain_, false, false);
        info_.error = plain_.functions.front()->error;
        std::uint32_t local = 0;
        for (const auto& function : plain_.functions) {
            local = std::max(local, function->local_bytes);
            // A function that is called by name must run; one that is only pointed at fails when called.
            if (info_.error.empty() && !function->error.empty() && called_by_name_.contains(function->source))
                info_.error = function->error;
        }
        info_.local_bytes = local;
    });
}

const KernelCode& CompiledKernel::code(bool counted, bool observed) const {
    prepare();
    if (observed) {
        KernelCode& code = observed_[counted ? 1 : 0];
        std::call_once(observed_once_[counted ? 1 : 0], [&] { lower(code, counted, true); });
        return code;
    }
    if (!counted) return plain_;
    std::call_once(counted_once_, [this] { lower(counted_, true, false); });
    return counted_;
}

jit::KernelVariants& CompiledKernel::variants() const {
    std::call_once(variants_once_,
                   [this] { variants_ = std::make_shared<jit::KernelVariants>(*program_, *this); });
    return *variants_;
}

void CompiledKernel::find_reached() const {
    std::unordered_set<const ptx::Function*> seen;
    bool indirect = false;
    const auto reach = [&](const ptx::Function& root, bool by_name) {
        for (const ptx::Function* function : ptx::reachable_functions(program_->module(), root)) {
            if (function->body.empty()) continue;
            if (by_name) called_by_name_.insert(function);
            if (!seen.insert(function).second) continue;
            reached_.push_back(function);
            indirect = indirect || calls_indirectly(*function);
        }
    };
    reach(*function_, true);
    if (indirect) {
        for (const ptx::Function* function : program_->address_taken()) reach(*function, false);
    }
    std::uint32_t count = 0;
    for (const ptx::Function* function : reached_) {
        bases_.push_back(count);
        count += static_cast<std::uint32_t>(function->body.size());
    }
    info_.instruction_count = count;
}

void CompiledKernel::lay_out_shared() const {
    std::uint32_t& size = info_.static_shared_bytes;
    std::uint32_t dynamic_alignment = 16;
    std::vector<std::string> dynamic;
    const auto place = [&](const ptx::Variable& variable, std::string name) {
        if (variable.space != ptx::Space::shared && variable.space != ptx::Space::shared_cluster) return;
        if (is_dynamic(variable)) {
            dynamic_alignment = std::max(dynamic_alignment, variable.alignment_bytes);
            dynamic.push_back(std::move(name));
            return;
        }
        size = base::align_up(size, std::max(variable.alignment_bytes, 1u));
        shared_offsets_[std::move(name)] = size;
        size += static_cast<std::uint32_t>(variable.size_bytes);
    };
    std::unordered_set<std::string_view> used;
    for (const ptx::Function* function : reached_) {
        for (const ptx::Variable& variable : function->variables)
            place(variable, function->name + "/" + variable.name);
        for (const ptx::Instruction& instruction : function->body) {
            for (const ptx::Operand& operand : instruction.operands) {
                if (!operand.text.empty()) used.insert(operand.text);
                for (const ptx::Operand& element : operand.elements) {
                    if (!element.text.empty()) used.insert(element.text);
                }
            }
        }
    }
    for (const ptx::Variable& variable : program_->module().variables) {
        if (used.contains(variable.name)) place(variable, variable.name);
    }
    // Every `extern .shared` array begins where the static ones end.
    if (!dynamic.empty()) size = base::align_up(size, dynamic_alignment);
    for (std::string& name : dynamic) shared_offsets_[std::move(name)] = size;
}

void CompiledKernel::lower(KernelCode& code, bool counted, bool observed) const {
    KernelLowering lowering{*program_, *this, code, shared_offsets_, counted, observed, {}};
    for (std::size_t i = 0; i < reached_.size(); i++) {
        auto& made = code.functions.emplace_back(std::make_unique<FunctionCode>());
        made->source = reached_[i];
        made->instruction_base = bases_[i];
        made->number = static_cast<std::uint32_t>(i);
        lowering.functions.emplace(reached_[i], made.get());
    }
    for (const auto& function : code.functions) {
        Lowering(lowering, *function, function == code.functions.front()).run();
        if (const auto address = program_->symbol_address(function->source->name))
            code.by_address.emplace(*address, function.get());
    }
    if (!counted) return;
    code.slot_instructions.resize(info_.instruction_count + 1);
    for (const auto& function : code.functions) {
        for (const RegionInfo& region : function->regions) code.slot_instructions[region.slot] = region.count;
    }
}

const ptx::Instruction& CompiledKernel::instruction(std::uint32_t index) const {
    const ptx::Function& function = function_of(index);
    const auto place =
        static_cast<std::size_t>(std::find(reached_.begin(), reached_.end(), &function) - reached_.begin());
    static const ptx::Instruction none{};
    const std::uint32_t own = index - bases_[place];
    return own < function.body.size() ? function.body[own] : none;
}

const ptx::Function& CompiledKernel::function_of(std::uint32_t index) const {
    const auto after = std::upper_bound(bases_.begin(), bases_.end(), index);
    return *reached_[static_cast<std::size_t>(after - bases_.begin() - 1)];
}

}  // namespace trimtab::emulator
