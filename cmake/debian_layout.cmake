# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# CPack runs this between the install and the Debian package: OpenCL's loaders look in /etc, not in /usr/etc, and the
# file there names the library where the package puts it.
set(package "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
file(GLOB_RECURSE registered RELATIVE "${package}/usr/etc" "${package}/usr/etc/*.icd")
foreach(file IN LISTS registered)
  file(READ "${package}/usr/etc/${file}" library)
  string(REPLACE "${package}/" "/" library "${library}")
  file(WRITE "${package}/etc/${file}" "${library}")
endforeach()
file(REMOVE_RECURSE "${package}/usr/etc")
