# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Libraries of the distribution (scripts/setup.sh installs them).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(TBB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
# It defines _FILE_OFFSET_BITS, which changes nothing where addresses have 64 bits, and g++ then takes no precompiled header.
set_target_properties(PkgConfig::HIREDIS PROPERTIES INTERFACE_COMPILE_OPTIONS "")
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
# The archive first: it goes into what users' programs load, which depends on as little as can be.
find_library(LIBMD_LIBRARY NAMES libmd.a md REQUIRED)

if(TRIMTAB_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(TRIMTAB_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# The CUDA toolkit: headers, libdevice and the real runtime (never linked; its symbols are what Trimtab's runtime must export).
set(TRIMTAB_CUDA_PATH "" CACHE PATH "CUDA toolkit; found by itself when empty")
if(NOT TRIMTAB_CUDA_PATH)
  find_path(TRIMTAB_CUDA_INCLUDE cuda_runtime_api.h
            HINTS "${CMAKE_SOURCE_DIR}/.toolchain/cuda/include" /usr/local/cuda/include "$ENV{CUDA_HOME}/include" REQUIRED NO_CACHE)
  # A hint from the environment may leave a slash at its end, behind which the parent would be the folder itself.
  string(REGEX REPLACE "/+$" "" TRIMTAB_CUDA_INCLUDE "${TRIMTAB_CUDA_INCLUDE}")
  cmake_path(GET TRIMTAB_CUDA_INCLUDE PARENT_PATH TRIMTAB_CUDA_PATH)
endif()
add_library(trimtab_cuda_headers INTERFACE)
target_include_directories(trimtab_cuda_headers SYSTEM INTERFACE "${TRIMTAB_CUDA_PATH}/include")

set(TRIMTAB_LLVM_PREFIX /usr/lib/llvm-22 CACHE PATH "Where LLVM and Clang 22 are installed")
