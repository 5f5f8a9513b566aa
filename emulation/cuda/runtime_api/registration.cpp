// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compilers' constructors call, and device variables by their host names.
#include <cuda_runtime_api.h>

#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/state.h"
#include "emulation/cuda/transfer.h"

using namespace trimtab::cuda;

namespace {

Module* module_of_handle(void** handle) {
    return reinterpret_cast<Module*>(handle);
}

// The storage of a symbol on the current device. With State::mutex.
std::expected<trimtab::emulator::VariableStorage, cudaError_t> storage_of(State& state, const void* symbol) {
    const DeviceVariable* variable = state.modules.variable(symbol);
    if (variable == nullptr) return std::unexpected(cudaErrorInvalidSymbol);
    const Device& device = state.current();
    const auto storage =
        state.modules.storage(*variable, device.ordinal, device.description.values.compute_capability);
    if (!storage) return std::unexpected(state.failed(storage.error()));
    return *storage;
}

// The bytes of a symbol from `offset` on; an error where there are fewer than `count`.
std::expected<std::byte*, cudaError_t> place_in(State& state, const void* symbol, std::size_t count,
                                                std::size_t offset) {
    const std::lock_guard lock(state.mutex);
    const auto storage = storage_of(state, symbol);
    if (!storage) return std::unexpected(storage.error());
    if (offset > storage->size_bytes || count > storage->size_bytes - offset)
        return std::unexpected(cudaErrorInvalidValue);
    return storage->host + offset;
}

cudaError_t to_symbol(const void* symbol, const void* src, std::size_t count, std::size_t offset,
                      cudaMemcpyKind kind, const Order& order) {
    return call([=](State& state) {
        const auto place = place_in(state, symbol, count, offset);
        return place ? copy(state, linear_copy(*place, src, count, kind), order) : place.error();
    });
}

cudaError_t from_symbol(void* dst, const void* symbol, std::size_t count, std::size_t offset,
                        cudaMemcpyKind kind, const Order& order) {
    return call([=](State& state) {
        const auto place = place_in(state, symbol, count, offset);
        return place ? copy(state, linear_copy(dst, *place, count, kind), order) : place.error();
    });
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
    State& state = State::instance();
    const std::lock_guard lock(state.mutex);
    return reinterpret_cast<void**>(state.modules.add(wrapper));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
    State& state = State::instance();
    forget_launch_times(state);
    const std::lock_guard lock(state.mutex);
    state.modules.remove(module_of_handle(handle));
}

void __cudaRegisterFunction(void** handle, const char* hostFun, char*, const char* deviceName, int, void*,
                            void*, void*, void*, int*) {
    State& state = State::instance();
    const std::lock_guard lock(state.mutex);
    state.modules.add_kernel(module_of_handle(handle), hostFun, deviceName);
}

void __cudaRegisterVar(void** handle, char* hostVar, char*, const char* deviceName, int, size_t size, int,
                       int) {
    State& state = State::instance();
    const std::lock_guard lock(state.mutex);
    state.modules.add_variable(
        module_of_handle(handle), hostVar,
        {.module = nullptr, .name = deviceName, .size_bytes = size, .managed_pointer = nullptr});
}

void __cudaRegisterManagedVar(void** handle, void** hostVarPtrAddress, char*, const char* deviceName, int,
                              size_t size, int, int) {
    State& state = State::instance();
    const std::lock_guard lock(state.mutex);
    state.modules.add_variable(
        module_of_handle(handle), static_cast<const void*>(hostVarPtrAddress),
        {.module = nullptr, .name = deviceName, .size_bytes = size, .managed_pointer = hostVarPtrAddress});
}

void __cudaRegisterHostVar(void** handle, const char* deviceName, void* hostVar, size_t size) {
    State& state = State::instance();
    const std::lock_guard lock(state.mutex);
    state.modules.add_variable(
        module_of_handle(handle), hostVar,
        {.module = nullptr, .name = deviceName, .size_bytes = size, .managed_pointer = nullptr});
}

// Called before the host first reads a managed variable: gives them their addresses.
char __cudaInitModule(void** handle) {
    State& state = State::instance();
    const std::lock_guard lock(state.mutex);
    if (state.devices.empty()) return 0;
    const Device& device = state.current();
    state.modules.set_managed_pointers(*module_of_handle(handle), device.ordinal,
                                       device.description.values.compute_capability);
    return 1;
}

cudaError_t cudaGetSymbolAddress(void** devPtr, const void* symbol) {
    return locked_call([=](State& state) {
        if (devPtr == nullptr) return cudaErrorInvalidValue;
        const auto storage = storage_of(state, symbol);
        if (!storage) return storage.error();
        *devPtr = storage->host;
        return cudaSuccess;
    });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
    return locked_call([=](State& state) {
        if (size == nullptr) return cudaErrorInvalidValue;
        const auto storage = storage_of(state, symbol);
        if (!storage) return storage.error();
        *size = storage->size_bytes;
        return cudaSuccess;
    });
}

TRIMTAB_TRANSFER(cudaError_t, cudaMemcpyToSymbol, cudaMemcpyToSymbolAsync,
                 to_symbol(symbol, src, count, offset, kind, order), const void* symbol, const void* src,
                 size_t count, size_t offset, cudaMemcpyKind kind);
TRIMTAB_TRANSFER(cudaError_t, cudaMemcpyFromSymbol, cudaMemcpyFromSymbolAsync,
                 from_symbol(dst, symbol, count, offset, kind, order), void* dst, const void* symbol,
                 size_t count, size_t offset, cudaMemcpyKind kind);

}  // extern "C"
