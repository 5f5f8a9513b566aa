// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/block_times.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "choosing/choices/argument_key.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/base/json_value.h"
#include "core/model/potential_block.h"
#include "runtime/launches/launch_facts.h"
#include "runtime/launches/legal_launches.h"
#include "runtime/pending_error.h"

namespace trimtab::runtime {
namespace {

using nlohmann::ordered_json;

// Of a GPU, whose times vary: the median of so many stands for a launch.
constexpr std::uint64_t gpu_repetitions = 9;
// Of counters, that vary less: enough for quartiles to fence an outlier.
constexpr std::uint64_t counter_repetitions = 5;
// Runs of the launch as written before any is timed: its code is loaded, and clocks rise.
constexpr int warm_up_runs = 3;
// Where the time is limited, the share of what is left that one kind of launch may take: others are to come.
constexpr double share_of_launch = 1.0 / 3;
constexpr const char* time_is_up = "the time that it was given was up";

std::expected<BlockTimesPlan, Error> block_times_plan(const std::string& text) {
    const std::string origin = "TRIMTAB_BENCH";
    const auto json = base::parse_json(text, origin);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "plan", origin, [](const base::JsonValue& value) {
        BlockTimesPlan plan{.file = value["file"].text()};
        const auto read = [&value](const char* name, std::uint64_t& to) {
            if (const auto found = value.find(name)) to = found->natural();
        };
        read("blocks", plan.blocks);
        read("repetitions", plan.repetitions);
        read("seed", plan.seed);
        if (const auto found = value.find("counters")) plan.counts = found->boolean();
        if (const auto found = value.find("seconds")) plan.seconds = found->number();
        plan.share = share_from(value);
        return plan;
    });
}

ordered_json to_json(const model::LaunchConfiguration& launch) {
    return {{"grid", to_array(launch.grid)},
            {"block", to_array(launch.block)},
            {"shared_bytes", launch.dynamic_shared_bytes}};
}

std::string key_of(const model::LaunchConfiguration& launch) {
    return fmt::format("{},{},{} {},{},{} {}", launch.block.x, launch.block.y, launch.block.z, launch.grid.x,
                       launch.grid.y, launch.grid.z, launch.dynamic_shared_bytes);
}

std::string key_of(const ordered_json& line) {
    const auto size = [&line](const char* name) {
        const ordered_json& list = line.at(name);
        return trimtab_dim3{.x = list.at(0).get<std::uint32_t>(),
                            .y = list.at(1).get<std::uint32_t>(),
                            .z = list.at(2).get<std::uint32_t>()};
    };
    return key_of({.grid = size("grid"),
                   .block = size("block"),
                   .dynamic_shared_bytes = line.at("shared_bytes").get<std::uint64_t>()});
}

// The shapes that people write where nothing tells them better, by the number of dimensions that are free.
std::vector<trimtab_dim3> common_blocks(const analysis::KernelDescription& description,
                                        const choosing::LaunchShape& shape) {
    const std::array<std::uint64_t, 3> extent =
        description.counted_extent(shape.written.grid, shape.written.block);
    std::vector<std::size_t> free;
    for (std::size_t d = 0; d < 3; ++d)
        if (description.varies(d) && extent[d] > 1) free.push_back(d);
    std::vector<std::array<std::uint32_t, 3>> shapes;
    if (free.size() <= 1) shapes = {{128, 1, 1}, {256, 1, 1}, {512, 1, 1}, {1024, 1, 1}};
    if (free.size() == 2) shapes = {{8, 8, 1}, {16, 16, 1}, {32, 4, 1}, {32, 8, 1}, {32, 32, 1}};
    if (free.size() == 3) shapes = {{8, 8, 8}, {32, 4, 2}, {32, 8, 1}, {16, 16, 1}};
    std::vector<trimtab_dim3> blocks;
    for (const auto& sizes : shapes) {
        std::array<std::uint32_t, 3> block{1, 1, 1};
        for (std::size_t i = 0; i < free.size(); ++i) block[free[i]] = sizes[i];
        blocks.push_back({block[0], block[1], block[2]});
    }
    return blocks;
}

// What cudaOccupancyMaxPotentialBlockSize answers with, laid out as such answers are: in rows of a warp where the kernel
// is of two dimensions or three.
trimtab_dim3 potential_block(const analysis::KernelDescription& description, const trimtab_device& device,
                             const trimtab_image& image, const choosing::LaunchShape& shape) {
    const std::uint32_t threads = model::potential_block_threads(
        device, image, static_cast<double>(shape.written.dynamic_shared_bytes));
    std::size_t first = 3, second = 3;
    for (std::size_t d = 0; d < 3; ++d) {
        if (!description.varies(d)) continue;
        if (first == 3)
            first = d;
        else if (second == 3)
            second = d;
    }
    std::array<std::uint32_t, 3> block{1, 1, 1};
    if (first == 3) return {1, 1, 1};
    if (second == 3) {
        block[first] = threads;
    } else {
        block[first] = std::min(threads, analysis::warp_size);
        block[second] = threads / block[first];
    }
    return {block[0], block[1], block[2]};
}

std::uint64_t hash_of(const std::string& text) {
    return XXH3_64bits(text.data(), text.size());
}

bool is_among(const std::vector<trimtab_dim3>& blocks, const trimtab_dim3& block) {
    return std::ranges::any_of(blocks, [&](const trimtab_dim3& one) { return choosing::same(one, block); });
}

}  // namespace

