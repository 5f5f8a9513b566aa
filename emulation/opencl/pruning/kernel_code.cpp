// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/kernel_code.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/values/inlined_calls.h"
#include "core/analysis/values/integer_operations.h"
#include "core/ptx/opcodes.h"
#include "core/ptx/special_registers.h"
#include "emulation/emulator/exec/program.h"

namespace trimtab::pruning {

namespace {

using ptx::no_index;
using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::ValueIndex;

// Symbols get addresses of a space of their own, each as far from the next as its size asks for (section 4.2.3): only
// distances between addresses count.
class SymbolAddresses {
  public:
    explicit SymbolAddresses(const ptx::Module& module, const ptx::Function& kernel) {
        for (const ptx::Variable& variable : module.variables) place(variable);
        for (const ptx::Variable& variable : kernel.variables) place(variable);
    }
    [[nodiscard]] std::optional<std::uint64_t> of(const std::string& name) const {
        const auto found = places_.find(name);
        return found == places_.end() ? std::nullopt : std::optional(found->second);
    }

    // 0: there is none, or its size is a launch's.
    [[nodiscard]] std::uint64_t shared_end() const { return has_open_shared_ ? 0 : shared_end_; }

  private:
    void place(const ptx::Variable& variable) {
        constexpr std::uint64_t apart = 256, first = std::uint64_t{1} << 44;
        const bool is_shared = variable.space == ptx::Space::shared;
        std::uint64_t& next = is_shared ? next_shared_ : next_global_;
        places_[variable.name] = is_shared ? next : first + next;
        if (is_shared) {
            has_open_shared_ = has_open_shared_ || variable.size_bytes == 0;
            shared_end_ = next + variable.size_bytes;
        }
        next += (variable.size_bytes + apart - 1) / apart * apart;
    }
    std::map<std::string, std::uint64_t> places_;
    std::uint64_t next_shared_ = 0, next_global_ = 0, shared_end_ = 0;
    bool has_open_shared_ = false;
};

class Decoder {
  public:
    Decoder(const ptx::Module& module, KernelCode& code, const emulator::FunctionCode& lowered)
        : code_(code), lowered_(lowered), symbols_(module, code.function) {}

    void run() {
        find_needed();
        const bool takes_local = std::ranges::any_of(code_.function.parameters, [](const ptx::Variable& one) {
            return one.is_pointer && one.pointer_space == ptx::Space::shared;
        });
        code_.local_end = takes_local ? 0 : symbols_.shared_end();
        code_.blocks.resize(code_.flow.blocks.size());
        for (ptx::BlockIndex b = 0; b < code_.blocks.size(); ++b) decode(b);
        for (ValueIndex v = 0; v < code_.ssa.values.size(); ++v)
            if (const ptx::Value& value = code_.ssa.values[v];
                value.kind == ptx::Value::Kind::phi && needed_[v])
                code_.blocks[value.block].phis.push_back(v);
        order();
        find_kept();
    }

  private:
    [[nodiscard]] const ptx::Instruction& instruction(std::uint32_t i) const {
        return code_.function.body[i];
    }

    static bool is_memory(const ptx::Instruction& i) {
        switch (ptx::info(i.opcode).opcode_class) {
            case OpcodeClass::load:
                return i.modifiers.space != ptx::Space::param;
            case OpcodeClass::store:
            case OpcodeClass::atomic:
            case OpcodeClass::texture:
            case OpcodeClass::surface_load:
            case OpcodeClass::surface_store:
            case OpcodeClass::copy:
                return true;
            default:
                return false;
        }
    }
    static const ptx::Operand* address_of(const ptx::Instruction& i) {
        for (const ptx::Operand& operand : i.operands)
            if (operand.kind == ptx::Operand::Kind::address) return &operand;
        return nullptr;
    }
    static bool is_evaluated(const ptx::Instruction& i) {
        return i.opcode == Opcode::mov || i.opcode == Opcode::cvta ||
               analysis::integer_operation(i).has_value();
    }

