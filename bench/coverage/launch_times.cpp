// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Preloaded into a program: the time of each kernel launch between two events, one JSON line each, into the
// file that COVERAGE_TIMES names. On the emulator those are the modelled times.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace {

struct TimedLaunch {
    const void* function;
    cudaEvent_t begin, end;
};

class LaunchTimes {
  public:
    static LaunchTimes& instance() {
        // Until the program ends: CUDA must still be there when the last events are read.
        static LaunchTimes& times = *new LaunchTimes;
        return times;
    }

    template <class Launch>
    cudaError_t time(const void* function, cudaStream_t stream, const Launch& launch) {
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        TimedLaunch timed{function, nullptr, nullptr};
        if (file_ == nullptr || cudaStreamIsCapturing(stream, &capture) != cudaSuccess ||
            capture != cudaStreamCaptureStatusNone || cudaEventCreate(&timed.begin) != cudaSuccess ||
            cudaEventCreate(&timed.end) != cudaSuccess)
            return launch();
        cudaEventRecord(timed.begin, stream);
        const cudaError_t status = launch();
        if (status != cudaSuccess) return status;
        cudaEventRecord(timed.end, stream);
        const std::lock_guard lock(mutex_);
        launches_.push_back(timed);
        if (launches_.size() >= most_pending) write();
        return status;
    }

  private:
    static constexpr std::size_t most_pending = 512;

    LaunchTimes() {
        if (const char* path = std::getenv("COVERAGE_TIMES"); path != nullptr) file_ = std::fopen(path, "a");
        std::atexit([] {
            const std::lock_guard lock(instance().mutex_);
            instance().write();
        });
    }
    void write() {
        for (const TimedLaunch& launch : launches_) {
            const char* name = "";
            float milliseconds = 0;
            if (cudaEventSynchronize(launch.end) == cudaSuccess &&
                cudaEventElapsedTime(&milliseconds, launch.begin, launch.end) == cudaSuccess &&
                cudaFuncGetName(&name, launch.function) == cudaSuccess)
                std::fprintf(file_, "{\"kernel\": \"%s\", \"ns\": %.0f}\n", name, 1e6 * milliseconds);
            cudaEventDestroy(launch.begin);
            cudaEventDestroy(launch.end);
        }
        launches_.clear();
        if (file_ != nullptr) std::fflush(file_);
    }

    std::mutex mutex_;
    std::FILE* file_ = nullptr;
    std::vector<TimedLaunch> launches_;
};

using LaunchKernel = cudaError_t(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
using LaunchKernelEx = cudaError_t(const cudaLaunchConfig_t*, const void*, void**);

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

cudaError_t launch(const char* name, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared_bytes, cudaStream_t stream) {
    auto* const real = next<LaunchKernel>(name);
    if (real == nullptr) return cudaErrorSymbolNotFound;
    return LaunchTimes::instance().time(
        function, stream, [&] { return real(function, grid, block, arguments, shared_bytes, stream); });
}

cudaError_t launch_ex(const char* name, const cudaLaunchConfig_t* config, const void* function,
                      void** arguments) {
    auto* const real = next<LaunchKernelEx>(name);
    if (real == nullptr) return cudaErrorSymbolNotFound;
    return LaunchTimes::instance().time(function, config->stream,
                                        [&] { return real(config, function, arguments); });
}

}  // namespace

// The calls that trimtab++'s pass routes launches to.
extern "C" {

cudaError_t trimtab_launch_kernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                  std::size_t shared_bytes, cudaStream_t stream) {
    return launch("trimtab_launch_kernel", function, grid, block, arguments, shared_bytes, stream);
}
cudaError_t trimtab_launch_kernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                       std::size_t shared_bytes, cudaStream_t stream) {
    return launch("trimtab_launch_kernel_ptsz", function, grid, block, arguments, shared_bytes, stream);
}
cudaError_t trimtab_launch_kernel_exc(const cudaLaunchConfig_t* config, const void* function,
                                      void** arguments) {
    return launch_ex("trimtab_launch_kernel_exc", config, function, arguments);
}
}
