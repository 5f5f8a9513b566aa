// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/totals.h"

#include <fmt/format.h>

#include <cmath>

#include "core/model/time_text.h"

namespace trimtab::choosing {

void Totals::add(const std::string& kernel, const Decision& decision, bool is_changed) {
    const std::lock_guard lock(mutex_);
    kernels_.insert(kernel);
    ++launches_;
    if (is_changed) ++changed_;
    if (!std::isfinite(decision.written_ns)) return;
    const double launched_ns = is_changed ? decision.chosen_ns : decision.written_ns;
    if (!std::isfinite(launched_ns)) return;
    ++predicted_;
    written_ns_ += decision.written_ns;
    launched_ns_ += launched_ns;
}

std::string Totals::text() const {
    const std::lock_guard lock(mutex_);
    if (launches_ == 0) return {};
    std::string line =
        fmt::format("{} launch{} of {} kernel{}, {} changed", launches_, launches_ == 1 ? "" : "es",
                    kernels_.size(), kernels_.size() == 1 ? "" : "s", changed_);
    if (predicted_ == 0) return line + "; none has a prediction";
    line +=
        fmt::format("; predicted {} instead of {}", model::time_text(launched_ns_, model::closed_form_error),
                    model::time_text(written_ns_, model::closed_form_error));
    if (written_ns_ > 0)
        line += fmt::format(", {:.0f} % less",
                            std::round(100 * (1 - launched_ns_ / written_ns_)) + 0.0);  // no "-0"
    if (predicted_ < launches_) line += fmt::format(" (of {} launches that have a prediction)", predicted_);
    return line;
}

}  // namespace trimtab::choosing
