// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In the place of NVIDIA's management library: one GPU, whose clock falls at each look.
#include <cstring>

extern "C" {

int nvmlInit_v2() {
    return 0;
}
int nvmlShutdown() {
    return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
    static int gpu = 0;
    *device = &gpu;
    return std::strcmp(bus, "0000:3B:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void* device, int kind, unsigned* mhz) {
    int& looks = *static_cast<int*>(device);
    *mhz = static_cast<unsigned>(1800 - 100 * looks++);
    return kind == 1 ? 0 : 2;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
    *celsius = 71;
    return sensor == 0 ? 0 : 2;
}
// The name that drivers before CUDA 12's had.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
    *reasons = *static_cast<int*>(device) > 1 ? 0x4 | 0x40 : 0x1;  // idle is no reason
    return 0;
}

}  // extern "C"
