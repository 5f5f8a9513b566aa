// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of a block tell each other by shared memory and by shuffles, to come to one value: the sum,
// the smallest, the largest of what each of them has. Whether it comes out as the same whatever the number of
// threads is found by doing it for every such number, with sets of threads in the place of values: a place
// where the sets of all threads have come together, each once, holds the sum of all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/analysis/sharing/phases.h"
#include "core/analysis/sharing/warp_bytes.h"
#include "core/analysis/values/iteration_sums.h"
#include "core/analysis/values/labels.h"
#include "core/checker/certificate.h"

namespace trimtab::analysis {

struct BlockExchange {
    // That take part: shuffles, and all accesses to the shared variables that they go through.
    std::set<std::uint32_t> instructions;
    AgreedValues agreed;
    std::uint32_t most_threads = 0;           // of a block of which this is shown; 0: of any
    std::optional<WarpBytes> dynamic_shared;  // that it takes to be launched with
};

// Goes from one such place of the kernel to the next, in the order of the program.
class ExchangeFinder {
  public:
    // Of blocks of whole warps or, of BlockWidth::powers, of powers of two that are that.
    ExchangeFinder(SymbolTable& table, const ptx::Module& module, const FunctionValues& kernel,
                   const ptx::ControlDependence& control, const LoopIndices& indices, BlockWidth block);
    ~ExchangeFinder();
    ExchangeFinder(const ExchangeFinder&) = delete;
    ExchangeFinder& operator=(const ExchangeFinder&) = delete;

    [[nodiscard]] bool has_more() const;
    [[nodiscard]] Dimension dimension() const { return Dimension::x; }
    [[nodiscard]] const BlockExchange& found() const { return found_; }
    // With what is known of the kernel's values, those agreed before among them.
    [[nodiscard]] std::optional<Fault> next(const Labels& labels, const IterationParts& parts);
    // Does one place's last use of a variable come before another one's first, for all threads?
    [[nodiscard]] std::optional<Fault> finish() const;
    // Of each place, for who checks it.
    [[nodiscard]] std::vector<checker::Exchange> claims() const;

  private:
    struct Place;
    void find_variables();
    void find_places();
    void end_agreements(const Place& place);
    void add_dynamic_shared(const Place& place);

    SymbolTable& table_;
    const ptx::Module& module_;
    const FunctionValues& kernel_;
    const ptx::ControlDependence& control_;
    const LoopIndices& indices_;
    BlockWidth block_;
    BlockExchange found_;
    std::optional<Fault> fault_;
    std::set<const ptx::Variable*> variables_;
    std::vector<std::unique_ptr<Place>> places_;
    std::size_t next_ = 0;
    std::map<ptx::ValueIndex, std::size_t> agreed_in_;  // the last place that says so
};

}  // namespace trimtab::analysis
