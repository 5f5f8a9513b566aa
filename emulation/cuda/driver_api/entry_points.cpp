// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points by name: cuGetProcAddress.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "emulation/cuda/driver_api/call.h"

using namespace trimtab::cuda::driver;

namespace {

struct Introduced {
    std::string_view symbol;
    int version;
};
constexpr auto introductions = std::to_array<Introduced>({
#define CUDA_ENTRY_POINT(symbol, version) {#symbol, version},
#include "emulation/cuda/driver_api/entry_point_versions.inc"
#undef CUDA_ENTRY_POINT
});

bool is_in(std::string_view symbol, int version) {
    const auto* place = std::find_if(introductions.begin(), introductions.end(),
                                     [=](const Introduced& entry) { return entry.symbol == symbol; });
    return place == introductions.end() || place->version <= version;
}

void* own_library() {
    Dl_info place{};
    if (dladdr(reinterpret_cast<void*>(&own_library), &place) == 0) return nullptr;
    return dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void* find(const std::string& symbol) {
    static void* const library = own_library();
    return library == nullptr ? nullptr : dlsym(library, symbol.c_str());
}

// The newest entry point of that name that the version has.
void* entry_point(const char* name, int version, bool per_thread) {
    constexpr int newest_suffix = 4;
    for (int suffix = newest_suffix; suffix >= 1; --suffix) {
        const std::string symbol = suffix == 1 ? name : fmt::format("{}_v{}", name, suffix);
        if (!is_in(symbol, version)) continue;
        if (per_thread) {
            for (const char* stream : {"_ptsz", "_ptds"}) {
                if (void* found = find(symbol + stream)) return found;
            }
        }
        if (void* found = find(symbol)) return found;
    }
    return nullptr;
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* symbolStatus) {
    if (symbol == nullptr || pfn == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pfn = entry_point(symbol, cudaVersion, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
    if (symbolStatus != nullptr)
        *symbolStatus = *pfn != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *pfn != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

// Interfaces between CUDA's own libraries and its driver, which no document describes.
CUresult cuGetExportTable(const void** ppExportTable, const CUuuid*) {
    if (ppExportTable != nullptr) *ppExportTable = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