BlockTimes::BlockTimes(const std::string& plan, const BackendCalls& calls, choosing::Log& log)
    : calls_(calls), log_(log) {
    if (plan.empty()) return;
    auto read = block_times_plan(plan);
    if (!read) {
        log.warn(read.error().text() + ": nothing is timed (it is set by trimtab bench)");
        return;
    }
    plan_ = std::move(*read);
    file_ = open(plan_.file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    std::string why_not = file_ < 0 ? std::strerror(errno) : "";
    if (file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) != 0) why_not = "another process writes there";
    if (why_not.empty()) why_not = read_earlier();
    if (why_not.empty()) return;
    log.warn(fmt::format("TRIMTAB_BENCH: {}: {}: nothing is timed", plan_.file, why_not));
    if (file_ >= 0) close(file_);
    file_ = -1;
}

BlockTimes::~BlockTimes() {
    if (file_ >= 0) close(file_);
}

// Lines of a process that was killed: the last may be cut, and then goes.
std::string BlockTimes::read_earlier() {
    std::ifstream lines(plan_.file, std::ios::binary);
    std::string line;
    std::uint64_t whole_bytes = 0;
    for (std::uint64_t number = 1; std::getline(lines, line); ++number) {
        if (lines.eof()) break;  // no end of line
        whole_bytes += line.size() + 1;
        try {
            const ordered_json read = ordered_json::parse(line);
            if (read.contains("skipped"))
                skipped_.insert(read.at("kernel").get<std::string>() + '\n' +
                                read.at("skipped").get<std::string>());
            if (!read.contains("launch")) continue;
            const auto id = read.at("launch").get<std::string>();
            if (read.contains("kernel")) {
                begun_.insert(id);
                continue;
            }
            std::uint64_t& samples = done_[id][key_of(read)];
            if (read.contains("failed"))
                samples = failed;
            else if (samples != failed)
                ++samples;
        } catch (const ordered_json::exception& error) {
            return fmt::format("line {} is none of trimtab bench's ({})", number, error.what());
        }
    }
    if (ftruncate(file_, static_cast<off_t>(whole_bytes)) != 0) return std::strerror(errno);
    return {};
}

void BlockTimes::write_line(ordered_json line, std::uint64_t number) {
    line["number"] = number;
    const std::string text = to_text(line) + "\n";
    if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        log_.warn_once(fmt::format("TRIMTAB_BENCH: {}: {}", plan_.file, std::strerror(errno)));
}

