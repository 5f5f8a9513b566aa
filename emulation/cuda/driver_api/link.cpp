// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's linker: PTX and fat binaries joined into one image. Nothing is compiled; the image holds the
// parts, and they are linked when it is loaded.
#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/driver_api/jit_options.h"
#include "emulation/cuda/library_file.h"
#include "emulation/cuda/linked_image.h"

using namespace trimtab::cuda::driver;

struct CUlinkState_st {
    std::vector<std::vector<std::byte>> parts;
    std::vector<std::byte> image;  // once complete
    JitLog log;
};

namespace {

CUresult refuse(const CUlinkState_st& link, CUresult result, const std::string& line) {
    State::instance().say(line);
    link.log.write(line);
    return result;
}

CUresult add(CUlinkState_st& link, CUjitInputType type, const void* data, std::size_t bytes,
             const std::string& name) {
    const auto* start = static_cast<const std::byte*>(data);
    switch (type) {
        case CU_JIT_INPUT_PTX: {
            auto& part = link.parts.emplace_back(start, start + bytes);
            part.push_back(std::byte{0});
            return CUDA_SUCCESS;
        }
        case CU_JIT_INPUT_FATBINARY:
            link.parts.emplace_back(start, start + bytes);
            return CUDA_SUCCESS;
        default:
            return refuse(link, CUDA_ERROR_NO_BINARY_FOR_GPU,
                          fmt::format("{}: the emulator links PTX and fat binaries with PTX, not machine "
                                      "code, objects or libraries",
                                      name));
    }
}

}  // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned numOptions, CUjit_option* options, void** optionValues,
                         CUlinkState* stateOut) {
    return context_call([=](State&) {
        if (stateOut == nullptr) return CUDA_ERROR_INVALID_VALUE;
        auto link = std::make_unique<CUlinkState_st>();
        link->log = JitLog(numOptions, options, optionValues);
        *stateOut = link.release();
        return CUDA_SUCCESS;
    });
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned, CUjit_option*, void**) {
    return context_call([=](State&) {
        if (state == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (data == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
        return add(*state, type, data, size, name != nullptr ? name : "an input of the link");
    });
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*,
                          void**) {
    return context_call([=](State&) {
        if (state == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const auto file = trimtab::cuda::read_library_file(path);
        if (!file) return refuse(*state, CUDA_ERROR_FILE_NOT_FOUND, file.error());
        return add(*state, type, file->bytes.data(), file->size_bytes, path);
    });
}

CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
    return context_call([=](State& emulator) {
        if (state == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (cubinOut == nullptr) return CUDA_ERROR_INVALID_VALUE;
        state->image = trimtab::cuda::join(state->parts);
        // What does not link says so here, not when the image is loaded.
        const std::lock_guard lock(emulator.mutex);
        const Device& device = emulator.current();
        const auto module = emulator.modules.add_image(state->image.data(), state->image.size(), "the link");
        if (!module) return refuse(*state, to_result(module.error().code), module.error().line);
        const auto loaded =
            emulator.modules.load(**module, device.ordinal, device.description.values.compute_capability);
        const auto line = loaded ? std::string{} : loaded.error().line;
        const CUresult result = loaded ? CUDA_SUCCESS : to_result(loaded.error().code);
        emulator.modules.remove(*module);
        if (result != CUDA_SUCCESS) return refuse(*state, result, line);
        state->log.write({});
        *cubinOut = state->image.data();
        if (sizeOut != nullptr) *sizeOut = state->image.size();
        return CUDA_SUCCESS;
    });
}

CUresult cuLinkDestroy(CUlinkState state) {
    return context_call([=](State&) {
        if (state == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        delete state;
        return CUDA_SUCCESS;
    });
}

}  // extern "C"
