// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/written_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "core/ptx/opcodes.h"
#include "emulation/emulator/check/host_range.h"
#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/half.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator::check {
namespace {

using ptx::NumberKind;
using ptx::Opcode;
using Shape = LaneAddresses::Shape;

double number_at(const std::byte* from, NumberKind kind) {
    const auto as = [from]<class T>(T value) {
        std::memcpy(&value, from, sizeof value);
        return value;
    };
    switch (kind) {
        case NumberKind::f16:
            return half_to_real(as(std::uint16_t{}));
        case NumberKind::bf16:
            return bfloat_to_real(as(std::uint16_t{}));
        case NumberKind::f32:
            return static_cast<double>(as(float{}));
        case NumberKind::f64:
            return as(double{});
        default:
            return 0;
    }
}

// Of the lowest bit that is set in a number other than zero.
int finest_exponent(double value) {
    constexpr int fraction_bits = 52;
    const auto fraction = std::bit_cast<std::uint64_t>(value) & ((std::uint64_t{1} << fraction_bits) - 1);
    return std::ilogb(value) - (fraction == 0 ? 0 : fraction_bits - std::countr_zero(fraction));
}

void add_term(AtomicSum& sum, double term) {
    if (term == 0) return;
    const int exponent = std::isfinite(term) ? finest_exponent(term) : 0;
    sum.finest_exponent = sum.magnitude == 0 ? exponent : std::min(sum.finest_exponent, exponent);
    sum.magnitude += std::abs(term);
}

}  // namespace

struct WrittenNumbers::Kernel {
    explicit Kernel(const CompiledKernel& the_kernel)
        : compiled(the_kernel),
          numbers(compiled.reached()),
          loaded(compiled.info().instruction_count, NumberKind::moved),
          sites(compiled.info().instruction_count) {}

    const CompiledKernel& compiled;
    const ptx::NumberKinds numbers;
    std::vector<NumberKind> loaded;  // by instruction: of all memory that it has read so far
    std::vector<Site> sites;         // likewise
};

WrittenNumbers::WrittenNumbers() = default;
WrittenNumbers::~WrittenNumbers() = default;

NumberKind WrittenNumbers::kind_at(std::uint64_t address) const {
    const auto word = global_.find(address / word_bytes);
    return word == global_.end() ? NumberKind::moved : word->second[address % word_bytes / unit_bytes].kind;
}

const AtomicSum* WrittenNumbers::sum_at(std::uint64_t address) const {
    const auto word = global_.find(address / word_bytes);
    if (word == global_.end() || !word->second[address % word_bytes / unit_bytes].is_sum) return nullptr;
    const auto sum = sums_.find(address);
    return sum == sums_.end() ? nullptr : &sum->second;
}

void WrittenNumbers::block_started(const Block& block) {
    of_blocks_.erase(block.linear_index());
}

void WrittenNumbers::block_finished(const Block& block) {
    of_blocks_.erase(block.linear_index());
}

WrittenNumbers::Kernel& WrittenNumbers::kernel_of(const CompiledKernel& compiled) {
    std::unique_ptr<Kernel>& kernel = kernels_[&compiled];
    if (kernel == nullptr) kernel = std::make_unique<Kernel>(compiled);
    return *kernel;
}

WrittenNumbers::Site WrittenNumbers::site_of(const Kernel& kernel, const Op* op) {
    const auto& info = *static_cast<const MemoryInfo*>(op->info);
    const ptx::Instruction& instruction = kernel.compiled.instruction(op->index);
    const std::vector<std::uint32_t>& bases = kernel.compiled.bases();
    const auto function =
        static_cast<std::size_t>(std::ranges::upper_bound(bases, op->index) - bases.begin() - 1);
    const bool is_atomic = instruction.opcode == Opcode::atom || instruction.opcode == Opcode::red;
    Site site;
    site.is_known = true;
    site.part_bytes = info.element_bytes;
    site.is_copy = ptx::info(instruction.opcode).opcode_class == ptx::OpcodeClass::copy;
    site.reads = info.access != Access::write;
    if (is_atomic) {
        const auto results = instruction.destinations();
        site.reads = std::ranges::any_of(results, [&](const ptx::Operand& result) {
            const auto is_read = [&](const ptx::Operand& one) {
                return one.reg != ptx::no_index && kernel.numbers.is_read(function, one.reg);
            };
            return is_read(result) || std::ranges::any_of(result.elements, is_read);
        });
        if (instruction.modifiers.atomic == ptx::AtomicOp::add && ptx::is_float(instruction.type)) {
            site.adds = ptx::kind_of(instruction.type);
            site.part_bytes = static_cast<std::uint8_t>(ptx::size_bytes(site.adds));
            return site;
        }
    }
    const auto sources = instruction.sources();
    const auto is = [&](ptx::AtomicOp operation) { return instruction.modifiers.atomic == operation; };
    std::size_t value = sources.size();
    if (instruction.opcode == Opcode::st ||
        (is_atomic && (is(ptx::AtomicOp::exch) || ptx::is_float(instruction.type))))
        value = 1;
    else if (is_atomic && is(ptx::AtomicOp::cas))
        value = 2;
    if (value >= sources.size()) {
        const NumberKind kind = site.is_copy ? NumberKind::moved : ptx::kind_of(instruction.type);
        site.written.assign(info.element_count, {.kind = kind, .loads = {}});
        return site;
    }
    const ptx::Operand& written = sources[value];
    if (written.elements.empty()) site.written.push_back(kernel.numbers.of(function, written));
    for (const ptx::Operand& element : written.elements)
        site.written.push_back(kernel.numbers.of(function, element));
    return site;
}