    // What conditions and addresses are made of.
    void find_needed() {
        needed_.assign(code_.ssa.values.size(), false);
        std::vector<ValueIndex> work;
        const auto need = [&](ValueIndex v) {
            if (v == no_index || needed_[v]) return;
            needed_[v] = true;
            work.push_back(v);
        };
        for (std::uint32_t i = 0; i < code_.function.body.size(); ++i) {
            const ptx::Instruction& one = instruction(i);
            if (ptx::ends_block(one.opcode) || is_memory(one)) need(code_.ssa.guard(i));
            if (!is_memory(one)) continue;
            for (const ptx::Ssa::Use& use : code_.ssa.uses[i])
                if (use.operand < one.operands.size() &&
                    one.operands[use.operand].kind == ptx::Operand::Kind::address && use.element == 0)
                    need(use.value);
        }
        while (!work.empty()) {
            const ptx::Value& value = code_.ssa.values[work.back()];
            work.pop_back();
            for (const ValueIndex v : value.incoming) need(v);
            need(value.previous);
            if (value.kind != ptx::Value::Kind::instruction) continue;
            need(code_.ssa.guard(value.instruction));
            if (!is_evaluated(instruction(value.instruction))) continue;
            for (const ptx::Ssa::Use& use : code_.ssa.uses[value.instruction]) need(use.value);
        }
    }

    [[nodiscard]] ValueOperand operand(std::uint32_t i, std::uint16_t o) const {
        const ptx::Operand& written = instruction(i).operands[o];
        switch (written.kind) {
            case ptx::Operand::Kind::immediate:
                return {.value = no_index, .bits = written.bits};
            case ptx::Operand::Kind::symbol:
                return {.value = no_index,
                        .bits = symbols_.of(written.text).value_or(0) +
                                static_cast<std::uint64_t>(written.offset)};
            default:
                return {.value = code_.ssa.use(i, o), .bits = 0};
        }
    }

    void set_guard(Step& step, std::uint32_t i) const {
        step.guard = code_.ssa.guard(i);
        step.guard_negated = instruction(i).guard_negated;
        if (step.result != no_index) step.previous = code_.ssa.values[step.result].previous;
    }

    void decode_value(CodeBlock& block, std::uint32_t i, ValueIndex result) {
        const ptx::Instruction& one = instruction(i);
        Step step;
        step.result = result;
        set_guard(step, i);
        const auto sources = static_cast<std::uint16_t>(one.destination_count);
        if ((one.opcode == Opcode::mov || one.opcode == Opcode::cvta) &&
            one.operands.size() == sources + 1u) {
            const ptx::Operand& source = one.operands[sources];
            if (source.kind == ptx::Operand::Kind::special) {
                step.kind = Step::Kind::special;
                step.special = source.special;
            } else if (source.kind == ptx::Operand::Kind::reg ||
                       source.kind == ptx::Operand::Kind::immediate ||
                       (source.kind == ptx::Operand::Kind::symbol && symbols_.of(source.text))) {
                step.kind = Step::Kind::copy;
                step.operands[0] = operand(i, sources);
            }
        } else if (const auto operation = analysis::integer_operation(one);
                   operation && operation->arity <= 3) {
            step.kind = Step::Kind::operation;
            step.operation = *operation;
            for (unsigned o = 0; o < operation->arity; ++o)
                step.operands[o] = operand(i, static_cast<std::uint16_t>(sources + o));
            if (one.modifiers.boolean_op != ptx::BooleanOp::none && one.operands.size() == sources + 3u) {
                step.combined = one.modifiers.boolean_op;
                step.operands[2] = operand(i, static_cast<std::uint16_t>(sources + 2));
                step.combined_negated = one.operands[sources + 2u].negated;
            }
            // The second result of setp p|q is another.
            if (code_.ssa.values[result].operand != 0) step.kind = Step::Kind::unknown;
        } else if (ptx::is_load(one) && one.modifiers.space == ptx::Space::param) {
            const ptx::Operand* const address = address_of(one);
            const ptx::Variable* const parameter = address == nullptr || address->reg != no_index
                                                       ? nullptr
                                                       : code_.function.parameter(address->text);
            const std::uint32_t bytes = ptx::size_bytes(one.type);
            if (parameter != nullptr && bytes <= 8 && !ptx::is_float(one.type)) {
                step.kind = Step::Kind::argument;
                step.argument_offset = parameter->offset_bytes + static_cast<std::uint32_t>(address->offset) +
                                       bytes * code_.ssa.values[result].element;
                step.argument_bytes = bytes;
                step.argument_signed = ptx::is_signed(one.type);
            }
        }
        block.steps.push_back(step);
    }

