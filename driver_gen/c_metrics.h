// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fitted metrics as C: a struct of the variables of a box, functions that fill it, and one function a
// metric.
#pragma once

#include <string>
#include <vector>

#include "driver_gen/c_text.h"
#include "driver_gen/fits.h"

namespace trimtab::driver_gen {

class CMetrics {
  public:
    explicit CMetrics(const KernelFits& fits);

    // `trimtab_fill_<n>(context, x, y, z, &variables)` that computes what `metrics` need: its name. Functions
    // are made on demand: ask before fill_functions().
    [[nodiscard]] std::string fill_function(const std::vector<model::Metric>& metrics,
                                            bool and_rivals = false);
    // "metric_load_sectors"; "" for a metric without a fit.
    [[nodiscard]] std::string metric_function(model::Metric metric) const;
    // The same, clamped to no range; and another function that tells the profile as well.
    // `layout`: 0, or 1 + the index in KernelFits::layouts.
    [[nodiscard]] std::string fitted_function(model::Metric metric, std::size_t layout = 0) const;
    [[nodiscard]] std::string rival_function(model::Metric metric, std::size_t rival,
                                             std::size_t layout = 0) const;

    [[nodiscard]] std::string variables_struct() const;
    [[nodiscard]] std::string ranges_function() const;  // trimtab_ranges(data, range)
    // trimtab_layout(data): KernelFits::layout_of, -1 for none; "" where there are no layouts.
    [[nodiscard]] std::string layout_function() const;
    [[nodiscard]] std::string fill_functions() const;
    [[nodiscard]] std::string metric_functions() const;

  private:
    [[nodiscard]] std::string sum(const std::vector<Monomial>& monomials) const;
    [[nodiscard]] std::string fill_body(const std::vector<bool>& wanted) const;
    [[nodiscard]] std::string pieces_text(const std::vector<Piece>& pieces) const;
    [[nodiscard]] std::string fit_text(const FittedMetric& fit, std::size_t layout,
                                       const std::string& clamped_name) const;
    [[nodiscard]] std::string metric_text(const FittedMetric& fit) const;

    const KernelFits& fits_;
    std::vector<std::string> names_;        // of the struct's members, by variable
    std::vector<std::vector<bool>> fills_;  // variables wanted, by fill function
};

}  // namespace trimtab::driver_gen
