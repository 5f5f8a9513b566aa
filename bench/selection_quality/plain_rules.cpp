// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that choose without a model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "bench/selection_quality/csv.h"
#include "bench/selection_quality/study.h"
#include "core/model/occupancy.h"

namespace trimtab::bench {

namespace {

// The legal block with the most resident threads, the largest of them as CUDA's occupancy calculator
// suggests, a warp wide where it may.
Block most_occupancy(const StudiedCase& one) {
    const auto key = [&](const MeasuredBlock& measured) {
        const std::uint32_t threads = measured.block.x * measured.block.y;
        const auto occupancy = model::occupancy(one.device.values, one.launches.image, threads, 0);
        return std::tuple(occupancy.fraction, threads, -std::abs(std::log2(measured.block.x / 32.0)));
    };
    return std::ranges::max(one.legal, {}, key).block;
}

// The block that, used in all cases of a GPU and of as many dimensions, would have been best.
void add_best_fixed(Study& study) {
    std::set<std::string> gpus;
    for (const StudiedCase& one : study.cases) gpus.insert(one.measured.gpu);
    for (const std::string& gpu : gpus)
        for (const bool two : {false, true}) {
            std::vector<StudiedCase*> cases;
            std::set<Block> blocks;
            for (StudiedCase& one : study.cases) {
                if (one.measured.gpu != gpu || one.launches.two_dimensional != two) continue;
                cases.push_back(&one);
                for (const MeasuredBlock& legal : one.legal) blocks.insert(legal.block);
            }
            std::optional<Block> best;
            double best_logs = 0;
            for (const Block block : blocks) {
                double logs = 0;
                std::size_t known = 0;
                for (const StudiedCase* one : cases) {
                    const MeasuredBlock* legal = one->find_legal(block);
                    if (legal == nullptr) continue;
                    logs += std::log(one->best.ms / legal->ms);
                    ++known;
                }
                // Some tables lack a few rows: a block that most cases have is judged by those.
                if (10 * known < 9 * cases.size()) continue;
                logs /= static_cast<double>(known);
                if (best && logs <= best_logs) continue;
                best = block;
                best_logs = logs;
            }
            if (!best) continue;
            for (StudiedCase* one : cases) study.choose(*one, "best_fixed", *best);
            study.notes.push_back(fmt::format("best fixed block of {}, {}: ({}, {})", gpu,
                                              two ? "2-D" : "1-D", best->x, best->y));
        }
}

}  // namespace

void add_plain_rules(Study& study) {
    for (StudiedCase& one : study.cases) {
        const bool two = one.launches.two_dimensional;
        if (!one.choices.contains("oracle")) study.choose(one, "oracle", one.best.block);
        study.choose(one, "guess_256_16x16", two ? Block{16, 16} : Block{256, 1});
        study.choose(one, "guess_256_32x8", two ? Block{32, 8} : Block{256, 1});
        study.choose(one, "max_occupancy", most_occupancy(one));
    }
    add_best_fixed(study);
}

void add_other_day(Study& study, const std::vector<MeasuredCase>& other) {
    for (StudiedCase& one : study.cases)
        for (const MeasuredCase& day : other) {
            const MeasuredCase& here = one.measured;
            if (day.gpu != here.gpu || day.app != here.app || day.kernel != here.kernel || day.n != here.n)
                continue;
            const MeasuredBlock* best = nullptr;
            for (const MeasuredBlock& block : day.blocks)
                if (one.find_legal(block.block) != nullptr && (best == nullptr || block.ms < best->ms))
                    best = &block;
            if (best != nullptr) study.choose(one, "oracle", best->block);
        }
}

std::expected<void, Error> add_choices(Study& study, const std::string& rule, const std::string& path) {
    const auto rows = read_csv(path, {"gpu", "app", "kernel", "n", "bx", "by"});
    if (!rows) return std::unexpected(rows.error());
    for (const CsvRow& row : *rows) {
        double numbers[3];
        for (std::size_t i = 0; i < 3; ++i) {
            const auto number = csv_number(path, row, 3 + i);
            if (!number) return std::unexpected(number.error());
            numbers[i] = *number;
        }
        for (StudiedCase& one : study.cases)
            if (one.measured.gpu == row.values[0] && one.measured.app == row.values[1] &&
                one.measured.kernel == row.values[2] && double(one.measured.n) == numbers[0])
                study.choose(
                    one, rule,
                    {static_cast<std::uint32_t>(numbers[1]), static_cast<std::uint32_t>(numbers[2])});
    }
    return {};
}

}  // namespace trimtab::bench
