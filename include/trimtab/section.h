// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Section `trimtab_data` of an instrumented object or binary: records laid end to end, each
//
//     bytes 0..7    "TRIMTAB2"
//     bytes 8..15   length of the JSON in bytes, little-endian
//     bytes 16..23  length of the details in bytes, little-endian; 0: there are none
//     then the JSON, the details, and zero bytes up to a multiple of 8
//
// One record is one fat binary. Its JSON is what the runtime reads when the program starts:
//
//     {"abi": 2, "compiler": "trimtab++ 0.1.0", "input": "gemm.cu", "fat_binary": "<16 hex digits>",
//      "kernels": [{"description": {...}}], "details": "<16 hex digits>"}
//
// A kernel whose profile failed also has "no_driver": the reason.
//
// The details are a zstd frame of JSON, which only tools read, and hashed (XXH3) in the member of that name:
//
//     [{"profile": {...}, "fits": {...}, "driver_source": "..."}]
//
// one object a kernel, in the order of "kernels"; a kernel that is left alone, or whose profile failed, has an
// empty one.
#pragma once

namespace trimtab {

inline constexpr char section_name[] = "trimtab_data";
inline constexpr char record_magic[] = "TRIMTAB2";
inline constexpr unsigned record_abi = 2;

}  // namespace trimtab
