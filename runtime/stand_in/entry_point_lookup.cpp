// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points by name: where the program asks CUDA for one that this library stands before, it gets this
// library's.
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/process.h"

#undef cuGetProcAddress
#undef cuGraphInstantiateWithParams
#undef cuLaunchKernel
#undef cuLaunchKernelEx
#undef cuLinkAddData
#undef cuLinkAddFile

extern "C" {
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             CUstream, void**, void**);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig*, CUfunction, void**, void**);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec*, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS*);
CUresult cuGetProcAddress(const char*, void**, int, cuuint64_t);
}

namespace trimtab::runtime {
namespace {

struct EntryPoint {
    std::string_view name;
    void* of_legacy_stream = nullptr;
    void* of_thread_stream = nullptr;  // null: there is one for both
    int since = 0;                     // the version of CUDA that brought the form that this library has
};

template <typename Function>
void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

// None of them had other parameters in later versions, but for those whose version stands here.
const auto& entry_points() {
    static const auto all = std::to_array<EntryPoint>({
        {"cuLaunchKernel", address(&::cuLaunchKernel), address(&::cuLaunchKernel_ptsz)},
        {"cuLaunchKernelEx", address(&::cuLaunchKernelEx), address(&::cuLaunchKernelEx_ptsz)},
        {"cuModuleLoad", address(&::cuModuleLoad)},
        {"cuModuleLoadData", address(&::cuModuleLoadData)},
        {"cuModuleLoadDataEx", address(&::cuModuleLoadDataEx)},
        {"cuModuleLoadFatBinary", address(&::cuModuleLoadFatBinary)},
        {"cuModuleUnload", address(&::cuModuleUnload)},
        {"cuModuleGetFunction", address(&::cuModuleGetFunction)},
        {"cuModuleEnumerateFunctions", address(&::cuModuleEnumerateFunctions)},
        {"cuLibraryLoadData", address(&::cuLibraryLoadData)},
        {"cuLibraryLoadFromFile", address(&::cuLibraryLoadFromFile)},
        {"cuLibraryUnload", address(&::cuLibraryUnload)},
        {"cuLibraryGetKernel", address(&::cuLibraryGetKernel)},
        {"cuLibraryEnumerateKernels", address(&::cuLibraryEnumerateKernels)},
        {"cuLibraryGetModule", address(&::cuLibraryGetModule)},
        {"cuKernelGetFunction", address(&::cuKernelGetFunction)},
        {"cuLinkAddData", address(&::cuLinkAddData_v2), nullptr, 6050},
        {"cuLinkAddFile", address(&::cuLinkAddFile_v2), nullptr, 6050},
        {"cuLinkComplete", address(&::cuLinkComplete)},
        {"cuLinkDestroy", address(&::cuLinkDestroy)},
        {"cuGraphInstantiate", address(&::cuGraphInstantiateWithFlags), nullptr, 12000},
        {"cuGraphInstantiateWithFlags", address(&::cuGraphInstantiateWithFlags)},
        {"cuGraphInstantiateWithParams", address(&::cuGraphInstantiateWithParams),
         address(&::cuGraphInstantiateWithParams_ptsz)},
        {"cuGraphExecUpdate", address(&::cuGraphExecUpdate_v2), nullptr, 12000},
        {"cuGraphExecKernelNodeSetParams", address(&::cuGraphExecKernelNodeSetParams_v2), nullptr, 12000},
        {"cuGraphExecNodeSetParams", address(&::cuGraphExecNodeSetParams)},
        {"cuGraphExecChildGraphNodeSetParams", address(&::cuGraphExecChildGraphNodeSetParams)},
        {"cuGetProcAddress", address(&::cuGetProcAddress_v2), nullptr, 12000},
        {"cuGetExportTable", address(&::cuGetExportTable)},
    });
    return all;
}

// What the program gets for what CUDA has found.
void stand_before(const char* symbol, int version, bool per_thread, void** found) {
    if (symbol == nullptr || found == nullptr || *found == nullptr) return;
    for (const EntryPoint& entry : entry_points()) {
        if (entry.name != symbol || version < entry.since) continue;
        *found =
            per_thread && entry.of_thread_stream != nullptr ? entry.of_thread_stream : entry.of_legacy_stream;
        return;
    }
}

cudaError_t find_entry_point(decltype(&cudaGetDriverEntryPointByVersion) BackendCalls::* member,
                             const char* symbol, void** found, unsigned version, unsigned long long flags,
                             cudaDriverEntryPointQueryResult* result, bool per_thread) {
    const cudaError_t status =
        (Process::instance().loaded().backend.calls().*member)(symbol, found, version, flags, result);
    if ((flags & cudaEnablePerThreadDefaultStream) != 0) per_thread = true;
    if ((flags & cudaEnableLegacyStream) != 0) per_thread = false;
    if (status == cudaSuccess) stand_before(symbol, static_cast<int>(version), per_thread, found);
    return status;
}

}  // namespace
}  // namespace trimtab::runtime

using namespace trimtab::runtime;

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* symbolStatus) {
    const CUresult result = Process::instance().loaded().backend.calls().driver.get_proc_address(
        symbol, pfn, cudaVersion, flags, symbolStatus);
    if (result == CUDA_SUCCESS)
        stand_before(symbol, cudaVersion, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0, pfn);
    return result;
}
CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** funcPtr, unsigned cudaVersion,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* driverStatus) {
    return find_entry_point(&BackendCalls::get_driver_entry_point, symbol, funcPtr, cudaVersion, flags,
                            driverStatus, false);
}
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** funcPtr, unsigned cudaVersion,
                                                  unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* driverStatus) {
    return find_entry_point(&BackendCalls::get_driver_entry_point_ptsz, symbol, funcPtr, cudaVersion, flags,
                            driverStatus, true);
}
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* driverStatus) {
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}
cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** funcPtr, unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* driverStatus) {
    return cudaGetDriverEntryPointByVersion_ptsz(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

}  // extern "C"
