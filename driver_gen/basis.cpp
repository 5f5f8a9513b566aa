// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/basis.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>

namespace trimtab::driver_gen {

namespace {

using Exponents = std::vector<std::pair<std::uint32_t, std::int32_t>>;

class BasisBuilder {
  public:
    BasisBuilder(const FormSpec& spec, const FitVariables& fit) : spec_(spec), fit_(fit) {}
    Basis build() &&;

  private:
    std::uint32_t variable(const Variable& wanted) {
        auto found = std::ranges::find(basis_.variables, wanted);
        if (found == basis_.variables.end()) found = basis_.variables.insert(found, wanted);
        return static_cast<std::uint32_t>(found - basis_.variables.begin());
    }
    Exponents power(VariableKind kind, std::int32_t exponent = 1) {
        return {{variable({.kind = kind}), exponent}};
    }
    static Exponents product(const Exponents& a, const Exponents& b) {
        Exponents out = a;
        for (const auto& [index, exponent] : b) {
            const auto same = std::ranges::find(out, index, [](const auto& pair) { return pair.first; });
            if (same == out.end())
                out.emplace_back(index, exponent);
            else
                same->second += exponent;
        }
        std::erase_if(out, [](const auto& pair) { return pair.second == 0; });
        std::ranges::sort(out);
        return out;
    }
    static void add(std::vector<Exponents>& set, const Exponents& wanted) {
        if (std::ranges::find(set, wanted) == set.end()) set.push_back(wanted);
    }

    // Of many: a search through all of them for each would take their square.
    static void add(std::vector<Exponents>& terms, std::set<Exponents>& known, const Exponents& wanted) {
        if (known.insert(wanted).second) terms.push_back(wanted);
    }

    static std::int32_t degree_of(const std::vector<Exponents>& terms) {
        std::int32_t most = 0;
        for (const Exponents& term : terms) {
            std::int32_t degree = 0;
            for (const auto& [index, exponent] : term) degree += std::abs(exponent);
            most = std::max(most, degree);
        }
        return most;
    }
    std::vector<Exponents> data_terms();
    std::vector<Exponents> box_terms();
    std::vector<Exponents> remainder_terms(const std::vector<Exponents>& data);
    std::vector<Exponents> warp_terms();
    std::vector<Exponents> whole_block_terms(std::vector<Exponents> all);
    std::vector<Exponents> covered_terms();
    std::vector<Exponents> alignments(VariableKind kind);
    void add_alignments(std::vector<Exponents>& all, VariableKind kind,
                        std::initializer_list<VariableKind> counts);
    bool reads(std::size_t d) const { return fit_.dimensions[d]; }

