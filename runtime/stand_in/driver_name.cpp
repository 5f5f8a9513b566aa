// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libcuda.so.1 where CUDA's driver is not: a name for libtrimtab.so, which it is linked to and which has the
// functions.
