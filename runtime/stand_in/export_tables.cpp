// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's interfaces for CUDA's own libraries, which no document describes: the emulator has none. NVRTC and others
// do without. CUDA's runtime does not: one that asks is one that Trimtab could not replace, and every call of it will
// fail. That is told once for each.
#include <cuda.h>
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "emulation/cuda/closed_libraries.h"
#include "runtime/process.h"

namespace trimtab::runtime {
namespace {

// The interface that each of CUDA's runtimes asks for when it is first called.
constexpr unsigned char of_runtime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                          0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

void say_who_asks(const void* caller, choosing::Log& log) {
    Dl_info place{};
    if (dladdr(caller, &place) == 0 || place.dli_fname == nullptr) return;
    const std::string path = place.dli_fname;
    if (cuda::is_closed_library(path)) return;  // which the emulator tells of itself
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("libcudart"))
        log.warn_once(path +
                      ": CUDA's own runtime was opened beside Trimtab's, and its calls fail on the emulator: "
                      "run the program "
                      "under `trimtab run`, or open libcudart.so.13 without its folder");
    else
        log.warn_once(path +
                      ": holds a copy of CUDA's runtime that Trimtab cannot replace, and its calls fail on "
                      "the emulator: do not "
                      "strip it, or link it with nvcc -cudart shared");
}

}  // namespace
}  // namespace trimtab::runtime

extern "C" CUresult cuGetExportTable(const void** table, const CUuuid* id) {
    using namespace trimtab::runtime;
    const void* const caller = __builtin_return_address(0);
    Process& process = Process::instance();
    const Backend& backend = process.loaded().backend;
    const CUresult result = backend.calls().driver.get_export_table(table, id);
    if (result != CUDA_SUCCESS && backend.kind() == BackendKind::emulator && id != nullptr &&
        std::memcmp(id->bytes, of_runtime, sizeof of_runtime) == 0)
        say_who_asks(caller, process.log());
    return result;
}
