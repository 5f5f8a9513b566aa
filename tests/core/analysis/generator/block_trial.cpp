// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/block_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/describe.h"
#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/free_totals.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/ptx/module.h"
#include "emulation/emulator/check/checker.h"
#include "emulation/emulator/exec/launch.h"
#include "generator/access_log.h"
#include "generator/kernel_text.h"
#include "generator/trial_memory.h"
#include "generator/undefined_registers.h"
#include "kernel_trial.h"
#include "trimtab/body_name.h"

namespace trimtab::analysis::test {
namespace {

// What the launch as written may take, in warp instructions, and what another may.
constexpr std::uint64_t written_limit = 60'000, other_limit = 6'000'000;
constexpr unsigned max_threads = 96, large_threads = 256;

// Kernels whose sums may be grouped otherwise are written so that sums are exact; a changed one need not be.
bool differs_by_rounding(const std::vector<std::byte>& found, const std::vector<std::byte>& expected) {
    for (std::size_t at = 0; at + 4 <= found.size(); at += 4) {
        float a = 0, b = 0;
        if (std::memcmp(found.data() + at, expected.data() + at, 4) == 0) continue;
        std::memcpy(&a, found.data() + at, 4);
        std::memcpy(&b, expected.data() + at, 4);
        if (!(std::abs(a - b) <= 1e-5f * std::max(std::abs(a), std::abs(b)))) return false;
    }
    return true;
}

struct Shape {
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint64_t dynamic_shared_bytes = 0;
};

std::string text_of(const Shape& shape) {
    return fmt::format("<<<{} x {} x {}, {} x {} x {}>>>", shape.grid.x, shape.grid.y, shape.grid.z,
                       shape.block.x, shape.block.y, shape.block.z);
}

class BlockTrial {
  public:
    BlockTrial(const std::string& ptx, emulator::Program& program, const KernelDescription& kernel,
               std::uint32_t parameter_bytes, std::uint64_t seed)
        : ptx_(ptx),
          program_(program),
          kernel_(kernel),
          draw_(seed),
          memory_(std::max<std::size_t>(kernel.parameters.size(), 1), draw_),
          image_(program, memory_),
          arguments_(parameter_bytes) {}

    void launch_as_written_by(emulator::Program& program, unsigned block_x) {
        program_as_written_ = &program;
        built_in_x_ = block_x;
    }

    // Launches of the body, which does the work of several threads in one, in the place of the kernel's own.
    void put_body(emulator::Program& program, const KernelDescription& body) {
        body_program_ = &program;
        body_ = &body;
    }

    TrialResult run(unsigned launches, unsigned most) {
        TrialResult result;
        result.outcome = Outcome::not_run;
        result.verdict = kernel_.verdict;
        // A launch that faults as written, or that admits no other block, tells nothing: another one is drawn.
        for (unsigned attempt = 0, told = 0; told < launches && attempt < 5 * launches; attempt++) {
            is_tame_ = attempt > launches;
            draw_shape();
            // One thread has no races: what it does in turn, several must leave as well.
            if (built_in_x_ == 0 && draw_.chance(12)) {
                written_.block = {1, 1, 1};
                if (!kernel_.keeps_grid()) written_.grid = {1, 1, 1};
            }
            draw_arguments();
            // What it needs, and now and then more.
            if (const auto stated = stated_launch(
                    kernel_, arguments_, {.grid = written_.grid, .block = written_.block}, written_.block))
                written_.dynamic_shared_bytes =
                    stated->dynamic_shared_bytes + (draw_.chance(30) ? 8 * draw_.below(40) : 0);
            const unsigned before = result.compared;
            const std::optional<std::string> found = compare(most, result.compared);
            told += result.compared > before ? 1 : 0;
            if (!found) continue;
            // Another draw may have no fault of its own.
            result.outcome = Outcome::undefined;
            result.text = why_undefined();
            if (!result.text.empty()) continue;
            result.outcome = Outcome::different;
            result.text = *found;
            return result;
        }
        if (result.compared > 0 && result.outcome == Outcome::not_run) result.outcome = Outcome::same;
        return result;
    }

