// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reuse: threads that load the same bytes, or bytes that their neighbours load. What remains if a block loads each byte once,
// into shared memory, and a thread computes several results from what it then has in registers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/occupancy.h"
#include "tools/advice/remedies.h"
#include "tools/advice/rooflines.h"
#include "tools/advice/tile.h"

namespace trimtab::advice {
namespace {

using emulator::InstructionClass;
using emulator::InstructionProfile;
using model::Metric;

// The numbers below are estimates of what such a program needs, of no measurement: promises are held against hand-written
// tiles (tests/tools/advice/reuse_test.cpp) and measured ones (bench/papers/gehrke).

// Loads that a thread does fewer times are no loop's: its results follow each other, and none waits in a register.
constexpr std::size_t least_iterations = 4;
constexpr double most_results = 16, most_results_in_turn = 64;
constexpr std::array<std::size_t, 4> windows{64, 32, 16, 8};
// Of shared memory by default, so that several blocks fit an SM; and what a block gets at all.
constexpr double wanted_shared_bytes = 16 * 1024;
// A staged element: its load, its store into shared memory, and an address for each.
constexpr double staging_instructions = 4;
// Where a thread's results follow each other: the next one's index, its guard, and its addresses.
constexpr double next_result_instructions = 4;
// Of a thread that sums one result from tiles: its indices, pointers and counters.
constexpr double tile_registers = 24;
// Loads that one thread keeps under way.
constexpr double loads_in_flight = 4;
// What leaves it to L1 to have what other threads need has to be faster by as much: L1 may not have it.
constexpr double without_tile = 1.1;
// Below this much more than what keeping sums in registers gains alone, tiles are not worth their writing.
constexpr double worth_its_writing = 1.2;

// A shape of the kernel: a block's threads, and the results of a thread.
struct Shape {
    Extents block{1, 1, 1}, results{1, 1, 1};
    std::size_t window = 1;  // iterations whose data are in shared memory at a time
    std::size_t march = 3;   // the dimension that a thread walks along, a plane at a time; 3: none
    bool stages = false;     // in shared memory
};

struct Kernel {
    const Subject& subject;
    std::vector<LoadGroup> groups;
    Extents extent{1, 1, 1};  // of all threads
    bool loops = false;       // loads are in a loop: a thread's results are all under way at once
    double warps = 1;
};

struct Made {
    Question question;
    double shared_bytes = 0;
    std::size_t staged_groups = 0;
    double work_instructions = 0;  // per result's warp, without which there is no result
};

bool is_local(InstructionClass kind) {
    return kind == InstructionClass::local_memory;
}

void add_class(Question& to, InstructionClass kind, double count) {
    to[Metric::warp_instructions] += count;
    switch (kind) {
        case InstructionClass::fp32:
        case InstructionClass::fp16:
            to[Metric::fp32_instructions] += count;
            break;
        case InstructionClass::fp64:
            to[Metric::fp64_instructions] += count;
            break;
        case InstructionClass::integer:
        case InstructionClass::conversion:
            to[Metric::integer_instructions] += count;
            break;
        case InstructionClass::special_function:
            to[Metric::special_function_instructions] += count;
            break;
        case InstructionClass::control:
            to[Metric::control_instructions] += count;
            break;
        default:
            break;
    }
}

void add_access(Question& to, const InstructionProfile& one, double per_warp) {
    const double share = per_warp / real(one.count.warp);
    const auto add = [&](Metric metric, std::uint64_t count) { to[metric] += share * real(count); };
    switch (one.kind) {
        case InstructionClass::global_load:
            add(Metric::load_requests, one.count.requests);
            add(Metric::load_sectors, one.count.sectors);
            add(Metric::load_lines, one.count.lines);
            break;
        case InstructionClass::global_store:
        case InstructionClass::global_atomic:
            add(one.kind == InstructionClass::global_store ? Metric::store_requests : Metric::atomic_requests,
                one.count.requests);
            add(Metric::store_sectors, one.count.sectors);
            add(Metric::store_lines, one.count.lines);
            add(Metric::store_partial_sectors, one.count.partial_sectors);
            break;
        case InstructionClass::local_memory:
            add(Metric::local_requests, one.count.requests);
            break;
        default:
            break;
    }
}

// Counts that a warp of the kernel in another shape has: zero, but for what no shape changes.
Question emptied(const Question& question) {
    Question out = question;
    for (const model::MetricInfo& info : model::metric_table()) switch (info.metric) {
            case Metric::active_lanes:
            case Metric::instruction_parallelism:
            case Metric::active_warps:
            case Metric::active_blocks:
            case Metric::footprint_sectors:
            case Metric::dependent_rounds:
            case Metric::divergent_branches:
                break;
            default:
                out[info.metric] = 0;
        }
    return out;
}

// A sum or an operand that the source keeps in memory from iteration to iteration stays in a register in a tile.
double executions(const InstructionProfile& one, double warps) {
    const bool stays = one.repeats_address && (one.kind == InstructionClass::global_load ||
                                               one.kind == InstructionClass::global_store);
    return (stays ? std::min(one.address_computed, real(one.count.warp)) : real(one.count.warp)) / warps;
}

Extents planes(const Shape& shape) {
    Extents out = product(shape.block, shape.results);
    if (shape.march < 3) out[shape.march] = shape.block[shape.march];
    return out;
}

class Maker {
  public:
    Maker(const Kernel& kernel, const Shape& shape)
        : kernel_(kernel),
          shape_(shape),
          results_(volume(shape.results)),
          made_{.question = emptied(kernel.subject.question)} {}

