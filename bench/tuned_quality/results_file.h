// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predictions that were made, so that a run can go on where another stopped.
#pragma once

#include <cstdio>
#include <expected>
#include <map>
#include <memory>
#include <string>

#include "bench/tuned_quality/tuned_kernel.h"
#include "trimtab/error.h"

namespace trimtab::bench {

// NaN: it cannot be predicted.
struct Prediction {
    double closed_form_ms = 0, emulation_ms = 0;
};

// A table of the kernel's columns, closed_form_ms and emulation_ms (0: there is none); a line is added as soon as it is known.
class ResultsFile {
  public:
    // Reads what is there. An empty path: nothing is kept.
    [[nodiscard]] static std::expected<ResultsFile, Error> open(const std::string& path,
                                                                const TunedKernel& kernel);
    [[nodiscard]] const Prediction* find(const Values& values) const;
    void add(const Values& values, const Prediction& prediction);

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::map<Values, Prediction> known_;
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace trimtab::bench