    const FormSpec& spec_;
    const FitVariables& fit_;
    Basis basis_;
};

std::vector<Exponents> BasisBuilder::data_terms() {
    const auto in_data = [&](std::uint32_t data, std::int32_t exponent) {
        return Exponents{{variable({.kind = VariableKind::data, .data = data}), exponent}};
    };
    std::vector<Exponents> all{{}}, last{{}};
    const bool given = spec_.data_degree == 0 && !spec_.settled;
    for (const auto& term : fit_.data_terms) {
        if (!given) break;
        Exponents exponents;
        for (const auto& [data, exponent] : term) exponents = product(exponents, in_data(data, exponent));
        add(all, exponents);
    }
    for (std::int32_t degree = 1; degree <= spec_.data_degree; ++degree) {
        std::vector<Exponents> next;
        for (const Exponents& lower : last)
            for (const std::uint32_t data : fit_.data) add(next, product(lower, in_data(data, 1)));
        for (const Exponents& term : next) add(all, term);
        last = std::move(next);
    }
    if (!spec_.data_inverse) return all;
    // What happens once a row, or at its ends.
    const std::vector<Exponents> whole = all;
    std::set<Exponents> known(all.begin(), all.end());
    for (const std::uint32_t data : fit_.data)
        for (const Exponents& term : whole) add(all, known, product(term, in_data(data, -1)));
    return all;
}

// A loop of n rounds that is unrolled u times runs n / u times and then (n mod u) times: linear in n, in what
// is left over, and in whether anything is; around it may be loops that are not.
std::vector<Exponents> BasisBuilder::remainder_terms(const std::vector<Exponents>& data) {
    std::vector<Exponents> all;
    if (spec_.unrolled == 0) return all;
    for (const std::uint32_t parameter : fit_.data)
        for (const VariableKind kind : {VariableKind::remainder, VariableKind::has_remainder}) {
            const Exponents left_over{
                {variable({.kind = kind, .data = parameter, .unit = spec_.unrolled}), 1}};
            for (const Exponents& term : data)
                if (term.empty() || (spec_.data_degree != 1 && term.size() == 1 && term[0].second == 1))
                    add(all, product(left_over, term));
        }
    return all;
}

std::vector<Exponents> BasisBuilder::warp_terms() {
    std::vector<Exponents> singles, all{{}};
    singles.push_back(power(VariableKind::lanes_x));
    if (reads(1) || reads(2)) singles.push_back(power(VariableKind::warp_rows));
    if (reads(2)) singles.push_back(power(VariableKind::warp_planes));
    for (const Exponents& single : singles) add(all, single);
    for (const Exponents& a : singles)
        for (const Exponents& b : singles)
            if (a != b) add(all, product(a, b));
    return all;
}

// Tiles as wide as the block: so many the fewer, and rows of it are what a warp loads. A tree of halvings:
// its rounds, spread over the block's warps.
std::vector<Exponents> BasisBuilder::whole_block_terms(std::vector<Exponents> all) {
    const std::vector<Exponents> of_warp = all;
    for (const VariableKind kind : {VariableKind::box_x, VariableKind::box_y, VariableKind::box_z}) {
        if (!reads(static_cast<std::size_t>(kind) - static_cast<std::size_t>(VariableKind::box_x))) continue;
        add(all, power(kind));
        for (const Exponents& term : of_warp) add(all, product(term, power(kind, -1)));
    }
    add(all, power(VariableKind::halvings));
    add(all, power(VariableKind::warps, -1));
    add(all, product(power(VariableKind::halvings), power(VariableKind::warps, -1)));
    return all;
}

std::vector<Exponents> BasisBuilder::covered_terms() {
    constexpr std::array kinds{VariableKind::covered_x, VariableKind::covered_y, VariableKind::covered_z};
    std::vector<Exponents> all{{}};
    for (std::size_t d = 0; d < 3; ++d) {
        if (!reads(d)) continue;
        const std::vector<Exponents> before = all;
        for (const Exponents& term : before) add(all, product(term, power(kinds[d])));
    }
    if (!fit_.rows) return all;
    // Of the launch's rows as many as a box has blocks.
    const Exponents rows_of_box = product({{variable({.kind = VariableKind::data, .data = *fit_.rows}), 1}},
                                          power(VariableKind::boxes, -1));
    for (const std::vector<Exponents> before = all; const Exponents& term : before)
        add(all, product(term, rows_of_box));
    return all;
}

std::vector<Exponents> BasisBuilder::alignments(VariableKind kind) {
    std::vector<Exponents> all;
    for (const std::uint32_t bytes : fit_.element_bytes) {
        const std::uint32_t unit = std::max(1u, (spec_.lines ? 128u : 32u) / bytes);
        if (unit == 1) continue;
        add(all, {{variable({.kind = kind, .unit = unit}), 1}});
        for (const auto* parameters : {&fit_.data, &fit_.pitches})
            for (const std::uint32_t data : *parameters)
                for (const std::int32_t offset : {0, 1, -1})
                    add(all, {{variable({.kind = kind, .data = data, .unit = unit, .offset = offset}), 1}});
    }
    return all;
}

// A run of n elements that begins at a multiple of g touches 1 + (n - g) / unit sectors on average: products
// of alignments and of how many runs there are.
void BasisBuilder::add_alignments(std::vector<Exponents>& all, VariableKind kind,
                                  std::initializer_list<VariableKind> counts) {
    for (const Exponents& alignment : alignments(kind)) {
        add(all, alignment);
        for (const VariableKind count : counts) add(all, product(alignment, power(count)));
    }
}

std::vector<Exponents> BasisBuilder::box_terms() {
    using enum BoxTerms;
    const bool rows = reads(1) || reads(2);
    if (spec_.box == none) return {{}};
    if (spec_.box == covered || spec_.box == covered_aligned) {
        std::vector<Exponents> all = covered_terms();
        if (spec_.box == covered) return all;
        if (reads(2)) {
            add_alignments(all, VariableKind::alignment, {VariableKind::covered_y, VariableKind::covered_z});
        } else if (reads(1)) {
            add_alignments(all, VariableKind::alignment, {VariableKind::covered_y});
            add_alignments(all, VariableKind::alignment_y, {VariableKind::covered_x});
        } else {
            add_alignments(all, VariableKind::alignment, {});
        }
        return all;
    }
    std::vector<Exponents> all = warp_terms();
    if (spec_.box == warp) return all;
    if (spec_.box == whole) return whole_block_terms(std::move(all));
    if (reads(2))
        add_alignments(all, VariableKind::alignment, {VariableKind::warp_rows, VariableKind::warp_planes});
    else if (rows)
        add_alignments(all, VariableKind::alignment, {VariableKind::warp_rows});
    else
        add_alignments(all, VariableKind::alignment, {});
    if (rows) add_alignments(all, VariableKind::alignment_rows, {VariableKind::lanes_x});
    if (spec_.box == aligned) return all;
    for (const VariableKind kind : {VariableKind::box_x, VariableKind::box_y, VariableKind::box_z}) {
        if (!reads(static_cast<std::size_t>(kind) - static_cast<std::size_t>(VariableKind::box_x))) continue;
        add(all, power(kind));
        add(all, power(kind, -1));
    }
    add(all, power(VariableKind::covered_lanes));
    add(all, power(VariableKind::covered_lanes, -1));
    add(all, power(VariableKind::covered_warps, -1));
    return all;
}

Basis BasisBuilder::build() && {
    std::vector<Exponents> wanted{{}};
    std::set<Exponents> known(wanted.begin(), wanted.end());
    const std::vector<Exponents> data = data_terms(), box = box_terms();
    for (const Variable& exact : spec_.exact) {
        const Exponents alone{{variable(exact), 1}};
        for (const Exponents& term : data) add(wanted, known, product(term, alone));
    }
    for (const Exponents& d : data)
        for (const Exponents& b : box) add(wanted, known, product(d, b));
    for (const Exponents& term : remainder_terms(data)) add(wanted, known, term);
    for (const Exponents& exponents : wanted)
        basis_.monomials.push_back({.coefficient = 1, .exponents = exponents});
    basis_.data_degree = degree_of(data);
    basis_.box_degree = degree_of(box);
    return std::move(basis_);
}

}  // namespace

Basis make_basis(const FormSpec& spec, const FitVariables& fit) {
    return BasisBuilder(spec, fit).build();
}

}  // namespace trimtab::driver_gen
