// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/hypotheses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>

#include "choosing/launch_shape.h"
#include "core/analysis/launches/operation.h"
#include "core/analysis/launches/parameters.h"

namespace trimtab::runtime {
namespace {

using analysis::BlockWidth;
using analysis::KernelDescription;
using analysis::KernelParameter;

constexpr std::size_t most_of_a_dimension = 6, most_grids = 18, most_shared = 6;
constexpr std::uint64_t most_elements_a_thread = 64;
// Bytes of what threads keep in shared memory.
constexpr std::array<std::uint64_t, 5> element_bytes{4, 8, 2, 16, 1};
constexpr std::uint64_t widest_halo = 32;  // cells beside a tile, both sides together

// A number that the launch brings along, as annotations name it.
struct Number {
    std::string text;
    std::uint64_t value = 0;
};

bool is_name(const std::string& text) {
    constexpr std::array taken{"bx", "by", "bz", "ex", "ey", "ez", "as_written"};
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }) &&
           std::ranges::find(taken, text) == taken.end();
}

std::uint64_t read_number(analysis::ArgumentBytes arguments, std::size_t offset, std::size_t bytes,
                          bool is_signed) {
    if (offset + bytes > arguments.size()) return 0;
    std::uint64_t value = 0;
    std::memcpy(&value, arguments.data() + offset, bytes);
    const bool is_negative = is_signed && bytes > 0 && (value >> (8 * bytes - 1) & 1) != 0;
    return is_negative ? 0 : value;
}

std::vector<Number> numbers_of(const KernelDescription& description, analysis::ArgumentBytes arguments) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    constexpr std::uint32_t most_of_struct = 64;
    std::vector<Number> numbers;
    const auto add = [&numbers](std::string text, std::uint64_t value) {
        if (value > 0 && value < most) numbers.push_back({std::move(text), value});
    };
    for (const KernelParameter& parameter : description.parameters) {
        if (parameter.is_pointer) continue;
        const std::string name =
            is_name(parameter.name) ? parameter.name : fmt::format("param_{}", parameter.index);
        auto type = analysis::scalar_type(parameter.type);
        if (!type) type = analysis::type_from_name(parameter.ptx_type);
        const bool is_scalar = type && analysis::width_bits(*type) / 8 == parameter.size;
        if (is_scalar) {
            const std::string kind(analysis::type_name(*type));
            if (kind.starts_with('s') || kind.starts_with('u'))
                add(name, read_number(arguments, parameter.offset, parameter.size, kind.starts_with('s')));
            continue;
        }
        for (std::uint32_t at = 0; at + 4 <= std::min(parameter.size, most_of_struct); at += 4)
            add(fmt::format("s32({}, {})", name, at), read_number(arguments, parameter.offset + at, 4, true));
    }
    return numbers;
}

struct Guess {
    std::string text;
    unsigned rank = 0;
    std::string number = {};  // that it is made of
};

// Those of one rank stay in the order of the parameters.
template <typename Ranked>
void sort_by_rank(std::vector<Ranked>& all) {
    std::vector<Ranked> sorted;
    sorted.reserve(all.size());
    const auto most = std::ranges::max_element(all, {}, &Ranked::rank);
    for (unsigned rank = 0; most != all.end() && rank <= most->rank; ++rank)
        std::ranges::copy_if(all, std::back_inserter(sorted),
                             [rank](const Ranked& one) { return one.rank == rank; });
    all = std::move(sorted);
}

std::uint64_t rounded_up(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}

void add(std::vector<Guess>& guesses, std::string text, unsigned rank, std::size_t most,
         const std::string& number = {}) {
    const bool known =
        std::ranges::any_of(guesses, [&text](const Guess& guess) { return guess.text == text; });
    if (!known && guesses.size() < most) guesses.push_back({std::move(text), rank, number});
}

