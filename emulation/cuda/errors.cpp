// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/errors.h"

#include <array>

namespace trimtab::cuda {
namespace {

struct Entry {
    cudaError_t code;
    const char* name;
    const char* text;
};

#define CUDA_ERROR(code, text) Entry{code, #code, text},
constexpr auto table = std::to_array<Entry>({
#include "emulation/cuda/error_table.inc"
});
#undef CUDA_ERROR

constexpr Entry unknown{cudaErrorUnknown, "unrecognized error code", "unrecognized error code"};

const Entry& entry_of(cudaError_t code) {
    for (const Entry& entry : table) {
        if (entry.code == code) return entry;
    }
    return unknown;
}

}  // namespace

std::vector<cudaError_t> all_errors() {
    std::vector<cudaError_t> codes;
    for (const Entry& entry : table) codes.push_back(entry.code);
    return codes;
}

const char* error_name(cudaError_t code) {
    return entry_of(code).name;
}
const char* error_text(cudaError_t code) {
    return entry_of(code).text;
}

cudaError_t error_of(Fault::Kind kind) {
    switch (kind) {
        case Fault::Kind::illegal_address:
            return cudaErrorIllegalAddress;
        case Fault::Kind::misaligned_address:
            return cudaErrorMisalignedAddress;
        case Fault::Kind::trap:
            return cudaErrorLaunchFailure;
        case Fault::Kind::assertion:
            return cudaErrorAssert;
        case Fault::Kind::illegal_instruction:
            return cudaErrorIllegalInstruction;
        case Fault::Kind::invalid_launch:
            return cudaErrorInvalidConfiguration;
        case Fault::Kind::stack:
            return cudaErrorHardwareStackError;
        case Fault::Kind::limit:
            return cudaErrorLaunchTimeout;
        case Fault::Kind::host:
            return cudaErrorUnknown;
    }
    return cudaErrorUnknown;
}

}  // namespace trimtab::cuda
