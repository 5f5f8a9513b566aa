// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/pointees.h"

#include <algorithm>

#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/memory_roots.h"

namespace trimtab::analysis {
namespace {

using ptx::Type;

std::string_view c_type(Type type) {
    switch (type) {
        case Type::f32:
            return "float";
        case Type::f64:
            return "double";
        case Type::f16:
        case Type::f16x2:
            return "half";
        case Type::s8:
            return "signed char";
        case Type::u8:
        case Type::b8:
            return "unsigned char";
        case Type::s16:
            return "short";
        case Type::u16:
        case Type::b16:
            return "unsigned short";
        case Type::u32:
        case Type::s32:
        case Type::b32:
            return "int";
        case Type::u64:
        case Type::s64:
        case Type::b64:
            return "long long";
        default:
            return "";
    }
}

class Types {
  public:
    explicit Types(const FunctionValues& values) : values_(values) {}

    // clang writes b32 for a float too: the arithmetic on the value tells.
    Type accessed(std::uint32_t instruction) const {
        const ptx::Instruction& made = values_.function().body[instruction];
        if (ptx::info(made.type).kind != ptx::TypeKind::bits) return made.type;
        const bool loads = made.destination_count > 0;
        for (const ptx::ValueIndex value : loads ? loaded(instruction) : stored(instruction)) {
            const Type type = loads ? used_as(value) : made_as(value);
            if (type != Type::none && ptx::size_bytes(type) == ptx::size_bytes(made.type)) return type;
        }
        return made.type;
    }

  private:
    std::vector<ptx::ValueIndex> loaded(std::uint32_t instruction) const {
        std::vector<ptx::ValueIndex> result;
        for (std::uint16_t element = 0; element < 8; element++)
            if (const auto value = values_.ssa().definition(instruction, 0, element); value != ptx::no_index)
                result.push_back(value);
        return result;
    }
    std::vector<ptx::ValueIndex> stored(std::uint32_t instruction) const {
        std::vector<ptx::ValueIndex> result;
        const auto& operands = values_.function().body[instruction].operands;
        for (const ptx::Ssa::Use& use : values_.ssa().uses[instruction])
            if (use.operand < operands.size() && operands[use.operand].kind != ptx::Operand::Kind::address)
                result.push_back(use.value);
        return result;
    }

    static Type typed(const ptx::Instruction& made, bool as_source) {
        const Type type = as_source && made.source_type != Type::none ? made.source_type : made.type;
        const bool is_number = ptx::info(type).kind != ptx::TypeKind::bits && !ptx::is_packed(type);
        return is_pure(made) && is_number && !c_type(type).empty() ? type : Type::none;
    }
    Type used_as(ptx::ValueIndex value) const {
        const auto& body = values_.function().body;
        for (std::uint32_t i = 0; i < body.size(); i++)
            for (const ptx::Ssa::Use& use : values_.ssa().uses[i])
                if (use.value == value)
                    if (const Type type = typed(body[i], true); type != Type::none) return type;
        return Type::none;
    }
    Type made_as(ptx::ValueIndex value) const {
        const ptx::Value& made = values_.ssa().values[value];
        if (made.kind != ptx::Value::Kind::instruction) return Type::none;
        return typed(values_.function().body[made.instruction], false);
    }

    const FunctionValues& values_;
};

}  // namespace

void infer_pointees(const SymbolTable& table, const Proof& proof, std::vector<KernelParameter>& parameters) {
    const auto is_struct = [](const KernelParameter& parameter) {
        return !parameter.is_pointer && parameter.ptx_type.starts_with('b');
    };
    const bool wanted = std::ranges::any_of(parameters, [&](const KernelParameter& parameter) {
        return is_struct(parameter) || (parameter.is_pointer && parameter.pointee.empty());
    });
    if (proof.functions.empty() || !wanted) return;
    const FunctionValues& kernel = proof.functions.front();
    const auto& body = kernel.function().body;
    for (std::uint32_t i = 0; i < body.size(); i++) {
        if (!kernel.is_reachable(i) || is_pure(body[i]) || body[i].opcode == ptx::Opcode::call) continue;
        const MemoryRoots roots = memory_roots(table, kernel, i);
        if (roots.bases.size() != 1) continue;
        const Atom& base = table.atom(*roots.bases.begin());
        if (base.kind != Atom::Kind::parameter || base.parameter >= parameters.size()) continue;
        KernelParameter& parameter = parameters[base.parameter];
        if (parameter.is_pointer && base.offset == 0 && parameter.pointee.empty())
            parameter.pointee = c_type(Types(kernel).accessed(i));
        if (!is_struct(parameter) || std::ranges::find(parameter.members, base.offset,
                                                       &PointerMember::offset) != parameter.members.end())
            continue;
        if (const std::string_view type = c_type(Types(kernel).accessed(i)); !type.empty())
            parameter.members.push_back({.offset = base.offset, .pointee = std::string(type)});
    }
}

}  // namespace trimtab::analysis