// What of `number` goes with `width` threads (or warps): each thread has so many of them.
void add_shares(std::vector<Guess>& guesses, const Number& number, const std::string& width,
                std::uint64_t written_width, std::uint64_t grid, unsigned rank) {
    const std::uint64_t each = rounded_up(number.value, grid * written_width);
    // So many elements a thread are chosen, not met with.
    if (each > most_elements_a_thread || (each > 8 && !std::has_single_bit(each)) ||
        rounded_up(number.value, each * written_width) != grid)
        return;
    // One block holds any number of them: only its own width tells.
    if (grid == 1 && (each > 1 || 2 * number.value <= written_width)) return;
    add(guesses,
        each == 1 ? fmt::format("ceil({} / {})", number.text, width)
                  : fmt::format("ceil({} / ({} * {}))", number.text, each, width),
        rank + (each == 1 ? 0 : 1), most_of_a_dimension, number.text);
}

// The grid in one dimension.
std::vector<Guess> grids_along(const KernelDescription& description, const std::vector<Number>& numbers,
                               const model::LaunchConfiguration& written, std::size_t d) {
    const std::array<std::uint64_t, 3> grids{written.grid.x, written.grid.y, written.grid.z},
        blocks{written.block.x, written.block.y, written.block.z};
    const std::uint64_t grid = grids[d], block = blocks[d], threads = blocks[0] * blocks[1] * blocks[2];
    const bool has_threads = description.reads(d) && description.dimensions[d].block != BlockWidth::one;
    std::vector<Guess> guesses;
    if (!description.reads(d) && grid == 1) return {{.text = "1", .rank = 0}};
    const std::string width = fmt::format("b{}", model::axis_names[d]);
    if (has_threads) {
        for (const Number& number : numbers) add_shares(guesses, number, width, block, grid, 0);
        if (d == 0 && threads != block)
            for (const Number& number : numbers)
                add_shares(guesses, number, "(bx * by * bz)", threads, grid, 2);
        if (d == 0 && threads % 32 == 0 && threads > 32)
            for (const Number& number : numbers)
                if (rounded_up(number.value, threads / 32) == grid)
                    add_shares(guesses, number, threads == block ? "(bx / 32)" : "(bx * by * bz / 32)",
                               threads / 32, grid, 2);
    }
    for (const Number& number : numbers)
        if (number.value == grid && grid > 1) add(guesses, number.text, 2, most_of_a_dimension, number.text);
    if (guesses.empty() && grid > 1) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            for (std::size_t j = i + 1; j < numbers.size(); ++j) {
                const Number product{fmt::format("{} * {}", numbers[i].text, numbers[j].text),
                                     numbers[i].value * numbers[j].value};
                if (has_threads) add_shares(guesses, product, width, block, grid, 3);
                if (product.value == grid) add(guesses, product.text, 4, most_of_a_dimension);
            }
        }
    }
    if (has_threads)
        add(guesses, fmt::format("ceil(e{0} / b{0})", model::axis_names[d]), 5, most_of_a_dimension + 1);
    add(guesses, "as_written", 6, most_of_a_dimension + 2);
    return guesses;
}

std::vector<Guess> grids_of(const KernelDescription& description, const std::vector<Number>& numbers,
                            const model::LaunchConfiguration& written) {
    std::vector<Guess> all{{}};
    for (std::size_t d = 0; d < 3; ++d) {
        std::vector<Guess> longer;
        for (const Guess& start : all) {
            for (const Guess& guess : grids_along(description, numbers, written, d)) {
                // Of a square plane either side would do for both.
                const bool is_again = !guess.number.empty() && start.number == guess.number;
                longer.push_back({.text = start.text.empty() ? guess.text : start.text + ", " + guess.text,
                                  .rank = start.rank + guess.rank + (is_again ? 1 : 0),
                                  .number = guess.number});
            }
        }
        all = std::move(longer);
    }
    sort_by_rank(all);
    if (all.size() > most_grids) all.resize(most_grids);
    for (Guess& guess : all)
        while (guess.text.ends_with(", 1")) guess.text.resize(guess.text.size() - 3);
    return all;
}

std::string times(std::uint64_t factor, const std::string& text) {
    return factor == 1 ? text : fmt::format("{} * {}", factor, text);
}

