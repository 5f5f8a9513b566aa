// The re-blocking proof of one kernel in one image: rules 1 to 4 and 6.
#pragma once

#include <array>
#include <vector>

#include "analysis/description.h"
#include "analysis/function_values.h"
#include "analysis/guards.h"
#include "ptx/module.h"

namespace trimtab::analysis {

struct Proof {
    Verdict verdict = Verdict::fixed;
    std::array<bool, 3> dimensions{}, reads_total{}, block_stays_one{};
    std::vector<Guard> guards;
    std::vector<Reason> reasons;
    bool race_free = false;
    bool uses_float_atomics = false;

    // What the proof rests on, for who wants to know more of the kernel. Empty where the code could not be
    // followed.
    std::vector<FunctionValues> functions;  // the kernel first, then what it calls
    std::vector<ExitCondition> conditions;
};

[[nodiscard]] Proof prove(SymbolTable& table, const ptx::Module& module, const ptx::Function& kernel);

// "gemm.cu:14" where the image says so, else "ptx:120".
[[nodiscard]] std::string source_of(const ptx::Module& module, const ptx::Instruction& instruction);

}  // namespace trimtab::analysis
