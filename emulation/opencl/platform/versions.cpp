// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/platform/versions.h"

#include <algorithm>
#include <cstring>

namespace trimtab::opencl {
namespace {

struct Extension {
    std::string_view name;
    bool is_of_device;
};
constexpr Extension extensions[] = {{"cl_khr_icd", false},
                                    {"cl_khr_extended_versioning", false},
                                    {"cl_khr_byte_addressable_store", true},
                                    {"cl_khr_global_int32_base_atomics", true},
                                    {"cl_khr_global_int32_extended_atomics", true},
                                    {"cl_khr_local_int32_base_atomics", true},
                                    {"cl_khr_local_int32_extended_atomics", true},
                                    {"cl_khr_int64_base_atomics", true},
                                    {"cl_khr_int64_extended_atomics", true},
                                    {"cl_khr_fp64", true},
                                    {"cl_khr_3d_image_writes", true},
                                    {"cl_khr_subgroups", true}};

cl_name_version named(std::string_view name, cl_version version_of_it) {
    cl_name_version out{};
    out.version = version_of_it;
    std::memcpy(out.name, name.data(), std::min(name.size(), sizeof out.name - 1));
    return out;
}

}  // namespace

std::string extension_list(bool of_device) {
    std::string list;
    for (const Extension& extension : extensions) {
        if (extension.is_of_device && !of_device) continue;
        if (!list.empty()) list += ' ';
        list += extension.name;
    }
    return list;
}

std::vector<cl_name_version> extension_versions(bool of_device) {
    std::vector<cl_name_version> list;
    for (const Extension& extension : extensions)
        if (!extension.is_of_device || of_device)
            list.push_back(named(extension.name, CL_MAKE_VERSION(1, 0, 0)));
    return list;
}

std::vector<cl_name_version> language_versions() {
    return {named("OpenCL C", CL_MAKE_VERSION(1, 0, 0)), named("OpenCL C", CL_MAKE_VERSION(1, 1, 0)),
            named("OpenCL C", CL_MAKE_VERSION(1, 2, 0)), named("OpenCL C", CL_MAKE_VERSION(3, 0, 0))};
}

std::vector<cl_name_version> language_features() {
    std::vector<cl_name_version> list;
    for (const std::string_view name :
         {"__opencl_c_fp64", "__opencl_c_int64", "__opencl_c_images", "__opencl_c_3d_image_writes",
          "__opencl_c_subgroups", "__opencl_c_generic_address_space",
          "__opencl_c_work_group_collective_functions", "__opencl_c_atomic_order_acq_rel",
          "__opencl_c_atomic_order_seq_cst", "__opencl_c_atomic_scope_device"})
        list.push_back(named(name, CL_MAKE_VERSION(3, 0, 0)));
    return list;
}

}  // namespace trimtab::opencl
