// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/stand_in_gpu/gpu.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>

namespace stand_in_gpu {
namespace {

// After these the context is of no use any more, as CUDA's manual has it ("the process must be terminated").
constexpr int fatal_errors[] = {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721};

bool is_fatal(int error) {
    for (const int one : fatal_errors)
        if (one == error) return true;
    return false;
}

bool starts_with(const char* name, std::string_view start) {
    return std::string_view(name).starts_with(start);
}

// Functions that give no error code.
bool cannot_fail(const char* name) {
    for (const std::string_view start :
         {"__cudaRegister", "__cudaUnregister", "__cudaInitModule", "__cudaPushCallConfiguration",
          "cudaGetErrorName", "cudaGetErrorString", "cudaCreateChannelDesc", "cudaGetLastError",
          "cudaPeekAtLastError", "cudaDriverGetVersion", "cudaRuntimeGetVersion", "cuGetError",
          "cuDriverGetVersion"})
        if (starts_with(name, start)) return true;
    return false;
}

bool is_of_runtime(const char* name) {
    return starts_with(name, "cuda") || starts_with(name, "__cuda");
}

int& last_error() {
    thread_local int error = 0;
    return error;
}

std::size_t index_of(Control& gpu, const char* name) {
    static std::mutex mutex;
    static std::map<std::string_view, std::size_t>& known = *new std::map<std::string_view, std::size_t>;
    const std::lock_guard lock(mutex);
    const auto [place, is_new] = known.try_emplace(name, known.size());
    if (is_new && place->second < most_functions) {
        gpu.names[place->second] = name;
        gpu.functions = place->second + 1;
    }
    return place->second;
}

std::string own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return ".";
    const std::string path = info.dli_fname;
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

// The emulator takes its devices from TRIMTAB_DEVICE, which says something else to Trimtab: a GPU, or nothing.
void* open_emulator() {
    const char* path = std::getenv("STAND_IN_GPU_EMULATOR");
    const std::string beside = own_folder() + "/../libtrimtab_cudart.so";
    void* library = dlopen(path != nullptr ? path : beside.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "stand-in GPU: %s\n", dlerror());
        std::abort();
    }
    const char* given = std::getenv("TRIMTAB_DEVICE");
    const std::string before = given == nullptr ? "" : given;
    const char* devices = std::getenv("STAND_IN_GPU");
    setenv("TRIMTAB_DEVICE", devices == nullptr ? "rtx2070super" : devices, 1);
    int count = 0;
    reinterpret_cast<int (*)(int*)>(dlsym(library, "cudaGetDeviceCount"))(&count);
    if (given == nullptr)
        unsetenv("TRIMTAB_DEVICE");
    else
        setenv("TRIMTAB_DEVICE", before.c_str(), 1);
    return library;
}

struct Waiting {
    std::mutex mutex;
    std::map<const void*, std::uint64_t> recorded;  // at which call
};
Waiting& waiting() {
    static Waiting& events = *new Waiting;
    return events;
}

void read_environment(Control& gpu) {
    const auto number = [](const char* name, double otherwise) {
        const char* text = std::getenv(name);
        return text == nullptr ? otherwise : std::strtod(text, nullptr);
    };
    gpu.noise = number("STAND_IN_GPU_NOISE", 0);
    gpu.seed = static_cast<std::uint64_t>(number("STAND_IN_GPU_SEED", 1));
    gpu.event_delay_calls = static_cast<std::uint64_t>(number("STAND_IN_GPU_EVENT_DELAY", 0));
    gpu.driver_version = static_cast<int>(number("STAND_IN_GPU_DRIVER", 0));
    gpu.runtime_version = static_cast<int>(number("STAND_IN_GPU_RUNTIME", 0));
    gpu.sms_of_first = static_cast<int>(number("STAND_IN_GPU_SMS", 0));
    if (const char* name = std::getenv("STAND_IN_GPU_NAME"))
        std::snprintf(gpu.name_of_first.data(), gpu.name_of_first.size(), "%s", name);
}

// The calls that were made, for who asks for them: one line a function.
[[gnu::destructor]] void write_counts() {
    const char* path = std::getenv("STAND_IN_GPU_COUNTS");
    if (path == nullptr) return;
    std::FILE* file = std::fopen(path, "w");
    if (file == nullptr) return;
    Control& gpu = control();
    for (std::size_t i = 0; i < gpu.functions; ++i)
        std::fprintf(file, "%s %llu\n", gpu.names[i], static_cast<unsigned long long>(gpu.calls[i].load()));
    std::fclose(file);
}

}  // namespace

Control& control() {
    static Control& gpu = *[] {
        auto* made = new Control;
        read_environment(*made);
        return made;
    }();
    return gpu;
}

void* emulated(const char* name) {
    static void* const library = open_emulator();
    return dlsym(library, name);
}

int call_begins(const char* name) {
    Control& gpu = control();
    const std::size_t index = index_of(gpu, name);
    const int step = gpu.step.load();
    gpu.all_calls.fetch_add(1);
    if (index < most_functions) {
        gpu.calls[index].fetch_add(1);
        gpu.steps[index].fetch_or(std::uint64_t{1} << (step & 63));
    }
    if (cannot_fail(name)) return 0;
    int error = gpu.lost.load();
    const Fault& fault = gpu.fault;
    if (error == 0 && fault.when == When::each_call && fault.step == step &&
        std::strcmp(fault.function.data(), name) == 0)
        error = fault.error;
    if (error == 0) return 0;
    if (is_fatal(error)) gpu.lost = error;
    if (is_of_runtime(name)) last_error() = error;
    return error;
}

void call_ended(const char* name, int status) {
    Control& gpu = control();
    const Fault& fault = gpu.fault;
    if (status == 0 && fault.when == When::afterwards && fault.step == gpu.step.load() &&
        std::strcmp(fault.function.data(), name) == 0)
        gpu.lost = fault.error;
}

int injected_error(bool take) {
    const int lost = control().lost.load();
    const int error = last_error();
    if (take) last_error() = 0;
    return lost != 0 ? lost : error;
}

void set_injected_error(int error) {
    last_error() = error;
}

float measured_ms(float milliseconds) {
    Control& gpu = control();
    if (gpu.noise <= 0) return milliseconds;
    static std::mutex mutex;
    static std::mt19937_64& random = *new std::mt19937_64(gpu.seed);
    const std::lock_guard lock(mutex);
    std::normal_distribution<double> normal(1, gpu.noise);
    return static_cast<float>(milliseconds * std::max(0.01, normal(random)));
}

void event_recorded(const void* event) {
    Waiting& events = waiting();
    const std::lock_guard lock(events.mutex);
    events.recorded[event] = control().all_calls.load();
}

bool event_is_ready(const void* event) {
    const Control& gpu = control();
    if (gpu.event_delay_calls == 0) return true;
    Waiting& events = waiting();
    const std::lock_guard lock(events.mutex);
    const auto found = events.recorded.find(event);
    return found == events.recorded.end() || gpu.all_calls - found->second >= gpu.event_delay_calls;
}

}  // namespace stand_in_gpu
