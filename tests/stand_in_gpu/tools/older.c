// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Stands for libcudart.so.12: all that the program asks of it. */
int cudaGetDeviceCount(int* count) {
    *count = 0;
    return 35; /* cudaErrorInsufficientDriver */
}
