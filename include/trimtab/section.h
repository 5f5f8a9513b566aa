// Section `trimtab_data` of an instrumented object or binary: records laid end to end, each
//
//     bytes 0..7   "TRIMTAB1"
//     bytes 8..15  length of the JSON in bytes, little-endian
//     then the JSON, then zero bytes up to a multiple of 8
//
// One record is one fat binary:
//
//     {"abi": 1, "compiler": "trimtab++ 0.1.0", "input": "gemm.cu", "fat_binary": "<16 hex digits>",
//      "kernels": [{"description": {...}, "profile": {...}, "fits": {...}, "driver_source": "..."}]}
//
// A kernel that is left alone, or whose profile failed, has a description (with the reasons) alone.
#pragma once

namespace trimtab {

inline constexpr char section_name[] = "trimtab_data";
inline constexpr char record_magic[] = "TRIMTAB1";
inline constexpr unsigned record_abi = 1;

}  // namespace trimtab
