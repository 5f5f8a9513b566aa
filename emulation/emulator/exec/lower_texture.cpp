// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tex, tld4, txq, suld, sust, suq through objects. References by name (.texref) left CUDA with version 12.
#include <algorithm>
#include <optional>

#include "core/ptx/opcodes.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/lower.h"
#include "emulation/emulator/exec/texture_access.h"

namespace trimtab::emulator {
namespace {

std::optional<Geometry> geometry_of(const ptx::Instruction& instruction) {
    for (const std::string& suffix : instruction.suffixes) {
        if (suffix == "1d") return Geometry{1, false, false};
        if (suffix == "2d") return Geometry{2, false, false};
        if (suffix == "3d") return Geometry{3, false, false};
        if (suffix == "a1d") return Geometry{1, true, false};
        if (suffix == "a2d") return Geometry{2, true, false};
        if (suffix == "cube") return Geometry{3, false, true};
        if (suffix == "acube") return Geometry{3, true, true};
    }
    return std::nullopt;
}

std::vector<const ptx::Operand*> parts_of(const ptx::Operand& operand) {
    std::vector<const ptx::Operand*> all;
    if (operand.kind != ptx::Operand::Kind::vector) return {&operand};
    for (const ptx::Operand& element : operand.elements) all.push_back(&element);
    return all;
}

}  // namespace

bool Lowering::lower_texture(const ptx::Instruction& instruction) {
    using ptx::Opcode;
    switch (instruction.opcode) {
        case Opcode::suld:
        case Opcode::sust:
            return lower_surface_access(instruction);
        case Opcode::txq:
        case Opcode::suq:
            return lower_image_query(instruction);
        default:
            return lower_texture_fetch(instruction);
    }
}

bool Lowering::lower_texture_fetch(const ptx::Instruction& instruction) {
    const auto geometry = geometry_of(instruction);
    const auto& operands = instruction.operands;
    if (!geometry || instruction.destination_count != 1 || operands.size() < 2) return false;
    const ptx::Operand& object = operands[1];
    const unsigned bytes = ptx::size_bytes(instruction.type);
    if (object.kind != ptx::Operand::Kind::address || object.reg == ptx::no_index ||
        width_of(object.reg) != 8 || bytes != 4 || ptx::size_bytes(instruction.source_type) != 4) {
        return false;
    }
    TextureAccess info;
    info.geometry = *geometry;
    info.type = instruction.type;
    info.integer_coordinates = !ptx::is_float(instruction.source_type);
    info.handle = registers_[object.reg];
    if (object.elements.empty() || object.elements.size() > 4) return false;
    const std::size_t wanted = geometry->dimensions + (geometry->layered ? 1u : 0u);
    if (object.elements.size() < wanted) return false;
    for (std::size_t i = 0; i < object.elements.size(); i++)
        info.coordinates[i] = source(object.elements[i], 4, instruction.source_type);
    std::size_t more = 0;
    if (instruction.opcode == ptx::Opcode::tld4) {
        info.mode = TextureAccess::Mode::gather;
        if (geometry->dimensions != 2 || geometry->layered) return false;
        constexpr std::string_view components[] = {"r", "g", "b", "a"};
        for (std::uint8_t i = 0; i < 4; i++) {
            if (has(instruction, components[i])) info.component = i;
        }
    } else if (has(instruction, "level")) {
        info.mode = TextureAccess::Mode::level;
        more = 1;
    } else if (has(instruction, "grad")) {
        info.mode = TextureAccess::Mode::gradient;
        more = 2;
    }
    // What may follow, offsets and a value to compare with, is not there: no CUDA function makes it.
    if (operands.size() != 2 + more) return false;
    for (std::size_t i = 0; i < more; i++) {
        const auto parts = parts_of(operands[2 + i]);
        for (std::size_t part = 0; part < parts.size() && part < 3; part++)
            info.more[3 * i + part] = source(*parts[part], 4, instruction.source_type);
    }
    const auto results = parts_of(operands[0]);
    if (results.size() > 4) return false;
    for (std::size_t i = 0; i < results.size(); i++) {
        if (results[i]->kind != ptx::Operand::Kind::sink) info.results[i] = destination(*results[i], 4);
    }
    emit(run::fetch_texture).info = &out_.keep(info);
    return true;
}

// suld.b.geometry{.vector}.type.outside {d}, [object, {place}];  sust.b ... [object, {place}], {values};
bool Lowering::lower_surface_access(const ptx::Instruction& instruction) {
    const auto geometry = geometry_of(instruction);
    const auto& operands = instruction.operands;
    const bool stores = instruction.opcode == ptx::Opcode::sust;
    if (!geometry || geometry->cube || operands.size() != 2 || !has(instruction, "b")) return false;
    const ptx::Operand& object = operands[stores ? 0 : 1];
    const auto values = parts_of(operands[stores ? 1 : 0]);
    const unsigned bytes = ptx::size_bytes(instruction.type);
    if (object.kind != ptx::Operand::Kind::address || object.reg == ptx::no_index ||
        width_of(object.reg) != 8 || bytes == 0 || bytes > 8 || values.empty() || values.size() > 4) {
        return false;
    }
    SurfaceAccess info;
    info.geometry = *geometry;
    info.stores = stores;
    info.outside = has(instruction, "clamp")  ? SurfaceAccess::Outside::clamp
                   : has(instruction, "zero") ? SurfaceAccess::Outside::zero
                                              : SurfaceAccess::Outside::trap;
    info.element_bytes = static_cast<std::uint8_t>(bytes);
    info.element_count = static_cast<std::uint8_t>(values.size());
    info.handle = registers_[object.reg];
    const std::size_t wanted = geometry->dimensions + (geometry->layered ? 1u : 0u);
    if (object.elements.size() < wanted || object.elements.size() > 4) return false;
    for (std::size_t i = 0; i < object.elements.size(); i++)
        info.coordinates[i] = source(object.elements[i], 4, ptx::Type::s32);
    unsigned width = bytes < 2 ? 2 : bytes;
    for (const ptx::Operand* value : values) {
        if (value->kind == ptx::Operand::Kind::reg) width = width_of(value->reg);
    }
    if (width < bytes) return false;
    info.register_bytes = static_cast<std::uint8_t>(width);
    for (std::size_t i = 0; i < values.size(); i++) {
        if (stores)
            info.values[i] = source(*values[i], width, instruction.type);
        else if (values[i]->kind != ptx::Operand::Kind::sink)
            info.values[i] = destination(*values[i], width);
    }
    emit(run::access_surface).info = &out_.keep(info);
    return true;
}

bool Lowering::lower_image_query(const ptx::Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (operands.size() != 2 || operands[1].kind != ptx::Operand::Kind::address ||
        operands[1].reg == ptx::no_index || width_of(operands[1].reg) != 8) {
        return false;
    }
    using What = ImageQuery::What;
    constexpr std::pair<std::string_view, What> questions[] = {{"width", What::width},
                                                               {"height", What::height},
                                                               {"depth", What::depth},
                                                               {"array_size", What::array_size},
                                                               {"num_mipmap_levels", What::levels},
                                                               {"num_samples", What::samples},
                                                               {"normalized_coords", What::normalized},
                                                               {"channel_order", What::channel_order},
                                                               {"channel_data_type", What::channel_type}};
    for (const auto& [name, what] : questions) {
        if (!has(instruction, name)) continue;
        const OperandRef d = destination(operands[0], 4);
        Op& op = emit(run::query_image);
        op.d = d;
        op.a = registers_[operands[1].reg];
        op.info = &out_.keep(ImageQuery{what, instruction.opcode == ptx::Opcode::suq});
        return true;
    }
    return false;
}

}  // namespace trimtab::emulator
