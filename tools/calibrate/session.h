// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Micro-benchmarks on the CUDA runtime of this process: a GPU's, or the emulator's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calibrate/measurement.h"

namespace trimtab::calibrate {

// A call of CUDA's failed; the whole calibration ends with it.
struct CudaFailure {
    std::string text;
};
void check(cudaError_t status, const char* what);

// Device memory, zeroed.
class Buffer {
  public:
    explicit Buffer(std::size_t size_bytes);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    [[nodiscard]] char* data() const { return static_cast<char*>(data_); }
    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }

  private:
    void* data_ = nullptr;
};

struct Shape {
    unsigned blocks = 1, threads = 32;
};

class Session {
  public:
    // `repetitions`: samples of each measurement.
    explicit Session(unsigned repetitions);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    [[nodiscard]] const cudaDeviceProp& properties() const { return properties_; }
    [[nodiscard]] unsigned repetitions() const { return repetitions_; }
    [[nodiscard]] bool is_emulated() const { return is_emulated_; }

    void launch(const std::string& kernel, const Shape& shape, std::vector<void*> arguments);
    // From the first warp's begin of the measured part to the last one's end, of one block. The kernel's first argument
    // is where clocks go, the others are `arguments`.
    [[nodiscard]] double cycles(const std::string& kernel, const Shape& shape, std::vector<void*> arguments);
    // Between events before and after.
    [[nodiscard]] double ns(const std::function<void()>& work);

    // Where cycles of the measured part are less those of a shorter part, over `steps` of difference.
    using Cycles = std::function<double(bool longer)>;
    [[nodiscard]] std::vector<double> differences(const Cycles& measure, double steps);

    // Fills L2 with other data.
    void flush_l2();

  private:
    cudaDeviceProp properties_{};
    unsigned repetitions_;
    bool is_emulated_ = false;
    std::vector<cudaLibrary_t> libraries_;
    std::map<std::string, cudaKernel_t> kernels_;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    Buffer clocks_;
    std::unique_ptr<Buffer> flushed_;
    std::size_t flush_bytes_ = 0;
};

// The device code of the micro-benchmarks, as PTX (tools/calibrate/kernels/), compiled in.
[[nodiscard]] std::vector<std::string_view> device_code();

}  // namespace trimtab::calibrate
