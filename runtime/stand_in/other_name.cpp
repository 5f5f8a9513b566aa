// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libcuda.so.1 where CUDA's driver is not, and libcudart.so.13: names for libtrimtab.so, which they are linked to and which has
// the functions.
