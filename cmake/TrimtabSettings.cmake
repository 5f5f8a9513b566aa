# Settings that every target of Trimtab shares.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Everything that runs lies beside each other, as after an install, so that a tool finds its libraries by one rule.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
file(CREATE_LINK "${CMAKE_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include" SYMBOLIC)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

add_library(trimtab_settings INTERFACE)
target_include_directories(trimtab_settings INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/include")
# Floating-point results must be the same on every machine and compiler: no contraction into fused multiply-adds.
target_compile_options(trimtab_settings INTERFACE -Wall -Wextra -ffp-contract=off)
# g++ 12 sees them where there are none, in its own std::string (GCC bug 105651) and std::optional.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(trimtab_settings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-maybe-uninitialized)
endif()
if(TRIMTAB_WERROR)
  target_compile_options(trimtab_settings INTERFACE -Werror)
endif()
if(TRIMTAB_SANITIZE)
  target_compile_options(trimtab_settings INTERFACE "-fsanitize=${TRIMTAB_SANITIZE}" -fno-omit-frame-pointer)
  # Their checks keep loops from being vectorised that ask to be: no error there.
  target_compile_options(trimtab_settings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>)
  target_link_options(trimtab_settings INTERFACE "-fsanitize=${TRIMTAB_SANITIZE}")
endif()

# GoogleTest's macros hold an else of their own; g++ warns of it under an if without braces. What a test costs is what it tests,
# in the libraries: optimising its own code whole takes longer than running it.
set(TRIMTAB_TEST_OPTIONS -Wno-dangling-else -O1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  list(APPEND TRIMTAB_TEST_OPTIONS -Wno-array-bounds) # the same bug, in the strings that tests put together
endif()

# Reading the standard library's and GoogleTest's headers is what most files cost (clang's -ftime-trace): each set is read once. Every
# file includes what it uses all the same, and builds without (TRIMTAB_PRECOMPILE=OFF).
option(TRIMTAB_PRECOMPILE "Precompile the headers that most files include" ON)
if(TRIMTAB_PRECOMPILE)
  # A precompiled header fits only what is compiled with its options: code of libraries is -fPIC, that of tests -fPIE.
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/precompiled/empty.cpp" CONTENT "int main() {}\n")
  add_library(trimtab_library_headers OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/precompiled/empty.cpp")
  target_precompile_headers(trimtab_library_headers PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled/library.h")
  set(header_sets trimtab_library_headers)
  if(TRIMTAB_TESTS)
    list(APPEND header_sets trimtab_test_headers)
    add_executable(trimtab_test_headers EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/precompiled/empty.cpp")
    target_precompile_headers(trimtab_test_headers PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled/test.h")
    target_compile_options(trimtab_test_headers PRIVATE ${TRIMTAB_TEST_OPTIONS})
    target_link_libraries(trimtab_test_headers PRIVATE GTest::gmock)
  endif()
  foreach(headers IN LISTS header_sets)
    target_link_libraries(${headers} PRIVATE trimtab_settings)
    # What a compiler cache needs in order to know the same header again.
    target_compile_options(${headers} PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  endforeach()
endif()

# trimtab_precompile(<target> library|test): the target's files find these headers read already.
function(trimtab_precompile target kind)
  if(TRIMTAB_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM trimtab_${kind}_headers)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
endfunction()

# trimtab_add_library(<name> <source>... [LIBRARIES <public>...] [PRIVATE <private>...]): a room's static library.
function(trimtab_add_library name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC trimtab_settings ${arg_LIBRARIES} PRIVATE ${arg_PRIVATE})
  trimtab_precompile(${name} library)
endfunction()

# trimtab_add_test_library(<name> <source>... LIBRARIES <library>...): what several test programs share. Neither kind of
# precompiled headers has its options.
function(trimtab_add_test_library name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC trimtab_settings ${arg_LIBRARIES} GTest::gmock GTest::gtest)
  target_compile_options(${name} PRIVATE ${TRIMTAB_TEST_OPTIONS})
  target_compile_definitions(${name} PRIVATE TRIMTAB_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
endfunction()

# trimtab_add_test(<name> <source>... LIBRARIES <library>... [LABELS <label>...]): one GoogleTest program, its cases known to
# CTest. Label end_to_end: builds and runs whole programs, which only the default build does; target unit_tests is what
# the other tests need.
add_custom_target(unit_tests)
function(trimtab_add_test name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE trimtab_settings ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${TRIMTAB_TEST_OPTIONS})
  trimtab_precompile(${name} test)
  target_compile_definitions(${name} PRIVATE TRIMTAB_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             TRIMTAB_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(NOT "end_to_end" IN_LIST arg_LABELS AND NOT "slow" IN_LIST arg_LABELS)
    add_dependencies(unit_tests ${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS "${arg_LABELS}")
endfunction()
