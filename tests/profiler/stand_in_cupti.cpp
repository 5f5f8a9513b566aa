// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library in CUPTI's place: it plays a GPU whose counters are what the test says, and notes what is called, in order.
#include "tests/profiler/stand_in_cupti.h"

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

CuptiScript of_environment() {
    CuptiScript told;
    if (const char* chip = std::getenv("STAND_IN_CUPTI_CHIP")) told.chip = chip;
    told.failing = std::getenv("STAND_IN_CUPTI_FAILING");
    if (const char* error = std::getenv("STAND_IN_CUPTI_ERROR")) told.error = std::atoi(error);
    return told;
}

CuptiScript script = of_environment();
std::string calls;
std::size_t passes_done = 0;
bool is_enabled = false, is_started = false, is_pushed = false;

// Notes the call; the error that it is to answer with, if it is this one's turn.
CUptiResult called(const char* name) {
    calls += std::string(calls.empty() ? "" : " ") + name;
    if (const char* const log = std::getenv("STAND_IN_CUPTI_LOG"))
        std::ofstream(log, std::ios::app) << name << '\n';
    return script.failing != nullptr && std::strcmp(script.failing, name) == 0
               ? static_cast<CUptiResult>(script.error)
               : CUPTI_SUCCESS;
}

// Out of order: what the real one answers, more or less.
CUptiResult in_order(bool holds) {
    return holds ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

const char* const chip_names[] = {"TU106", "GH100"};

}  // namespace

extern "C" {

void stand_in_begin(const CuptiScript* with) {
    script = *with;
    calls.clear();
    passes_done = 0;
    is_enabled = is_started = is_pushed = false;
}
const char* stand_in_calls() {
    return calls.c_str();
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
    *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                                          : "CUPTI_ERROR_STAND_IN";
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* p) {
    p->numChips = 2;
    p->ppChipNames = chip_names;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
    if (std::strcmp(p->pChipName, "TU106") != 0) return CUPTI_ERROR_INVALID_PARAMETER;
    p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new int(0));
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
    delete reinterpret_cast<int*>(p->pHostObject);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
    for (std::size_t i = 0; i < p->numMetrics; ++i)
        if (std::strstr(p->ppMetricNames[i], "local") != nullptr) return CUPTI_ERROR_INVALID_METRIC_NAME;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
    p->configImageSize = 16;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* p) {
    std::memset(p->pConfigImage, 7, p->configImageSize);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
    p->numOfPasses = script.passes;
    return CUPTI_SUCCESS;
}
// The counter data image holds how often the launch was made; the n-th counter is n hundreds and that.
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
    if (const CUptiResult result = called("evaluate"); result != CUPTI_SUCCESS) return result;
    for (std::size_t i = 0; i < p->numMetrics; ++i)
        p->pMetricValues[i] = 100.0 * static_cast<double>(i + 1) + p->pCounterDataImage[0];
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
    return called("initialize");
}
CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params*) {
    return called("deinitialize");
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
    p->pChipName = script.chip;
    return called("chip");
}
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* p) {
    if (is_enabled) return CUPTI_ERROR_INVALID_OPERATION;
    if (p->pCounterAvailabilityImage == nullptr) p->counterAvailabilityImageSize = 8;
    return called("availability");
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* p) {
    p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&script);
    const CUptiResult result = called("enable");
    is_enabled = result == CUPTI_SUCCESS;
    return result;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
    is_enabled = false;
    return called("disable");
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
    p->counterDataSize = 4;
    return in_order(p->maxNumRangeTreeNodes >= p->maxNumOfRanges);
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
    return CUPTI_SUCCESS;
}
static std::uint8_t* image = nullptr;
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* p) {
    image = p->pCounterDataImage;
    passes_done = 0;
    if (const CUptiResult result = called("config"); result != CUPTI_SUCCESS) return result;
    return in_order(p->range == CUPTI_UserRange && p->replayMode == CUPTI_UserReplay && p->pConfig[3] == 7);
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
    const CUptiResult result = called("start");
    if (result != CUPTI_SUCCESS) return result;
    const bool holds = is_enabled && !is_started;
    is_started = true;
    return in_order(holds);
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params*) {
    is_pushed = true;
    return called("push");
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) {
    const bool holds = is_pushed;
    is_pushed = false;
    if (const CUptiResult result = called("pop"); result != CUPTI_SUCCESS) return result;
    return in_order(holds);
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* p) {
    const bool holds = is_started && !is_pushed;
    is_started = false;
    if (const CUptiResult result = called("stop"); result != CUPTI_SUCCESS) return result;
    p->isAllPassSubmitted = ++passes_done == script.passes ? 1 : 0;
    return in_order(holds);
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* p) {
    image[0] = static_cast<std::uint8_t>(passes_done);
    p->numOfRangeDropped = script.dropped;
    return called("decode");
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
    p->numTotalRanges = 1;
    return CUPTI_SUCCESS;
}

}  // extern "C"
