// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of several launches takes the least time, from times that scatter: successive halving (Karnin, Koren and Somekh,
// "Almost Optimal Exploration in Multi-Armed Bandits", 2013, algorithm 1) with ends of its own: launches that are clearly
// slower leave early, and it is over once what is left to gain is within the noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trimtab::choosing {

class Halving {
  public:
    // Rounds end when every launch that is still in has so many times. Each round sends the slower half away.
    static constexpr std::size_t times_of_round[] = {4, 8, 16};
    // What is not settled by then is settled by what is known: slow launches were not worth their time.
    static constexpr std::uint64_t most_launches = 400;
    // Times that are under way: a program may be far ahead of the device.
    static constexpr std::size_t most_under_way = 8;

    // `predicted_ns`: of each launch, the one to begin with first. `share`: what trying may cost, of the time that the
    // launches take, 0 to 1. `least_gain`: a share of the time that is not worth a change.
    Halving(const std::vector<double>& predicted_ns, double share, double least_gain);

    struct Turn {
        std::size_t launch = 0;
        bool is_timed = false;  // add() or lost() follows
    };
    // The program launches once more: as which of them?
    [[nodiscard]] Turn next(bool can_be_timed = true);
    void add(std::size_t launch, double time_ns);
    void lost(std::size_t launch);

    [[nodiscard]] bool is_over() const { return is_over_; }
    // What is known best so far; once it is over, the answer.
    [[nodiscard]] std::size_t best() const { return best_; }
    // No more is tried: the context is gone, or another process has the answer.
    void end(std::string why);
    // Once it is over: that launch is the answer, as another process has found.
    void take(std::size_t launch) { best_ = launch; }
    [[nodiscard]] const std::string& why() const { return why_; }  // it is over
    // Mean of the times of a launch, those beyond the quartiles' fences left out; 0: none.
    [[nodiscard]] double time_ns(std::size_t launch) const;
    [[nodiscard]] std::size_t times(std::size_t launch) const { return launches_[launch].times_ns.size(); }
    [[nodiscard]] std::uint64_t launched() const { return launched_; }
    // How many rounds have ended.
    [[nodiscard]] std::size_t round() const { return round_; }

  private:
    struct Launch {
        double predicted_ns = 0;
        std::vector<double> times_ns;
        std::size_t under_way = 0;
        bool is_in = true;
    };
    [[nodiscard]] double expected_ns(const Launch& launch) const;
    [[nodiscard]] std::size_t still_in() const;
    [[nodiscard]] double relative_deviation() const;
    void send_slow_ones_away();
    void end_round();
    void settle(std::string why);
    void look();

    std::vector<Launch> launches_;
    double share_, least_gain_;
    double spent_ns_ = 0, tried_ns_ = 0;  // expected: of all launches; beyond what the best would have taken
    std::uint64_t launched_ = 0;
    std::size_t round_ = 0, best_ = 0;
    bool is_over_ = false;
    std::string why_;
};

}  // namespace trimtab::choosing
