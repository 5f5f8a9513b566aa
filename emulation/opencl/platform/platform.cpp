// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform, and what it says of itself.
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "emulation/opencl/choice/chooser.h"
#include "emulation/opencl/platform/device.h"
#include "emulation/opencl/platform/info.h"
#include "emulation/opencl/platform/versions.h"

namespace trimtab::opencl {

Platform::Platform()
    : outside_(secure_getenv("TRIMTAB_OUT_OF_BOUNDS"),
               [](const std::string& line) { Chooser::instance().log().warn(line); }) {
    const Chooser& chooser = Chooser::instance();
    std::string_view slugs = chooser.settings().device;
    if (slugs.empty() || slugs == "gpu") slugs = model::default_device;
    while (true) {
        const std::size_t comma = slugs.find(',');
        const std::string_view name = slugs.substr(0, comma);
        if (auto found = model::find_device(name == "gpu" ? model::default_device : name)) {
            auto& device = devices_.emplace_back(std::make_unique<_cl_device_id>());
            device->description = std::move(*found);
            device->ordinal = static_cast<std::uint32_t>(devices_.size() - 1);
        } else {
            Chooser::instance().log().warn(found.error().text());
        }
        if (comma == std::string_view::npos) return;
        slugs.remove_prefix(comma + 1);
    }
}

Platform& Platform::instance() {
    static Platform& platform = *new Platform;
    return platform;
}

}  // namespace trimtab::opencl

using namespace trimtab::opencl;

cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id* platforms, cl_uint* count_back) {
    return guarded([&]() -> cl_int {
        if ((count == 0) != (platforms == nullptr) || (platforms == nullptr && count_back == nullptr))
            return CL_INVALID_VALUE;
        if (platforms != nullptr) platforms[0] = Platform::instance().handle();
        if (count_back != nullptr) *count_back = 1;
        return CL_SUCCESS;
    });
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void* value,
                                     size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (platform != nullptr && !is_a(platform, Kind::platform)) return CL_INVALID_PLATFORM;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_PLATFORM_PROFILE:
                return answer.text("FULL_PROFILE");
            case CL_PLATFORM_VERSION:
                return answer.text(version_text);
            case CL_PLATFORM_NUMERIC_VERSION:
                return answer.value<cl_version>(version);
            case CL_PLATFORM_NAME:
                return answer.text(platform_name);
            case CL_PLATFORM_VENDOR:
                return answer.text(vendor_name);
            case CL_PLATFORM_EXTENSIONS:
                return answer.text(extension_list(false));
            case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
                return answer.list(extension_versions(false));
            case CL_PLATFORM_HOST_TIMER_RESOLUTION:
                return answer.value<cl_ulong>(0);
            case CL_PLATFORM_ICD_SUFFIX_KHR:
                return answer.text("TRIMTAB");
            default:
                return CL_INVALID_VALUE;
        }
    });
}

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
    return platform == nullptr || is_a(platform, Kind::platform) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int CL_API_CALL clUnloadCompiler(void) {
    return CL_SUCCESS;
}
