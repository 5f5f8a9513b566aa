// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Abstract emulation of candidate launches: each variant of a source is compiled once, each code is loaded once, and
// launches that are the same share their trace.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "emulation/emulator/exec/launch.h"
#include "emulation/schedule/search.h"
#include "tools/trimtab/emulated_schedule.h"
#include "tools/trimtab/launch_options.h"
#include "tools/trimtab/search_candidates.h"

namespace trimtab::tools {

class SearchEmulation {
  public:
    // `questions`: of variants that are looked up already, the first ones; of the others none.
    SearchEmulation(LaunchOptions options, const CandidateSpace& space, std::vector<LaunchQuestion> questions,
                    ScheduleOptions schedule, unsigned threads)
        : options_(std::move(options)),
          space_(space),
          schedule_(std::move(schedule)),
          threads_(threads),
          variants_(space.variants.size()) {
        for (std::size_t i = 0; i < questions.size(); ++i) use(i, std::move(questions[i]));
    }

    std::optional<schedule::Emulated> operator()(std::size_t candidate, bool with_bottleneck);

    // The kernel of a variant; the error names its flags.
    [[nodiscard]] std::expected<const LaunchQuestion*, Error> question(std::size_t variant);

    // Of the first candidate that could not be emulated at all.
    [[nodiscard]] const std::optional<Error>& first_error() const { return first_error_; }
    [[nodiscard]] std::size_t traces() const { return traces_; }
    [[nodiscard]] std::uint64_t warp_instructions() const { return warp_instructions_; }

  private:
    struct Variant {
        std::optional<std::expected<LaunchQuestion, Error>> question;
        std::size_t code = 0;  // in codes_
    };
    struct Code {
        std::string ptx;
        std::shared_ptr<emulator::Program> program;
    };
    // Code, grid, block, shared memory.
    using LaunchKey = std::tuple<std::size_t, std::array<std::uint32_t, 6>, std::uint32_t>;
    struct Answer {
        schedule::Emulated emulated;
        bool has_bottleneck = false;
    };

    void use(std::size_t variant, LaunchQuestion question);
    std::expected<LaunchQuestion, Error> compile(std::size_t variant) const;
    std::expected<Answer, Error> emulate(const LaunchQuestion& question, const LaunchCandidate& candidate,
                                         Code& code, std::uint32_t resident, bool with_bottleneck);

    LaunchOptions options_;
    const CandidateSpace& space_;
    ScheduleOptions schedule_;
    unsigned threads_;
    std::vector<Variant> variants_;
    std::vector<Code> codes_;
    std::map<LaunchKey, Answer> answers_;
    std::optional<Error> first_error_;
    std::size_t traces_ = 0;
    std::uint64_t warp_instructions_ = 0;
};

}  // namespace trimtab::tools