    void decode_access(CodeBlock& block, std::uint32_t i) {
        const ptx::Instruction& one = instruction(i);
        MemoryAccess access;
        const ptx::Operand* const address = address_of(one);
        const OpcodeClass kind = ptx::info(one.opcode).opcode_class;
        // Abstract emulation asks for no addresses of other spaces and ways.
        const auto space = one.modifiers.space;
        access.has_address =
            address != nullptr && space != ptx::Space::constant && space != ptx::Space::local &&
            (kind == OpcodeClass::load || kind == OpcodeClass::store || kind == OpcodeClass::atomic);
        access.instruction = lowered_.instruction_base + i;
        access.is_atomic = kind == OpcodeClass::atomic;
        access.is_shared = space == ptx::Space::shared;
        access.bytes =
            std::max(1u, ptx::size_bytes(one.type)) * std::max<unsigned>(1, one.modifiers.vector_width);
        access.location = one.location;
        if (access.has_address) {
            const auto number = static_cast<std::uint16_t>(address - one.operands.data());
            access.offset = address->offset;
            access.base.value = code_.ssa.use(i, number);
            if (access.base.value == no_index)
                access.base.bits =
                    address->text.empty() ? address->bits : symbols_.of(address->text).value_or(0);
        }
        for (ValueIndex v : defined_[i])
            if (needed_[v]) access.results.push_back(v);
        Step step;
        step.kind = Step::Kind::access;
        step.access = static_cast<std::uint32_t>(code_.accesses.size());
        set_guard(step, i);
        code_.accesses.push_back(std::move(access));
        block.steps.push_back(step);
    }

    void decode(ptx::BlockIndex b) {
        CodeBlock& block = code_.blocks[b];
        const ptx::BasicBlock& written = code_.flow.blocks[b];
        block.loop = code_.flow.innermost_loop[b];
        for (std::uint32_t i = written.first; i < written.last; ++i) {
            const ptx::Instruction& one = instruction(i);
            if (lowered_.counted_at[i] == lowered_.instruction_base + i) {
                Step step;
                step.kind = Step::Kind::region;
                step.slot = lowered_.counted_at[i];
                // A jump's own guard says where it goes, and all lanes come to it.
                if (!ptx::ends_block(one.opcode)) set_guard(step, i);
                block.steps.push_back(step);
            }
            if (ptx::ends_block(one.opcode) && i + 1 == written.last) break;
            if (is_memory(one)) {
                decode_access(block, i);
                continue;
            }
            for (const ValueIndex v : defined_[i])
                if (needed_[v]) decode_value(block, i, v);
        }
        decode_end(block, b);
    }

    void decode_end(CodeBlock& block, ptx::BlockIndex b) {
        const ptx::BasicBlock& written = code_.flow.blocks[b];
        if (written.first != written.last) {
            const std::uint32_t last = written.last - 1;
            const ptx::Instruction& one = instruction(last);
            if (ptx::ends_block(one.opcode)) {
                const ptx::OpcodeInfo& info = ptx::info(one.opcode);
                block.condition = code_.ssa.guard(last);
                block.condition_negated = one.guard_negated;
                const bool guarded = block.condition != no_index;
                if (info.has(ptx::leaves))
                    block.end = guarded ? CodeBlock::End::may_return : CodeBlock::End::returns;
                else if (one.opcode == Opcode::brx || written.successors.size() > 2)
                    block.end = CodeBlock::End::jumps_to_any;
                else
                    block.end = guarded && written.successors.size() == 2 ? CodeBlock::End::branches
                                                                          : CodeBlock::End::falls;
            }
        }
        for (const ptx::BlockIndex to : written.successors) {
            const auto& predecessors = code_.flow.blocks[to].predecessors;
            block.slots.push_back(
                static_cast<std::uint32_t>(std::ranges::find(predecessors, b) - predecessors.begin()));
            std::uint32_t left = no_index;
            for (std::uint32_t loop = block.loop; loop != no_index; loop = code_.flow.loops[loop].parent)
                if (!code_.flow.loops[loop].contains(to)) left = loop;
            block.leaves.push_back(left);
            bool back = false;
            for (std::uint32_t loop = block.loop; loop != no_index; loop = code_.flow.loops[loop].parent)
                back = back || code_.flow.loops[loop].header == to;
            block.goes_back.push_back(back);
        }
    }

