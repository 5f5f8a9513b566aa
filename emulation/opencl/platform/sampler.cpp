// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/platform/memory.h"

using namespace trimtab::opencl;

std::uint32_t _cl_sampler::bits() const {
    std::uint32_t out = normalized != CL_FALSE ? 1 : 0;
    switch (addressing) {
        case CL_ADDRESS_CLAMP_TO_EDGE:
            out |= 2;
            break;
        case CL_ADDRESS_CLAMP:
            out |= 4;
            break;
        case CL_ADDRESS_REPEAT:
            out |= 6;
            break;
        case CL_ADDRESS_MIRRORED_REPEAT:
            out |= 8;
            break;
        default:
            break;
    }
    return out | (filter == CL_FILTER_LINEAR ? 0x20 : 0x10);
}

namespace {

Made<cl_sampler> make_sampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                              cl_filter_mode filter, std::vector<cl_sampler_properties> properties) {
    if (!is_a(context, Kind::context)) return std::unexpected(CL_INVALID_CONTEXT);
    if ((normalized != CL_FALSE && normalized != CL_TRUE) || addressing < CL_ADDRESS_NONE ||
        addressing > CL_ADDRESS_MIRRORED_REPEAT || filter < CL_FILTER_NEAREST || filter > CL_FILTER_LINEAR)
        return std::unexpected(CL_INVALID_VALUE);
    auto* sampler = new _cl_sampler;
    sampler->context = context;
    sampler->normalized = normalized;
    sampler->addressing = addressing;
    sampler->filter = filter;
    sampler->properties = std::move(properties);
    return sampler;
}

}  // namespace

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                                       cl_filter_mode filter, cl_int* error) {
    return made<cl_sampler>(error, [&] { return make_sampler(context, normalized, addressing, filter, {}); });
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context,
                                                     const cl_sampler_properties* properties, cl_int* error) {
    return made<cl_sampler>(error, [&]() -> Made<cl_sampler> {
        cl_bool normalized = CL_TRUE;
        cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
        cl_filter_mode filter = CL_FILTER_NEAREST;
        std::vector<cl_sampler_properties> given;
        for (const cl_sampler_properties* entry = properties; entry != nullptr && *entry != 0; entry += 2) {
            for (std::size_t i = 0; i < given.size(); i += 2)
                if (given[i] == entry[0]) return std::unexpected(CL_INVALID_VALUE);
            given.insert(given.end(), {entry[0], entry[1]});
            switch (entry[0]) {
                case CL_SAMPLER_NORMALIZED_COORDS:
                    normalized = static_cast<cl_bool>(entry[1]);
                    break;
                case CL_SAMPLER_ADDRESSING_MODE:
                    addressing = static_cast<cl_addressing_mode>(entry[1]);
                    break;
                case CL_SAMPLER_FILTER_MODE:
                    filter = static_cast<cl_filter_mode>(entry[1]);
                    break;
                default:
                    return std::unexpected(CL_INVALID_VALUE);
            }
        }
        if (properties != nullptr) given.push_back(0);
        return make_sampler(context, normalized, addressing, filter, std::move(given));
    });
}

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) {
    return retain(sampler, Kind::sampler, CL_INVALID_SAMPLER);
}

cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) {
    return release(sampler, Kind::sampler, CL_INVALID_SAMPLER);
}

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name, size_t size, void* value,
                                    size_t* size_back) {
    return guarded([&]() -> cl_int {
        if (!is_a(sampler, Kind::sampler)) return CL_INVALID_SAMPLER;
        const Answer answer(size, value, size_back);
        switch (name) {
            case CL_SAMPLER_REFERENCE_COUNT:
                return answer.value<cl_uint>(sampler->references.load());
            case CL_SAMPLER_CONTEXT:
                return answer.value<cl_context>(sampler->context.get());
            case CL_SAMPLER_NORMALIZED_COORDS:
                return answer.value(sampler->normalized);
            case CL_SAMPLER_ADDRESSING_MODE:
                return answer.value(sampler->addressing);
            case CL_SAMPLER_FILTER_MODE:
                return answer.value(sampler->filter);
            case CL_SAMPLER_PROPERTIES:
                return answer.list(sampler->properties);
            default:
                return CL_INVALID_VALUE;
        }
    });
}