    std::optional<Made> make() {
        const double steps = shape_.march < 3 ? shape_.results[shape_.march] : 1;
        double under_way = 0, operands = 0, direct = 0;
        for (const LoadGroup& group : kernel_.groups) {
            const auto own = own_share(group);
            const auto all = group.touched(product(shape_.block, shape_.results), shape_.window);
            const auto plane = group.touched(planes(shape_), shape_.window);
            if (!own || !all || !plane) return std::nullopt;
            const double asked = group.requests * results_;  // per warp, as the code is
            const double kept = asked * *own;                // by what stays in registers
            // Of an unrolled loop's loads one iteration's at a time; what one result needs is there already.
            const double at_a_time = kernel_.loops ? 1 : static_cast<double>(group.loads.size());
            operands += (*own * results_ - 1) * at_a_time * group.bytes() / 4;
            const double threads = volume(shape_.block);
            // Elements of the block's tile, over those that its threads still ask for.
            const double share =
                all->bytes / (group.bytes() * group.executions(shape_.window) * threads * results_ * *own);
            if (!shape_.stages || share > 0.5) {
                load_directly(group, *own);
                direct += kept;
                continue;
            }
            ++made_.staged_groups;
            made_.shared_bytes += plane->bytes;
            const double parts =
                group.requests / group.executions(shape_.window);  // windows of the whole loop
            // An element per lane, as wide as the kernel's.
            const double loads = all->bytes / group.bytes() / threads * parts,
                         wide = std::max(1.0, group.bytes() / 4);
            Question& to = made_.question;
            to[Metric::load_requests] += loads;
            to[Metric::load_sectors] += all->sectors * parts * 32 / threads;
            to[Metric::load_lines] += all->sectors * parts * 8 / threads;
            to[Metric::warp_instructions] += kept + staging_instructions * loads;
            to[Metric::integer_instructions] += (staging_instructions - 2) * loads;
            to[Metric::shared_requests] += kept + loads;
            to[Metric::shared_wavefronts] += (kept + loads) * wide;
            under_way = std::max(under_way, parts * steps);
        }
        if (made_.shared_bytes > kernel_.subject.question.device.shared_bytes_per_block) return std::nullopt;
        if (shape_.stages && made_.staged_groups == 0) return std::nullopt;
        if (made_.staged_groups > 0) {
            made_.question[Metric::barriers] = 2 * under_way;
            made_.question[Metric::warp_instructions] += 2 * under_way;
        }
        add_others();
        settle(operands, direct, steps);
        return std::move(made_);
    }

  private:
    // Of a thread's loads, those that its other results have not made already. In a loop that is among the loads of one
    // iteration: what a later one loads again is in no register then, but it may be in a tile.
    std::optional<double> own_share(const LoadGroup& group) const {
        const auto distinct = group.distinct_share(shape_.results, windows.front());
        if (!distinct || !kernel_.loops) return distinct;
        const auto of_one = group.distinct_share({1, 1, 1}, windows.front());
        if (!of_one) return std::nullopt;
        return std::min(1.0, *distinct / *of_one);
    }

