// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/clock_watch.h"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace trimtab::runtime {
namespace {

// Of nvml.h, which is not among the toolkit's wheels: nvmlClockType_t, nvmlTemperatureSensors_t, and the bits of
// nvmlClocksEventReason*.
constexpr int sm_clock = 1, gpu_sensor = 0;
constexpr std::array<std::pair<unsigned long long, const char*>, 7> slowing{{{0x4, "power cap"},
                                                                             {0x8, "hardware slowdown"},
                                                                             {0x10, "sync boost"},
                                                                             {0x20, "software thermal"},
                                                                             {0x40, "hardware thermal"},
                                                                             {0x80, "power brake"},
                                                                             {0x2, "application clocks"}}};

template <typename Function>
bool find(void* library, Function& function, const char* name, const char* older = nullptr) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr && older != nullptr) function = reinterpret_cast<Function>(dlsym(library, older));
    return function != nullptr;
}

}  // namespace

ClockWatch::ClockWatch(const std::string& pci_bus_id, const char* library)
    : why_not_(open(pci_bus_id, library)) {}

ClockWatch::~ClockWatch() {
    if (shut_down_ != nullptr) shut_down_();
    if (library_ != nullptr) dlclose(library_);
}

std::string ClockWatch::open(const std::string& pci_bus_id, const char* library) {
    library_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return std::string(library) + " cannot be loaded";
    int (*start)() = nullptr, (*shut_down)() = nullptr, (*by_bus)(const char*, Device*) = nullptr;
    const bool has_all = find(library_, start, "nvmlInit_v2") && find(library_, shut_down, "nvmlShutdown") &&
                         find(library_, by_bus, "nvmlDeviceGetHandleByPciBusId_v2") &&
                         find(library_, clock_, "nvmlDeviceGetClockInfo") &&
                         find(library_, temperature_, "nvmlDeviceGetTemperature") &&
                         find(library_, reasons_, "nvmlDeviceGetCurrentClocksEventReasons",
                              "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!has_all) return std::string(library) + " lacks a function that is wanted";
    if (start() != 0) return std::string(library) + " does not start";
    shut_down_ = shut_down;
    if (by_bus(pci_bus_id.c_str(), &device_) != 0)
        return std::string(library) + " does not know the device " + pci_bus_id;
    return {};
}

ClockWatch::Reading ClockWatch::read() const {
    Reading reading;
    if (!is_on()) return reading;
    if (clock_(device_, sm_clock, &reading.sm_mhz) != 0) reading.sm_mhz = 0;
    if (temperature_(device_, gpu_sensor, &reading.celsius) != 0) reading.celsius = 0;
    unsigned long long reasons = 0;
    if (reasons_(device_, &reasons) != 0) return reading;
    for (const auto& [bit, name] : slowing) {
        if ((reasons & bit) == 0) continue;
        if (!reading.slowed_by.empty()) reading.slowed_by += ", ";
        reading.slowed_by += name;
    }
    return reading;
}

}  // namespace trimtab::runtime
