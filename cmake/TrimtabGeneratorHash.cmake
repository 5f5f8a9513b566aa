# What is kept of an unchanged kernel was made by this very generator: the hash of its sources, TRIMTAB_GENERATOR_HASH of
# generator_hash.h, is part of the keys of trimtab++'s store and of the cache of prepared modules.
file(GLOB_RECURSE generator_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/analysis/*" "${CMAKE_SOURCE_DIR}/driver_gen/*"
     "${CMAKE_SOURCE_DIR}/emulator/exec/*" "${CMAKE_SOURCE_DIR}/emulator/metrics/*" "${CMAKE_SOURCE_DIR}/include/*"
     "${CMAKE_SOURCE_DIR}/model/*.cpp" "${CMAKE_SOURCE_DIR}/model/*.h" "${CMAKE_SOURCE_DIR}/profiler/*" "${CMAKE_SOURCE_DIR}/ptx/*")
set(generator_hash_header "${CMAKE_BINARY_DIR}/generator_hash/generator_hash.h")
add_custom_command(
  OUTPUT "${generator_hash_header}"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${generator_hash_header}" "-DSOURCES=${generator_sources}"
          -P "${CMAKE_SOURCE_DIR}/cmake/hash_sources.cmake"
  DEPENDS ${generator_sources} "${CMAKE_SOURCE_DIR}/cmake/hash_sources.cmake"
  COMMENT "Hashing the generator's sources"
  VERBATIM)
add_library(trimtab_generator_hash INTERFACE)
add_custom_target(trimtab_generator_hash_header DEPENDS "${generator_hash_header}")
add_dependencies(trimtab_generator_hash trimtab_generator_hash_header)
target_include_directories(trimtab_generator_hash INTERFACE "${CMAKE_BINARY_DIR}/generator_hash")