    void load_directly(const LoadGroup& group, double own) {
        for (const InstructionProfile* one : group.instructions) {
            const double count = real(one->count.warp) / kernel_.warps * results_ * own;
            made_.question[Metric::warp_instructions] += count;
            add_access(made_.question, *one, count);
        }
    }

    void add_others() {
        const std::vector<bool>& works = kernel_.subject.patterns->works;
        for (const InstructionProfile& one : kernel_.subject.profile.instructions) {
            const bool is_grouped = std::ranges::any_of(kernel_.groups, [&](const LoadGroup& group) {
                return std::ranges::find(group.instructions, &one) != group.instructions.end();
            });
            if (is_grouped || one.count.warp == 0) continue;
            const bool is_access = one.kind == InstructionClass::global_load ||
                                   one.kind == InstructionClass::global_store ||
                                   one.kind == InstructionClass::global_atomic || is_local(one.kind);
            const bool works_again = is_access || (one.index < works.size() && works[one.index]);
            const double count = executions(one, kernel_.warps) * (works_again ? results_ : 1);
            add_class(made_.question, one.kind, count);
            if (is_access) add_access(made_.question, one, count);
            if (works_again) made_.work_instructions += count / results_;
        }
    }

    // Shape, registers, waiting.
    void settle(double operands, double direct, double steps) {
        const Question& now = kernel_.subject.question;
        Question& to = made_.question;
        const double results = now[Metric::active_warps] * now[Metric::active_blocks];
        const double warps = std::max(1.0, volume(shape_.block) / 32);
        to[Metric::active_warps] = warps;
        to[Metric::active_blocks] = std::max(1.0, results / results_ / warps);
        const auto covering = [&](std::size_t d) {
            const std::uint32_t one = shape_.block[d] * shape_.results[d];
            return (kernel_.extent[d] + one - 1) / one;
        };
        to.grid = {.x = covering(0), .y = covering(1), .z = covering(2)};
        to.block = {.x = shape_.block[0], .y = shape_.block[1], .z = shape_.block[2]};
        to[Metric::footprint_sectors] *= volume(product(shape_.block, shape_.results)) / now.threads();
        for (emulator::FootprintSample& sample : to.footprints) {
            sample.x /= shape_.results[0];
            sample.y /= shape_.results[1];
            sample.z /= shape_.results[2];
        }
        to.image.static_shared_bytes += made_.shared_bytes;
        const double words = now[Metric::fp64_instructions] > 0 ? 2 : 1;
        // What a loop over a tile needs is few: addresses that an unrolled loop over arrays keeps are gone.
        double& registers = to.image.registers_per_thread;
        if (kernel_.loops && made_.staged_groups > 0 && direct == 0)
            registers = std::min(registers, tile_registers);
        registers += std::max(0.0, kernel_.loops ? (results_ - 1) * words + operands : operands / steps);
        if (to.image.max_threads_per_block > 0 && volume(shape_.block) > to.image.max_threads_per_block)
            to.image.max_threads_per_block = volume(shape_.block);
        if (!kernel_.loops) {
            const double more = next_result_instructions * (results_ - 1);
            to[Metric::warp_instructions] += more;
            to[Metric::integer_instructions] += more / 2;
            to[Metric::control_instructions] += more / 4;
        }
        const double rounds = now[Metric::dependent_rounds];
        if (!kernel_.loops)
            to[Metric::dependent_rounds] = rounds * std::max(1.0, results_ / loads_in_flight);
        else if (made_.staged_groups > 0 && direct == 0)
            to[Metric::dependent_rounds] = std::max(1.0, rounds / static_cast<double>(shape_.window));
        // Sums that do not wait for each other.
        if (kernel_.loops)
            to[Metric::instruction_parallelism] =
                std::max(now[Metric::instruction_parallelism], std::min(results_, 8.0));
    }

