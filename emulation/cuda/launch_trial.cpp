// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes that nobody has proved, tried on one launch: what CheckedRun does for `trimtab suggest`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "emulation/cuda/checked_run.h"

namespace trimtab::cuda {
namespace {

// A shape that executes as many times the warp instructions of the launch as written has lost its way: a block
// of one warp in the place of one of 32 executes up to 32 times as many, and as many again where lanes idle.
constexpr double trial_instructions_ratio = 64, least_trial_limit = 2e6;
// A watched run is interpreted on one core, and every byte's accesses are kept.
constexpr double most_watched_instructions = 4e6;
// Sums taken in another order: of the larger of the two values, or of the array's root mean square where terms
// cancel. A term left out of a sum of some ten thousand is more.
constexpr double f32_bound = 1e-5, f64_bound = 1e-12;
constexpr double least_sentinel = 1e30;  // sentinels say nothing of an array's scale

template <typename Real>
Real real_at(const std::byte* from) {
    Real value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <typename Real>
double scale_of(const MemoryRegion& region) {
    const auto* first = reinterpret_cast<const std::byte*>(region.first);
    double sum = 0;
    std::uint64_t count = 0;
    for (std::uint64_t at = 0; at + sizeof(Real) <= region.size_bytes; at += sizeof(Real)) {
        const double value = std::abs(static_cast<double>(real_at<Real>(first + at)));
        if (!std::isfinite(value) || value > least_sentinel) continue;
        sum += value * value;
        ++count;
    }
    return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

template <typename Real>
bool is_near(const std::byte* then, const std::byte* now, double scale, double bound) {
    const auto a = static_cast<double>(real_at<Real>(then)), b = static_cast<double>(real_at<Real>(now));
    if (std::memcmp(then, now, sizeof(Real)) == 0) return true;
    if (!std::isfinite(a) || !std::isfinite(b)) return false;
    return std::abs(a - b) <= bound * std::max({std::abs(a), std::abs(b), scale});
}

// An image of memory that launches start from, and what the launch as written leaves of it.
struct Contents {
    MemorySnapshot before, after;
    std::map<std::uint64_t, double> scales;  // of regions of numbers, by address
    std::uint64_t changed_bytes = 0;
    std::shared_ptr<const Rounding> rounding;  // of floating-point atomics; null: there are none
};

std::map<std::uint64_t, double> scales_of(const std::vector<MemoryRegion>& regions) {
    std::map<std::uint64_t, double> scales;
    for (const MemoryRegion& region : regions) {
        if (region.real_bytes == sizeof(float)) scales[region.first] = scale_of<float>(region);
        if (region.real_bytes == sizeof(double)) scales[region.first] = scale_of<double>(region);
    }
    return scales;
}

std::uint64_t changed_bytes_since(const MemorySnapshot& before, std::set<std::uint64_t>* regions = nullptr) {
    std::uint64_t bytes = 0;
    before.compare([&](const MemorySnapshot::ChangedWord& word) {
        bytes += word.size_bytes;
        if (regions != nullptr) regions->insert(word.region->first);
        return true;
    });
    return bytes;
}

// A number drawn from a position, the same on every machine.
std::uint64_t drawn(std::uint64_t from) {
    from += 0x9e3779b97f4a7c15;
    from = (from ^ from >> 30) * 0xbf58476d1ce4e5b9;
    from = (from ^ from >> 27) * 0x94d049bb133111eb;
    return from ^ from >> 31;
}

// Other numbers, of magnitudes from 1/16 to 16: a few make most of a sum, and none is 0.
void fill_with_reals(const MemoryRegion& region) {
    auto* first = reinterpret_cast<std::byte*>(region.first);
    for (std::uint64_t at = 0; at + region.real_bytes <= region.size_bytes; at += region.real_bytes) {
        const std::uint64_t draw = drawn(at);
        const double value =
            std::ldexp(1.0 + static_cast<double>(draw % 8191) / 8192.0, static_cast<int>(draw >> 32 & 7) - 4);
        if (region.real_bytes == sizeof(float)) {
            const auto single = static_cast<float>(value);
            std::memcpy(first + at, &single, sizeof single);
        } else {
            std::memcpy(first + at, &value, sizeof value);
        }
    }
}

// Small, as indices and counts are.
void fill_with_whole_numbers(const MemoryRegion& region) {
    auto* first = reinterpret_cast<std::byte*>(region.first);
    for (std::uint64_t at = 0; at + sizeof(std::uint32_t) <= region.size_bytes; at += sizeof(std::uint32_t)) {
        const auto value = static_cast<std::uint32_t>(drawn(at) % 97 + 1);
        std::memcpy(first + at, &value, sizeof value);
    }
}

const MemoryRegion* region_at(const std::vector<MemoryRegion>& regions, std::uint64_t address) {
    const auto place = std::ranges::find_if(regions, [address](const MemoryRegion& region) {
        return address - region.first < region.size_bytes;
    });
    return place == regions.end() ? nullptr : &*place;
}

// Regions whose numbers are known: all pointers into them agree.
void note_reals(std::vector<MemoryRegion>& regions, const std::vector<LaunchTrial::Array>& arrays) {
    std::map<std::uint64_t, unsigned> known;
    for (const LaunchTrial::Array& array : arrays) {
        const MemoryRegion* region = region_at(regions, array.address);
        if (region == nullptr) continue;
        const auto [place, is_new] = known.try_emplace(region->first, array.real_bytes);
        if (!is_new && place->second != array.real_bytes) place->second = 0;
    }
    for (MemoryRegion& region : regions)
        if (const auto place = known.find(region.first); place != known.end())
            region.real_bytes = place->second;
}

std::uint64_t count_of(const std::vector<check::Report>& reports) {
    std::uint64_t count = 0;
    for (const check::Report& report : reports) count += report.count;
    return count;
}

// All runs of one launch's trial.
class Trial {
  public:
    using BodyOf = std::function<std::expected<TimedLaunch, Fault>(const LaunchShapeToCheck& shape)>;
    // `body_of`: the launch as written, with the code that a shape is of.
    Trial(Device& device, GlobalMemory& memory, BodyOf body_of, const LaunchRequest& as_written,
          const LaunchCheck& check, double warp_instructions)
        : device_(device),
          memory_(memory),
          body_of_(std::move(body_of)),
          as_written_(as_written),
          check_(check),
          limit_(static_cast<std::uint64_t>(
              std::max(least_trial_limit, trial_instructions_ratio * warp_instructions))),
          seed_(check.seed + 100) {}

    // Why nothing can be tried; empty where `contents` are what shapes are held against.
    // `rounding`: of the launch as it was made.
    std::string prepare(const std::vector<MemoryRegion>& regions, MemorySnapshot before,
                        std::shared_ptr<const Rounding> rounding, bool may_watch);
    ShapeOutcome run(const LaunchShapeToCheck& shape);
    [[nodiscard]] std::uint64_t changed_bytes() const {
        std::uint64_t most = 0;
        for (const Contents& contents : contents_) most = std::max(most, contents.changed_bytes);
        return most;
    }

  private:
    std::expected<void, Fault> run_once(const LaunchShapeToCheck& shape, std::uint64_t seed,
                                        LaunchObserver* observer = nullptr);
    void add_other_contents(const std::vector<MemoryRegion>& regions,
                            const std::set<std::uint64_t>& changed_regions);
    [[nodiscard]] bool add_contents_as_they_are(const std::vector<MemoryRegion>& regions);
    // Empty: the same, or rounded.
    std::string compare(const Contents& contents, bool& rounded) const;
    bool is_rounding(const Contents& contents, const MemorySnapshot::ChangedWord& word) const;
    [[nodiscard]] LaunchShapeToCheck written() const {
        return {.grid = as_written_.grid,
                .block = as_written_.block,
                .dynamic_shared_bytes = as_written_.dynamic_shared_bytes};
    }
    // What the checks found that they had not found before; empty: nothing.
    std::string watched(const LaunchShapeToCheck& shape);

    Device& device_;
    GlobalMemory& memory_;
    const BodyOf body_of_;
    const LaunchRequest& as_written_;
    const LaunchCheck& check_;
    const std::uint64_t limit_;
    std::uint64_t seed_;
    std::vector<Contents> contents_;
    bool watches_ = false;
    // Of init, what is read of shared memory that nobody wrote: the allocations are not known to it. Threads
    // that store what another one has stored do work that is not theirs.
    check::Checks checks_{.memory = true, .race = true, .init = true, .sync = true, .equal_stores = true};
};

std::expected<void, Fault> Trial::run_once(const LaunchShapeToCheck& shape, std::uint64_t seed,
                                           LaunchObserver* observer) {
    const auto body = body_of_(shape);
    if (!body) return std::unexpected(body.error());
    LaunchRequest request = as_written_;
    request.kernel = body->info->name;
    request.grid = shape.grid;
    request.block = shape.block;
    request.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared_bytes);
    request.order_seed = seed;
    request.instruction_limit = limit_;
    request.observer = observer;
    request.print = [](std::string_view) {};  // what the kernel prints, the program has printed once
    const auto done = emulator::launch(*body->program, memory_, request);
    if (!done) return std::unexpected(done.error());
    return {};
}

std::string Trial::watched(const LaunchShapeToCheck& shape) {
    check::Checker checker(checks_);
    checker.begin_launch();
    const auto done = run_once(shape, seed_++, &checker);
    checker.end_launch();
    const auto reports = checker.reports();
    if (count_of(reports) > 0) {
        const check::Report& report = reports.front();
        return fmt::format("{} at {}{}{}", report.kind, report.access.source, report.text.empty() ? "" : ": ",
                           report.text);
    }
    return done ? std::string() : done.error().message;
}

// Memory may hide what went wrong: zeros that were not written, terms that are all alike. So shapes run from
// other contents too, where the launch as written can: other numbers, and, if it runs with them, other whole
// numbers in the memory that it changes.
void Trial::add_other_contents(const std::vector<MemoryRegion>& regions,
                               const std::set<std::uint64_t>& changed_regions) {
    for (const bool with_whole_numbers : {true, false}) {
        bool any = false;
        contents_.front().before.restore();
        for (const MemoryRegion& region : regions) {
            if (region.real_bytes != 0)
                fill_with_reals(region);
            else if (with_whole_numbers && changed_regions.contains(region.first))
                fill_with_whole_numbers(region);
            else
                continue;
            any = true;
        }
        if (any && add_contents_as_they_are(regions)) return;
    }
}

// False: the launch as written cannot run from there, or not twice alike.
bool Trial::add_contents_as_they_are(const std::vector<MemoryRegion>& regions) {
    MemorySnapshot before(regions);
    if (!run_once(written(), 0)) return false;
    MemorySnapshot after(regions);
    const std::uint64_t changed = changed_bytes_since(before);
    before.restore();
    const auto rounding = check_.adds_floats ? std::make_shared<Rounding>(check_.regroups_sums) : nullptr;
    if (!run_once(written(), seed_++, rounding == nullptr ? nullptr : &rounding->watch())) return false;
    if (rounding != nullptr) rounding->note_scales(before);
    contents_.push_back({.before = std::move(before),
                         .after = std::move(after),
                         .scales = scales_of(regions),
                         .changed_bytes = changed,
                         .rounding = rounding});
    bool rounded = false;
    if (compare(contents_.back(), rounded).empty() && !rounded) return true;
    contents_.pop_back();
    return false;
}

std::string Trial::prepare(const std::vector<MemoryRegion>& regions, MemorySnapshot before,
                           std::shared_ptr<const Rounding> rounding, bool may_watch) {
    // Memory holds what the launch as written left.
    MemorySnapshot after(regions);
    std::set<std::uint64_t> changed_regions;
    const std::uint64_t changed = changed_bytes_since(before, &changed_regions);
    contents_.push_back({.before = std::move(before),
                         .after = std::move(after),
                         .scales = scales_of(regions),
                         .changed_bytes = changed,
                         .rounding = std::move(rounding)});
    watches_ = may_watch;
    if (watches_) {
        // The strictest checks that the launch as written itself passes.
        std::string defect;
        constexpr std::array<std::pair<bool, bool>, 4> strictness{
            {{true, true}, {true, false}, {false, true}, {false, false}}};
        for (const auto& [init, equal_stores] : strictness) {
            checks_.init = init;
            checks_.equal_stores = equal_stores;
            contents_.front().before.restore();
            defect = watched(written());
            if (defect.empty()) break;
        }
        if (!defect.empty()) return "the checks find a defect in the launch as written: " + defect;
    }
    add_other_contents(regions, changed_regions);
    if (changed_bytes() == 0) return "the launch as written changes no memory that could be compared";
    return {};
}

bool Trial::is_rounding(const Contents& contents, const MemorySnapshot::ChangedWord& word) const {
    const unsigned size = word.region->real_bytes;
    const auto place = contents.scales.find(word.region->first);
    if (size == 0 || word.size_bytes % size != 0 || place == contents.scales.end()) return false;
    const auto* then = reinterpret_cast<const std::byte*>(&word.then);
    const auto* now = reinterpret_cast<const std::byte*>(&word.now);
    for (unsigned at = 0; at < word.size_bytes; at += size) {
        const bool near = size == sizeof(float)
                              ? is_near<float>(then + at, now + at, place->second, f32_bound)
                              : is_near<double>(then + at, now + at, place->second, f64_bound);
        if (!near) return false;
    }
    return true;
}

std::string Trial::compare(const Contents& contents, bool& rounded) const {
    std::uint64_t words = 0;
    std::string first;
    contents.after.compare([&](const MemorySnapshot::ChangedWord& word) {
        // What another order of the launch as written may leave is as good.
        if (contents.rounding != nullptr && contents.rounding->explains(word, false)) return true;
        if (is_rounding(contents, word)) {
            rounded = true;
            return true;
        }
        if (words++ == 0)
            first = fmt::format("byte {} of {}: {:#018x} as written, {:#018x} now",
                                word.address - word.region->first, word.region->name, word.then, word.now);
        return true;
    });
    if (words == 0) return {};
    return fmt::format("{} word{} differ{}, the first at {}", words, words == 1 ? "" : "s",
                       words == 1 ? "s" : "", first);
}

ShapeOutcome Trial::run(const LaunchShapeToCheck& shape) {
    ShapeOutcome outcome;
    outcome.shape = shape;
    bool rounded = false;
    const auto wrong = [&outcome](std::string why) {
        outcome.kind = ShapeOutcome::Kind::wrong;
        outcome.why = std::move(why);
        return outcome;
    };
    for (const Contents& contents : contents_) {
        contents.before.restore();
        ++outcome.runs;
        if (const auto done = run_once(shape, seed_++); !done) return wrong(done.error().message);
        if (std::string why = compare(contents, rounded); !why.empty()) return wrong(std::move(why));
    }
    const Contents& first = contents_.front();
    if (watches_) {
        first.before.restore();
        ++outcome.runs;
        if (std::string defect = watched(shape); !defect.empty()) return wrong(std::move(defect));
        if (std::string why = compare(first, rounded); !why.empty()) return wrong(std::move(why));
        outcome.is_watched = true;
    }
    first.before.restore();
    ++outcome.runs;
    auto body = body_of_(shape);
    if (!body) return wrong(body.error().message);
    TimedLaunch launch = std::move(*body);
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared_bytes);
    launch.observer = nullptr;
    launch.print = [](std::string_view) {};
    const auto time = run_and_time(device_.description.values, memory_, launch, false);
    if (!time) return wrong(time.error().message);
    outcome.duration_ns = time->duration_ns;
    if (std::string why = compare(first, rounded); !why.empty()) return wrong(std::move(why));
    if (rounded) outcome.kind = ShapeOutcome::Kind::rounded;
    return outcome;
}

}  // namespace

void CheckedRun::try_shapes(GlobalMemory& memory, const LaunchRequest& as_written, const LaunchTime& time) {
    result_.written_ns = time.duration_ns;
    if (!result_.as_written.empty()) {
        const LaunchDifference& first = result_.as_written.front();
        result_.not_tried =
            first.fault.empty()
                ? fmt::format(
                      "the launch as written leaves other bytes in another order of its warps and "
                      "blocks ({})",
                      first.place)
                : "the launch as written faults in another order of its warps and blocks: " + first.fault;
        return;
    }
    std::vector<MemoryRegion> regions = regions_of(state_, device_);
    note_reals(regions, check_.trial->arrays);
    // A snapshot of its own, for `before_` does not know what numbers there are.
    before_.restore();
    MemorySnapshot before(regions);
    after_->restore();
    const auto launch_of = [this](const LaunchShapeToCheck& shape) -> std::expected<TimedLaunch, Fault> {
        auto body = body_of(shape);
        if (!body) return std::unexpected(body.error());
        TimedLaunch launch = launch_;
        launch.program = body->program;
        launch.info = body->info;
        launch.image = body->image;
        return launch;
    };
    Trial trial(device_, memory, launch_of, as_written, check_, time.warp_instructions);
    result_.not_tried = trial.prepare(regions, std::move(before), rounding_,
                                      time.warp_instructions <= most_watched_instructions);
    result_.changed_bytes = trial.changed_bytes();
    if (!result_.not_tried.empty()) return;
    ShapeOutcome outcome;
    for (auto shape = check_.trial->next(nullptr); shape; shape = check_.trial->next(&outcome)) {
        outcome = trial.run(*shape);
        result_.runs += outcome.runs;
    }
}

}  // namespace trimtab::cuda