  private:
    void draw_shape() {
        draw_any_shape();
        if (built_in_x_ == 0) return draw_unlike_shape();
        written_.block = {built_in_x_, std::min(written_.block.y, built_in_x_ == 1 ? 1u : 2u), 1};
    }
    // Now and then one that no other block is legal for: more threads where the kernel asks for one, or does not ask.
    void draw_unlike_shape() {
        if (kernel_.is_of_warps(0) && draw_.chance(12)) {
            constexpr std::array<unsigned, 5> widths = {48, 96, 33, 160, 16};
            written_.block.x = draw_.of(widths);
        }
        if (!draw_.chance(10)) return;
        const std::array<unsigned*, 3> blocks{&written_.block.x, &written_.block.y, &written_.block.z},
            grids{&written_.grid.x, &written_.grid.y, &written_.grid.z};
        for (std::size_t d = 0; d < 3; d++) {
            if (!kernel_.varies(d)) *blocks[d] = 1 + draw_.below(2);
            if (!kernel_.reads(d)) *grids[d] = 1 + draw_.below(2);
        }
    }
    void draw_any_shape() {
        written_ = {};
        constexpr std::array<unsigned, 14> widths = {1, 2, 3, 5, 7, 8, 16, 24, 31, 32, 32, 33, 64, 64};
        const unsigned step = kernel_.is_of_warps(0) ? warp_size : 1;
        if (kernel_.varies(0)) written_.block.x = step == 1 ? draw_.of(widths) : step * (1 + draw_.below(2));
        if (kernel_.is_of_warps(0) && kernel_.keeps_grid()) {
            constexpr std::array<unsigned, 4> powers = {32, 64, 128, 256};
            written_.block.x = kernel_.dimensions[0].block == BlockWidth::powers
                                   ? draw_.of(powers)
                                   : step * (1 + draw_.below(7));
            written_.grid.x = 1 + draw_.below(3);
            return;
        }
        if (kernel_.varies(1)) written_.block.y = 1 + draw_.below(5);
        if (kernel_.varies(2)) written_.block.z = 1 + draw_.below(3);
        if (kernel_.least_threads > written_.block.x && draw_.chance(90))
            written_.block.x = kernel_.least_threads + draw_.below(9);
        while (written_.block.x * written_.block.y * written_.block.z > max_threads) {
            if (written_.block.x > step)
                written_.block.x -= step;
            else
                written_.block.y = written_.block.z = 1;
        }
        const unsigned most_blocks = kernel_.reads(1) ? 4 : 6;
        if (kernel_.reads(0)) written_.grid.x = 1 + draw_.below(most_blocks);
        if (kernel_.reads(1)) written_.grid.y = 1 + draw_.below(3);
        if (kernel_.reads(2)) written_.grid.z = 1 + draw_.below(2);
    }

    std::uint64_t scalar(unsigned bytes) {
        const std::uint64_t x = std::uint64_t{written_.grid.x} * written_.block.x,
                            y = std::uint64_t{written_.grid.y} * written_.block.y;
        const std::array<std::uint64_t, 12> sizes = {
            x, x, x, x * y, y, 4 * x, 2 * x, written_.block.x, written_.grid.x, 32, 200, draw_.below(300)};
        constexpr std::array<std::uint64_t, 22> edges = {
            0,           1,           2,           3,          5,       7,         8,         15,
            31,          64,          100,         255,        256,     ~0ull,     ~0ull - 1, ~0ull - 15,
            ~0ull - 200, 0x7fffffffu, 0x80000000u, ~0ull - 63, 1 << 16, 1ull << 32};
        if (is_tame_) return draw_.chance(60) ? draw_.of(sizes) : draw_.below(100);
        std::uint64_t value = draw_.chance(65) ? draw_.of(sizes) : draw_.of(edges);
        if (draw_.chance(25)) value += draw_.below(5) - std::uint64_t{2};
        // Two words of 32 bits that carry, now and then.
        if (bytes == 8 && draw_.chance(15)) value = value << 32 | (0xffffffffu - draw_.below(80));
        return value;
    }

