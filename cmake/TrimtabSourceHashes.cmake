# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What is kept from one run for later ones is made by code that may change: the hash of its sources is part of every key,
# so that no version is counted by hand.
#
# trimtab_add_source_hash(<name> <pattern>...): target trimtab_<name>_hash, whose header <name>_hash.h defines
# TRIMTAB_<NAME>_HASH, 16 hex digits of all files that match.
function(trimtab_add_source_hash name)
  string(TOUPPER "TRIMTAB_${name}_HASH" macro)
  set(sources)
  foreach(pattern IN LISTS ARGN)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${pattern}")
    if(NOT files)
      message(FATAL_ERROR "the hash of sources ${name}: no file is ${pattern}")
    endif()
    list(APPEND sources ${files})
  endforeach()
  set(header "${CMAKE_BINARY_DIR}/source_hashes/${name}_hash.h")
  add_custom_command(
    OUTPUT "${header}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${header}" "-DMACRO=${macro}" "-DSOURCES=${sources}"
            -P "${CMAKE_SOURCE_DIR}/cmake/hash_sources.cmake"
    DEPENDS ${sources} "${CMAKE_SOURCE_DIR}/cmake/hash_sources.cmake"
    COMMENT "Hashing sources: ${name}"
    VERBATIM)
  add_library(trimtab_${name}_hash INTERFACE)
  add_custom_target(trimtab_${name}_hash_header DEPENDS "${header}")
  add_dependencies(trimtab_${name}_hash trimtab_${name}_hash_header)
  target_include_directories(trimtab_${name}_hash INTERFACE "${CMAKE_BINARY_DIR}/source_hashes")
endfunction()

set(machine core/ptx/* emulation/emulator/exec/* emulation/emulator/jit/*)
# Compiled kernels.
trimtab_add_source_hash(code ${machine})
# Profiles: what is measured, and where.
trimtab_add_source_hash(profile ${machine} core/analysis/* emulation/emulator/metrics/* core/model/metrics.* profiler/*)
# Driver programs: trimtab++'s store and the cache of prepared modules.
trimtab_add_source_hash(generator ${machine} emulation/emulator/metrics/* core/analysis/* core/checker/* driver_gen/* include/* core/model/*.cpp core/model/*.h pipeline/* profiler/*)
# Compiled OpenCL programs.
trimtab_add_source_hash(opencl emulation/opencl/front_end/*)
