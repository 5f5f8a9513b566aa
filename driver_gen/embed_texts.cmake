# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DOUTPUT=<cpp> -DFOLDER=<dir> -DTEXTS=<list> -P embed_texts.cmake: files as C++ string constants.
set(content "#include \"driver_gen/embedded_texts.h\"\n\nnamespace trimtab::driver_gen {\n\n")
foreach(text IN LISTS TEXTS)
  file(READ "${FOLDER}/${text}" body)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" name "${text}")
  string(APPEND content "const std::string_view ${name} = R\"text~(${body})text~\";\n\n")
endforeach()
string(APPEND content "}  // namespace trimtab::driver_gen\n")
file(WRITE "${OUTPUT}" "${content}")
