#include "analysis/warp_exchange.h"

namespace trimtab::analysis {

std::pair<unsigned, bool> shuffle_source(ptx::ShuffleMode mode, unsigned lane, unsigned by, unsigned bound) {
    const unsigned clamp = bound & 31, segment = bound >> 8 & 31;
    const unsigned most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    unsigned from = 0;
    bool in_range = false;
    switch (mode) {
        case ptx::ShuffleMode::up:
            from = lane - by;
            in_range = static_cast<int>(from) >= static_cast<int>(most);
            break;
        case ptx::ShuffleMode::down:
            from = lane + by;
            in_range = from <= most;
            break;
        case ptx::ShuffleMode::bfly:
            from = lane ^ by;
            in_range = from <= most;
            break;
        default:
            from = least | (by & ~segment);
            in_range = from <= most;
            break;
    }
    return in_range ? std::pair{from & 31, true} : std::pair{lane, false};
}

bool reduces(const ptx::Instruction& made, const TurnSum& sum) {
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
