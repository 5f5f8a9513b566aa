// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/warp_exchange.h"

namespace trimtab::analysis {

bool reduces(const ptx::Instruction& made, const IterationSum& sum) {
    const auto is = [&](std::string_view name) { return has(made, name); };
    if (sum.width != 32 || sum.float_type != ptx::Type::none) return false;
    switch (sum.op) {
        case Operator::add:
            return is("add");
        case Operator::min:
            return is("min") && is_signed_type(made.type) == sum.is_signed;
        case Operator::max:
            return is("max") && is_signed_type(made.type) == sum.is_signed;
        case Operator::and_:
            return is("and");
        case Operator::or_:
            return is("or");
        default:
            return is("xor");
    }
}

}  // namespace trimtab::analysis
