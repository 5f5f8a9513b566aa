// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What learning makes of one launch, and what it found in the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "choosing/crosscheck/verdict.h"

namespace trimtab::choosing {

// What was learnt of one choice, for the report.
struct LearnOutcome {
    struct Launch {
        CheckedLaunch launch;
        double measured_ns = 0;  // mean without outliers; 0: not timed
        std::size_t times = 0;
    };
    std::string why;               // one line: why it ended
    std::vector<Launch> launches;  // the first is what the driver program chose
    std::size_t chosen = 0;        // of launches
    std::uint64_t launched = 0;    // launches of the program that it took
};

class LearningTrial;  // learning.cpp

struct LearningTurn {
    CheckedLaunch launch;
    std::size_t place = 0;                        // of the leaders
    std::shared_ptr<LearningTrial> timed;         // not null: it is timed, in Learning::time()
    double own_ns = 0;                            // predicted, for this launch's own data
    std::shared_ptr<const LearnOutcome> outcome;  // not null: it is over, and this launch is as all will be
    bool is_first = false;                        // launch since
};

}  // namespace trimtab::choosing