// With the mutex held.
void BlockTimes::skip(const LaunchToVerify& launch, const std::string& why) {
    if (!skipped_.insert(launch.kernel + '\n' + why).second) return;
    const std::uint64_t number = next_number_++;
    if (!plan_.share.is_first()) return;
    ordered_json line = facts_of(launch);
    line["skipped"] = why;
    write_line(std::move(line), number);
}

std::vector<BlockTimes::Timed> BlockTimes::launches_of(const LaunchToVerify& launch,
                                                       const std::vector<std::byte>& arguments,
                                                       const trimtab_limits& limits,
                                                       const model::LaunchConfiguration& potential) {
    auto [blocks, totals] = legal_launches(*launch.description, arguments, limits, launch.device->values,
                                           launch.image, launch.shape);
    blocks.insert(blocks.end(), totals.begin(), totals.end());
    const bool are_too_many = plan_.blocks != 0 && blocks.size() > plan_.blocks;
    if (are_too_many || plan_.seconds > 0) {
        // Those that are told apart come first; of the others some, spread at random.
        std::vector<trimtab_dim3> kept = common_blocks(*launch.description, launch.shape);
        kept.push_back(potential.block);
        kept.push_back(launch.chosen.block);
        std::mt19937_64 random(plan_.seed);
        std::shuffle(blocks.begin(), blocks.end(), random);
        std::vector<model::LaunchConfiguration> others;
        std::erase_if(blocks, [&](const model::LaunchConfiguration& one) {
            if (is_among(kept, one.block)) return false;
            others.push_back(one);
            return true;
        });
        blocks.insert(blocks.end(), others.begin(), others.end());
        if (are_too_many) blocks.resize(plan_.blocks);
    }
    std::vector<Timed> out;
    const model::LaunchConfiguration written = launch.shape.written;
    out.push_back({.launch = written, .key = key_of(written)});
    for (const model::LaunchConfiguration& one : blocks) out.push_back({.launch = one, .key = key_of(one)});
    return out;
}

std::expected<double, cudaError_t> BlockTimes::time_once(const Send& send,
                                                         const model::LaunchConfiguration& launch,
                                                         cudaStream_t stream) {
    const TimingCalls& calls = calls_.timing;
    float ms = 0;
    cudaError_t status = calls.event_record(begin_, stream);
    if (status == cudaSuccess) status = send(launch);
    if (status == cudaSuccess) status = calls.event_record(end_, stream);
    if (status == cudaSuccess) status = calls.event_synchronize(end_);
    if (status == cudaSuccess) status = calls.event_elapsed_time(&ms, begin_, end_);
    if (status != cudaSuccess) return std::unexpected(status);
    return static_cast<double>(ms) * 1e6;
}

