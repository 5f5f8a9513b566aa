// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/run_log.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/metrics/launch_profile.h"

namespace trimtab::cuda {
namespace {

// Below this a copy is a flag or a count, which the host may well want to set or see again.
constexpr std::size_t least_bytes = 256;

bool holds_the_same(const Side& to, const Side& from, const Box& box) {
    for (std::size_t slice = 0; slice < box.depth; ++slice)
        for (std::size_t row = 0; row < box.height; ++row)
            if (std::memcmp(to.start + slice * to.slice_bytes + row * to.pitch_bytes,
                            from.start + slice * from.slice_bytes + row * from.pitch_bytes,
                            box.width_bytes) != 0)
                return false;
    return true;
}

void add(emulator::CopySum& sum, const Box& box, double ns) {
    ++sum.count;
    sum.bytes += static_cast<double>(box.bytes());
    sum.ns += ns;
}

void write_run_log() {
    if (RunLog* const log = run_log_of_environment()) log->write();
}

}  // namespace

emulator::RunRecord& RunLog::record_of(std::string_view device) {
    auto place = records_.find(device);
    if (place == records_.end()) {
        place = records_.try_emplace(std::string(device)).first;
        place->second.device = device;
    }
    return place->second;
}

void RunLog::copying(std::string_view device, const Copy& copy, double ns) {
    const auto& [to, from, box, kind] = copy;
    interrupted();
    const bool sends = kind == cudaMemcpyHostToDevice;
    if (!sends && kind != cudaMemcpyDeviceToHost) return;
    const std::lock_guard lock(mutex_);
    emulator::RunRecord& record = record_of(device);
    add(sends ? record.to_device : record.to_host, box, ns);
    if (box.bytes() < least_bytes || ranges_.size() >= most_ranges) return;
    Known& known = ranges_[{sends ? to.start : from.start, box.bytes()}];
    const bool is_known = known.copies++ > 0;
    if (sends) {
        if (is_known && holds_the_same(to, from, box))
            add(known.was_fetched ? record.round_trips : record.sent_again, box, ns);
    } else if (is_known && known.was_fetched && known.host == to.start && known.launches == launches_ &&
               holds_the_same(to, from, box)) {
        add(record.fetched_again, box, ns);
    }
    known.was_fetched = !sends;
    known.host = sends ? from.start : to.start;
    known.launches = launches_;
}

const RunLog::Writes& RunLog::writes_of(const TimedLaunch& launch) {
    const auto [place, is_new] = writes_.try_emplace(launch.info);
    if (!is_new) return place->second;
    // What the code says, whatever ran.
    emulator::LaunchCounters counters;
    counters.instructions.resize(launch.info->instruction_count);
    const emulator::LaunchProfile profile =
        emulator::launch_profile(*launch.program, launch.info->name, counters, 0);
    place->second = {.parameters = profile.written, .unknown = profile.writes_unknown};
    return place->second;
}

void RunLog::launched(std::string_view device, const Heap& heap, const TimedLaunch& launch,
                      cudaStream_t stream, const LaunchTime& time) {
    const std::lock_guard lock(mutex_);
    ++launches_;
    const Writes& writes = writes_of(launch);
    Chain next;
    const emulator::CompiledKernel* const kernel = launch.program->kernel(launch.info->name);
    if (kernel == nullptr || kernel->reached().empty()) return;
    const auto& parameters = kernel->reached()[0]->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::size_t end = parameters[i].offset_bytes + parameters[i].size_bytes;
        // A structure may hold pointers, too.
        for (std::size_t at = parameters[i].offset_bytes; at + 8 <= end && end <= launch.parameters.size();
             at += 8) {
            std::uint64_t address = 0;
            std::memcpy(&address, launch.parameters.data() + at, sizeof address);
            // NOLINTNEXTLINE(performance-no-int-to-ptr): if it is one
            const auto allocation = heap.find(reinterpret_cast<const std::byte*>(address));
            if (!allocation) continue;
            next.touched.insert(allocation->first);
            if (i >= writes.parameters.size() || writes.parameters[i]) next.written.insert(allocation->first);
        }
    }
    Chain& chain = chains_[{std::string(device), stream}];
    const auto meet = [](const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
        return std::ranges::any_of(a, [&](std::uint64_t one) { return b.contains(one); });
    };
    if (writes.unknown || meet(next.written, chain.touched) || meet(next.touched, chain.written))
        end(chain, record_of(device));
    if (writes.unknown) return;
    chain.touched.merge(next.touched);
    chain.written.merge(next.written);
    if (std::ranges::find(chain.kernels, launch.info->name) == chain.kernels.end())
        chain.kernels.push_back(launch.info->name);
    ++chain.launches;
    chain.ns += time.duration_ns;
    chain.filled_ns += time.duration_ns * time.part_of_device;
    chain.longest_ns = std::max(chain.longest_ns, time.duration_ns);
}

void RunLog::end(Chain& chain, emulator::RunRecord& record) {
    const double together_ns = std::max(chain.longest_ns, chain.filled_ns);
    // Launches that fill the device have nothing to share.
    if (chain.launches >= 2 && together_ns < 0.8 * chain.ns) {
        auto place = std::ranges::find(record.serial, chain.kernels, &emulator::SerialLaunches::kernels);
        if (place == record.serial.end() && record.serial.size() < most_serial) {
            record.serial.push_back({.kernels = chain.kernels, .launches = 0, .ns = 0, .together_ns = 0});
            place = std::prev(record.serial.end());
        }
        if (place != record.serial.end()) {
            place->launches += chain.launches;
            place->ns += chain.ns;
            place->together_ns += together_ns;
        }
    }
    chain = {};
}

void RunLog::interrupted() {
    const std::lock_guard lock(mutex_);
    for (auto& [place, chain] : chains_) end(chain, record_of(place.first));
}

void RunLog::write() {
    interrupted();
    const std::lock_guard lock(mutex_);
    std::string lines;
    for (const auto& [device, record] : records_)
        lines +=
            emulator::to_json(record).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    records_.clear();
    std::ofstream file(file_, std::ios::binary | std::ios::app);
    file << lines;
}

RunLog* run_log_of_environment() {
    // Lives as long as State: copies may still run while the process ends.
    static RunLog* const log = [] {
        const char* const file = secure_getenv("TRIMTAB_PROFILES");
        RunLog* const made = file == nullptr || *file == '\0' ? nullptr : new RunLog(file);
        if (made != nullptr) std::atexit(write_run_log);
        return made;
    }();
    return log;
}

}  // namespace trimtab::cuda
