// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an SM's resources do with the instructions that its schedulers issue: each is admitted one gap after the other
// (pipe_admit of the paper that resources.h names), by way of the caches.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulation/schedule/line_cache.h"
#include "emulation/schedule/scheduler.h"
#include "emulation/schedule/warp_state.h"

namespace trimtab::schedule {

class Execution {
  public:
    Execution(const Machine& machine, const Work& work);

    struct Done {
        double end_cycles = 0;      // when what it writes is there
        double started_cycles = 0;  // when its pipe took it
        double memory_cycles = 0;   // when load_store took it
    };
    // The warp's next instruction, issued at `at` by the scheduler of that number.
    [[nodiscard]] Done execute(WarpState& w, double at, std::size_t scheduler);

    // The scheduler's cycles that issuing this instruction takes, the first of those that it issues together.
    double take_issue_slot(const Instruction& instruction, std::size_t scheduler);

    // When the last store or atomic has arrived, which no warp waits for.
    [[nodiscard]] double arrived_cycles() const { return arrived_cycles_; }
    // Gaps taken, of the busiest of each resource's instances.
    [[nodiscard]] std::array<double, resource_count> admitted_cycles() const;

  private:
    struct Admitted {
        double first_cycles = 0, last_cycles = 0;  // the first slot's and the last one's start
    };
    // Of a request's sectors those that the caches lack, which hold them from now on.
    struct Missing {
        unsigned segments_in_l1 = 0, in_l2 = 0;
        unsigned dirtied_in_l2 = 0;                 // sectors that are written, and were clean before
        unsigned brought_by_others = 0;             // sectors in L1 for another block, new to this one
        double there_cycles = 0, in_l2_cycles = 0;  // when what others wait for is there
    };

    void choose_pipes(const Instruction& instruction);
    [[nodiscard]] double latency(Resource resource) const { return set_[index(resource)].latency_cycles; }
    [[nodiscard]] double extra_latency(const Instruction& i) const;
    [[nodiscard]] unsigned tag_slots(const Request& request) const {
        return machine_.has_banked_l1 ? request.in_one_bank : request.lines;
    }
    Admitted admit(Resource resource, double at, double slots);
    [[nodiscard]] Missing look_up(const WarpState& w, const Instruction& i, const Request& request,
                                  bool through_l1, LineCache::Use use);
    // Whether the next line that the access looks up is not found, if a share of all is.
    [[nodiscard]] bool misses(std::vector<double>& owed, const Instruction& i, double hit_rate) const;
    [[nodiscard]] Access access_of(const Instruction& i) const;
    [[nodiscard]] Access loaded_access_of(const Instruction& i) const;
    // An access to a thread's own memory that the code states no address for: lines of its warp's.
    [[nodiscard]] Request own_request(const WarpState& w, const Instruction& i);
    [[nodiscard]] double end_of(WarpState& w, const Instruction& i, double at);
    [[nodiscard]] double load(WarpState& w, const Instruction& i, const Request& request, double at);
    [[nodiscard]] double store(WarpState& w, const Instruction& i, const Request& request, double at);
    [[nodiscard]] double atomic(const Instruction& i, const Request& request, double at);

    const Machine& machine_;
    const Work& work_;
    const Code& code_;
    LineCache l1_, l2_;                                      // what of L2 holds this SM's data
    std::array<std::array<Pipe, resource_count>, 2> pipes_;  // as they are, and with the change
    const Pipe* set_ = nullptr;                              // of the two, that of this instruction
    std::size_t scheduler_ = 0;                              // that issues it
    Done done_;
    std::vector<double> admit_cycles_, taken_cycles_;  // by resource and scheduler
    std::vector<double*> filled_, fetched_;            // in L1 and L2, by the request that is looked up
    std::vector<double> owed_in_l1_, owed_in_l2_;      // by access, of misses that are still to come
    std::vector<Line> own_lines_;
    const Line* lines_ = nullptr;  // of the request that is executed
    double arrived_cycles_ = 0;
};

}  // namespace trimtab::schedule
