// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far the two predictors of a launch's time are off, by times that were measured.
#pragma once

namespace trimtab::model {

// Natural logarithms; 95 of 100 lie within.
struct PredictionError {
    double time;  // of predicted over measured time
    double
        ratio;  // of predicted over measured ratio of the times of two blocks of one launch: a choice rests on it
};

// PolyBench on a Tesla C2075, a GTX 1080 Ti and an RTX 2070 SUPER (the sweeps published with KLARAPTOR), N from 512 to
// 4096, ten blocks of each launch of a kernel, those of at least 50 us; of ratios, pairs of blocks that the closed form
// puts within 25 % of each other, as those between which is chosen are. The closed form by driver programs: 468 times,
// 543 pairs, 23 November 2026. The emulation of the kernels' PTX (bench/abstract_emulation/polybench.py --from-ptx):
// 931 times, 1086 pairs, 24 November 2026. Half of the pairs lie within 0.033 and 0.042.
inline constexpr PredictionError closed_form_error{.time = 1.11, .ratio = 0.16};
inline constexpr PredictionError emulation_error{.time = 0.73, .ratio = 0.215};

}  // namespace trimtab::model
