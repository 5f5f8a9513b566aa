# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DOUTPUT=<cpp> -DFOLDER=<page> -P embed.cmake: what the report page is drawn with, as C++ strings.
set(text "#include \"tools/trimtab/page_scripts.h\"\n\nnamespace trimtab::tools::page {\n")
foreach(part IN ITEMS "vega=vega.min.js" "vega_lite=vega-lite.min.js" "draw=draw.js" "chart_specs=charts.json")
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${part}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${FOLDER}/${CMAKE_MATCH_2}" content)
  # Nothing asks for what is not there.
  string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" content "${content}")
  string(APPEND text "const std::string_view ${name} = R\"page(${content})page\";\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}}  // namespace trimtab::tools::page\n")
