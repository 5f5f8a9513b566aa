// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a function's dependences anew: registers as polynomials over the launch's registers, and of each value
// what its label must have, given the labels of what it is made of.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checker/certificate.h"
#include "core/checker/form.h"
#include "core/ptx/control_dependence.h"
#include "trimtab/error.h"

namespace trimtab::checker {

class Reading {
  public:
    // It refers to the certificate, whose labels may change under it.
    [[nodiscard]] static std::expected<Reading, Error> make(const Certificate& certificate);

    // What the value's label must have at least.
    [[nodiscard]] Labels required(ptx::ValueIndex value) const;
    // Of everything that the instruction reads, its guard and address too; `addresses`: of addresses alone.
    [[nodiscard]] Labels uses(std::uint32_t instruction, bool addresses = false) const;
    // Of what the branch at the end of `branch` decides, to what stands in `to`.
    [[nodiscard]] Labels decides(ptx::BlockIndex branch, ptx::BlockIndex to) const;
    [[nodiscard]] Labels of(const Form& form, ptx::BlockIndex at) const;
    [[nodiscard]] Labels read(ptx::ValueIndex value, ptx::BlockIndex at) const;

    // Of a source operand, in as many bits; width 0: it is not followed.
    [[nodiscard]] Form operand(std::uint32_t instruction, std::size_t operand, unsigned width) const;
    [[nodiscard]] const Form& form(ptx::ValueIndex value) const { return forms_[value]; }
    [[nodiscard]] Form own(ptx::ValueIndex value) const;
    // Loops over threads first, then those over rows.
    [[nodiscard]] const StridedLoop& loop(std::size_t l) const {
        return l < certificate_->loops.size() ? certificate_->loops[l]
                                              : certificate_->rows[l - certificate_->loops.size()];
    }
    [[nodiscard]] std::size_t loop_count() const {
        return certificate_->loops.size() + certificate_->rows.size();
    }
    // What the loop's index goes up by.
    [[nodiscard]] Form total(std::size_t loop, unsigned width) const;
    // What an operation makes of a polynomial and is followed as one thing, of `width` bits.
    struct Part {
        std::string operation;  // "s" or "u": widened
        Form form;
        unsigned width = 0;
        [[nodiscard]] bool is_signed() const { return operation == "s"; }
        [[nodiscard]] bool is_widened() const { return is_signed() || operation == "u"; }
    };
    // Null: the atom is none.
    [[nodiscard]] const Part* part_of(Atom atom) const {
        const bool is_part = atom >= first_value + ssa_.values.size() && atom < first_parameter;
        return is_part ? &parts_[atom - first_value - ssa_.values.size()] : nullptr;
    }
    // What stands for the loop's index in forms.
    [[nodiscard]] Atom index_of(std::size_t loop) const { return first_loop + static_cast<Atom>(loop); }

    // The certificate's loop of the dimension that the block is in; no_index: none.
    [[nodiscard]] std::uint32_t home(std::size_t dimension, ptx::BlockIndex block) const {
        return homes_[dimension][block];
    }
    [[nodiscard]] const std::map<ptx::BlockIndex, std::uint8_t>& deciding(ptx::BlockIndex block) const;
    [[nodiscard]] const std::vector<ptx::ValueIndex>& phis(ptx::BlockIndex block) const {
        return phis_[block];
    }
    [[nodiscard]] bool is_in(const StridedLoop& loop, ptx::BlockIndex block) const;
    [[nodiscard]] const ptx::Loop& loop_at(ptx::BlockIndex header) const;
    [[nodiscard]] bool is_reachable(ptx::BlockIndex block) const {
        return block == 0 || flow_.immediate_dominator[block] != ptx::no_index;
    }
    [[nodiscard]] ptx::BlockIndex block_of(ptx::ValueIndex value) const;
    // Of the thread's own stack, or of what may be that.
    [[nodiscard]] bool is_of_stack(std::uint32_t instruction) const { return of_stack_[instruction]; }
    [[nodiscard]] bool is_exchanging(std::uint32_t instruction) const { return exchanging_[instruction]; }
    [[nodiscard]] const Certificate& certificate() const { return *certificate_; }
    [[nodiscard]] const ptx::Function& function() const { return *certificate_->function; }
    [[nodiscard]] const ptx::ControlFlow& flow() const { return flow_; }
    [[nodiscard]] const ptx::Ssa& ssa() const { return ssa_; }
    [[nodiscard]] std::optional<Form> special(ptx::SpecialRegister of, unsigned width) const;

