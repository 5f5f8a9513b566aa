// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/cupti/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <string_view>

namespace trimtab::profiler::cupti {
namespace {

constexpr const char* soname = "libcupti.so.13";

std::vector<std::string> places() {
    std::vector<std::string> out{soname};
    for (const char* folder :
         {TRIMTAB_CUDA_PATH "/lib64", TRIMTAB_CUDA_PATH "/lib", TRIMTAB_CUDA_PATH "/extras/CUPTI/lib64",
          "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"})
        out.push_back(fmt::format("{}/{}", folder, soname));
    return out;
}

// What each of the common refusals asks for.
std::string_view advice(CUptiResult result) {
    switch (result) {
        case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
            return "counters are for administrators alone here: run as root or with CAP_SYS_ADMIN, or load "
                   "NVIDIA's kernel "
                   "module with NVreg_RestrictProfilingToAdminUsers=0";
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
            return "the virtual machine's host must allow the GPU to be profiled";
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
            return "GPUs of this virtualisation have no counters";
        case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
            return "there are no counters while confidential computing is on";
        case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
            return "mining processors have no counters";
        case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
            return "this CUPTI does not count on a part of a GPU (MIG)";
        case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
            return "another profiler (ncu, nsys, cuda-gdb) has the counters";
        default:
            return {};
    }
}

}  // namespace

std::expected<std::shared_ptr<const Library>, Error> Library::open(const std::string& path) {
    std::shared_ptr<Library> library(new Library);
    for (const std::string& place : path.empty() ? places() : std::vector{path}) {
        library->handle_ = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library->handle_ != nullptr) break;
    }
    if (library->handle_ == nullptr)
        return std::unexpected(Error{
            .message = fmt::format("{} cannot be loaded: install CUPTI of CUDA 13, or name its folder in "
                                   "LD_LIBRARY_PATH",
                                   path.empty() ? soname : path)});
    std::string missing;
    const auto find = [&](auto& function, const char* name) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library->handle_, name));
        if (function == nullptr) missing = name;
    };
    Calls& calls = library->calls_;
    find(calls.get_result_string, "cuptiGetResultString");
    find(calls.get_supported_chips, "cuptiProfilerHostGetSupportedChips");
    find(calls.host_initialize, "cuptiProfilerHostInitialize");
    find(calls.host_deinitialize, "cuptiProfilerHostDeinitialize");
    find(calls.add_metrics, "cuptiProfilerHostConfigAddMetrics");
    find(calls.get_config_image_size, "cuptiProfilerHostGetConfigImageSize");
    find(calls.get_config_image, "cuptiProfilerHostGetConfigImage");
    find(calls.get_number_of_passes, "cuptiProfilerHostGetNumOfPasses");
    find(calls.evaluate, "cuptiProfilerHostEvaluateToGpuValues");
    find(calls.initialize, "cuptiProfilerInitialize");
    find(calls.deinitialize, "cuptiProfilerDeInitialize");
    find(calls.get_chip_name, "cuptiDeviceGetChipName");
    find(calls.get_availability, "cuptiProfilerGetCounterAvailability");
    find(calls.enable, "cuptiRangeProfilerEnable");
    find(calls.disable, "cuptiRangeProfilerDisable");
    find(calls.get_counter_data_size, "cuptiRangeProfilerGetCounterDataSize");
    find(calls.initialize_counter_data, "cuptiRangeProfilerCounterDataImageInitialize");
    find(calls.set_config, "cuptiRangeProfilerSetConfig");
    find(calls.start, "cuptiRangeProfilerStart");
    find(calls.stop, "cuptiRangeProfilerStop");
    find(calls.push_range, "cuptiRangeProfilerPushRange");
    find(calls.pop_range, "cuptiRangeProfilerPopRange");
    find(calls.decode, "cuptiRangeProfilerDecodeData");
    find(calls.get_counter_data_info, "cuptiRangeProfilerGetCounterDataInfo");
    if (!missing.empty())
        return std::unexpected(
            Error{.message = fmt::format("it has no {}: counters need CUPTI 12.6 or later", missing),
                  .file = path.empty() ? soname : path});
    return library;
}

Library::~Library() {
    if (handle_ != nullptr) dlclose(handle_);
}

std::vector<std::string> Library::chips() const {
    auto params = block_of<CUpti_Profiler_Host_GetSupportedChips_Params>(
        CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
    if (calls_.get_supported_chips(&params) != CUPTI_SUCCESS) return {};
    return {params.ppChipNames, params.ppChipNames + params.numChips};
}

Error Library::failure(CUptiResult result, const std::string& what) const {
    const char* text = nullptr;
    if (calls_.get_result_string(result, &text) != CUPTI_SUCCESS || text == nullptr)
        text = "an unknown error";
    const std::string_view help = advice(result);
    return {.message = fmt::format("CUPTI: {}: {}{}{}", what, text, help.empty() ? "" : ": ", help)};
}

}  // namespace trimtab::profiler::cupti
