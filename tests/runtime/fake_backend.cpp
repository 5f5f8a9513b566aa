// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/runtime/fake_backend.h"

#include <cstring>

#include "core/model/device.h"
#include "core/ptx/binary.h"

namespace trimtab::runtime::testing {
namespace {

cudaError_t get_device(int* device) {
    *device = script().device;
    return cudaSuccess;
}
cudaError_t get_device_count(int* count) {
    *count = script().device_count;
    return cudaSuccess;
}
cudaError_t func_get_attributes(cudaFuncAttributes* attributes, const void*) {
    *attributes = {};
    attributes->numRegs = script().registers;
    attributes->maxThreadsPerBlock = script().max_threads_per_block;
    return cudaSuccess;
}
CUresult func_get_attribute(int* value, CUfunction_attribute attribute, CUfunction) {
    *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS                ? script().registers
             : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? script().max_threads_per_block
                                                                    : 0;
    return CUDA_SUCCESS;
}
CUresult kernel_get_function(CUfunction* function, CUkernel kernel) {
    *function = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
}
cudaError_t get_last_error() {
    const cudaError_t error = script().last_error;
    script().last_error = cudaSuccess;
    return error;
}
cudaError_t peek_at_last_error() {
    return script().last_error;
}
const char* get_error_name(cudaError_t) {
    return "cudaErrorLaunchOutOfResources";
}
const trimtab_device* emulated_device(int ordinal, const char** slug) {
    static const auto device = model::find_device("rtx2070super");
    *slug = "rtx2070super";
    return ordinal < script().device_count ? &device->values : nullptr;
}

}  // namespace

BackendScript& script() {
    static BackendScript script;
    return script;
}

BackendCalls fake_calls() {
    BackendCalls calls;
    calls.get_device = &get_device;
    calls.get_device_count = &get_device_count;
    calls.func_get_attributes = &func_get_attributes;
    calls.driver.func_get_attribute = &func_get_attribute;
    calls.driver.kernel_get_function = &kernel_get_function;
    calls.get_last_error = &get_last_error;
    calls.peek_at_last_error = &peek_at_last_error;
    calls.get_error_name = &get_error_name;
    calls.emulated_device = &emulated_device;
    return calls;
}

FakeFatBinary::FakeFatBinary(const std::string& content) {
    struct Header {
        std::uint32_t magic;
        std::uint16_t version, header_bytes;
        std::uint64_t body_bytes;
    };
    const Header header{
        .magic = 0xba55ed50, .version = 1, .header_bytes = sizeof(Header), .body_bytes = content.size()};
    bytes_.resize(sizeof header + content.size());
    std::memcpy(bytes_.data(), &header, sizeof header);
    std::memcpy(bytes_.data() + sizeof header, content.data(), content.size());
    hash_ = ptx::fat_binary_hash(bytes_.data()).value();
    wrapper_ = {.magic = 0x466243b1, .version = 1, .data = bytes_.data(), .more = nullptr};
}

}  // namespace trimtab::runtime::testing