    void draw_arguments() {
        values_.clear();
        for (const KernelParameter& parameter : kernel_.parameters) {
            std::uint64_t value = 0;
            if (parameter.is_pointer) {
                const bool shares = parameter.index > 0 && draw_.chance(8);
                value = SmallAllocations::pointer(shares ? draw_.below(parameter.index) : parameter.index);
                if (!is_tame_ && draw_.chance(8)) value += std::uint64_t{4} * draw_.below(20);
            } else if (parameter.ptx_type == "f32") {
                value = std::bit_cast<std::uint32_t>(static_cast<float>(draw_.below(8)));
            } else if (parameter.ptx_type == "f64") {
                value = std::bit_cast<std::uint64_t>(static_cast<double>(draw_.below(8)));
            } else {
                value = scalar(parameter.size);
            }
            for (std::uint32_t at = 0; at < parameter.size; at += 8) {
                std::memcpy(arguments_.data() + parameter.offset + at, &value,
                            std::min<std::size_t>(sizeof value, parameter.size - at));
                values_ += fmt::format(" {:#x}", value);
                value = scalar(8);
            }
        }
    }

    // What goes wrong, or nothing.
    std::string launch(const Shape& shape, std::uint64_t limit, std::uint64_t order_seed = 0,
                       emulator::LaunchObserver* observer = nullptr, emulator::Program* program = nullptr) {
        emulator::LaunchRequest request;
        request.kernel = program != nullptr && program == body_program_ ? body_->name : kernel_.name;
        request.grid = shape.grid;
        request.block = shape.block;
        request.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared_bytes);
        request.parameters = arguments_;
        request.threads = 1;
        request.instruction_limit = limit;
        request.order_seed = order_seed;
        request.observer = observer;
        const auto result = emulator::launch(program == nullptr ? program_ : *program, memory_, request);
        return result ? std::string() : result.error().message;
    }

    std::optional<std::string> compare(unsigned most, unsigned& compared) {
        std::vector<Shape> others = body_ == nullptr ? admitted(most) : admitted_of_body(most);
        if (others.empty()) return std::nullopt;
        if (built_in_x_ != 0) others.push_back(written_);
        before_ = image_.take();
        const std::string fault = launch(written_, written_limit, 0, nullptr, program_as_written_);
        const std::vector<std::byte> expected = image_.take();
        image_.put(before_);
        if (!fault.empty()) return std::nullopt;
        for (const Shape& other : others) {
            compared++;
            // In an order of its own: results of atomics go with it.
            const std::string problem =
                launch(other, other_limit, draw_.below(3) * draw_.next(), nullptr, body_program_);
            const std::vector<std::byte> found = image_.take();
            image_.put(before_);
            if (problem.empty() && (found == expected || kernel_.uses_float_atomics ||
                                    (kernel_.may_reassociate && differs_by_rounding(found, expected))))
                continue;
            std::string text = fmt::format("arguments{}; as written {}, then {}: ", values_,
                                           text_of(written_), text_of(other));
            if (!problem.empty()) return text + problem;
            const auto at =
                static_cast<std::size_t>(std::ranges::mismatch(found, expected).in1 - found.begin());
            return text + fmt::format("byte {:#x} of allocation {} is {:#x}, not {:#x}",
                                      at % SmallAllocations::bytes_each, at / SmallAllocations::bytes_each,
                                      static_cast<unsigned>(found[at]), static_cast<unsigned>(expected[at]));
        }
        return std::nullopt;
    }

