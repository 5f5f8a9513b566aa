// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The monomials that a fit may choose from: products of a monomial in the data parameters and one in the
// box's variables, with degree bounds on both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver_gen/fits.h"

namespace trimtab::driver_gen {

// What the metrics of one kernel may be functions of.
struct FitVariables {
    std::vector<std::uint32_t> data;     // in D: varied, and no other that they always equal
    std::vector<std::uint32_t> pitches;  // in D: rows may begin at multiples of these alone
    std::array<bool, 3> dimensions{};    // that the kernel reads
    std::optional<std::uint32_t> rows;   // in D: how many blocks a launch has, one for each row
    std::vector<std::uint32_t> element_bytes;
    // Where not empty: the monomials in D (exponents by index in D) that a fit may use, in place of all up to
    // a degree. What a warp's requests touch grows as the requests do.
    std::vector<std::vector<std::pair<std::uint32_t, std::int32_t>>> data_terms;
    bool blocks_cooperate = false;  // profiler::Profile
    bool quotients = true;          // a form may have a denominator
};

enum class BoxTerms : std::uint8_t {
    none,
    warp,      // lanes_x, warp_rows, warp_planes and products of them
    aligned,   // these and alignments
    bordered,  // these and the block's own sizes, for what happens at the edges of the data
    whole,     // these and how many threads the block has, for blocks whose threads work together
    covered,   // covered_x, covered_y, covered_z and products: footprints
    covered_aligned
};

// One form to try: a basis and where it is cut.
struct FormSpec {
    std::string name;              // "polynomial, degree 1 in D; lanes"
    std::vector<Variable> exact;   // functions of the launch that are taken whole: boxes, covered_warps
    std::int32_t data_degree = 0;  // 0: the terms that FitVariables::data_terms gives, or none
    std::uint32_t unrolled = 0;    // also what loops that are unrolled so many times leave over
    bool lines = false;            // alignments to 128-byte lines, else to 32-byte sectors
    bool data_inverse = false;     // also D^-1
    bool settled = false;          // no other terms in D than these
    BoxTerms box = BoxTerms::none;
    std::vector<Condition> cuts;  // decision nodes; Condition::variable indexes `cut_variables`
    std::vector<Variable> cut_variables;
    bool rational = false;  // a denominator of the same monomials without inverses
    std::size_t most_columns = 8;
    double cost = 1;      // in order of which forms are tried
    double handicap = 1;  // its error counts this many times: richer forms extrapolate worse
};

struct Basis {
    std::vector<Variable> variables;
    std::vector<Monomial> monomials;  // coefficients 1; the first is the constant
    std::int32_t data_degree = 0, box_degree = 0;
};

[[nodiscard]] Basis make_basis(const FormSpec& spec, const FitVariables& fit);
struct FormHints {
    bool given_terms = false;       // FitVariables::data_terms are to be used
    bool blocks_cooperate = false;  // what a warp does may depend on its block's size in any way
    bool settles = false;           // the values hardly change as the sizes grow: borders, not loops
};
// Forms for a metric, cheapest first.
[[nodiscard]] std::vector<FormSpec> forms_for(model::Metric metric, const FormHints& hints);
// The metrics whose terms in D are this one's too (FitVariables::data_terms); empty: it has its own.
[[nodiscard]] std::vector<model::Metric> requests_of(model::Metric metric);

}  // namespace trimtab::driver_gen
