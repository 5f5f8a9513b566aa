// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>

#include "bench/selection_quality/reports.h"

namespace trimtab::bench {

std::string csv_report(const Study& study) {
    std::string out = "gpu,app,kernel,n,bx,by,measured_ms,predicted_ms,efficiency,best,chosen\n";
    for (const StudiedCase& one : study.cases) {
        const auto chosen = one.choices.find("trimtab");
        for (const MeasuredBlock& legal : one.legal) {
            const auto predicted = std::ranges::find(one.predicted, legal.block, &PredictedBlock::block);
            out += fmt::format(
                "{},{},{},{},{},{},{:.6g},{},{:.4f},{:d},{:d}\n", one.measured.gpu, one.measured.app,
                one.measured.kernel, one.measured.n, legal.block.x, legal.block.y, legal.ms,
                predicted == one.predicted.end() ? "" : fmt::format("{:.6g}", predicted->ns / 1e6),
                one.best.ms / legal.ms, legal.block == one.best.block,
                chosen != one.choices.end() && chosen->second == legal.block);
        }
    }
    return out;
}

}  // namespace trimtab::bench