    template <class List>
    void shuffle(List& list) {
        for (std::size_t i = list.size(); i > 1; i--) std::swap(list[i - 1], list[draw_.below(i)]);
    }

    // Blocks that the limits admit, and other numbers of threads where those are free.
    std::vector<Shape> admitted(unsigned most) {
        trimtab_image image{};
        image.max_threads_per_block = kernel_.images.front().max_threads;
        // What a block's threads tell each other shows in larger ones.
        const bool has_large = kernel_.is_of_warps(0) && kernel_.keeps_grid();
        const auto limits = legal_blocks(kernel_, arguments_, written_.grid, written_.block,
                                         trial_device(has_large ? large_threads : max_threads), image);
        if (!limits) return {};
        trimtab_limits any_threads = *limits;
        any_threads.thread_multiple = std::max(1u, kernel_.least_threads);
        std::vector<trimtab_dim3> candidates;
        if (has_large)
            for (unsigned x = warp_size; x <= large_threads; x += warp_size) candidates.push_back({x, 1, 1});
        else
            candidates = blocks_like(kernel_);
        shuffle(candidates);
        std::vector<Shape> shapes;
        for (const trimtab_dim3& candidate : candidates) {
            if (shapes.size() == most) break;
            const auto with = launch_with_block(kernel_, arguments_, any_threads,
                                                {.grid = written_.grid,
                                                 .block = written_.block,
                                                 .dynamic_shared_bytes = written_.dynamic_shared_bytes},
                                                candidate);
            if (with) shapes.push_back({with->grid, with->block, with->dynamic_shared_bytes});
        }
        add_other_totals(candidates, image, most / 4, shapes);
        return shapes;
    }

    std::vector<Shape> admitted_of_body(unsigned most) {
        trimtab_image image{};
        image.max_threads_per_block = body_->images.front().max_threads;
        const auto of_body = coarsened_launch(kernel_, *body_, arguments_, written_.grid, written_.block,
                                              trial_device(max_threads), image);
        if (!of_body) return {};
        trimtab_limits any_threads = of_body->limits;
        any_threads.thread_multiple = 1;
        std::vector<trimtab_dim3> candidates = blocks_like(*body_);
        shuffle(candidates);
        std::vector<Shape> shapes;
        for (const trimtab_dim3& candidate : candidates) {
            if (shapes.size() == most) break;
            if (const auto with =
                    launch_with_block(*body_, arguments_, any_threads,
                                      {.grid = written_.grid, .block = written_.block}, candidate))
                shapes.push_back({with->grid, with->block, 0});
        }
        return shapes;
    }

    static const std::vector<trimtab_dim3>& blocks_like(const KernelDescription& kernel) {
        static const std::array<std::vector<trimtab_dim3>, 3> lists = [] {
            std::array<std::vector<trimtab_dim3>, 3> made;
            for (const trimtab_dim3& block : all_blocks(max_threads)) {
                if (block.y == 1 && block.z == 1) made[0].push_back(block);
                if (block.z == 1) made[1].push_back(block);
                made[2].push_back(block);
            }
            return made;
        }();
        return lists[kernel.reads(2) ? 2 : kernel.reads(1) ? 1 : 0];
    }

