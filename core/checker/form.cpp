// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/checker/form.h"

#include <algorithm>

namespace trimtab::checker {
namespace {

void add(Form& to, const std::vector<Atom>& atoms, std::uint64_t coefficient) {
    const auto [at, is_new] = to.terms.try_emplace(atoms, 0);
    at->second = truncate_bits(at->second + coefficient, to.width);
    if (at->second == 0) to.terms.erase(at);
}

}  // namespace

Form number(std::uint64_t value, unsigned width) {
    Form result{width, {}};
    add(result, {}, value);
    return result;
}

Form atom(Atom of, unsigned width) {
    return {width, {{{of}, 1}}};
}

Form sum(const Form& a, const Form& b, std::uint64_t factor) {
    Form result = a;
    for (const auto& [atoms, coefficient] : b.terms) add(result, atoms, factor * coefficient);
    return result;
}

Form product(const Form& a, const Form& b) {
    Form result{a.width, {}};
    for (const auto& [left, x] : a.terms)
        for (const auto& [right, y] : b.terms) {
            std::vector<Atom> atoms;
            std::ranges::merge(left, right, std::back_inserter(atoms));
            add(result, atoms, x * y);
        }
    return result;
}

Form with_width(const Form& form, unsigned width) {
    Form result{width, {}};
    for (const auto& [atoms, coefficient] : form.terms) add(result, atoms, coefficient);
    return result;
}

Form with(const Form& form, Atom from, const Form& to) {
    Form result{form.width, {}};
    for (const auto& [atoms, coefficient] : form.terms) {
        Form term = number(coefficient, form.width);
        for (const Atom each : atoms)
            term = product(term, each == from ? with_width(to, form.width) : atom(each, form.width));
        result = sum(result, term);
    }
    return result;
}

}  // namespace trimtab::checker