    const Kernel& kernel_;
    const Shape& shape_;
    double results_;
    Made made_;
};

std::vector<Extents> blocks_of(const Kernel& kernel) {
    const Question& question = kernel.subject.question;
    std::vector<Extents> out{{question.block.x, question.block.y, question.block.z}};
    for (const Extents& one : {Extents{16, 16, 1}, Extents{16, 8, 1}, Extents{32, 4, 1}, Extents{32, 8, 1},
                               Extents{128, 1, 1}, Extents{256, 1, 1}}) {
        bool fits = true;
        for (std::size_t d = 0; d < 3; ++d) fits = fits && one[d] <= kernel.extent[d];
        if (fits && std::ranges::find(out, one) == out.end()) out.push_back(one);
    }
    return out;
}

// Results of a thread, as powers of two; where they follow each other, along one dimension.
std::vector<Extents> results_of(const Kernel& kernel) {
    std::vector<Extents> out;
    const double most = kernel.loops ? most_results : most_results_in_turn;
    const auto fits = [&](std::size_t d, std::uint32_t count) {
        return count == 1 || 2 * count <= kernel.extent[d];
    };
    for (std::uint32_t z = 1; z <= most; z *= 2)
        for (std::uint32_t y = 1; y * z <= most; y *= 2)
            for (std::uint32_t x = 1; x * y * z <= most; x *= 2) {
                if (!fits(0, x) || !fits(1, y) || !fits(2, z)) continue;
                if (!kernel.loops && (x > 1) + (y > 1) + (z > 1) > 1) continue;
                out.push_back({x, y, z});
            }
    return out;
}

struct Best {
    Shape shape;
    Made made;
    double ns = INFINITY, judged_ns = INFINITY;
};

// The fastest of all shapes by the model; `results` and `stages` restrict them.
template <class Wanted>
std::optional<Best> best_of(const Kernel& kernel, const Wanted& wanted) {
    Best best;
    for (const Extents& block : blocks_of(kernel))
        for (const Extents& results : results_of(kernel))
            for (const bool stages : {false, true}) {
                Shape shape{.block = block,
                            .results = results,
                            .window = windows.front(),
                            .march = 3,
                            .stages = stages};
                if (!wanted(shape)) continue;
                if (!kernel.loops)
                    for (std::size_t d = 0; d < 3; ++d)
                        if (results[d] > 1) shape.march = d;
                std::optional<Made> made;
                for (const std::size_t window : windows) {
                    shape.window = window;
                    made = Maker(kernel, shape).make();
                    if (!stages || !kernel.loops || (made && made->shared_bytes <= wanted_shared_bytes))
                        break;
                }
                if (!made || made->question.image.registers_per_thread >
                                 made->question.device.max_registers_per_thread)
                    continue;
                const double ns = made->question.time_ns(), judged = stages ? ns : without_tile * ns;
                if (!(ns > 0) || judged >= best.judged_ns) continue;
                best = {.shape = shape, .made = std::move(*made), .ns = ns, .judged_ns = judged};
            }
    if (!std::isfinite(best.ns)) return std::nullopt;
    return best;
}

// What no tile can do without: the work of the results, and each byte of the launch once from DRAM, where it does not fit L2.
double least_ns(const Kernel& kernel, const Made& made, double results) {
    const Question& now = kernel.subject.question;
    const trimtab_device& device = now.device;
    const double warps = now[Metric::active_warps] * now[Metric::active_blocks],
                 clocks = device.sm_clock_hz * device.sm_count;
    double ns = made.work_instructions * warps / (device.schedulers_per_sm * clocks) * 1e9;
    for (const auto& [metric, lanes] :
         {std::pair(Metric::fp32_instructions, device.fp32_lanes_per_sm),
          std::pair(Metric::fp64_instructions, device.fp64_lanes_per_sm),
          std::pair(Metric::special_function_instructions, device.special_function_lanes_per_sm)})
        ns = std::max(ns, made.question[metric] / results * warps * 32 / (lanes * clocks) * 1e9);
    const auto terms = now.terms();
    const auto term = [&](const char* name) {
        const auto found = terms.find(name);
        return found == terms.end() ? 0 : found->second;
    };
    ns = std::max(ns, term("launch_bytes") * term("does_not_fit_L2") / device.dram_bytes_per_s * 1e9);
    return ns + device.launch_overhead_ns;
}

std::string extents_text(const Extents& extents) {
    return extents[2] > 1   ? fmt::format("{} x {} x {}", extents[0], extents[1], extents[2])
           : extents[1] > 1 ? fmt::format("{} x {}", extents[0], extents[1])
                            : fmt::format("{}", extents[0]);
}

std::string change_text(const Shape& shape, const Made& made) {
    std::string text = fmt::format("blocks of {} threads, {} result{} per thread", extents_text(shape.block),
                                   extents_text(shape.results), volume(shape.results) > 1 ? "s" : "");
    if (made.staged_groups > 0)
        text += fmt::format(", {:.0f} bytes of shared memory per block", made.shared_bytes);
    return text;
}

std::vector<Evidence> evidence_of(const Kernel& kernel, const Shape& shape, bool loops) {
    std::vector<Evidence> out;
    const Question& question = kernel.subject.question;
    const Extents block{question.block.x, question.block.y, question.block.z};
    for (const LoadGroup& group : kernel.groups) {
        const auto in_block = group.distinct_share(block, windows.front());
        const auto in_tile = group.distinct_share(product(shape.block, shape.results), shape.window);
        if (!in_block || !in_tile || *in_tile > 0.7) continue;
        const auto tile = group.touched(planes(shape), shape.window);
        const double elements = tile ? tile->bytes / group.bytes() : 0;
        for (const InstructionProfile* one : group.instructions)
            out.push_back(
                {.source = one->source,
                 .column = one->column,
                 .text = fmt::format(
                     "a block asks for each byte {:.3g} times here{}; a tile of {:.0f} elements{} is loaded "
                     "once for "
                     "{:.3g} uses of each",
                     1 / *in_block,
                     group.loads.size() > 1 ? fmt::format(", in {} loads", group.loads.size()) : "", elements,
                     loops ? fmt::format(" ({} iterations)", shape.window) : "", 1 / *in_tile),
                 .weight = real(one->count.requests) * (1 - *in_tile)});
    }
    // One line per place: an unrolled loop has its loads several times.
    std::ranges::sort(out, [](const Evidence& a, const Evidence& b) {
        return a.weight != b.weight ? a.weight > b.weight : a.source < b.source;
    });
    std::vector<Evidence> once;
    for (Evidence& one : out)
        if (std::ranges::none_of(once, [&](const Evidence& other) {
                return other.source == one.source && other.column == one.column;
            }))
            once.push_back(std::move(one));
    return once;
}

}  // namespace

std::optional<WhatIf> tile_loads(const Subject& subject) {
    const Question& question = subject.question;
    if (subject.patterns == nullptr) return std::nullopt;
    // Threads that exchange data have tiles of their own.
    if (question[Metric::barriers] > 0 || question[Metric::shared_requests] > 0) return std::nullopt;
    Kernel kernel{.subject = subject,
                  .groups = load_groups(subject.profile, subject.patterns->accesses),
                  .extent = {question.grid.x * question.block.x, question.grid.y * question.block.y,
                             question.grid.z * question.block.z},
                  .loops = false,
                  .warps = std::max(1.0, subject.profile.counted_active_warps)};
    if (kernel.groups.empty()) return std::nullopt;
    for (const LoadGroup& group : kernel.groups) kernel.loops |= group.longest() > least_iterations;
    const Extents block{question.block.x, question.block.y, question.block.z}, one{1, 1, 1};
    // As it is, but for what any thread could keep in registers alone.
    const auto as_is = best_of(kernel, [&](const Shape& shape) {
        return !shape.stages && shape.block == block && shape.results == one;
    });
    auto best = best_of(kernel, [&](const Shape& shape) { return shape.stages || shape.results != one; });
    if (!as_is || !best || as_is->ns < worth_its_writing * best->ns) return std::nullopt;
    std::vector<Evidence> evidence = evidence_of(kernel, best->shape, kernel.loops);
    if (evidence.empty()) return std::nullopt;
    // At least: the same without more results per thread, or without shared memory, whichever gains less.
    double least = INFINITY;
    const double now = question.time_ns();
    for (const auto& part :
         {best_of(kernel, [&](const Shape& shape) { return shape.stages && shape.results == one; }),
          best_of(kernel, [&](const Shape& shape) { return !shape.stages && shape.results != one; })})
        if (part) least = std::min(least, now / part->ns);
    const double fastest = least_ns(kernel, best->made, volume(best->shape.results));
    WhatIf out{.changed = std::move(best->made.question),
               .times = 1,
               .change = change_text(best->shape, best->made),
               .evidence = std::move(evidence)};
    if (best->ns < fastest) out.times = best->ns / fastest;  // no faster than that
    out.least_gain = std::isfinite(least) ? std::max(1.0, least) : 1;
    out.fastest_ns = fastest;
    out.is_another_program = true;
    return out;
}

}  // namespace trimtab::advice
