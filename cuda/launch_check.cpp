#include "cuda/launch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "cuda/checked_run.h"

namespace trimtab::cuda {
namespace {

// Orders that the launch as written runs in, beside its own.
constexpr std::uint64_t orders_as_written = 2;
constexpr std::size_t max_differences = 16;  // that one launch reports
// A run that executes as many times the warp instructions of the launch as written has lost its way. A warp
// of one thread stands for up to 32 of a full one's.
constexpr double instructions_ratio = 256, least_instruction_limit = 1e8;
// What sums of many terms may lose: far above their usual rounding, far below a term too many.
constexpr double f32_tolerance = 1e-4, f64_tolerance = 1e-10;
// How much more than another order of the launch as written a run may differ.
constexpr double spread_factor = 16;

thread_local std::shared_ptr<const LaunchCheck> next_check;

// Above this, bits are hardly meant as a number of that type: a sentinel, or two of another type.
constexpr double most_of_scale = 1e15;

template <typename Real>
bool is_near(Real expected, Real found, Real other, double tolerance, double scale) {
    if (!std::isfinite(expected) || !std::isfinite(found)) return false;
    const double difference = std::abs(static_cast<double>(found) - static_cast<double>(expected));
    const double size =
        std::max({std::abs(static_cast<double>(expected)), std::abs(static_cast<double>(found)), scale});
    const double spread = std::abs(static_cast<double>(other) - static_cast<double>(expected));
    return difference <= tolerance * size || (std::isfinite(spread) && difference <= spread_factor * spread);
}

}  // namespace

bool explained_by_rounding(const MemorySnapshot::ChangedWord& word, const Spread& spread,
                           const WrittenScale& scale) {
    const auto place = spread.find(word.address);
    const std::uint64_t other = place == spread.end() ? word.then : place->second;
    const auto half = [](std::uint64_t bits, unsigned which) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits >> (32 * which)));
    };
    const auto half_is_near = [&](unsigned which) {
        return half(word.then, which) == half(word.now, which) ||
               is_near(half(word.then, which), half(word.now, which), half(other, which), f32_tolerance,
                       scale.f32);
    };
    if (half_is_near(0) && half_is_near(1)) return true;
    return word.size_bytes == 8 && scale.may_be_f64 &&
           is_near(std::bit_cast<double>(word.then), std::bit_cast<double>(word.now),
                   std::bit_cast<double>(other), f64_tolerance, scale.f64);
}

// Of what the launch as written has changed, before it runs again.
void CheckedRun::note_scales() {
    struct Sums {
        double f32 = 0, f64 = 0;
        std::uint64_t f32_count = 0, f64_count = 0;
    };
    std::map<std::uint64_t, Sums> sums;
    const auto add = [](double value, double& sum, std::uint64_t& count) {
        if (!std::isfinite(value) || value == 0 || std::abs(value) > most_of_scale) return;
        sum += value * value;
        count++;
    };
    before_.compare([&](const MemorySnapshot::ChangedWord& word) {
        Sums& region = sums[word.region->first];
        for (unsigned which = 0; which < word.size_bytes / sizeof(float); which++)
            add(std::bit_cast<float>(static_cast<std::uint32_t>(word.now >> (32 * which))), region.f32,
                region.f32_count);
        if (word.size_bytes == sizeof(double))
            add(std::bit_cast<double>(word.now), region.f64, region.f64_count);
        return true;
    });
    const auto root = [](double sum, std::uint64_t count) {
        return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
    };
    for (const auto& [first, region] : sums)
        scales_[first] = {.f32 = root(region.f32, region.f32_count),
                          .f64 = root(region.f64, region.f64_count),
                          .may_be_f64 = check_.has_doubles};
}

std::vector<MemoryRegion> regions_of(State& state, const Device& device) {
    std::vector<MemoryRegion> regions;
    for (const Allocation& allocation : state.heap.map()->allocations) {
        const bool is_of_device =
            allocation.kind == MemoryKind::device || allocation.kind == MemoryKind::array;
        // Another device may be writing its own memory now.
        if (is_of_device && allocation.device != device.ordinal) continue;
        regions.push_back({.first = allocation.first,
                           .size_bytes = allocation.size_bytes,
                           .name = fmt::format("an allocation of {} bytes", allocation.size_bytes)});
    }
    const std::lock_guard lock(state.mutex);
    for (const auto& module : state.modules.all()) {
        const auto loaded = module->loaded.find(device.ordinal);
        if (loaded == module->loaded.end() || loaded->second == nullptr) continue;
        const Program& program = *loaded->second->program;
        if (program.variables_end() > program.variables_first())
            regions.push_back({.first = program.variables_first(),
                               .size_bytes = program.variables_end() - program.variables_first(),
                               .name = "its module's variables"});
    }
    return regions;
}

