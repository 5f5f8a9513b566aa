// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The clock that a GPU runs at, and what slows it down, as NVIDIA's management library tells.
#pragma once

#include <cstdint>
#include <string>

namespace trimtab::runtime {

class ClockWatch {
  public:
    // `pci_bus_id`: of the device, as cudaDeviceGetPCIBusId writes it. `library`: what to load.
    explicit ClockWatch(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");
    ~ClockWatch();
    ClockWatch(const ClockWatch&) = delete;
    ClockWatch& operator=(const ClockWatch&) = delete;

    [[nodiscard]] bool is_on() const { return why_not_.empty(); }
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

    struct Reading {
        unsigned sm_mhz = 0, celsius = 0;  // 0: not told
        std::string slowed_by;             // "power cap, thermal"; empty: nothing
    };
    [[nodiscard]] Reading read() const;

  private:
    using Device = void*;  // nvmlDevice_t
    [[nodiscard]] std::string open(const std::string& pci_bus_id, const char* library);

    void* library_ = nullptr;
    Device device_ = nullptr;
    int (*shut_down_)() = nullptr;
    int (*clock_)(Device, int kind, unsigned* mhz) = nullptr;
    int (*temperature_)(Device, int sensor, unsigned* celsius) = nullptr;
    int (*reasons_)(Device, unsigned long long* reasons) = nullptr;
    std::string why_not_;
};

}  // namespace trimtab::runtime
