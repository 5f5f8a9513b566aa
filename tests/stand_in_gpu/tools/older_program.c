// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stdio.h>
int cudaGetDeviceCount(int* count);
int main(void) {
    int count = 7;
    const int status = cudaGetDeviceCount(&count);
    printf("%d %d\n", status, count);
    return 0;
}
