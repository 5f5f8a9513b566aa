// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/program.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_set>
#include <utility>

#include "core/base/align_up.h"
#include "emulation/emulator/exec/describe.h"
#include "emulation/emulator/exec/lower.h"

namespace trimtab::emulator {
namespace {

bool has_storage(const ptx::Variable& variable) {
    return variable.space == ptx::Space::global || variable.space == ptx::Space::constant;
}

}  // namespace

std::expected<std::shared_ptr<Program>, Error> Program::load(ptx::Module module) {
    if (module.address_bits != 64) {
        return std::unexpected(Error{"only modules of 64-bit addresses can be run, not of " +
                                         std::to_string(module.address_bits) + " bits",
                                     module.origin});
    }
    std::shared_ptr<Program> program(new Program(std::move(module)));
    for (const ptx::Function& function : program->module_.functions) {
        const auto [at, is_new] = program->functions_.try_emplace(function.name, &function);
        if (!is_new && at->second->body.empty()) at->second = &function;
    }
    if (auto error = program->lay_out_variables()) return std::unexpected(std::move(*error));
    program->find_address_taken();
    for (const ptx::Function* kernel : program->module_.kernels()) {
        if (!kernel->body.empty())
            program->kernels_.push_back(std::make_unique<CompiledKernel>(*program, *kernel));
    }
    return program;
}

std::optional<Error> Program::lay_out_variables() {
    std::size_t size = 0;
    std::vector<std::pair<const ptx::Variable*, std::size_t>> places;
    const auto place = [&](const ptx::Variable& variable) {
        if (!has_storage(variable) || variables_.contains(variable.name)) return;
        size = base::align_up(size, std::max<std::size_t>(variable.alignment_bytes, 16));
        variables_.try_emplace(variable.name);
        places.emplace_back(&variable, size);
        size += std::max<std::size_t>(variable.size_bytes, 1);
    };
    for (const ptx::Variable& variable : module_.variables) {
        if (!variable.is_extern) place(variable);
    }
    for (const ptx::Function& function : module_.functions) {
        for (const ptx::Variable& variable : function.variables) place(variable);
    }
    if (places.empty()) return std::nullopt;
    constexpr std::size_t granule_bytes = std::size_t{2} << 20, alignment_bytes = 256;  // as cudaMalloc's
    mapped_bytes_ = base::align_up(size, granule_bytes);
    // Zeroes that take memory when they are first touched; vectors may be read beyond them.
    storage_.reset(static_cast<std::byte*>(std::calloc(mapped_bytes_ + 2 * alignment_bytes, 1)));
    if (storage_ == nullptr) throw std::bad_alloc();
    const auto start = base::align_up(reinterpret_cast<std::size_t>(storage_.get()), alignment_bytes);
    arena_ = reinterpret_cast<std::byte*>(start);
    arena_bytes_ = size;
    for (const auto& [variable, offset] : places) {
        variables_[variable->name] = {start + offset, arena_ + offset, variable->size_bytes};
        placed_.push_back({.variable = variable, .first = start + offset});
    }
    for (const auto& [variable, offset] : places) {
        if (auto error = initialise(*variable)) return error;
    }
    return std::nullopt;
}

std::optional<Error> Program::initialise(const ptx::Variable& variable) {
    const VariableStorage& storage = variables_.at(variable.name);
    std::copy_n(variable.initial.data(), std::min<std::size_t>(variable.initial.size(), storage.size_bytes),
                storage.host);
    for (const ptx::Variable::Relocation& relocation : variable.relocations) {
        const auto address = symbol_address(relocation.symbol);
        if (!address) {
            return Error{"the initialiser of '" + variable.name + "' needs the address of '" +
                             relocation.symbol + "', which is not defined here",
                         module_.origin, variable.line};
        }
        if (relocation.offset_bytes + sizeof(std::uint64_t) > storage.size_bytes) {
            return Error{"an address does not fit into '" + variable.name + "'", module_.origin,
                         variable.line};
        }
        const std::uint64_t value = *address + static_cast<std::uint64_t>(relocation.addend);
        std::memcpy(storage.host + relocation.offset_bytes, &value, sizeof value);
    }
    return std::nullopt;
}

std::optional<VariableStorage> Program::storage(std::string_view name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end()) return std::nullopt;
    return found->second;
}

