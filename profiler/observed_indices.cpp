// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Active indices as runs show them.
#include <algorithm>

#include "profiler/active_indices.h"
#include "profiler/arguments.h"

namespace trimtab::profiler {

namespace {

using analysis::KernelDescription;
using Triple = std::array<std::uint64_t, 3>;

class Observer {
  public:
    Observer(const KernelDescription& description, Backend& backend, std::span<const double> data,
             std::uint64_t instruction_limit)
        : description_(description),
          backend_(backend),
          arguments_(make_arguments(description, data)),
          instruction_limit_(instruction_limit) {
        for (std::size_t i = 0; i < description.data.size(); ++i)
            if (description.data[i].is_extent)
                extent_[static_cast<std::size_t>(description.data[i].dimension)] =
                    std::max<std::uint64_t>(1, static_cast<std::uint64_t>(data[i]));
    }

    [[nodiscard]] std::array<Indices, 3> run() {
        std::array<Indices, 3> out = active_indices(description_, arguments_);
        for (std::size_t d = 0; d < 3; ++d) {
            high_[d] = std::clamp<std::uint64_t>(out[d].end.value_or(extent_[d]), out[d].first + 1,
                                                 std::max(extent_[d], out[d].first + 1));
            low_[d] = out[d].first;
        }
        for (std::size_t d = 0; d < 3; ++d)
            if (description_.reads(d)) observe(d, out[d]);
        return out;
    }

  private:
    // Does any of a few threads with this index in `dimension` do something?
    bool active(std::size_t dimension, std::uint64_t index) {
        for (const unsigned eighths : {4u, 1u, 7u}) {
            Triple at{};
            for (std::size_t d = 0; d < 3; ++d) at[d] = low_[d] + (high_[d] - low_[d]) * eighths / 8;
            at[dimension] = index;
            if (active(at)) return true;
        }
        return false;
    }

    bool active(const Triple& at) {
        MeasuredLaunch launch;
        launch.kernel = description_.name;
        launch.grid = {static_cast<std::uint32_t>(extent_[0]), static_cast<std::uint32_t>(extent_[1]),
                       static_cast<std::uint32_t>(extent_[2])};
        launch.arguments = &arguments_;
        launch.instruction_limit = instruction_limit_;
        launch.blocks = 1;
        launch.classes = {{.weight = 1, .blocks = {at[0] + extent_[0] * (at[1] + extent_[1] * at[2])}}};
        const auto measured = backend_.measure(launch);
        // A thread that runs on and on, or faults, does something.
        return !measured || measured->values[static_cast<std::size_t>(model::Metric::active_blocks)] > 0;
    }

    void observe(std::size_t dimension, Indices& indices) {
        const std::uint64_t first = low_[dimension], last = high_[dimension] - 1;
        const bool at_first = active(dimension, first), at_last = active(dimension, last);
        if (at_first && at_last) return;
        // An index that is active, from which to search both ways.
        std::uint64_t inside = at_first ? first : last;
        if (!at_first && !at_last) {
            constexpr std::array shares{0.5, 0.25, 0.75, 0.125, 0.375, 0.0625, 0.03125};
            const auto* share = std::ranges::find_if(shares, [&](double s) {
                inside = first + static_cast<std::uint64_t>(static_cast<double>(last - first) * s);
                return active(dimension, inside);
            });
            if (share == shares.end()) return;
        }
        if (!at_first) {
            std::uint64_t outside = first, in = inside;
            while (in - outside > 1) {
                const std::uint64_t middle = outside + (in - outside) / 2;
                (active(dimension, middle) ? in : outside) = middle;
            }
            indices.first = in;
        }
        if (!at_last) {
            std::uint64_t outside = last, in = inside;
            while (outside - in > 1) {
                const std::uint64_t middle = in + (outside - in) / 2;
                (active(dimension, middle) ? in : outside) = middle;
            }
            indices.end = outside;
        }
    }

    const KernelDescription& description_;
    Backend& backend_;
    Arguments arguments_;
    std::uint64_t instruction_limit_;
    Triple extent_{1, 1, 1}, low_{}, high_{1, 1, 1};
};

}  // namespace

std::array<Indices, 3> observed_indices(const KernelDescription& description, Backend& backend,
                                        std::span<const double> data, std::uint64_t instruction_limit) {
    return Observer(description, backend, data, instruction_limit).run();
}

}  // namespace trimtab::profiler
