// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/benched_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/analysis/launches/demangle.h"
#include "core/base/json_value.h"

namespace trimtab::tools {
namespace {

using base::JsonValue;

BlockSize size_of(const JsonValue& value) {
    BlockSize size{};
    const auto parts = value.list(3);
    for (std::size_t d = 0; d < 3; ++d) size[d] = parts[d].count();
    return size;
}

TimedShape shape_of(const JsonValue& value) {
    TimedShape shape;
    shape.grid = size_of(value["grid"]);
    shape.block = size_of(value["block"]);
    shape.dynamic_shared_bytes = value["shared_bytes"].natural();
    return shape;
}

bool is_same(const TimedShape& a, const TimedShape& b) {
    return a.grid == b.grid && a.block == b.block && a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

class BenchReader {
  public:
    void add(const JsonValue& line) {
        if (line.find("bench")) {
            for (const JsonValue& word : line["program"].list()) bench_.program.push_back(word.text());
            bench_.device = line["device"].text();
            return;
        }
        if (const auto why = line.find("skipped")) {
            bench_.skipped.emplace_back(analysis::demangle(line["kernel"].text()), why->text());
            return;
        }
        const std::string id = line["launch"].text();
        if (const auto ended = line.find("ended")) {
            launch_of(id, line).ended = ended->text();
        } else if (line.find("kernel")) {
            begin(id, line);
        } else {
            add_sample(launch_of(id, line), line);
        }
    }
    [[nodiscard]] Bench take() { return std::move(bench_); }
    void count_unreadable() { ++bench_.unreadable_lines; }

  private:
    void begin(const std::string& id, const JsonValue& line) {
        BenchedLaunch launch;
        launch.id = id;
        launch.kernel = line["kernel"].text();
        launch.demangled = analysis::demangle(launch.kernel);
        launch.object = line["object"].text();
        launch.device = line["device"].text();
        launch.is_emulated = line["emulated"].boolean();
        if (const auto chip = line.find("chip")) launch.chip = chip->text();
        if (const auto data = line.find("data"))
            for (const auto& [name, value] : data->members()) launch.data.emplace_back(name, value.number());
        launch.written = shape_of(line);
        launch.chosen = shape_of(line["chosen"]);
        launch.occupancy_block = size_of(line["occupancy_block"]);
        for (const JsonValue& block : line["common_blocks"].list())
            launch.common_blocks.push_back(size_of(block));
        launch.shape_count = line["launches"].natural();
        launch.repetitions = line["repetitions"].natural();
        places_[id] = bench_.launches.size();
        bench_.launches.push_back(std::move(launch));
    }

    BenchedLaunch& launch_of(const std::string& id, const JsonValue& line) {
        const auto place = places_.find(id);
        if (place == places_.end()) line.fail("is of a launch that no line describes");
        return bench_.launches[place->second];
    }

    static void add_sample(BenchedLaunch& launch, const JsonValue& line) {
        const TimedShape sample = shape_of(line);
        auto place =
            std::ranges::find_if(launch.shapes, [&](const TimedShape& one) { return is_same(one, sample); });
        if (place == launch.shapes.end()) place = launch.shapes.insert(place, sample);
        if (const auto failed = line.find("failed")) {
            place->failed = failed->text();
            return;
        }
        if (const auto counters = line.find("counters")) {
            for (const auto& [name, value] : counters->members())
                place->counters[name].push_back(value.number());
            return;
        }
        place->ns.push_back(line["ns"].number());
        if (const auto mhz = line.find("sm_mhz"); mhz && mhz->natural() > 0) {
            const auto now = static_cast<unsigned>(mhz->natural());
            place->least_sm_mhz = place->least_sm_mhz == 0 ? now : std::min(place->least_sm_mhz, now);
            place->most_sm_mhz = std::max(place->most_sm_mhz, now);
        }
        if (const auto slowed = line.find("slowed_by")) place->slowed_by.insert(slowed->text());
    }

    Bench bench_;
    std::map<std::string, std::size_t> places_;
};

}  // namespace

double TimedShape::median_ns() const {
    if (ns.empty()) return 0;
    std::vector<double> sorted = ns;
    std::ranges::sort(sorted);
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

const TimedShape* BenchedLaunch::best() const {
    const TimedShape* best = nullptr;
    for (const TimedShape& shape : shapes)
        if (shape.median_ns() > 0 && (best == nullptr || shape.median_ns() < best->median_ns()))
            best = &shape;
    return best;
}

const TimedShape* BenchedLaunch::find(const TimedShape& shape) const {
    const auto place =
        std::ranges::find_if(shapes, [&](const TimedShape& one) { return is_same(one, shape); });
    return place == shapes.end() || place->ns.empty() ? nullptr : &*place;
}

const TimedShape* BenchedLaunch::find(const BlockSize& block) const {
    const TimedShape* found = nullptr;
    std::uint64_t least_blocks = 0;
    for (const TimedShape& shape : shapes) {
        if (shape.block != block || shape.ns.empty()) continue;
        // Of a kernel whose number of threads is free, the grid that covers is the largest.
        const std::uint64_t blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
        if (found != nullptr && blocks <= least_blocks) continue;
        found = &shape;
        least_blocks = blocks;
    }
    return found;
}

std::size_t BenchedLaunch::timed_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(shapes, [](const TimedShape& shape) { return !shape.ns.empty(); }));
}

Bench read_bench(std::string_view json_lines) {
    BenchReader reader;
    for (std::size_t end = 0; (end = json_lines.find('\n')) != std::string_view::npos;
         json_lines.remove_prefix(end + 1)) {
        const std::string_view text = json_lines.substr(0, end);
        if (text.empty()) continue;
        const auto json = nlohmann::json::parse(text, nullptr, false);
        const auto read = base::read_json(json, "line", "", [&](const JsonValue& line) {
            reader.add(line);
            return true;
        });
        if (!read) reader.count_unreadable();
    }
    return reader.take();
}

std::vector<ComparedShape> compared_shapes(const BenchedLaunch& launch) {
    std::vector<ComparedShape> out;
    if (const TimedShape* best = launch.best()) out.push_back({"best", best->block, best});
    out.push_back({"as written", launch.written.block, launch.find(launch.written)});
    out.push_back({"chosen", launch.chosen.block, launch.find(launch.chosen)});
    out.push_back({"occupancy API", launch.occupancy_block, launch.find(launch.occupancy_block)});
    for (const BlockSize& block : launch.common_blocks)
        out.push_back({fmt::format("{} x {} x {}", block[0], block[1], block[2]), block, launch.find(block)});
    return out;
}

}  // namespace trimtab::tools
