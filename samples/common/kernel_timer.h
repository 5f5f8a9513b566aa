// KernelTimer: device time of one kernel from CUDA events, summed over its launches.
#pragma once

#include "cuda_check.h"

namespace sample {

class KernelTimer {
  public:
    explicit KernelTimer(const char* kernel_name) : kernel_name_(kernel_name) {
        CUDA_CHECK(cudaEventCreate(&begin_));
        CUDA_CHECK(cudaEventCreate(&end_));
    }
    KernelTimer(const KernelTimer&) = delete;
    KernelTimer& operator=(const KernelTimer&) = delete;
    ~KernelTimer() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }

    void start() { CUDA_CHECK(cudaEventRecord(begin_)); }

    // Waits for the launch, so that errors inside the kernel show here.
    void stop() {
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaEventRecord(end_));
        CUDA_CHECK(cudaEventSynchronize(end_));
        float launch_ms = 0.0f;
        CUDA_CHECK(cudaEventElapsedTime(&launch_ms, begin_, end_));
        total_ms_ += launch_ms;
    }

    void print() const { std::printf("%-22s %12.4f ms\n", kernel_name_, total_ms_); }

  private:
    const char* kernel_name_;
    cudaEvent_t begin_{};
    cudaEvent_t end_{};
    double total_ms_ = 0.0;
};

}  // namespace sample