    void add_other_totals(const std::vector<trimtab_dim3>& candidates, const trimtab_image& image,
                          unsigned most, std::vector<Shape>& shapes) {
        if (kernel_.keeps_grid()) return;
        const std::array<std::uint64_t, 3> grid{written_.grid.x, written_.grid.y, written_.grid.z};
        std::array<std::uint64_t, 3> extent{}, most_threads{};
        extent = kernel_.counted_extent(written_.grid, written_.block);
        for (std::size_t d = 0; d < 3; d++) most_threads[d] = 3 * (extent[d] + max_threads);
        const std::array<bool, 3> free = free_totals(kernel_, arguments_, extent, most_threads, extent);
        if (std::ranges::none_of(free, std::identity())) return;
        for (const trimtab_dim3& block : candidates) {
            if (most == 0) return;
            const std::array<std::uint64_t, 3> blocks{block.x, block.y, block.z};
            std::array<std::uint32_t, 3> other{};
            bool fits = true;
            for (std::size_t d = 0; d < 3; d++) {
                other[d] = static_cast<std::uint32_t>(grid[d]);
                if (free[d])
                    other[d] = 1 + draw_.below(3 * (extent[d] / blocks[d] + 1));
                else
                    fits &= grid[d] * blocks[d] == extent[d];
            }
            if (!fits) continue;
            // As the runtime asks.
            auto limits = legal_blocks_of_total(kernel_, arguments_, written_.grid, written_.block,
                                                trial_device(max_threads), image,
                                                {other[0] * block.x, other[1] * block.y, other[2] * block.z});
            if (!limits) continue;
            limits->thread_multiple = std::max(1u, kernel_.least_threads);
            const auto with = launch_with_block(kernel_, arguments_, *limits,
                                                {.grid = written_.grid,
                                                 .block = written_.block,
                                                 .dynamic_shared_bytes = written_.dynamic_shared_bytes},
                                                block);
            if (!with) continue;
            shapes.push_back({with->grid, with->block, with->dynamic_shared_bytes});
            most--;
        }
    }

    // Why what the launch as written leaves is not defined; empty: it is. Asked where a difference was found.
    // That it goes with the order of threads is no excuse: where no thread touches what another one stores,
    // it does so by results of atomics, which the proof must refuse.
    std::string why_undefined() {
        for (const ptx::Function& function : emulator::module_of(program_).functions)
            if (!function.body.empty() && reads_undefined(function)) return "a register without a value";
        emulator::check::Checker checker({.memory = false, .race = true, .init = true, .sync = true});
        checker.allocated(memory_.data().data(), memory_.data().size(), true);
        checker.filled(memory_.data().data(), memory_.data().size());
        checker.begin_launch();
        launch(written_, written_limit, 0, &checker);
        checker.end_launch();
        image_.put(before_);
        if (const auto reports = checker.reports(); !reports.empty()) return reports.front().kind;
        return open_accesses();
    }

    std::string open_accesses() {
        auto module = ptx::parse(with_marked_read_only_loads(ptx_), "marked.ptx");
        if (!module) return "unreadable";
        const auto program = emulator::load_program(std::move(*module));
        if (!program) return "unreadable";
        AccessLog log;
        launch(written_, written_limit, 0, &log, program->get());
        image_.put(before_);
        return log.what_is_open();
    }

    const std::string& ptx_;
    emulator::Program& program_;
    const KernelDescription& kernel_;
    emulator::Program* program_as_written_ = nullptr;  // null: the same
    emulator::Program* body_program_ = nullptr;        // null: other launches are of the kernel, too
    const KernelDescription* body_ = nullptr;
    unsigned built_in_x_ = 0;
    bool is_tame_ = false;  // arguments that few kernels leave their arrays with
    Draw draw_;
    SmallAllocations memory_;
    LaunchContents image_;
    std::vector<std::byte> arguments_, before_;
    Shape written_;
    std::string values_;
};

}  // namespace

