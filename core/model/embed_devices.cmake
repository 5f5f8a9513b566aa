# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUTPUT, a C++ file that holds every FOLDER/*.json as a string. KIND: device or architecture.
file(GLOB files "${FOLDER}/*.json")
list(SORT files)
set(rows "")
foreach(path IN LISTS files)
  file(READ "${path}" text)
  get_filename_component(slug "${path}" NAME_WE)
  string(APPEND rows "    {\"${slug}\", R\"description_json(${text})description_json\"},\n")
endforeach()
string(SUBSTRING "${KIND}" 0 1 first)
string(SUBSTRING "${KIND}" 1 -1 rest)
string(TOUPPER "${first}" first)
set(type "Builtin${first}${rest}")
file(WRITE "${OUTPUT}" "// Written by embed_devices.cmake from core/model/${KIND}s.
#include \"core/model/builtin_${KIND}s.h\"

namespace trimtab::model {

namespace {
constexpr ${type} ${KIND}_table[] = {
${rows}};
}  // namespace

std::span<const ${type}> builtin_${KIND}s() { return ${KIND}_table; }

}  // namespace trimtab::model
")