std::string BlockTimes::time_all(const std::string& id, std::uint64_t number,
                                 const std::vector<Timed>& launches, const std::vector<std::byte>& arguments,
                                 const Send& send, cudaStream_t stream, const GpuCounters* counters) {
    const auto saved =
        SavedMemory::save(calls_, arguments, variables_ ? variables_() : std::vector<ProgramVariable>{});
    if (!saved) return saved.error();
    const auto send_written = [&]() -> std::string {
        const cudaError_t status = send(launches.front().launch);
        return status == cudaSuccess ? std::string()
                                     : fmt::format("it fails ({})", calls_.get_error_name(status));
    };
    const auto put_back = [&](std::string why) {
        return saved->restore() && calls_.timing.device_synchronize() == cudaSuccess
                   ? std::move(why)
                   : "its memory cannot be restored";
    };
    // Made twice it leaves what it leaves made once: it can be timed again and again without a copy between, which
    // would also change what the caches hold.
    std::array<std::uint64_t, 2> left{};
    for (std::uint64_t& hash : left) {
        if (std::string why = send_written(); !why.empty()) return put_back(std::move(why));
        const auto now = saved->hash();
        if (!now)
            return now.error();  // the device's error is the program's own: so does the launch as written
        hash = *now;
    }
    const bool repeats_itself = left[0] == left[1];
    for (int run = 2; run < warm_up_runs && !is_emulated() && repeats_itself; ++run)
        if (std::string why = send_written(); !why.empty()) return put_back(std::move(why));
    const std::uint64_t repetitions = this->repetitions();
    Done& done = done_[id];
    std::vector<std::size_t> order(launches.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const double began_s = elapsed_s();
    const double ends_s = began_s + share_of_launch * (plan_.seconds - began_s);
    for (std::uint64_t round = 0; round < repetitions; ++round) {
        // Each round has every launch once, in another order: a clock that drifts meets all alike. Where the time may
        // end within the first, that has those first that are told apart.
        std::mt19937_64 random(plan_.seed + round);
        if (round > 0 || plan_.seconds <= 0) std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
            const Timed& timed = launches[i];
            std::uint64_t& samples = done[timed.key];
            if (samples > round) continue;  // of an earlier process, or it has failed
            if (plan_.seconds > 0 && elapsed_s() > ends_s) return put_back(time_is_up);
            ordered_json line = {{"launch", id}, {"round", round}};
            line.update(to_json(timed.launch));
            if (counters != nullptr) {
                if (std::string why = count_once(*counters, send, timed, *saved, line); !why.empty())
                    return put_back(std::move(why));
                samples = line.contains("failed") ? failed : samples + 1;
                write_line(std::move(line), number);
                continue;
            }
            if (!repeats_itself) {
                if (!saved->restore() || calls_.timing.device_synchronize() != cudaSuccess)
                    return "its memory cannot be restored";
            } else if (!is_emulated()) {
                // Not timed: while it runs, what is timed can be queued behind it without a gap.
                send(timed.launch);
            }
            const auto ns = time_once(send, timed.launch, stream);
            if (ns) {
                line["ns"] = *ns;
                ++samples;
            } else {
                line["failed"] = calls_.get_error_name(ns.error());
                samples = failed;
                calls_.get_last_error();
            }
            if (clocks_ != nullptr && clocks_->is_on()) {
                const ClockWatch::Reading reading = clocks_->read();
                line["sm_mhz"] = reading.sm_mhz;
                line["celsius"] = reading.celsius;
                if (!reading.slowed_by.empty()) line["slowed_by"] = reading.slowed_by;
            }
            write_line(std::move(line), number);
        }
    }
    return put_back({});
}

std::string BlockTimes::count_once(const GpuCounters& counters, const Send& send, const Timed& timed,
                                   const SavedMemory& saved, ordered_json& line) {
    cudaError_t status = cudaSuccess;
    const auto counted =
        counters.count([&] { return saved.restore() && calls_.timing.device_synchronize() == cudaSuccess; },
                       [&] {
                           status = send(timed.launch);
                           if (status == cudaSuccess) status = calls_.timing.device_synchronize();
                           return status == cudaSuccess;
                       });
    if (counted) {
        line["counters"] = *counted;
    } else if (status != cudaSuccess) {
        line["failed"] = calls_.get_error_name(status);
        calls_.get_last_error();
    } else {
        return counted.error();
    }
    return {};
}

std::uint64_t BlockTimes::repetitions() const {
    if (plan_.repetitions != 0) return plan_.repetitions;
    if (plan_.counts) return counter_repetitions;
    return is_emulated() ? 1 : gpu_repetitions;
}

void BlockTimes::watch_clocks() {
    if (is_emulated() || clocks_ != nullptr) return;
    std::array<char, 32> bus{};
    int ordinal = 0;
    if (calls_.get_device(&ordinal) != cudaSuccess ||
        calls_.timing.device_get_pci_bus_id(bus.data(), static_cast<int>(bus.size()), ordinal) != cudaSuccess)
        return;
    clocks_ = std::make_unique<ClockWatch>(bus.data());
    if (!clocks_->is_on()) log_.info("clocks are not watched: " + clocks_->why_not());
}