std::vector<Guess> shared_of(const std::vector<Number>& numbers, const model::LaunchConfiguration& written) {
    const std::uint64_t bytes = written.dynamic_shared_bytes;
    if (bytes == 0) return {{}};
    const std::array<std::uint64_t, 3> blocks{written.block.x, written.block.y, written.block.z};
    const std::uint64_t threads = blocks[0] * blocks[1] * blocks[2];
    std::string all = "bx";
    if (blocks[1] > 1 || blocks[2] > 1) all += " * by";
    if (blocks[2] > 1) all += " * bz";
    std::vector<Guess> guesses;
    if (bytes % threads == 0) add(guesses, times(bytes / threads, all), 0, most_shared);
    for (const std::uint64_t each : element_bytes) {
        if (bytes % each != 0) continue;
        const std::uint64_t cells = bytes / each;
        // A tile and the cells beside it.
        for (std::uint64_t halo = 1; halo <= widest_halo; ++halo) {
            if (blocks[1] > 1 && (blocks[0] + halo) * (blocks[1] + halo) == cells)
                add(guesses, times(each, fmt::format("(bx + {0}) * (by + {0})", halo)), 1, most_shared);
            if (blocks[1] > 1 && blocks[0] * (blocks[1] + halo) == cells)
                add(guesses, times(each, fmt::format("bx * (by + {})", halo)), 1, most_shared);
            if (blocks[1] > 1 && (blocks[0] + halo) * blocks[1] == cells)
                add(guesses, times(each, fmt::format("(bx + {}) * by", halo)), 1, most_shared);
        }
        if (blocks[1] == 1 && cells > blocks[0] && cells - blocks[0] <= widest_halo * 16)
            add(guesses, times(each, fmt::format("(bx + {})", cells - blocks[0])), 2, most_shared);
        if (cells == rounded_up(threads, 32))
            add(guesses, times(each, fmt::format("ceil({} / 32)", all)), 1, most_shared);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (numbers[i].value == cells) add(guesses, times(each, numbers[i].text), 1, most_shared);
            for (std::size_t j = i + 1; j < numbers.size(); ++j)
                if (numbers[i].value > 1 && numbers[j].value > 1 &&
                    numbers[i].value * numbers[j].value == cells)
                    add(guesses, times(each, numbers[i].text + " * " + numbers[j].text), 2, most_shared);
        }
    }
    for (std::size_t d = 0; d < 2 && blocks[1] > 1; ++d)
        if (blocks[d] > 1 && bytes % blocks[d] == 0)
            add(guesses, times(bytes / blocks[d], fmt::format("b{}", model::axis_names[d])), 3, most_shared);
    add(guesses, std::to_string(bytes), 3, most_shared + 1);
    return guesses;
}

double distance(std::uint32_t a, std::uint32_t b) {
    return std::abs(std::log2(static_cast<double>(a)) - std::log2(static_cast<double>(b)));
}

}  // namespace

std::string Hypothesis::text() const {
    std::string out = block.empty() ? std::string() : fmt::format("block({}), ", block);
    out += fmt::format("grid({})", grid);
    if (!dynamic_shared.empty()) out += fmt::format(", dynamic_shared({})", dynamic_shared);
    return out;
}

std::vector<Hypothesis> hypotheses(const KernelDescription& description, analysis::ArgumentBytes arguments,
                                   const model::LaunchConfiguration& written) {
    const std::vector<Number> numbers = numbers_of(description, arguments);
    std::vector<Hypothesis> out;
    for (const Guess& shared : shared_of(numbers, written))
        for (const Guess& grid : grids_of(description, numbers, written))
            out.push_back({.block = {},
                           .grid = grid.text,
                           .dynamic_shared = shared.text,
                           .rank = grid.rank + shared.rank});
    sort_by_rank(out);
    return out;
}