const Program::PlacedVariable* Program::variable_at(std::uint64_t address) const {
    const auto after = std::upper_bound(
        placed_.begin(), placed_.end(), address,
        [](std::uint64_t value, const PlacedVariable& placed) { return value < placed.first; });
    if (after == placed_.begin()) return nullptr;
    const PlacedVariable& placed = *(after - 1);
    return address - placed.first < placed.variable->size_bytes ? &placed : nullptr;
}

std::optional<std::uint64_t> Program::symbol_address(std::string_view name) const {
    if (const auto variable = variables_.find(name); variable != variables_.end())
        return variable->second.address;
    const auto function = functions_.find(name);
    if (function == functions_.end()) return std::nullopt;
    const auto index = static_cast<std::uint64_t>(function->second - module_.functions.data());
    return function_window + (index + 1) * function_stride;
}

const ptx::Function* Program::function_at(std::uint64_t address) const {
    if (address < function_window + function_stride || address >= windows_end ||
        address % function_stride != 0) {
        return nullptr;
    }
    const std::uint64_t index = (address - function_window) / function_stride - 1;
    return index < module_.functions.size() ? &module_.functions[index] : nullptr;
}

const CompiledKernel* Program::kernel(std::string_view name) const {
    const auto found = std::find_if(kernels_.begin(), kernels_.end(),
                                    [name](const auto& kernel) { return kernel->function().name == name; });
    return found == kernels_.end() ? nullptr : found->get();
}

void Program::find_address_taken() {
    std::unordered_set<const ptx::Function*> seen;
    const auto take = [&](std::string_view symbol) {
        const auto found = functions_.find(symbol);
        if (found != functions_.end() && seen.insert(found->second).second)
            address_taken_.push_back(found->second);
    };
    for (const ptx::Variable& variable : module_.variables) {
        for (const ptx::Variable::Relocation& relocation : variable.relocations) take(relocation.symbol);
    }
    for (const ptx::Function& function : module_.functions) {
        for (const ptx::Instruction& instruction : function.body) {
            if (instruction.opcode == ptx::Opcode::call) continue;
            for (const ptx::Operand& operand : instruction.operands) {
                if (operand.kind == ptx::Operand::Kind::symbol) take(operand.text);
            }
        }
        for (const auto& [name, targets] : function.call_targets) {
            for (const std::string& target : targets) take(target);
        }
    }
}

std::expected<std::shared_ptr<Program>, Error> load_program(ptx::Module module) {
    // nvcc's programs bring libcudadevrt's own code, which calls into the driver.
    for (ptx::Function& function : module.functions)
        if (device_runtime_function(function.name) != HostFunction::none) function.body.clear();
    return Program::load(std::move(module));
}

std::vector<KernelInfo> kernels(const Program& program) {
    std::vector<KernelInfo> all;
    all.reserve(program.kernels().size());
    for (const auto& kernel : program.kernels()) all.push_back(kernel->info());
    return all;
}

const KernelInfo* kernel_info(const Program& program, std::string_view name) {
    const CompiledKernel* kernel = program.kernel(name);
    return kernel == nullptr ? nullptr : &kernel->info();
}

const ptx::Module& module_of(const Program& program) {
    return program.module();
}

std::expected<VariableStorage, Error> variable_storage(Program& program, std::string_view name) {
    if (const auto storage = program.storage(name)) return *storage;
    return std::unexpected(
        Error{"the module has no variable '" + std::string(name) + "' in global or constant memory",
              program.module().origin});
}

std::vector<InstructionPlace> instruction_places(const Program& program, std::string_view name) {
    std::vector<InstructionPlace> places;
    const CompiledKernel* kernel = program.kernel(name);
    if (kernel == nullptr) return places;
    for (const ptx::Function* function : kernel->reached()) {
        for (const ptx::Instruction& instruction : function->body)
            places.push_back({instruction.line, instruction_text(*function, instruction),
                              program.module().source_text(instruction.location)});
    }
    return places;
}

}  // namespace trimtab::emulator