NumberKind WrittenNumbers::read(const Memory& memory, std::uint64_t first, std::uint64_t bytes) {
    NumberKind kind = NumberKind::moved;
    for (std::uint64_t at = first; at < first + bytes; at += unit_bytes) {
        const auto word = memory.find(at / word_bytes);
        if (word == memory.end()) continue;
        const Unit& unit = word->second[at % word_bytes / unit_bytes];
        kind = ptx::joined(kind, unit.kind);
        are_sums_read_ = are_sums_read_ || unit.is_sum;
    }
    return kind;
}

void WrittenNumbers::write(Memory& memory, std::uint64_t first, std::uint64_t bytes, const Unit& unit) {
    for (std::uint64_t at = first; at < first + bytes; at += unit_bytes)
        memory[at / word_bytes][at % word_bytes / unit_bytes] = unit;
}

// One lane's terms, before they are added.
void WrittenNumbers::add(Warp& w, const Op* op, const Site& site, unsigned lane, Memory& memory,
                         std::uint64_t first) {
    const auto& info = *static_cast<const MemoryInfo*>(op->info);
    for (unsigned element = 0; element < info.element_count; element++) {
        const OperandRef from = info.element_count == 1 ? op->b : info.elements[element];
        const std::byte* terms = w.lanes<std::byte>(from) + std::size_t{lane} * info.element_bytes;
        for (unsigned part = 0; part < info.element_bytes; part += site.part_bytes) {
            const std::uint64_t at = first + element * info.element_bytes + part;
            const Unit unit = memory[at / word_bytes][at % word_bytes / unit_bytes];
            AtomicSum& sum = sums_[at];
            if (!unit.is_sum || sum.kind != site.adds) {
                sum.kind = site.adds;
                add_term(sum, number_at(reinterpret_cast<const std::byte*>(at), site.adds));
            }
            add_term(sum, number_at(terms + part, site.adds));
            sum.count++;
            write(memory, at, site.part_bytes, {.kind = site.adds, .is_sum = true});
        }
    }
}

Shape WrittenNumbers::accesses(Warp& w, const Op* op, Shape shape) {
    const auto& info = *static_cast<const MemoryInfo*>(op->info);
    Kernel& kernel = kernel_of(w.worker->launch().kernel);
    Site& site = kernel.sites[op->index];
    if (!site.is_known) site = site_of(kernel, op);
    // A copy reads first, and is told of twice.
    const bool reads = site.is_copy ? info.access == Access::read : site.reads;
    const bool writes = info.access != Access::read;
    std::array<NumberKind, 8> kinds{};
    if (writes && site.adds == NumberKind::moved) {
        for (std::size_t i = 0; i < std::min(site.written.size(), kinds.size()); i++) {
            kinds[i] = site.is_copy ? kernel.loaded[op->index] : site.written[i].kind;
            for (const std::uint32_t load : site.written[i].loads)
                kinds[i] = ptx::joined(kinds[i], kernel.loaded[load]);
        }
    }
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint64_t step = shape == Shape::uniform ? 0 : info.total_bytes;
        const std::uint64_t first = shape == Shape::scattered
                                        ? reinterpret_cast<std::uint64_t>(w.at.of_lane(lane))
                                        : reinterpret_cast<std::uint64_t>(w.at.host) + lane * step;
        const bool is_of_block =
            is_within(first, w.shared, w.shared_bytes) || is_within(first, w.local.data(), w.local.size());
        Memory& memory = is_of_block ? of_blocks_[w.block->linear_index()] : global_;
        if (reads)
            kernel.loaded[op->index] =
                ptx::joined(kernel.loaded[op->index], read(memory, first, info.total_bytes));
        if (!writes) continue;
        if (site.adds != NumberKind::moved) {
            add(w, op, site, lane, memory, first);
            continue;
        }
        for (unsigned element = 0; element < info.element_count; element++)
            write(memory, first + element * info.element_bytes, info.element_bytes,
                  {.kind = element < site.written.size() ? kinds[element] : NumberKind::other,
                   .is_sum = false});
    }
    return shape;
}

}  // namespace trimtab::emulator::check
