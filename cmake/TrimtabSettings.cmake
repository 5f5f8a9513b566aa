# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  target_compile_options(trimtab_settings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-maybe-uninitialized
                                                    -Wno-array-bounds)
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
# in the libraries: optimising its own code takes longer than running it.
set(TRIMTAB_TEST_OPTIONS -Wno-dangling-else -O0)

# A preset that optimises nothing, for compiling is what it spends its time on, says here with what the rooms that tests
# compute in are compiled all the same: those that read PTX, emulate it and prove things of it (HOT below).
set(TRIMTAB_HOT_OPTIONS "" CACHE STRING "Options for the rooms that tests compute in")

# Reading the standard library's and GoogleTest's headers is what most files cost (clang's -ftime-trace): each set is read once.
# Every file includes what it uses all the same, and builds without (TRIMTAB_PRECOMPILE=OFF).
option(TRIMTAB_PRECOMPILE "Precompile the headers that most files include" ON)

# trimtab_add_headers(<kind> <header> LIBRARY|PROGRAM [OPTIONS <option>...] [LIBRARIES <library>...]): a set of headers under
# cmake/precompiled/. A precompiled header fits only what is compiled with its options: code of libraries is -fPIC, that of
# tests -fPIE.
function(trimtab_add_headers kind header)
  cmake_parse_arguments(arg "LIBRARY;PROGRAM" "" "OPTIONS;LIBRARIES" ${ARGN})
  set(empty "${CMAKE_BINARY_DIR}/precompiled/empty.cpp")
  if(arg_PROGRAM)
    add_executable(trimtab_${kind}_headers EXCLUDE_FROM_ALL "${empty}")
  else()
    add_library(trimtab_${kind}_headers OBJECT EXCLUDE_FROM_ALL "${empty}")
  endif()
  target_precompile_headers(trimtab_${kind}_headers PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled/${header}")
  target_compile_options(trimtab_${kind}_headers PRIVATE ${arg_OPTIONS})
  target_link_libraries(trimtab_${kind}_headers PRIVATE ${arg_LIBRARIES} trimtab_settings)
  # What a compiler cache needs in order to know the same header again.
  target_compile_options(trimtab_${kind}_headers PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

if(TRIMTAB_PRECOMPILE)
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/precompiled/empty.cpp" CONTENT "int main() {}\n")
  trimtab_add_headers(library library.h LIBRARY)
  if(TRIMTAB_HOT_OPTIONS)
    trimtab_add_headers(hot library.h LIBRARY OPTIONS ${TRIMTAB_HOT_OPTIONS})
  endif()
  if(TRIMTAB_TESTS)
    trimtab_add_headers(test test.h PROGRAM OPTIONS ${TRIMTAB_TEST_OPTIONS} LIBRARIES GTest::gmock)
  endif()
endif()

# trimtab_precompile(<target> library|hot|test): the target's files find these headers read already.
function(trimtab_precompile target kind)
  if(TRIMTAB_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM trimtab_${kind}_headers)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
endfunction()

# trimtab_precompile_own(<target> <header>): of a target whose files have headers of a room in common.
function(trimtab_precompile_own target header)
  if(TRIMTAB_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled/${header}")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>"
                                             $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
endfunction()

# Several files of a target as one: the headers and templates that they share are compiled once for all of them. For builds from
# scratch; whoever changes a file compiles all that stand with it. Names in anonymous namespaces differ within a target
# for that. Every file includes what it uses all the same. The scripts switch it on for a folder that is new.
option(TRIMTAB_UNITY "Compile several files of a target together" OFF)
if(TRIMTAB_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
  # g++ takes a file that another includes for a header, where anonymous namespaces would be a mistake.
  target_compile_options(trimtab_settings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# trimtab_add_library(<name> [HOT] [HEADERS <header>] <source>... [LIBRARIES <public>...] [PRIVATE <private>...]): a room's
# static library. HOT: tests compute in it. HEADERS: its own set of precompiled ones.
function(trimtab_add_library name)
  cmake_parse_arguments(arg "HOT" "HEADERS" "LIBRARIES;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC trimtab_settings ${arg_LIBRARIES} PRIVATE ${arg_PRIVATE})
  if(arg_HOT AND TRIMTAB_HOT_OPTIONS)
    target_compile_options(${name} PRIVATE ${TRIMTAB_HOT_OPTIONS})
    trimtab_precompile(${name} hot)
  elseif(arg_HEADERS)
    trimtab_precompile_own(${name} ${arg_HEADERS})
  else()
    trimtab_precompile(${name} library)
  endif()
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

# trimtab_add_test(<name> <source>... LIBRARIES <library>... [LABELS <label>...] [TIMEOUT <seconds>]): one GoogleTest program, its cases known to
# CTest. Label end_to_end: builds and runs whole programs, which only the default build does; target unit_tests is what
# the other tests need, unit_tests_<room> what those of a folder of tests/ do.
add_custom_target(unit_tests)
function(trimtab_add_unit_test program)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${CMAKE_SOURCE_DIR}/tests" OUTPUT_VARIABLE room)
  string(REGEX REPLACE "/.*" "" room "${room}")
  if(NOT TARGET unit_tests_${room})
    add_custom_target(unit_tests_${room})
    add_dependencies(unit_tests unit_tests_${room})
  endif()
  add_dependencies(unit_tests_${room} ${program})
endfunction()

function(trimtab_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "LIBRARIES;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE trimtab_settings ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${TRIMTAB_TEST_OPTIONS})
  trimtab_precompile(${name} test)
  target_compile_definitions(${name} PRIVATE TRIMTAB_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             TRIMTAB_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(NOT "end_to_end" IN_LIST arg_LABELS AND NOT "slow" IN_LIST arg_LABELS)
    trimtab_add_unit_test(${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