double BlockTimes::elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - *began_).count();
}

void BlockTimes::measure(const LaunchToVerify& launch, const Send& send) {
    const std::lock_guard lock(mutex_);
    if (!began_) began_ = std::chrono::steady_clock::now();
    if (plan_.seconds > 0 && elapsed_s() >= plan_.seconds) return skip(launch, time_is_up);
    if (launch.description == nullptr || !launch.left_alone.empty() || launch.device == nullptr)
        return skip(launch, launch.left_alone.empty() ? "the device cannot be described" : launch.left_alone);
    if (!launch.shape.stream) return skip(launch, "it goes to no stream");
    const std::vector<std::byte> arguments =
        choosing::argument_bytes(*launch.description, launch.shape.arguments);
    const auto limits =
        limits_of(*launch.description, arguments, launch.device->values, launch.image, launch.shape);
    if (!limits) return skip(launch, limits.error());
    ordered_json line = facts_of(launch);
    const std::string id = fmt::format("{:016x}", hash_of(launch.description->id + to_text(line)));
    if (!skipped_.insert(id).second) return;  // timed, in this process
    const model::LaunchConfiguration potential{
        .block = potential_block(*launch.description, launch.device->values, launch.image, launch.shape)};
    const std::vector<Timed> launches = launches_of(launch, arguments, *limits, potential);
    if (launches.size() < 2) return skip(launch, "no other block is legal");
    const PendingError pending(calls_);
    if (begin_ == nullptr && (calls_.timing.event_create(&begin_) != cudaSuccess ||
                              calls_.timing.event_create(&end_) != cudaSuccess)) {
        pending.restore();
        return skip(launch, "no events can be made");
    }
    const std::uint64_t number = next_number_++;
    if (!plan_.share.holds(number)) return;
    std::optional<GpuCounters> counters;
    if (plan_.counts) {
        const trimtab_image& image = launch.image;
        unsigned use = trimtab_counts_atomics;
        if (image.static_shared_bytes > 0 || launch.shape.written.dynamic_shared_bytes > 0)
            use |= trimtab_counts_shared;
        if (image.local_bytes_per_thread > 0) use |= trimtab_counts_local;
        auto opened = is_emulated() ? std::unexpected(std::string("the emulator has no counters of a GPU"))
                                    : GpuCounters::open(calls_, use);
        if (!opened) {
            pending.restore();
            return skip(launch, opened.error());
        }
        counters.emplace(std::move(*opened));
    }
    watch_clocks();
    if (begun_.insert(id).second) {
        ordered_json first = {{"launch", id}};
        first.update(line);
        first["description"] = launch.description->id;
        first["emulated"] = is_emulated();
        first["shared_bytes"] = launch.shape.written.dynamic_shared_bytes;
        first["launches"] = launches.size();
        first["repetitions"] = repetitions();
        if (counters) first["chip"] = counters->chip();
        first["chosen"] = to_json(launch.chosen);
        first["occupancy_block"] = to_array(potential.block);
        first["common_blocks"] = ordered_json::array();
        for (const trimtab_dim3& block : common_blocks(*launch.description, launch.shape))
            first["common_blocks"].push_back(to_array(block));
        write_line(std::move(first), number);
    }
    const std::string why =
        time_all(id, number, launches, arguments, send, static_cast<CUstream>(*launch.shape.stream),
                 counters ? &*counters : nullptr);
    if (calls_.peek_at_last_error() != cudaSuccess) pending.restore();
    if (!why.empty()) {
        ordered_json ended = {{"launch", id}, {"kernel", launch.kernel}, {"ended", why}};
        write_line(std::move(ended), number);
        if (why == time_is_up) return;
        log_.warn_once(fmt::format("{} is not timed: {}", launch.kernel, why));
    }
}

}  // namespace trimtab::runtime
