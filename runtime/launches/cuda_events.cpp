// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/cuda_events.h"

#include "runtime/relaxed_capture.h"

namespace trimtab::runtime {

bool CudaEvents::create(Event& begin, Event& end) {
    CUevent first = nullptr, second = nullptr;
    if (calls_.driver.event_create(&first, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
        calls_.driver.event_create(&second, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
        if (first != nullptr) calls_.driver.event_destroy(first);
        return false;
    }
    begin = first;
    end = second;
    return true;
}

bool CudaEvents::record(Event event, Stream stream) {
    return calls_.driver.event_record(static_cast<CUevent>(event), static_cast<CUstream>(stream)) ==
           CUDA_SUCCESS;
}

choosing::EventClock::State CudaEvents::elapsed(Event begin, Event end, double& ns) {
    const CUresult ready = calls_.driver.event_query(static_cast<CUevent>(end));
    if (ready == CUDA_ERROR_NOT_READY) return State::under_way;
    float milliseconds = 0;
    if (ready != CUDA_SUCCESS || calls_.driver.event_elapsed_time(&milliseconds, static_cast<CUevent>(begin),
                                                                  static_cast<CUevent>(end)) != CUDA_SUCCESS)
        return State::failed;
    ns = static_cast<double>(milliseconds) * 1e6;
    return State::reached;
}

void CudaEvents::undisturbed(const std::function<void()>& asks) {
    const RelaxedCapture relaxed(calls_);
    asks();
}

}  // namespace trimtab::runtime
