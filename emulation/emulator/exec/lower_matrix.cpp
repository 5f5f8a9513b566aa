// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma, mma, ldmatrix, stmatrix, movmatrix. What wmma loads and stores becomes ordinary loads and stores of
// each register, so that they are checked, counted and observed as those are.
#include <algorithm>

#include "core/ptx/opcodes.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/lower.h"
#include "emulation/emulator/exec/matrix_info.h"

namespace trimtab::emulator {
namespace {

// What the mnemonic says in any order: the shape, the layouts and the elements' types, as they follow.
struct Spelling {
    std::optional<MatrixShape> shape;
    std::vector<bool> by_rows;
    std::vector<MatrixElement> elements;
};
Spelling spelling_of(const ptx::Instruction& instruction) {
    Spelling out;
    for (const std::string& suffix : instruction.suffixes) {
        if (const auto shape = matrix_shape(suffix))
            out.shape = shape;
        else if (suffix == "row" || suffix == "col")
            out.by_rows.push_back(suffix == "row");
        else if (const auto element = matrix_element(suffix))
            out.elements.push_back(*element);
    }
    return out;
}

bool is_known_shape(const MatrixShape& shape) {
    return shape.m % 8 == 0 && shape.n % 8 == 0 && shape.m <= 32 && shape.n <= 32;
}

bool is_accumulator(MatrixElement element) {
    return element == MatrixElement::f16 || element == MatrixElement::f32 || element == MatrixElement::f64 ||
           element == MatrixElement::s32;
}

bool is_whole(const Fragment& fragment) {
    const unsigned row = fragment.role == MatrixRole::accumulator ? 8 : 4 * fragment.per_register();
    const unsigned along = fragment.role == MatrixRole::b ? fragment.rows() : fragment.columns();
    return along % row == 0 && fragment.registers() > 0;
}

// A fragment's operand: a vector of registers, or one.
std::vector<const ptx::Operand*> registers_of(const ptx::Operand& operand) {
    std::vector<const ptx::Operand*> all;
    if (operand.kind != ptx::Operand::Kind::vector) return {&operand};
    for (const ptx::Operand& element : operand.elements) all.push_back(&element);
    return all;
}

}  // namespace

bool Lowering::lower_matrix(const ptx::Instruction& instruction) {
    using ptx::Opcode;
    switch (instruction.opcode) {
        case Opcode::wmma:
            if (has(instruction, "load") || has(instruction, "store"))
                return lower_matrix_transfer(instruction);
            return lower_matrix_multiply(instruction);
        case Opcode::mma:
            return lower_matrix_multiply(instruction);
        case Opcode::movmatrix: {
            if (instruction.operands.size() != 2 || !has(instruction, "m8n8")) return false;
            const OperandRef a = source(instruction.operands[1], 4, ptx::Type::b32);
            const OperandRef d = destination(instruction.operands[0], 4);
            Op& op = emit(run::transpose_matrix);
            op.a = a;
            op.d = d;
            return true;
        }
        default:
            return lower_matrix_rows(instruction);
    }
}

// mma.sync.aligned.shape.row.col{.satfinite}.d.a.b.c d, a, b, c;  wmma.mma of f16 names d's and c's types
// only.
bool Lowering::lower_matrix_multiply(const ptx::Instruction& instruction) {
    const Spelling spelling = spelling_of(instruction);
    const bool is_wmma = instruction.opcode == ptx::Opcode::wmma;
    if (!spelling.shape || !is_known_shape(*spelling.shape) || instruction.operands.size() != 4) return false;
    if (has(instruction, "sp") || has(instruction, "block_scale")) return false;
    MatrixElement types[4];  // d, a, b, c
    if (spelling.elements.size() == 4) {
        std::copy_n(spelling.elements.begin(), 4, types);
    } else if (is_wmma && spelling.elements.size() == 2) {
        types[0] = spelling.elements[0];
        types[1] = types[2] = MatrixElement::f16;
        types[3] = spelling.elements[1];
    } else {
        return false;
    }
    // Volta's own shape spreads four products over the lanes in a way of its own.
    const MatrixShape& shape = *spelling.shape;
    if (shape.k == 4 && shape.m == 8 && types[1] != MatrixElement::f64) return false;
    MatrixMultiply info;
    info.saturates = has(instruction, "satfinite");
    info.ands = has(instruction, "and");
    info.a = {MatrixRole::a, shape, types[1]};
    info.b = {MatrixRole::b, shape, types[2]};
    info.c = {MatrixRole::accumulator, shape, types[3]};
    info.d = {MatrixRole::accumulator, shape, types[0]};
    if (!is_accumulator(types[0]) || !is_accumulator(types[3])) return false;
    const auto take = [&](const ptx::Operand& operand, const Fragment& fragment, bool is_result,
                          std::vector<OperandRef>& out) {
        const auto given = registers_of(operand);
        if (!is_whole(fragment) || given.empty() || given.size() % fragment.registers() != 0) return false;
        for (std::size_t i = 0; i < (is_result ? given.size() : fragment.registers()); i++) {
            out.push_back(is_result ? destination(*given[i], fragment.register_bytes())
                                    : source(*given[i], fragment.register_bytes(), ptx::Type::none));
        }
        return true;
    };
    if (!take(instruction.operands[1], info.a, false, info.a_registers) ||
        !take(instruction.operands[2], info.b, false, info.b_registers) ||
        !take(instruction.operands[3], info.c, false, info.c_registers) ||
        !take(instruction.operands[0], info.d, true, info.d_registers) ||
        info.d_registers.size() != info.d.registers()) {
        return false;
    }
    emit(run::matrix_multiply).info = &out_.keep(std::move(info));
    return true;
}

// wmma.load.{a,b,c}.sync.aligned.layout.shape{.ss}.type r, [p]{, stride};  wmma.store.d... [p], r{, stride};
bool Lowering::lower_matrix_transfer(const ptx::Instruction& instruction) {
    const Spelling spelling = spelling_of(instruction);
    const bool is_load = has(instruction, "load");
    if (!spelling.shape || !is_known_shape(*spelling.shape) || spelling.by_rows.size() != 1 ||
        spelling.elements.size() != 1 || instruction.operands.size() < 2) {
        return false;
    }
    Fragment fragment{MatrixRole::accumulator, *spelling.shape, spelling.elements[0]};
    if (has(instruction, "a")) fragment.role = MatrixRole::a;
    if (has(instruction, "b")) fragment.role = MatrixRole::b;
    if (!is_whole(fragment)) return false;
    const bool by_rows = spelling.by_rows[0];
    const ptx::Space space = instruction.modifiers.space;
    const auto registers = registers_of(instruction.operands[is_load ? 0 : 1]);
    if (registers.empty() || registers.size() % fragment.registers() != 0) return false;
    const Address at = address(instruction.operands[is_load ? 1 : 0], space);
    if (!at.valid) return false;
    const OperandRef base = at.wide ? at.base : resized(at.base, 4, 8, false);
    OperandRef stride = no_operand;
    if (instruction.operands.size() > 2) stride = source(instruction.operands[2], 4, ptx::Type::u32);
    const unsigned bits = element_bits(fragment.element), packed = fragment.per_register();
    const unsigned width = fragment.register_bytes();
    // A register's elements lie side by side in memory where its direction is the layout's.
    const bool along_rows = fragment.role != MatrixRole::b;
    const bool together = packed == 1 || along_rows == by_rows;
    if (!together && bits < 8) return false;
    const auto place = [&](unsigned reg, unsigned index) {
        MatrixAddresses places;
        places.bits = bits;
        places.stride = by_rows ? fragment.columns() : fragment.rows();
        for (unsigned lane = 0; lane < warp_lanes; lane++) {
            const auto [row, column] = fragment.place(lane, reg, index);
            places.line[lane] = static_cast<std::uint16_t>(by_rows ? row : column);
            places.position[lane] = static_cast<std::uint16_t>(by_rows ? column : row);
        }
        const OperandRef to = temporary(8);
        Op& op = emit(run::matrix_address);
        op.d = to;
        op.a = base;
        op.b = stride;
        op.imm = at.offset;
        op.info = &out_.keep(places);
        return to;
    };
    const auto transfer = [&](OperandRef address, OperandRef data, unsigned memory_bytes,
                              unsigned data_bytes) {
        VectorKey key;
        key.type = memory_bytes == 1   ? ptx::Type::u8
                   : memory_bytes == 2 ? ptx::Type::b16
                   : memory_bytes == 4 ? ptx::Type::b32
                                       : ptx::Type::b64;
        key.memory_bytes = static_cast<std::uint8_t>(memory_bytes);
        key.d_bytes = key.a_bytes = static_cast<std::uint8_t>(data_bytes);
        MemoryInfo& info =
            memory_info(instruction, space, is_load ? Access::read : Access::write, memory_bytes, 1, true);
        info.elements[0] = data;
        Op& op = emit(is_load ? vector_.load(key) : vector_.store(key));
        op.a = address;
        op.info = &info;
    };
    for (unsigned reg = 0; reg < registers.size(); reg++) {
        const unsigned distinct = reg % fragment.registers();
        if (!is_load && reg >= fragment.registers()) break;
        const OperandRef data =
            is_load ? destination(*registers[reg], width) : source(*registers[reg], width, ptx::Type::none);
        if (failed()) return false;
        if (together) {
            transfer(place(distinct, 0), data, width, width);
            continue;
        }
        OperandRef parts[4] = {no_operand, no_operand, no_operand, no_operand};
        for (unsigned i = 0; i < packed; i++) parts[i] = temporary(2);
        const Handler pack = packed == 4 ? run::pack_bytes : vector_.pack(2, 2);
        const Handler unpack = packed == 4 ? run::unpack_bytes : vector_.unpack(2, 2);
        if (is_load) {
            for (unsigned i = 0; i < packed; i++) transfer(place(distinct, i), parts[i], bits / 8, 2);
            Op& op = emit(pack);
            op.d = data;
            op.a = parts[0];
            op.b = parts[1];
            op.c = parts[2];
            op.e = parts[3];
        } else {
            Op& op = emit(unpack);
            op.a = data;
            op.d = parts[0];
            op.b = parts[1];
            op.c = parts[2];
            op.e = parts[3];
            for (unsigned i = 0; i < packed; i++) transfer(place(distinct, i), parts[i], bits / 8, 2);
        }
    }
    return true;
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 {r, ...}, [p];  stmatrix ... [p], {r, ...};
bool Lowering::lower_matrix_rows(const ptx::Instruction& instruction) {
    const bool is_load = instruction.opcode == ptx::Opcode::ldmatrix;
    if (instruction.operands.size() != 2 || !has(instruction, "m8n8") || !has(instruction, "b16"))
        return false;
    const auto registers = registers_of(instruction.operands[is_load ? 0 : 1]);
    if (registers.size() != 1 && registers.size() != 2 && registers.size() != 4) return false;
    if (!has(instruction, "x" + std::to_string(registers.size()))) return false;
    const ptx::Space space = instruction.modifiers.space;
    std::vector<OperandRef> refs;
    for (const ptx::Operand* reg : registers)
        refs.push_back(is_load ? destination(*reg, 4) : source(*reg, 4, ptx::Type::b32));
    const Address at = address(instruction.operands[is_load ? 1 : 0], space);
    if (!at.valid || failed()) return false;
    MemoryInfo& info =
        memory_info(instruction, space, is_load ? Access::read : Access::write, 16, 1, at.wide);
    std::copy(refs.begin(), refs.end(), info.elements);
    Op& op = emit(is_load ? run::load_matrix : run::store_matrix);
    op.a = at.base;
    op.imm = at.offset;
    op.info = &info;
    op.d_bytes = static_cast<std::uint8_t>(registers.size());
    op.a_bytes = has(instruction, "trans") ? 1 : 0;
    return true;
}

}  // namespace trimtab::emulator