std::shared_ptr<const LaunchCheck> take_next_check() {
    return std::exchange(next_check, nullptr);
}

CheckedRun::CheckedRun(State& state, Device& device, const TimedLaunch& launch, const LaunchCheck& check)
    : state_(state), device_(device), launch_(launch), check_(check), before_(regions_of(state, device)) {}

std::expected<CheckedRun::Body, Fault> CheckedRun::body_of(const LaunchShapeToCheck& shape) {
    if (shape.function == nullptr) return Body{launch_.program, launch_.info, launch_.image};
    const auto unknown = [](std::string why) {
        return Fault{.kind = Fault::Kind::invalid_launch, .message = std::move(why)};
    };
    const std::lock_guard lock(state_.mutex);
    CUkern_st* kernel = state_.modules.kernel(shape.function);
    if (kernel == nullptr) return std::unexpected(unknown("the other kernel is not known"));
    const auto loaded =
        state_.modules.load(*kernel, device_.ordinal, device_.description.values.compute_capability);
    if (!loaded) return std::unexpected(unknown(loaded.error().line));
    if (!(*loaded)->info->error.empty()) return std::unexpected(unknown((*loaded)->info->error));
    return Body{(*loaded)->module->program, (*loaded)->info, (*loaded)->image};
}

void CheckedRun::finish(GlobalMemory& memory, const LaunchRequest& as_written, const LaunchTime& time) {
    result_.ran = true;
    after_.emplace(regions_of(state_, device_));
    if (check_.regroups_sums) note_scales();
    limit_ =
        static_cast<std::uint64_t>(least_instruction_limit + instructions_ratio * time.warp_instructions);
    const auto run = [&](const LaunchShapeToCheck& shape, std::uint64_t seed, bool is_as_written) {
        before_.restore();
        LaunchRequest request = as_written;
        request.grid = shape.grid;
        request.block = shape.block;
        request.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared_bytes);
        request.order_seed = seed;
        request.instruction_limit = limit_;
        const auto body = body_of(shape);
        if (body) request.kernel = body->info->name;
        const auto done =
            body ? emulator::launch(*body->program, memory, request) : std::unexpected(body.error());
        result_.runs++;
        LaunchDifference difference;
        difference.shape = shape;
        difference.order_seed = seed;
        if (!done) {
            difference.fault = done.error().message;
        } else {
            after_->compare([&](const MemorySnapshot::ChangedWord& word) {
                if (check_.adds_floats && is_as_written) spread_.insert_or_assign(word.address, word.now);
                const auto scale = scales_.find(word.region->first);
                if (check_.adds_floats &&
                    (is_as_written ||
                     explained_by_rounding(word, spread_,
                                           scale == scales_.end() ? WrittenScale{} : scale->second))) {
                    result_.rounded++;
                    return true;
                }
                if (difference.words++ > 0) return true;
                difference.address = word.address;
                difference.place =
                    fmt::format("byte {} of {}", word.address - word.region->first, word.region->name);
                difference.written = word.then;
                difference.found = word.now;
                return true;
            });
        }
        auto& list = is_as_written ? result_.as_written : result_.reshaped;
        if ((difference.words > 0 || !difference.fault.empty()) && list.size() < max_differences)
            list.push_back(std::move(difference));
    };
    std::uint64_t seed = std::max<std::uint64_t>(check_.seed, 1);
    for (std::uint64_t i = 0; i < orders_as_written; ++i)
        run({.grid = as_written.grid,
             .block = as_written.block,
             .dynamic_shared_bytes = as_written.dynamic_shared_bytes},
            seed++, true);
    for (const LaunchShapeToCheck& shape : check_.shapes) run(shape, seed++, false);
    if (check_.trial != nullptr) try_shapes(memory, as_written, time);
    after_->restore();
}

void CheckedRun::tell() const {
    if (check_.done) check_.done(result_);
}

}  // namespace trimtab::cuda

extern "C" void trimtab_cudart_check_next_launch(std::shared_ptr<const trimtab::cuda::LaunchCheck> check) {
    trimtab::cuda::next_check = std::move(check);
}
