// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvJitLink, for programs that ask it for machine code where only the emulator is there: what it links stays PTX. The auditor
// makes libnvJitLink's functions jump to these (stand_in/library_runtimes.cpp).
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The header makes other names of these.
#undef cuLinkAddData
#undef cuLinkCreate

extern "C" {
CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState*);
CUresult cuLinkAddData_v2(CUlinkState, CUjitInputType, void*, size_t, const char*, unsigned, CUjit_option*,
                          void**);
}

namespace trimtab::runtime {
namespace {

// As nvJitLink.h has them, which not every toolkit brings.
using nvJitLinkHandle = struct nvJitLink*;
enum nvJitLinkResult : int {
    NVJITLINK_SUCCESS = 0,
    NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_INTERNAL = 6
};
enum nvJitLinkInputType : int {
    NVJITLINK_INPUT_PTX = 2,
    NVJITLINK_INPUT_FATBIN = 4,
    NVJITLINK_INPUT_ANY = 10
};

// A link of one text is that text, so that its kernels are known as those of a module that is loaded as it is.
class JitLink {
  public:
    nvJitLinkResult add(nvJitLinkInputType type, const void* data, std::size_t size_bytes, const char* name) {
        const std::string_view bytes(static_cast<const char*>(data), size_bytes);
        const bool is_text =
            type == NVJITLINK_INPUT_PTX || (type == NVJITLINK_INPUT_ANY && bytes.contains(".version"));
        if (!is_text && type != NVJITLINK_INPUT_FATBIN) {
            log_ = std::string(name == nullptr ? "an input" : name) +
                   ": the emulator links PTX and fat binaries alone: compile it to PTX";
            return NVJITLINK_ERROR_INVALID_INPUT;
        }
        inputs_.push_back({.type = is_text ? CU_JIT_INPUT_PTX : CU_JIT_INPUT_FATBINARY,
                           .bytes = std::string(bytes.substr(0, is_text ? bytes.find('\0') : bytes.npos)),
                           .name = name == nullptr ? "" : name});
        return NVJITLINK_SUCCESS;
    }

    nvJitLinkResult complete() {
        if (inputs_.empty()) {
            log_ = "nothing was added";
            return NVJITLINK_ERROR_INVALID_INPUT;
        }
        if (inputs_.size() == 1 && inputs_.front().type == CU_JIT_INPUT_PTX) {
            linked_.assign(inputs_.front().bytes.begin(), inputs_.front().bytes.end());
            linked_.push_back('\0');
            return NVJITLINK_SUCCESS;
        }
        CUlinkState state = nullptr;
        CUresult result = cuLinkCreate_v2(0, nullptr, nullptr, &state);
        for (Input& input : inputs_) {
            if (result != CUDA_SUCCESS) break;
            result = cuLinkAddData_v2(state, input.type, input.bytes.data(), input.bytes.size() + 1,
                                      input.name.c_str(), 0, nullptr, nullptr);
        }
        void* image = nullptr;
        std::size_t size_bytes = 0;
        if (result == CUDA_SUCCESS) result = cuLinkComplete(state, &image, &size_bytes);
        if (result == CUDA_SUCCESS)
            linked_.assign(static_cast<const char*>(image), static_cast<const char*>(image) + size_bytes);
        else
            log_ = "the driver does not link it";
        if (state != nullptr) static_cast<void>(cuLinkDestroy(state));
        return result == CUDA_SUCCESS ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
    }

    [[nodiscard]] const std::vector<char>& linked() const { return linked_; }
    [[nodiscard]] const std::string& log() const { return log_; }

  private:
    struct Input {
        CUjitInputType type = CU_JIT_INPUT_PTX;
        std::string bytes, name;
    };
    std::vector<Input> inputs_;
    std::vector<char> linked_;
    std::string log_;
};

JitLink& link_of(nvJitLinkHandle handle) {
    return *reinterpret_cast<JitLink*>(handle);
}

}  // namespace
}  // namespace trimtab::runtime

using namespace trimtab::runtime;

extern "C" {

// Programs that know of link-time optimisation since 12.3 use PTX with an older one.
nvJitLinkResult trimtab_nvJitLinkVersion(unsigned* major, unsigned* minor) {
    *major = 12;
    *minor = 0;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult trimtab_nvJitLinkCreate(nvJitLinkHandle* handle, std::uint32_t, const char**) {
    try {
        *handle = reinterpret_cast<nvJitLinkHandle>(std::make_unique<JitLink>().release());
        return NVJITLINK_SUCCESS;
    } catch (const std::exception&) {
        return NVJITLINK_ERROR_INTERNAL;
    }
}

nvJitLinkResult trimtab_nvJitLinkDestroy(nvJitLinkHandle* handle) {
    const std::unique_ptr<JitLink> owned(&link_of(*handle));
    *handle = nullptr;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult trimtab_nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data,
                                         size_t size, const char* name) {
    try {
        return link_of(handle).add(type, data, size, name);
    } catch (const std::exception&) {
        return NVJITLINK_ERROR_INTERNAL;
    }
}

nvJitLinkResult trimtab_nvJitLinkComplete(nvJitLinkHandle handle) {
    try {
        return link_of(handle).complete();
    } catch (const std::exception&) {
        return NVJITLINK_ERROR_INTERNAL;
    }
}

nvJitLinkResult trimtab_nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* size) {
    *size = link_of(handle).linked().size();
    return *size == 0 ? NVJITLINK_ERROR_INTERNAL : NVJITLINK_SUCCESS;
}
nvJitLinkResult trimtab_nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* cubin) {
    const std::vector<char>& linked = link_of(handle).linked();
    std::memcpy(cubin, linked.data(), linked.size());
    return linked.empty() ? NVJITLINK_ERROR_INTERNAL : NVJITLINK_SUCCESS;
}

nvJitLinkResult trimtab_nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* size) {
    *size = link_of(handle).log().size() + 1;
    return NVJITLINK_SUCCESS;
}
nvJitLinkResult trimtab_nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) {
    std::strcpy(log, link_of(handle).log().c_str());
    return NVJITLINK_SUCCESS;
}
nvJitLinkResult trimtab_nvJitLinkGetInfoLogSize(nvJitLinkHandle, size_t* size) {
    *size = 1;
    return NVJITLINK_SUCCESS;
}
nvJitLinkResult trimtab_nvJitLinkGetInfoLog(nvJitLinkHandle, char* log) {
    *log = '\0';
    return NVJITLINK_SUCCESS;
}

}  // extern "C"
