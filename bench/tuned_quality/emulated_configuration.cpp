#include "bench/tuned_quality/emulated_configuration.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "emulator/exec/launch.h"
#include "model/device_fields.h"
#include "model/performance_model.h"
#include "profiler/emulator_backend.h"
#include "tools/trimtab/measured_launch.h"
#include "tools/trimtab/process.h"

namespace trimtab::bench {

namespace {

using Json = nlohmann::json;

trimtab_dim3 grid_of(const Configuration& c, const EmulatorOptions& options) {
    const auto blocks = [](std::uint32_t size, std::uint32_t part) { return (size + part - 1) / part; };
    return {blocks(options.width, c.block_x * c.tile_x), blocks(options.height, c.block_y * c.tile_y), 1};
}

std::vector<std::string> defines(const Configuration& c, const EmulatorOptions& options) {
    return {fmt::format("-DBLOCK_X={}", c.block_x),         fmt::format("-DBLOCK_Y={}", c.block_y),
            fmt::format("-DTILE_X={}", c.tile_x),           fmt::format("-DTILE_Y={}", c.tile_y),
            fmt::format("-DREAD_ONLY={}", c.read_only),     fmt::format("-DUSE_PADDING={}", c.use_padding),
            fmt::format("-DIMAGE_WIDTH={}", options.width), fmt::format("-DIMAGE_HEIGHT={}", options.height)};
}

}  // namespace

// What the model reads of a configuration.
struct EmulatedConfigurations::Measured {
    trimtab_image image{};
    model::MetricValues values{};
    std::map<std::array<double, 3>, double> footprints;  // sectors, by box of threads

    [[nodiscard]] Json to_json() const {
        Json fields = Json::array(), boxes = Json::array(), numbers = Json::array();
        for (const model::ImageField& field : model::image_fields()) fields.push_back(image.*field.member);
        for (const double value : values) numbers.push_back(value);
        for (const auto& [box, sectors] : footprints) boxes.push_back({box[0], box[1], box[2], sectors});
        return {{"image", fields}, {"values", numbers}, {"footprints", boxes}};
    }
    static std::optional<Measured> from_json(const Json& json) {
        Measured out;
        try {
            const auto fields = model::image_fields();
            for (std::size_t i = 0; i < fields.size(); ++i)
                out.image.*fields[i].member = json.at("image").at(i).get<double>();
            for (std::size_t i = 0; i < out.values.size(); ++i)
                out.values[i] = json.at("values").at(i).get<double>();
            for (const Json& box : json.at("footprints"))
                out.footprints[{box.at(0).get<double>(), box.at(1).get<double>(), box.at(2).get<double>()}] =
                    box.at(3).get<double>();
        } catch (const Json::exception&) {
            return std::nullopt;
        }
        return out;
    }
};

EmulatedConfigurations::EmulatedConfigurations(EmulatorOptions options, const std::string& store_path)
    : options_(std::move(options)),
      store_(store_path, [](const std::string& line) { fmt::print(stderr, "tuned_quality: {}\n", line); }) {
    std::ifstream stream(options_.source, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    key_ = fmt::format("{:016x} {} {}x{}", XXH3_64bits(text.data(), text.size()), options_.device.slug,
                       options_.width, options_.height);
    key_ += fmt::format(" {}", profiler::make_emulator_backend(nullptr)->version());
    for (const model::ImageField& field : model::image_fields()) key_ += fmt::format(" {}", field.name);
    for (const model::MetricInfo& metric : model::metric_table()) key_ += fmt::format(" {}", metric.name);
    key_ = fmt::format("{:016x}", XXH3_64bits(key_.data(), key_.size()));
}

std::expected<EmulatedConfigurations::Measured, Error> EmulatedConfigurations::measure(
    const Configuration& c, const model::RationalProgram& program, const std::string& key) {
    ++measured_;
    const tools::TemporaryFolder folder;
    const std::string ptx = folder.file("kernel.ptx");
    std::vector<std::string> command{
        options_.compiler, "-O3", "-x", "cuda", "--cuda-device-only", "-S", "-nocudainc", "-nocudalib",
        fmt::format("--cuda-gpu-arch=sm_{}", std::max(75u, options_.device.values.compute_capability)),
        "--cuda-path=" TRIMTAB_CUDA_PATH, "-Wno-unknown-cuda-version", "-Wno-pass-failed",
        // As nvcc, which unrolls whatever it is told to.
        "-mllvm", "-pragma-unroll-threshold=1000000", options_.source, "-o", ptx};
    for (std::string& define : defines(c, options_)) command.push_back(std::move(define));
    const tools::Outcome outcome = tools::run_program(command, true);
    if (!outcome.started || outcome.exit_code != 0)
        return std::unexpected(
            Error{.message = fmt::format("{} cannot compile it: {}", options_.compiler,
                                         outcome.messages.substr(0, outcome.messages.find('\n'))),
                  .file = options_.source});
    tools::LaunchOptions launch;
    launch.file = ptx;
    launch.device = options_.device.slug;
    const auto question = tools::look_up(launch);
    if (!question) return std::unexpected(question.error());
    const trimtab_dim3 grid = grid_of(c, options_), block{c.block_x, c.block_y, 1};
    const auto emulated = tools::measure_launch(*question, grid, block, 0);
    if (!emulated) return std::unexpected(emulated.error());
    Measured measured{.image = question->image, .values = emulated->values, .footprints = {}};
    const auto inputs = model::input_values(
        program, options_.device.values, measured.image,
        {.extent = {grid.x * block.x, grid.y * block.y, 1}, .block = block, .dynamic_shared_bytes = 0});
    (void)program.evaluate(inputs, [&](model::Metric metric, double x, double y, double z) {
        const double value = emulated->metric(metric, x, y, z);
        if (metric == model::Metric::footprint_sectors) measured.footprints[{x, y, z}] = value;
        return value;
    });
    store_.put_blob("tuned_quality", key, measured.to_json().dump());
    return measured;
}

std::expected<double, Error> EmulatedConfigurations::predict_ns(const Configuration& c,
                                                                const model::RationalProgram& program) {
    const std::string key = fmt::format("{} {} {} {} {} {} {}", key_, c.block_x, c.block_y, c.tile_x,
                                        c.tile_y, c.read_only, c.use_padding);
    const trimtab_dim3 grid = grid_of(c, options_), block{c.block_x, c.block_y, 1};
    const auto evaluated = [&](const Measured& measured) {
        const auto inputs = model::input_values(
            program, options_.device.values, measured.image,
            {.extent = {grid.x * block.x, grid.y * block.y, 1}, .block = block, .dynamic_shared_bytes = 0});
        bool known = true;
        const auto result = program.evaluate(inputs, [&](model::Metric metric, double x, double y, double z) {
            if (metric != model::Metric::footprint_sectors)
                return measured.values[static_cast<std::size_t>(metric)];
            const auto found = measured.footprints.find({x, y, z});
            known = known && found != measured.footprints.end();
            return found != measured.footprints.end() ? found->second : 1.0;
        });
        if (!known) return std::numeric_limits<double>::quiet_NaN();
        return result.launchable ? result.time_ns : std::numeric_limits<double>::infinity();
    };
    if (!options_.fresh)
        if (const auto blob = store_.blob("tuned_quality", key))
            if (const auto remembered = Measured::from_json(Json::parse(*blob, nullptr, false)))
                if (const double ns = evaluated(*remembered); !std::isnan(ns)) return ns;
    const auto measured = measure(c, program, key);
    if (!measured) return std::unexpected(measured.error());
    return evaluated(*measured);
}

}  // namespace trimtab::bench
