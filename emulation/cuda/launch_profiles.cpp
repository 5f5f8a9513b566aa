// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/launch_profiles.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulation/cuda/state.h"

namespace trimtab::cuda {
namespace {

void write_profiles() {
    if (LaunchProfiles* const profiles = State::instance().profiles.get()) profiles->write();
}

// TRIMTAB_PROFILES_BY=arguments: launches of other arguments, addresses aside, are records of their own.
bool are_by_arguments() {
    static const bool answer = [] {
        const char* const text = secure_getenv("TRIMTAB_PROFILES_BY");
        return text != nullptr && std::string_view(text) == "arguments";
    }();
    return answer;
}

}  // namespace

void LaunchProfiles::add(std::string_view device, const TimedLaunch& launch, const LaunchTime& time,
                         const LaunchCounts* counts) {
    std::string key = fmt::format("{} {} {},{},{} {},{},{} {}", device, launch.info->name, launch.grid.x,
                                  launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                                  launch.block.z, launch.dynamic_shared_bytes);
    if (are_by_arguments()) key += time_key(State::instance().heap, launch);
    const std::lock_guard lock(mutex_);
    auto place = records_.find(key);
    if (place == records_.end()) {
        if (counts == nullptr) return;
        std::size_t& of_kernel = of_kernel_[launch.info->name];
        if (of_kernel == most_of_kernel || records_.size() == most_records) {
            ++left_out_;
            return;
        }
        ++of_kernel;
        place = records_.try_emplace(key).first;
        place->second.launches = 0;
    }
    emulator::LaunchProfile& record = place->second;
    if (counts != nullptr && (record.launches == 0 || time.duration_ns > record.time_ns)) {
        const std::uint64_t launches = record.launches;
        const double total_ns = record.total_ns;
        record = counts->profile();
        record.device = device;
        record.time_ns = time.duration_ns;
        record.launches = launches;
        record.total_ns = total_ns;
    }
    ++record.launches;
    record.total_ns += time.duration_ns;
}

void LaunchProfiles::write() {
    const std::lock_guard lock(mutex_);
    std::string lines;
    for (const auto& [key, record] : records_)
        lines +=
            emulator::to_json(record).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    if (left_out_ != 0)
        State::instance().say(fmt::format("{} launches have no profile record: {} are kept, {} of one kernel",
                                          left_out_, most_records, most_of_kernel));
    records_.clear();
    of_kernel_.clear();
    left_out_ = 0;
    std::ofstream file(file_, std::ios::binary | std::ios::app);
    file << lines;
}

std::unique_ptr<LaunchProfiles> profiles_of_environment() {
    const char* const file = secure_getenv("TRIMTAB_PROFILES");
    if (file == nullptr || *file == '\0') return nullptr;
    std::atexit(write_profiles);
    return std::make_unique<LaunchProfiles>(file);
}

}  // namespace trimtab::cuda
