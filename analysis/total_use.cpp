#include "analysis/total_use.h"

#include <algorithm>
#include <vector>

#include "analysis/instruction_rules.h"

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::ValueIndex;

class TotalUse {
  public:
    TotalUse(const SymbolTable& table, const FunctionValues& kernel, Dimension dimension)
        : table_(table), kernel_(kernel), dimension_(dimension), followed_(kernel.function().body.size()) {}

    bool run() {
        const auto& values = kernel_.ssa().values;
        for (auto& followed : followed_) followed = 1;
        for (ValueIndex v = 0; v < values.size(); v++) {
            if (is_followed(v)) continue;
            if (values[v].kind == ptx::Value::Kind::instruction) followed_[values[v].instruction] = 0;
            if (values[v].previous != no_index && has_total(values[v].previous)) return true;
            if (values[v].kind == ptx::Value::Kind::phi &&
                std::ranges::any_of(values[v].incoming, [&](ValueIndex incoming) {
                    return incoming != no_index && has_total(incoming);
                }))
                return true;
        }
        const auto& body = kernel_.function().body;
        for (std::uint32_t i = 0; i < body.size(); i++)
            if (kernel_.is_reachable(i) && !is_made_of_values(i) && uses_total(i)) return true;
        return false;
    }

  private:
    // Is the value told by others alone, so that it has the total in it if it depends on it?
    bool is_followed(ValueIndex index) const {
        const Symbolic& value = kernel_.value(index);
        if (value.width == 0) return false;
        bool followed = true;
        for (const Term& term : value.terms)
            for (const AtomIndex at : term.atoms) {
                const Atom& atom = table_.atom(at);
                followed &= (atom.kind != Atom::Kind::opaque && atom.kind != Atom::Kind::tainted) ||
                            atom.function != kernel_.index() || atom.value != index;
            }
        return followed;
    }
    bool has_total(const Symbolic& value) const {
        bool found = false;
        table_.for_each_atom(value, [&](AtomIndex index) {
            const Atom& atom = table_.atom(index);
            found |= atom.dimension == dimension_ &&
                     (atom.kind == Atom::Kind::total || atom.kind == Atom::Kind::grid_size ||
                      atom.kind == Atom::Kind::warp_total);
        });
        return found;
    }
    bool has_total(ValueIndex index) const { return has_total(kernel_.value(index)); }
    // Nothing but the values that it writes comes of it, and those are followed.
    bool is_made_of_values(std::uint32_t i) const {
        const ptx::Instruction& made = kernel_.function().body[i];
        return followed_[i] != 0 && is_pure(made) && made.destination_count > 0 &&
               ptx::info(made.opcode).opcode_class != ptx::OpcodeClass::control;
    }
    bool uses_total(std::uint32_t i) const {
        for (const ptx::Ssa::Use& use : kernel_.ssa().uses[i])
            if (use.value != no_index && has_total(use.value)) return true;
        const ptx::Instruction& made = kernel_.function().body[i];
        for (std::size_t o = 0; o < made.operands.size(); o++) {
            if (made.operands[o].kind == ptx::Operand::Kind::special && has_total(kernel_.operand(i, o)))
                return true;
            for (const ptx::Operand& element : made.operands[o].elements)
                if (element.kind == ptx::Operand::Kind::special && element.text.starts_with("%nctaid"))
                    return true;
        }
        return false;
    }

    const SymbolTable& table_;
    const FunctionValues& kernel_;
    Dimension dimension_;
    std::vector<char> followed_;  // by instruction
};

}  // namespace

bool total_matters(const SymbolTable& table, const FunctionValues& kernel, Dimension dimension) {
    return TotalUse(table, kernel, dimension).run();
}

}  // namespace trimtab::analysis
