// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that compilers put into constructors and kernel stubs, and the bundles' registration.
#include <cuda_runtime_api.h>

#include "runtime/launches/unknown_kernel.h"
#include "runtime/process.h"

using trimtab::runtime::Process;
using trimtab::runtime::RegistrationCalls;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
    return Process::instance().registrations().add_fat_binary(wrapper);
}

void __cudaRegisterFatBinaryEnd(void** handle) {
    Process::instance().registrations().add_step(handle, [](const RegistrationCalls& calls, void** backend) {
        calls.register_fat_binary_end(backend);
    });
}

void __cudaUnregisterFatBinary(void** handle) {
    Process::instance().registrations().remove_fat_binary(handle);
}

void __cudaRegisterFunction(void** handle, const char* hostFun, char* deviceFun, const char* deviceName,
                            int thread_limit, void* tid, void* bid, void* bDim, void* gDim, int* wSize) {
    auto& registrations = Process::instance().registrations();
    registrations.add_function(handle, hostFun, deviceName);
    registrations.add_step(handle, [=](const RegistrationCalls& calls, void** backend) {
        calls.register_function(backend, hostFun, deviceFun, deviceName, thread_limit, tid, bid, bDim, gDim,
                                wSize);
    });
}

void __cudaRegisterVar(void** handle, char* hostVar, char* deviceAddress, const char* deviceName, int ext,
                       size_t size, int constant, int global) {
    auto& registrations = Process::instance().registrations();
    if (constant == 0) registrations.add_variable(handle, {.host = hostVar, .size_bytes = size});
    registrations.add_step(handle, [=](const RegistrationCalls& calls, void** backend) {
        calls.register_var(backend, hostVar, deviceAddress, deviceName, ext, size, constant, global);
    });
}

void __cudaRegisterManagedVar(void** handle, void** hostVarPtrAddress, char* deviceAddress,
                              const char* deviceName, int ext, size_t size, int constant, int global) {
    auto& registrations = Process::instance().registrations();
    registrations.add_variable(
        handle,
        {.host = static_cast<const void*>(hostVarPtrAddress), .size_bytes = size, .is_managed = true});
    registrations.add_step(handle, [=](const RegistrationCalls& calls, void** backend) {
        calls.register_managed_var(backend, hostVarPtrAddress, deviceAddress, deviceName, ext, size, constant,
                                   global);
    });
}

void __cudaRegisterHostVar(void** handle, const char* deviceName, void* hostVar, size_t size) {
    Process::instance().registrations().add_step(handle, [=](const RegistrationCalls& calls, void** backend) {
        calls.register_host_var(backend, deviceName, hostVar, size);
    });
}

// No header describes its arguments; the first is a fat binary's handle.
void __cudaRegisterUnifiedTable(void** handle, void* a, void* b, void* c, void* d) {
    Process::instance().registrations().add_step(handle, [=](const RegistrationCalls& calls, void** backend) {
        calls.register_unified_table(backend, a, b, c, d);
    });
}

char __cudaInitModule(void** handle) {
    Process& process = Process::instance();
    const RegistrationCalls& calls = process.loaded().backend.calls().registration;
    return calls.init_module(process.registrations().backend_handle(handle));
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* entryFuncAddr) {
    Process& process = Process::instance();
    const cudaError_t status = process.loaded().backend.calls().get_kernel_handle(kernel, entryFuncAddr);
    if (status == cudaSuccess) process.registrations().add_alias(*kernel, entryFuncAddr);
    return told_if_unknown(status, process, entryFuncAddr);
}

cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr) {
    Process& process = Process::instance();
    const cudaError_t status = process.loaded().backend.calls().get_kernel(kernelPtr, entryFuncAddr);
    if (status == cudaSuccess) process.registrations().add_alias(*kernelPtr, entryFuncAddr);
    return status;
}

void trimtab_register_bundle(const trimtab_bundle* bundle) {
    Process& process = Process::instance();
    process.bundles().add(bundle);
    process.registrations().forget_plans(nullptr);
}

void trimtab_unregister_bundle(const trimtab_bundle* bundle) {
    Process& process = Process::instance();
    process.bundles().remove(bundle);
    process.registrations().forget_plans(bundle);
}

}  // extern "C"
