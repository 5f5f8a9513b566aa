// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table by which the loader finds the entry points, whole: what there is not answers so.
#include <cstring>
#include <string_view>
#include <type_traits>

#include "emulation/opencl/platform/device.h"
#include "emulation/opencl/platform/info.h"

namespace trimtab::opencl {
namespace {

// Of an entry point that there is not, by its type: CL_INVALID_OPERATION, as an error or where errors go.
template <class Function>
struct Refusal;
template <class Result, class... Arguments>
struct Refusal<Result(CL_API_CALL*)(Arguments...)> {
    static Result CL_API_CALL call(Arguments... arguments) {
        if constexpr (std::is_same_v<Result, cl_int>) {
            return CL_INVALID_OPERATION;
        } else {
            const auto tell = [](auto last) {
                if constexpr (std::is_same_v<decltype(last), cl_int*>)
                    if (last != nullptr) *last = CL_INVALID_OPERATION;
            };
            (tell(arguments), ...);
            return nullptr;
        }
    }
};

template <class Function>
void refuse(Function& entry) {
    // Entries of other systems have no type here.
    if constexpr (std::is_same_v<Function, void*>)
        entry = reinterpret_cast<void*>(&Refusal<cl_int(CL_API_CALL*)()>::call);
    else
        entry = &Refusal<Function>::call;
}

cl_icd_dispatch make_table() {
    cl_icd_dispatch table{};
#define OFFERED(name) table.name = &(name);
#define REFUSED(name) refuse(table.name);
#include "emulation/opencl/platform/entry_points.def"
#undef OFFERED
#undef REFUSED
    table.clRetainDeviceEXT = reinterpret_cast<cl_api_clRetainDeviceEXT>(&clRetainDevice);
    table.clReleaseDeviceEXT = reinterpret_cast<cl_api_clReleaseDeviceEXT>(&clReleaseDevice);
    table.clGetKernelSubGroupInfoKHR = &clGetKernelSubGroupInfo;
    return table;
}

}  // namespace

const cl_icd_dispatch* dispatch_table() {
    static const cl_icd_dispatch table = make_table();
    return &table;
}

}  // namespace trimtab::opencl

using namespace trimtab::opencl;

extern "C" CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id* platforms,
                                                                  cl_uint* count_back) {
    return clGetPlatformIDs(count, platforms, count_back);
}

void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
    using namespace std::string_view_literals;
    if (name == "clIcdGetPlatformIDsKHR"sv) return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
    if (name == "clGetKernelSubGroupInfoKHR"sv) return reinterpret_cast<void*>(&clGetKernelSubGroupInfo);
    return nullptr;
}

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name) {
    return is_a(platform, Kind::platform) && name != nullptr ? clGetExtensionFunctionAddress(name) : nullptr;
}
