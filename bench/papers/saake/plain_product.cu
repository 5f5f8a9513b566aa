// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same product as in product.cu, one value a thread and no shared memory: what trimtab++ --trimtab-coarsen makes of it
// is bodies in which a thread has several values of j.
__global__ void plain_product(float* a, const float* b, const float* c, int p, int pitch) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= p || j >= p) return;
    float sum = 0;
    for (int k = 0; k < p; ++k) sum += b[i + pitch * k] * c[k + pitch * j];
    a[i + pitch * j] = sum;
}
