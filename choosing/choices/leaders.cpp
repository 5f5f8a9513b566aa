// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/leaders.h"

#include <algorithm>
#include <cmath>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/order.h"

namespace trimtab::choosing {

Leaders leaders_of(const Decision& decision, const PredictedKernel& kernel, const LaunchShape& shape,
                   std::uint32_t count) {
    const auto& [description, driver, device, image] = kernel;
    Leaders leaders;
    const std::vector<std::byte> arguments = argument_bytes(description, shape.arguments);
    const auto limits = limits_of(description, arguments, device, image, shape);
    if (!limits) return leaders;
    const std::vector<double> data = analysis::data_values(
        description, arguments, description.counted_extent(shape.written.grid, shape.written.block));
    const auto shared_bytes = static_cast<double>(shape.written.dynamic_shared_bytes);
    const auto add = [&](const LaunchConfiguration& launch, double ns, double relative_error) {
        const auto known = std::ranges::find_if(
            leaders.launches, [&](const CheckedLaunch& one) { return same(one.launch.block, launch.block); });
        const auto place = static_cast<std::size_t>(known - leaders.launches.begin());
        if (place == leaders.launches.size())
            leaders.launches.push_back(
                {.launch = launch, .predicted_ns = ns, .relative_error = relative_error});
        return place;
    };
    const auto predicted = [&](const trimtab_dim3& block) {
        trimtab_prediction prediction{};
        if (driver.evaluate(&device, &image, data.data(), block, shared_bytes, &prediction) != 0)
            prediction.uncertain = TRIMTAB_DOUBT_UNTOLD;
        return prediction;
    };
    const trimtab_prediction chosen = predicted(decision.launch.block);
    const trimtab_prediction written = predicted(shape.written.block);
    if (!can_be_ordered(chosen.uncertain)) return leaders;
    add(decision.launch, chosen.predicted_ns, chosen.relative_error);
    std::vector<trimtab_choice> best(count);
    const int found = driver.select(&device, &image, data.data(), &*limits, shared_bytes, count, best.data());
    for (int i = 0; i < std::min(found, static_cast<int>(count)); ++i) {
        const trimtab_choice& one = best[static_cast<std::size_t>(i)];
        const auto launch =
            analysis::launch_with_block(description, arguments, *limits, shape.written, one.block);
        if (!launch || !std::isfinite(one.predicted_ns) || one.predicted_ns <= 0) continue;
        if (one.uncertain != 0 &&
            !is_surely_faster(driver, device, image, {{data.data(), one.block, shared_bytes}, one.uncertain},
                              {{data.data(), shape.written.block, shared_bytes}, written.uncertain}))
            continue;
        add(*launch, one.predicted_ns, one.relative_error);
    }
    if (can_be_ordered(written.uncertain))
        leaders.written = add(shape.written, written.predicted_ns, written.relative_error);
    return leaders;
}

}  // namespace trimtab::choosing