trimtab_dim3 BlockOfVariant::block(std::int32_t value) const {
    std::array<std::uint32_t, 3> out{};
    for (std::size_t d = 0; d < 3; ++d) {
        const auto positive = static_cast<std::uint32_t>(std::max(value, 0));
        if (sizes[d].follows && positive % sizes[d].number != 0) return {};
        out[d] = sizes[d].follows ? positive / sizes[d].number : sizes[d].number;
    }
    return {out[0], out[1], out[2]};
}

std::vector<BlockOfVariant> blocks_of_variants(const trimtab_dim3& written, const std::array<bool, 3>& varies,
                                               std::int32_t own_value) {
    if (own_value < 1) return {};
    const std::array<std::uint32_t, 3> blocks{written.x, written.y, written.z};
    const auto value = static_cast<std::uint32_t>(own_value);
    std::vector<BlockOfVariant> all{{}};
    for (std::size_t d = 0; d < 3; ++d) {
        std::vector<BlockOfVariant> longer;
        for (const BlockOfVariant& start : all) {
            const auto add = [&](bool follows, std::uint32_t number) {
                BlockOfVariant with = start;
                with.sizes[d] = {follows, number};
                if (varies[d]) {
                    if (!with.text.empty()) with.text += ", ";
                    with.text += fmt::format("b{} == ", model::axis_names[d]);
                    with.text += !follows      ? std::to_string(number)
                                 : number == 1 ? std::string("variant")
                                               : fmt::format("variant / {}", number);
                }
                longer.push_back(std::move(with));
            };
            // What is no number that a tile is cut into is no part of it.
            if (varies[d] && value % blocks[d] == 0 && std::has_single_bit(value / blocks[d]))
                add(true, value / blocks[d]);
            add(false, blocks[d]);
        }
        all = std::move(longer);
    }
    std::erase_if(all, [](const BlockOfVariant& one) {
        return std::ranges::none_of(one.sizes, &BlockOfVariant::Size::follows);
    });
    return all;
}

std::vector<trimtab_dim3> blocks_to_suppose(const trimtab_dim3& written, const std::array<bool, 3>& varies,
                                            std::uint32_t most_threads) {
    constexpr std::uint32_t warp = 32;
    constexpr std::size_t most = 64;
    const std::uint32_t threads = written.x * written.y * written.z;
    // Less than a warp only where the launch as written is.
    const std::uint32_t least = std::min(threads, warp);
    const auto sizes = [&](std::size_t d, std::uint32_t own, std::uint32_t largest) {
        std::vector<std::uint32_t> out;
        if (!varies[d]) return std::vector<std::uint32_t>{own};
        for (std::uint32_t size = 1; size <= std::min(largest, most_threads); size *= 2) out.push_back(size);
        if (std::ranges::find(out, own) == out.end()) out.push_back(own);
        return out;
    };
    const bool is_line = std::ranges::count(varies, true) == 1;
    std::vector<trimtab_dim3> blocks;
    for (const std::uint32_t z : sizes(2, written.z, 8))
        for (const std::uint32_t y : sizes(1, written.y, 1024))
            for (const std::uint32_t x : sizes(0, written.x, 1024))
                if (x * y * z >= least && x * y * z <= most_threads) blocks.push_back({x, y, z});
    std::ranges::sort(blocks, {}, [&](const trimtab_dim3& block) {
        const double apart =
            distance(block.x, written.x) + distance(block.y, written.y) + distance(block.z, written.z);
        // Of the same proportions first: many tiles are square.
        const bool is_turned =
            std::uint64_t{block.x} * written.y != std::uint64_t{block.y} * written.x || block.z != written.z;
        return std::tuple(is_turned && !is_line, apart, block.z, block.y, block.x);
    });
    if (blocks.size() > most) blocks.resize(most);
    // The other whole warps, in one dimension.
    if (is_line && varies[0] && threads % warp == 0)
        for (std::uint32_t x = 3 * warp; x * written.y * written.z <= most_threads; x += warp)
            if (!std::has_single_bit(x)) blocks.push_back({x, written.y, written.z});
    std::erase_if(blocks, [&](const trimtab_dim3& block) { return choosing::same(block, written); });
    return blocks;
}

}  // namespace trimtab::runtime
