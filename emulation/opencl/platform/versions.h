// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of OpenCL there is: versions, extensions, features of the language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulation/opencl/platform/objects.h"

namespace trimtab::opencl {

inline constexpr std::string_view platform_name = "Trimtab", vendor_name = "Trimtab";
inline constexpr std::string_view version_text = "OpenCL 3.0 Trimtab";
inline constexpr std::string_view language_version_text = "OpenCL C 1.2 Trimtab";
inline constexpr cl_version version = CL_MAKE_VERSION(3, 0, 0);

// Of the platform, or of its devices, which have those that programs in OpenCL C see, too.
[[nodiscard]] std::string extension_list(bool of_device);
[[nodiscard]] std::vector<cl_name_version> extension_versions(bool of_device);
[[nodiscard]] std::vector<cl_name_version> language_versions();
[[nodiscard]] std::vector<cl_name_version> language_features();

}  // namespace trimtab::opencl
