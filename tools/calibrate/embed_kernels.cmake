# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUTPUT, a C++ file that holds the PTX of FILES (joined with |), for session.h.
string(REPLACE "|" ";" files "${FILES}")
set(rows "")
foreach(path IN LISTS files)
  file(READ "${path}" text)
  # Literals have a limit of 64 KiB in the standard's minimum; compilers take pieces put side by side.
  string(LENGTH "${text}" length)
  set(at 0)
  set(pieces "")
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 12000 piece)
    string(APPEND pieces "R\"ptx(${piece})ptx\"\n")
    math(EXPR at "${at} + 12000")
  endwhile()
  string(APPEND rows "        ${pieces},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Written by embed_kernels.cmake from tools/calibrate/kernels.
#include \"tools/calibrate/session.h\"

namespace trimtab::calibrate {

std::vector<std::string_view> device_code() {
    return {
${rows}    };
}

}  // namespace trimtab::calibrate
")
