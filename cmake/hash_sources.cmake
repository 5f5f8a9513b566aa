# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One hash over files: cmake -DOUTPUT=header -DMACRO=NAME -DSOURCES=a;b -P hash_sources.cmake
set(all "")
foreach(source IN LISTS SOURCES)
  file(SHA256 "${source}" hash)
  string(APPEND all "${hash}")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 16 hash)
file(WRITE "${OUTPUT}" "#pragma once\n\n#define ${MACRO} \"${hash}\"\n")
