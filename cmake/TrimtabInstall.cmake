# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What an install has beside the programs and libraries: headers, a CMake package, pkg-config's file, man pages,
# completions, docs, samples and licences; and the Debian package that CPack makes of it (cpack -G DEB).
include(CMakePackageConfigHelpers)

set(documentation "${CMAKE_INSTALL_DATADIR}/doc/trimtab")
install(DIRECTORY include/trimtab TYPE INCLUDE)
install(FILES README.md LICENSE LICENSES.md AUTHORS CHANGELOG.md CITATION.cff CONTRIBUTING.md SECURITY.md cmake/package/copyright
        DESTINATION "${documentation}")
# What the manual leads to.
foreach(document IN ITEMS core/model/architectures/README.md core/model/devices/README.md bench/README.md)
  cmake_path(GET document PARENT_PATH folder)
  install(FILES "${document}" DESTINATION "${documentation}/${folder}")
endforeach()
install(DIRECTORY docs samples DESTINATION "${documentation}")

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Trimtab")
set(pkgconfig_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
foreach(place IN ITEMS PACKAGE PKGCONFIG)
  string(TOLOWER "${place}_folder" folder)
  string(REGEX REPLACE "[^/]+" ".." TRIMTAB_PREFIX_FROM_${place} "${${folder}}")
endforeach()
set(generated "${CMAKE_BINARY_DIR}/package")
configure_package_config_file(cmake/package/TrimtabConfig.cmake.in "${generated}/TrimtabConfig.cmake"
  INSTALL_DESTINATION "${package_folder}"
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${generated}/TrimtabConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
configure_file(cmake/package/TrimtabToolchain.cmake.in "${generated}/TrimtabToolchain.cmake" @ONLY)
configure_file(cmake/package/trimtab.pc.in "${generated}/trimtab.pc" @ONLY)
install(FILES "${generated}/TrimtabConfig.cmake" "${generated}/TrimtabConfigVersion.cmake"
              "${generated}/TrimtabToolchain.cmake" DESTINATION "${package_folder}")
install(FILES "${generated}/trimtab.pc" DESTINATION "${pkgconfig_folder}")

# Man pages and completions, from the options that the programs read.
set(manual "${CMAKE_BINARY_DIR}/manual")
add_custom_command(
  OUTPUT "${manual}/stamp"
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${manual}"
  COMMAND trimtab documentation "${manual}"
  COMMAND trimtab++ "--trimtab-documentation=${manual}"
  COMMAND sh -c "exec gzip -9n '${manual}/man1/'*.1"
  COMMAND "${CMAKE_COMMAND}" -E touch "${manual}/stamp"
  DEPENDS trimtab trimtab++
  COMMENT "Writing the man pages and completions"
  VERBATIM)
add_custom_target(trimtab_manual ALL DEPENDS "${manual}/stamp")
add_dependencies(product trimtab_manual)
install(DIRECTORY "${manual}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
install(DIRECTORY "${manual}/bash/" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(DIRECTORY "${manual}/zsh/" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")

# The texts of the licences of what is compiled in, as the distribution has them (LICENSES.md is the list).
foreach(package IN ITEMS libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libxxhash-dev libclang-22-dev gcc-12-base)
  if(EXISTS "/usr/share/doc/${package}/copyright")
    install(FILES "/usr/share/doc/${package}/copyright" DESTINATION "${documentation}/licences" RENAME ${package})
  endif()
endforeach()

install(FILES tools/trimtab/page/VEGA-LICENSES.txt DESTINATION "${documentation}/licences" RENAME vega)

set(CPACK_PACKAGE_NAME trimtab)
set(CPACK_PACKAGE_VENDOR Trimtab)
set(CPACK_PACKAGE_CONTACT "The Trimtab developers <trimtab@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "thread blocks of CUDA kernel launches, chosen at each launch")
set(CPACK_PACKAGE_DESCRIPTION
    "trimtab++ compiles CUDA programs as clang++ and nvcc do. Each kernel launch of such a program uses the thread block that
its driver program predicts to be the fastest for the data and the GPU at hand. If there is no GPU, the
program runs on an emulator.")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_SOURCE_DIR}/cmake/debian_layout.cmake")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "clang-22, binutils")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkg-config")
include(CPack)
