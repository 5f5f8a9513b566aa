// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtime/registered_kernels.h"

#include <cuda_runtime_api.h>

namespace trimtab::bench {

RegisteredObject& registered_object() {
    static RegisteredObject object;
    return object;
}

}  // namespace trimtab::bench

using trimtab::bench::registered_object;

// What the object calls. The launches never come: the benchmark makes its own.
extern "C" {

// That there is one tells the object that it need not look for libtrimtab.so.
int trimtab_join(const void*) {
    return 1;
}
void trimtab_register_bundle(const trimtab_bundle* bundle) {
    registered_object().bundle = bundle;
}
void trimtab_unregister_bundle(const trimtab_bundle*) {}

void** __cudaRegisterFatBinary(void* wrapper) {
    registered_object().wrapper = wrapper;
    return &registered_object().wrapper;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host_function, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
    registered_object().kernels.push_back({.host_function = host_function, .name = name});
}

unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, CUstream_st*) {
    return 1;
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) {
    return cudaErrorMissingConfiguration;
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) {
    return cudaErrorNotSupported;
}

}  // extern "C"
