// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicted times as people are shown them: with no more digits than their error leaves.
#pragma once

#include <string>

#include "core/model/prediction_error.h"

namespace trimtab::model {

// Of a logarithmic error, as PredictionError has them: two where it is above 10 %, else one more per tenth of it.
[[nodiscard]] int significant_digits(double error);

// "0.36", "1.0", "1600".
[[nodiscard]] std::string number_text(double value, double error);

// "1.1 ms"; "unknown" for what is not finite.
[[nodiscard]] std::string time_text(double ns, const PredictionError& error);
// "1.1 ms (0.36 to 3.3 ms)": 95 of 100 lie within.
[[nodiscard]] std::string time_with_bounds(double ns, const PredictionError& error);

}  // namespace trimtab::model
