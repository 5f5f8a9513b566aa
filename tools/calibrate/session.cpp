// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/calibrate/session.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace trimtab::calibrate {
namespace {

// Of Clocks in kernels/measured_part.cuh.
struct Clocks {
    long long begin = 0, end = 0;
};
constexpr std::size_t most_warps = 4096;

}  // namespace

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess)
        throw CudaFailure{
            fmt::format("{}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status))};
}

Buffer::Buffer(std::size_t size_bytes) {
    check(cudaMalloc(&data_, size_bytes), "device memory");
    check(cudaMemset(data_, 0, size_bytes), "device memory");
}

Buffer::~Buffer() {
    cudaFree(data_);
}

Session::Session(unsigned repetitions)
    : repetitions_(std::max(1u, repetitions)), clocks_(most_warps * sizeof(Clocks)) {
    int device = 0;
    check(cudaGetDevice(&device), "the device");
    check(cudaGetDeviceProperties(&properties_, device), "the device's properties");
    // libtrimtab.so has loaded it where the emulator plays the device.
    void* const emulator = dlopen("libtrimtab_cudart.so", RTLD_LAZY | RTLD_NOLOAD);
    is_emulated_ = emulator != nullptr;
    if (emulator != nullptr) dlclose(emulator);
    for (const std::string_view ptx : device_code()) {
        cudaLibrary_t library = nullptr;
        check(cudaLibraryLoadData(&library, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
              "the micro-benchmarks");
        libraries_.push_back(library);
    }
    check(cudaEventCreate(&begin_), "an event");
    check(cudaEventCreate(&end_), "an event");
    flush_bytes_ = 4 * static_cast<std::size_t>(std::max(properties_.l2CacheSize, 1 << 20));
}

Session::~Session() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    flushed_.reset();
    for (cudaLibrary_t library : libraries_) cudaLibraryUnload(library);
}

void Session::launch(const std::string& kernel, const Shape& shape, std::vector<void*> arguments) {
    auto place = kernels_.find(kernel);
    if (place == kernels_.end()) {
        cudaKernel_t found = nullptr;
        for (cudaLibrary_t library : libraries_)
            if (cudaLibraryGetKernel(&found, library, kernel.c_str()) == cudaSuccess) break;
        cudaGetLastError();
        if (found == nullptr) throw CudaFailure{"there is no micro-benchmark " + kernel};
        place = kernels_.emplace(kernel, found).first;
    }
    check(cudaLaunchKernel(reinterpret_cast<const void*>(place->second), dim3(shape.blocks),
                           dim3(shape.threads), arguments.data(), 0, nullptr),
          kernel.c_str());
}

double Session::cycles(const std::string& kernel, const Shape& shape, std::vector<void*> arguments) {
    void* clocks = clocks_.data();
    arguments.insert(arguments.begin(), static_cast<void*>(&clocks));
    launch(kernel, shape, std::move(arguments));
    std::vector<Clocks> read(std::max(1u, shape.threads / 32));
    check(cudaMemcpy(read.data(), clocks, read.size() * sizeof(Clocks), cudaMemcpyDeviceToHost),
          kernel.c_str());
    const auto begin = std::ranges::min_element(read, {}, &Clocks::begin)->begin;
    const auto end = std::ranges::max_element(read, {}, &Clocks::end)->end;
    return static_cast<double>(end - begin);
}

double Session::ns(const std::function<void()>& work) {
    float ms = 0;
    check(cudaEventRecord(begin_, nullptr), "an event");
    work();
    check(cudaEventRecord(end_, nullptr), "an event");
    check(cudaEventSynchronize(end_), "a launch");
    check(cudaEventElapsedTime(&ms, begin_, end_), "an event");
    return static_cast<double>(ms) * 1e6;
}

std::vector<double> Session::differences(const Cycles& measure, double steps) {
    if (!is_emulated_) {  // code and data are brought near
        static_cast<void>(measure(false));
        static_cast<void>(measure(true));
    }
    std::vector<double> samples;
    for (unsigned i = 0; i < repetitions_; ++i) {
        const double shorter = measure(false);
        samples.push_back((measure(true) - shorter) / steps);
    }
    return samples;
}

void Session::flush_l2() {
    if (flushed_ == nullptr) flushed_ = std::make_unique<Buffer>(flush_bytes_);
    check(cudaMemset(flushed_->data(), 1, flush_bytes_), "L2");
}

}  // namespace trimtab::calibrate