    // Each phi that is a function of its loop's index: it begins with that of the first index, and each iteration
    // leaves it that of the next one. Else what is wrong.
    [[nodiscard]] std::optional<std::string> check_loops();
    [[nodiscard]] bool follows_index(std::size_t loop, ptx::ValueIndex phi);

  private:
    explicit Reading(const Certificate& certificate) : certificate_(&certificate) {}
    void find_forms();
    void find_function(std::size_t loop);
    void find_stack_accesses();
    bool is_undefined(ptx::ValueIndex value, ptx::ValueIndex by) const;
    [[nodiscard]] std::optional<bool> runs(std::uint32_t instruction) const;
    Form narrowed(const Form& form, unsigned width) const;
    bool holds(std::vector<ptx::ValueIndex> StridedLoop::* list, ptx::ValueIndex value) const;
    Form form_of(ptx::ValueIndex value);
    // Where in the kernel's parameters the instruction loads from; nothing where it does not.
    std::optional<std::uint64_t> loaded_parameter(std::uint32_t i) const;
    Form computed(ptx::ValueIndex value, const ptx::Instruction& made, std::uint32_t i, unsigned width);
    Form merged(ptx::ValueIndex value, const Form& first) const;
    Form widened(const Form& form, unsigned width, bool is_signed, bool is_granted);
    std::optional<Form> of_warps(const ptx::Instruction& made, const Form& a, const Form& b);
    Form part(std::string_view operation, const Form& form, unsigned width);
    Form with_parts(const Form& form, Atom from, const Form& to);
    [[nodiscard]] bool is_agreed_on(const Form& form) const;
    Form start(std::size_t loop, unsigned width) const;
    bool is_of_rows(std::size_t loop) const { return loop >= certificate_->loops.size(); }
    Form launch(ptx::SpecialRegister first, std::size_t dimension, unsigned width) const;
    bool is_small(const Form& form) const;
    double largest(const Form& form, bool is_normal) const;
    Form normal(const Form& form) const;
    Labels of_atom(Atom atom, ptx::BlockIndex at) const;
    Labels of_value(ptx::ValueIndex value, ptx::BlockIndex at) const;
    Labels of_special(ptx::SpecialRegister of, ptx::BlockIndex at) const;
    Labels of_phi(ptx::ValueIndex value) const;
    Labels of_stack(ptx::BlockIndex at) const;
    const std::vector<ptx::BlockIndex>& merging(ptx::BlockIndex block) const;

    const Certificate* certificate_;
    ptx::ControlFlow flow_;
    ptx::Ssa ssa_;
    std::shared_ptr<ptx::ControlDependence> control_;
    std::vector<std::vector<ptx::ValueIndex>> phis_, definitions_;  // by block, by instruction
    std::array<std::vector<std::uint32_t>, 3> homes_;
    std::vector<Form> forms_;
    std::map<ptx::ValueIndex, Form> functions_;  // of phis that follow an index
    std::map<std::string, Form> known_;          // by operation and operands
    std::vector<Part> parts_;                    // their atoms come after those of values
    std::map<std::string, std::size_t> known_parts_;
    std::vector<const Exchange::Agreed*> agreed_;                // by value
    std::vector<bool> of_stack_, may_be_of_stack_, exchanging_;  // by instruction
    std::vector<std::uint32_t> stack_stores_;
    mutable std::map<ptx::BlockIndex, std::map<ptx::BlockIndex, std::uint8_t>> deciding_;
    mutable std::map<ptx::BlockIndex, std::vector<ptx::BlockIndex>> merging_;
};

}  // namespace trimtab::checker
