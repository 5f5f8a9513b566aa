# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUTPUT, a C++ file that holds every FOLDER/*.json as a string.
file(GLOB files "${FOLDER}/*.json")
list(SORT files)
set(rows "")
foreach(path IN LISTS files)
  file(READ "${path}" text)
  get_filename_component(slug "${path}" NAME_WE)
  string(APPEND rows "    {\"${slug}\", R\"device_json(${text})device_json\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Written by embed_devices.cmake from core/model/devices.
#include \"core/model/builtin_devices.h\"

namespace trimtab::model {

namespace {
constexpr BuiltinDevice table[] = {
${rows}};
}  // namespace

std::span<const BuiltinDevice> builtin_devices() { return table; }

}  // namespace trimtab::model
")
