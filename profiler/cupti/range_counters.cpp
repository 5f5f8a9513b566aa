// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/cupti/range_counters.h"

#include <fmt/format.h>

#include <utility>

namespace trimtab::profiler::cupti {
namespace {

// More passes than any configuration takes: a profiler that never says that all are submitted must not go on for ever.
constexpr std::size_t most_passes = 1000;

}  // namespace

std::expected<RangeCounters, Error> RangeCounters::open(std::shared_ptr<const Library> library,
                                                        CUcontext context, std::size_t device_ordinal,
                                                        const std::vector<std::string>& counters) {
    const Calls& calls = library->calls();
    const auto failed = [&](CUptiResult result, const char* what) {
        return std::unexpected(library->failure(result, what));
    };
    auto begin = block_of<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
    if (const CUptiResult result = calls.initialize(&begin); result != CUPTI_SUCCESS)
        return failed(result, "the profiler");
    auto chip = block_of<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
    chip.deviceIndex = device_ordinal;
    if (const CUptiResult result = calls.get_chip_name(&chip); result != CUPTI_SUCCESS)
        return failed(result, "the chip's name");
    const std::string chip_name = chip.pChipName;
    // What this very GPU lets be counted. Twice: its size, then the image; not while a session is open.
    auto available = block_of<CUpti_Profiler_GetCounterAvailability_Params>(
        CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
    available.ctx = context;
    if (const CUptiResult result = calls.get_availability(&available); result != CUPTI_SUCCESS)
        return failed(result, "which counters there are");
    std::vector<std::uint8_t> availability(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    if (const CUptiResult result = calls.get_availability(&available); result != CUPTI_SUCCESS)
        return failed(result, "which counters there are");

    auto host = HostProfiler::open(library, chip_name, std::move(availability));
    if (!host) return std::unexpected(host.error());
    auto plan = host->plan(counters);
    if (!plan) return std::unexpected(plan.error());
    RangeCounters out(library, std::move(*host));
    out.plan_ = std::move(*plan);
    out.chip_ = chip_name;
    auto enable = block_of<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
    enable.ctx = context;
    if (const CUptiResult result = calls.enable(&enable); result != CUPTI_SUCCESS)
        return failed(result, "the range profiler");
    out.object_ = enable.pRangeProfilerObject;
    return out;
}

RangeCounters::RangeCounters(RangeCounters&& other) noexcept
    : library_(std::move(other.library_)),
      host_(std::move(other.host_)),
      plan_(std::move(other.plan_)),
      chip_(std::move(other.chip_)),
      object_(std::exchange(other.object_, nullptr)),
      counter_data_(std::move(other.counter_data_)) {}

RangeCounters::~RangeCounters() {
    if (object_ == nullptr) return;
    auto disable =
        block_of<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
    disable.pRangeProfilerObject = object_;
    library_->calls().disable(&disable);
    auto end = block_of<CUpti_Profiler_DeInitialize_Params>(CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE);
    library_->calls().deinitialize(&end);
}

std::expected<void, Error> RangeCounters::prepare_counter_data() {
    const Calls& calls = library_->calls();
    std::vector<const char*> names;
    for (const std::string& counter : plan_.counters) names.push_back(counter.c_str());
    auto size = block_of<CUpti_RangeProfiler_GetCounterDataSize_Params>(
        CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    if (const CUptiResult result = calls.get_counter_data_size(&size); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "the counters' room"));
    counter_data_.assign(size.counterDataSize, 0);
    auto made = block_of<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
    made.pRangeProfilerObject = object_;
    made.counterDataSize = counter_data_.size();
    made.pCounterData = counter_data_.data();
    if (const CUptiResult result = calls.initialize_counter_data(&made); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "the counters' room"));
    auto config =
        block_of<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
    config.pRangeProfilerObject = object_;
    config.configSize = plan_.image.size();
    config.pConfig = plan_.image.data();
    config.counterDataImageSize = counter_data_.size();
    config.pCounterDataImage = counter_data_.data();
    // The inputs are put back here before each pass: CUPTI's own replay would keep all of the device's memory.
    config.range = CUPTI_UserRange;
    config.replayMode = CUPTI_UserReplay;
    config.maxRangesPerPass = 1;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.passIndex = 0;
    config.targetNestingLevel = 1;
    if (const CUptiResult result = calls.set_config(&config); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "the configuration"));
    return {};
}

std::expected<void, Error> RangeCounters::collect(const RepeatedLaunch& launch) {
    const Calls& calls = library_->calls();
    for (std::size_t pass = 0; pass < most_passes; ++pass) {
        if (!launch.restore())
            return std::unexpected(
                Error{.message = "the memory that the launch starts from cannot be put back"});
        auto start = block_of<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
        start.pRangeProfilerObject = object_;
        if (const CUptiResult result = calls.start(&start); result != CUPTI_SUCCESS)
            return std::unexpected(library_->failure(result, "the start of a pass"));
        auto push =
            block_of<CUpti_RangeProfiler_PushRange_Params>(CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
        push.pRangeProfilerObject = object_;
        push.pRangeName = "launch";
        CUptiResult result = calls.push_range(&push);
        const bool ran = result == CUPTI_SUCCESS && launch.launch();
        if (result == CUPTI_SUCCESS) {
            auto pop = block_of<CUpti_RangeProfiler_PopRange_Params>(
                CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
            pop.pRangeProfilerObject = object_;
            result = calls.pop_range(&pop);
        }
        auto stop = block_of<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
        stop.pRangeProfilerObject = object_;
        // Whatever happened: a pass that is not stopped stands in the way of all that follow.
        const CUptiResult stopped = calls.stop(&stop);
        if (result == CUPTI_SUCCESS) result = stopped;
        if (result != CUPTI_SUCCESS) return std::unexpected(library_->failure(result, "a pass"));
        if (!ran) return std::unexpected(Error{.message = "the launch failed while it was counted"});
        if (stop.isAllPassSubmitted != 0) return {};
    }
    return std::unexpected(Error{.message = fmt::format("CUPTI wants more than {} passes", most_passes)});
}

std::expected<std::map<std::string, double>, Error> RangeCounters::count(const RepeatedLaunch& launch) {
    if (auto ready = prepare_counter_data(); !ready) return std::unexpected(ready.error());
    if (auto collected = collect(launch); !collected) return std::unexpected(collected.error());
    const Calls& calls = library_->calls();
    auto decoded =
        block_of<CUpti_RangeProfiler_DecodeData_Params>(CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
    decoded.pRangeProfilerObject = object_;
    if (const CUptiResult result = calls.decode(&decoded); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "what was counted"));
    if (decoded.numOfRangeDropped != 0)
        return std::unexpected(Error{.message = "CUPTI: what was counted was dropped for want of room"});
    auto info = block_of<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
        CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
    info.pCounterDataImage = counter_data_.data();
    info.counterDataImageSize = counter_data_.size();
    if (const CUptiResult result = calls.get_counter_data_info(&info); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "what was counted"));
    if (info.numTotalRanges != 1)
        return std::unexpected(
            Error{.message =
                      fmt::format("CUPTI: {} ranges were counted in the place of one", info.numTotalRanges)});
    return host_.evaluate(counter_data_, 0, plan_.counters);
}

}  // namespace trimtab::profiler::cupti
