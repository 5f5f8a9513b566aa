// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/cupti/host_profiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "core/base/nearest_name.h"

namespace trimtab::profiler::cupti {
namespace {

std::vector<const char*> pointers_of(const std::vector<std::string>& names) {
    std::vector<const char*> out;
    for (const std::string& name : names) out.push_back(name.c_str());
    return out;
}

}  // namespace

std::expected<HostProfiler, Error> HostProfiler::open(std::shared_ptr<const Library> library,
                                                      const std::string& chip,
                                                      std::vector<std::uint8_t> availability) {
    HostProfiler profiler(std::move(library), chip, std::move(availability));
    auto object = profiler.make();
    if (!object) return std::unexpected(object.error());
    profiler.object_ = *object;
    return profiler;
}

HostProfiler::HostProfiler(HostProfiler&& other) noexcept
    : library_(std::move(other.library_)),
      chip_(std::move(other.chip_)),
      availability_(std::move(other.availability_)),
      object_(std::exchange(other.object_, nullptr)) {}

HostProfiler::~HostProfiler() {
    if (object_ != nullptr) release(object_);
}

std::expected<CUpti_Profiler_Host_Object*, Error> HostProfiler::make() const {
    auto params =
        block_of<CUpti_Profiler_Host_Initialize_Params>(CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip_.c_str();
    params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
    const CUptiResult result = library_->calls().host_initialize(&params);
    if (result == CUPTI_SUCCESS) return params.pHostObject;
    const std::vector<std::string> known = library_->chips();
    Error error = library_->failure(result, fmt::format("the chip {}", chip_));
    error.message +=
        fmt::format("; this CUPTI counts on {}{}", fmt::join(known, ", "), base::suggestion(chip_, known));
    return std::unexpected(std::move(error));
}

void HostProfiler::release(CUpti_Profiler_Host_Object* object) const {
    auto params = block_of<CUpti_Profiler_Host_Deinitialize_Params>(
        CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
    params.pHostObject = object;
    library_->calls().host_deinitialize(&params);
}

// One that is refused spoils the configuration that it was to be added to: each is tried on an object of its own.
bool HostProfiler::has(const std::string& counter) const {
    auto object = make();
    if (!object) return false;
    const char* name = counter.c_str();
    auto params = block_of<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
        CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
    params.pHostObject = *object;
    params.ppMetricNames = &name;
    params.numMetrics = 1;
    const CUptiResult result = library_->calls().add_metrics(&params);
    release(*object);
    return result == CUPTI_SUCCESS;
}

std::expected<CounterPlan, Error> HostProfiler::plan(const std::vector<std::string>& counters) {
    CounterPlan plan;
    for (const std::string& counter : counters)
        (has(counter) ? plan.counters : plan.missing).push_back(counter);
    const Calls& calls = library_->calls();
    if (plan.counters.empty())
        return std::unexpected(
            Error{.message = fmt::format("the chip {} has none of the counters that are wanted", chip_)});
    std::vector<const char*> names = pointers_of(plan.counters);
    auto added = block_of<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
        CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
    added.pHostObject = object_;
    added.ppMetricNames = names.data();
    added.numMetrics = names.size();
    if (const CUptiResult result = calls.add_metrics(&added); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, fmt::format("counters of the chip {}", chip_)));
    auto size = block_of<CUpti_Profiler_Host_GetConfigImageSize_Params>(
        CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
    size.pHostObject = object_;
    if (const CUptiResult result = calls.get_config_image_size(&size); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "the configuration's size"));
    plan.image.resize(size.configImageSize);
    auto image = block_of<CUpti_Profiler_Host_GetConfigImage_Params>(
        CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
    image.pHostObject = object_;
    image.configImageSize = plan.image.size();
    image.pConfigImage = plan.image.data();
    if (const CUptiResult result = calls.get_config_image(&image); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "the configuration"));
    auto passes = block_of<CUpti_Profiler_Host_GetNumOfPasses_Params>(
        CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
    passes.configImageSize = plan.image.size();
    passes.pConfigImage = plan.image.data();
    if (const CUptiResult result = calls.get_number_of_passes(&passes); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "the configuration's passes"));
    plan.passes = passes.numOfPasses;
    return plan;
}

std::expected<std::map<std::string, double>, Error> HostProfiler::evaluate(
    std::span<const std::uint8_t> counter_data, std::size_t range,
    const std::vector<std::string>& counters) const {
    std::vector<const char*> names = pointers_of(counters);
    std::vector<double> values(names.size());
    auto params = block_of<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
        CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
    params.pHostObject = object_;
    params.pCounterDataImage = counter_data.data();
    params.counterDataImageSize = counter_data.size();
    params.rangeIndex = range;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    params.pMetricValues = values.data();
    if (const CUptiResult result = library_->calls().evaluate(&params); result != CUPTI_SUCCESS)
        return std::unexpected(library_->failure(result, "the counters' values"));
    std::map<std::string, double> out;
    for (std::size_t i = 0; i < counters.size(); ++i) out[counters[i]] = values[i];
    return out;
}

}  // namespace trimtab::profiler::cupti
