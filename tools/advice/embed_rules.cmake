# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DOUTPUT=<cpp> -DRULES=<json> -P embed_rules.cmake: the rules as a C++ string.
file(READ "${RULES}" text)
file(WRITE "${OUTPUT}" "#include \"tools/advice/rules.h\"

namespace trimtab::advice {
const std::string_view rules_json = R\"rules(${text})rules\";
}  // namespace trimtab::advice
")