    // Each loop's blocks together, where its header stands in reverse post-order.
    void order() {
        const auto& loops = code_.flow.loops;
        code_.loop_items.resize(loops.size());
        code_.is_innermost.assign(loops.size(), true);
        for (const ptx::Loop& loop : loops)
            if (loop.parent != no_index) code_.is_innermost[loop.parent] = false;
        for (const ptx::BlockIndex b : code_.flow.reverse_post_order) {
            // The loops that it lies in, from the outermost.
            std::vector<std::uint32_t> around;
            for (std::uint32_t loop = code_.flow.innermost_loop[b]; loop != no_index;
                 loop = loops[loop].parent)
                around.push_back(loop);
            std::ranges::reverse(around);
            std::vector<CodeItem>* into = &code_.items;
            for (const std::uint32_t loop : around) {
                if (loops[loop].header == b) into->push_back({.is_loop = true, .index = loop});
                into = &code_.loop_items[loop];
            }
            into->push_back({.is_loop = false, .index = b});
        }
    }

    [[nodiscard]] bool is_inside(ptx::BlockIndex b, std::uint32_t loop) const {
        for (std::uint32_t l = code_.flow.innermost_loop[b]; l != no_index; l = code_.flow.loops[l].parent)
            if (l == loop) return true;
        return false;
    }
    void find_kept() {
        code_.kept_values.resize(code_.flow.loops.size());
        std::vector<std::set<ValueIndex>> kept(code_.flow.loops.size());
        const auto block_of = [&](ValueIndex v) {
            const ptx::Value& value = code_.ssa.values[v];
            return value.kind == ptx::Value::Kind::phi           ? value.block
                   : value.kind == ptx::Value::Kind::instruction ? code_.flow.block_of[value.instruction]
                                                                 : ptx::BlockIndex{no_index};
        };
        const auto use = [&](ValueIndex v, ptx::BlockIndex at) {
            if (v == no_index || !needed_[v]) return;
            const ptx::BlockIndex from = block_of(v);
            if (from == no_index) return;
            for (std::uint32_t l = code_.flow.innermost_loop[from]; l != no_index;
                 l = code_.flow.loops[l].parent)
                if (!is_inside(at, l)) kept[l].insert(v);
        };
        for (std::uint32_t i = 0; i < code_.function.body.size(); ++i)
            for (const ptx::Ssa::Use& one : code_.ssa.uses[i]) use(one.value, code_.flow.block_of[i]);
        for (ValueIndex v = 0; v < code_.ssa.values.size(); ++v)
            if (const ptx::Value& value = code_.ssa.values[v]; value.kind == ptx::Value::Kind::phi)
                for (const ValueIndex in : value.incoming) use(in, value.block);
        for (std::size_t l = 0; l < kept.size(); ++l)
            code_.kept_values[l].assign(kept[l].begin(), kept[l].end());
    }

  public:
    void index_definitions() {
        defined_.resize(code_.function.body.size());
        for (ValueIndex v = 0; v < code_.ssa.values.size(); ++v)
            if (const ptx::Value& value = code_.ssa.values[v]; value.kind == ptx::Value::Kind::instruction)
                defined_[value.instruction].push_back(v);
    }

  private:
    KernelCode& code_;
    const emulator::FunctionCode& lowered_;
    SymbolAddresses symbols_;
    std::vector<bool> needed_;
    std::vector<std::vector<ValueIndex>> defined_;  // by instruction
};

}  // namespace

std::expected<KernelCode, Error> KernelCode::make(const ptx::Module& module, const ptx::Function& kernel) {
    KernelCode code;
    ptx::Module inlined = module;
    const auto own = std::ranges::find_if(inlined.functions, [&](const ptx::Function& one) {
        return one.name == kernel.name && one.is_entry == kernel.is_entry;
    });
    if (own == inlined.functions.end()) return std::unexpected(Error{.message = "is no kernel of its PTX"});
    *own = analysis::with_inlined_calls(module, kernel).function;
    auto flow = ptx::control_flow(*own);
    if (!flow) return std::unexpected(flow.error());
    if (!flow->reducible)
        return std::unexpected(Error{.message = "has a loop with two entries, of which no trace is made"});
    code.function = *own;
    code.name = kernel.name;
    auto program = emulator::load_program(std::move(inlined));
    if (!program) return std::unexpected(program.error());
    code.program = std::move(*program);
    const emulator::CompiledKernel* const compiled = code.program->kernel(code.name);
    if (compiled == nullptr || !compiled->info().error.empty())
        return std::unexpected(
            Error{.message = compiled == nullptr ? "is no kernel of its PTX" : compiled->info().error});
    code.flow = std::move(*flow);
    code.ssa = ptx::build_ssa(code.function, code.flow);
    Decoder decoder(module, code, *compiled->code(true, true).functions.front());
    decoder.index_definitions();
    decoder.run();
    return code;
}

}  // namespace trimtab::pruning
