// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The environment of an instrumented program: TRIMTAB, TRIMTAB_DEVICE, TRIMTAB_LOG, TRIMTAB_REPORT,
// TRIMTAB_CHOICES, TRIMTAB_LEAST_GAIN, TRIMTAB_CROSSCHECK and its like, TRIMTAB_LEARN and TRIMTAB_LEARN_SHARE,
// TRIMTAB_MODULES, TRIMTAB_VERIFY, TRIMTAB_SUGGEST, TRIMTAB_BENCH, TRIMTAB_ANNOTATIONS.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trimtab::choosing {

enum class Mode : std::uint8_t {
    on,
    off,     // every launch as written, nothing looked at
    observe  // choices are made and logged; every launch as written
};
// TRIMTAB_MODULES: where driver programs of modules that the program loads while it runs come from.
enum class ModulesMode : std::uint8_t {
    background,  // the cache; what is missing there is prepared meanwhile, by another process
    wait,        // the same, and the first launch waits for it
    cached,      // the cache alone
    off          // such modules are launched as written
};
enum class LogLevel : std::uint8_t { off, warn, summary, info, debug };

// A share of the predicted time. Of pairs of blocks with measured times (PolyBench on GTX 1080 Ti, RTX 2070 SUPER
// and Tesla C2075, 6,757 pairs) predicted to differ by less than 0.25 %, the one predicted faster was the slower
// one in 53 %; by .25 to .5 %, in 40 %; by .5 to 1 %, in 33 %, and a gain in the mean.
inline constexpr double default_least_gain = 0.005;

// TRIMTAB_CROSSCHECK=top:K and what goes with it: choosing/crosscheck/crosscheck.h.
struct CrossCheckSettings {
    std::uint32_t leaders = 0;  // K; 0: off
    double seconds = 5;         // TRIMTAB_CROSSCHECK_SECONDS, of one choice
    std::uint32_t launch =
        100;  // TRIMTAB_CROSSCHECK_LAUNCH: at which a choice may change; 0: in later processes
};

// TRIMTAB_LEARN=1 and what goes with it: choosing/learning/learning.h.
struct LearnSettings {
    bool is_on = false;
    // TRIMTAB_LEARN_SHARE: what trying may cost, of the time of a kernel's launches of one size. Eight launches whose
    // times differ by up to 30 % and scatter by 5 % are told apart in some 60 launches then.
    double share = 0.1;
};

struct Settings {
    Mode mode = Mode::on;
    ModulesMode modules = ModulesMode::background;
    LogLevel log = LogLevel::warn;
    std::string report_path;     // empty: no report
    bool report_blocks = false;  // TRIMTAB_REPORT_BLOCKS=1: with the predictions of every legal block
    std::string device;          // TRIMTAB_DEVICE as given; empty: a GPU if there is one, else the emulator
    std::string choices_path;    // TRIMTAB_CHOICES; empty: choices are not kept across runs
    double least_gain = default_least_gain;  // TRIMTAB_LEAST_GAIN: what another block must save
    CrossCheckSettings crosscheck;
    LearnSettings learn;
    std::string verify;       // TRIMTAB_VERIFY as given: runtime/launches/verification.h
    std::string suggest;      // TRIMTAB_SUGGEST as given: runtime/launches/suggestion.h
    std::string bench;        // TRIMTAB_BENCH as given: runtime/launches/block_times.h
    std::string annotations;  // TRIMTAB_ANNOTATIONS: a file of annotations; empty: none
    bool reassociate = true;  // TRIMTAB_REASSOCIATE=0 takes back what the build allowed
};

struct ReadSettings {
    Settings settings;
    std::vector<std::string> warnings;  // one line each, naming the variable
};

// `get` is secure_getenv, or a test's own. A variable with a bad value keeps its default and gives a warning;
// an empty one counts as unset.
[[nodiscard]] ReadSettings read_settings(const std::function<const char*(const char*)>& get);

// A warning for each variable TRIMTAB or TRIMTAB_... of `environment` ("NAME=value", null at the end) that
// nothing of Trimtab reads.
[[nodiscard]] std::vector<std::string> unknown_variables(const char* const* environment);

}  // namespace trimtab::choosing