namespace {

// Of the module's one kernel; nothing: it has another number of them.
std::optional<KernelDescription> described(const ptx::Module& module) {
    if (module.kernels().size() != 1) return std::nullopt;
    Image image;
    image.module = &module;
    image.architecture = "sm_75";
    auto kernels = describe({&image, 1}, {}, {.reassociate = true});
    return kernels ? std::optional(std::move(kernels->front())) : std::nullopt;
}

TrialResult try_code(const std::string& ptx, const BuiltInKernel* as_written, std::uint64_t seed,
                     unsigned launches, unsigned most) {
    auto module = ptx::parse(ptx, "generated.ptx");
    TrialResult unreadable;
    if (!module) {
        unreadable.text = module.error().text();
        return unreadable;
    }
    const std::optional<KernelDescription> found = described(*module);
    if (!found) return unreadable;
    const KernelDescription& kernel = *found;
    TrialResult left_alone;
    left_alone.outcome = Outcome::fixed;
    if (!kernel.reasons.empty()) left_alone.text = kernel.reasons.front().text;
    if (kernel.verdict == Verdict::fixed) return left_alone;
    const std::uint32_t parameter_bytes = module->kernels().front()->parameter_bytes();
    const auto program = emulator::load_program(std::move(*module));
    if (!program || !emulator::kernel_info(**program, kernel.name)->error.empty()) return {};
    BlockTrial trial(ptx, **program, kernel, parameter_bytes, seed);
    if (as_written == nullptr) return trial.run(launches, most);
    auto own = ptx::parse(as_written->ptx, "as_written.ptx");
    if (!own) return unreadable;
    const auto own_program = emulator::load_program(std::move(*own));
    if (!own_program || !emulator::kernel_info(**own_program, kernel.name)->error.empty()) return {};
    trial.launch_as_written_by(**own_program, as_written->block_x);
    return trial.run(launches, most);
}

}  // namespace

TrialResult try_coarsened(const std::string& ptx, const std::string& body_ptx, std::uint64_t seed,
                          unsigned launches, unsigned most) {
    auto module = ptx::parse(ptx, "generated.ptx"), body_module = ptx::parse(body_ptx, "body.ptx");
    TrialResult unreadable;
    if (!module || !body_module) return unreadable;
    auto kernel = described(*module), body = described(*body_module);
    if (!kernel || !body) return unreadable;
    const auto made = read_coarsened_body(body->name);
    if (!made) return unreadable;
    body->variant =
        Variant{.of = threads_of(made->kernel), .value = static_cast<std::int32_t>(made->elements)};
    TrialResult result;
    result.outcome = Outcome::fixed;
    if (!body->reasons.empty()) result.text = body->reasons.front().text;
    std::vector<KernelDescription> both{*kernel, *body};
    complete_coarsened(both);
    if (both.size() != 2) return result;
    const std::uint32_t parameter_bytes = module->kernels().front()->parameter_bytes();
    const auto program = emulator::load_program(std::move(*module)),
               body_program = emulator::load_program(std::move(*body_module));
    if (!program || !body_program || !emulator::kernel_info(**program, kernel->name)->error.empty() ||
        !emulator::kernel_info(**body_program, body->name)->error.empty())
        return {};
    BlockTrial trial(ptx, **program, both[0], parameter_bytes, seed);
    trial.put_body(**body_program, both[1]);
    return trial.run(launches, most);
}

std::string reasons_of(const std::string& ptx) {
    const auto module = ptx::parse(ptx, "generated.ptx");
    if (!module) return module.error().text();
    const std::optional<KernelDescription> found = described(*module);
    std::string text;
    if (found)
        for (const Reason& reason : found->reasons) text += reason.text + "\n";
    return text;
}

std::string verdict_on(const std::string& ptx) {
    const auto module = ptx::parse(ptx, "generated.ptx");
    if (!module) return {};
    const std::optional<KernelDescription> found = described(*module);
    if (!found || found->verdict == Verdict::fixed) return {};
    nlohmann::json json = to_json(*found);
    json.erase("reasons");
    return json.dump();
}

TrialResult try_blocks(const std::string& ptx, std::uint64_t seed, unsigned launches, unsigned most) {
    return try_code(ptx, nullptr, seed, launches, most);
}

TrialResult try_blocks(const std::string& ptx, const BuiltInKernel& as_written, std::uint64_t seed,
                       unsigned launches, unsigned most) {
    return try_code(ptx, &as_written, seed, launches, most);
}

}  // namespace trimtab::analysis::test
