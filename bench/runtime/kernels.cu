// Kernels of one, two and three dimensions, with the driver programs that trimtab++ makes for them. The
// programs that are linked to this register them (registered_kernels.h).
__global__ void scale(const float* in, float* out, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}

__global__ void product(const float* a, const float* b, float* c, int rows, int columns, int inner) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) return;
    float sum = 0;
    for (int k = 0; k < inner; ++k) sum += a[i * inner + k] * b[k * columns + j];
    c[i * columns + j] = sum;
}

__global__ void stencil(const float* in, float* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int at = (z * ny + y) * nx + x;
    out[at] = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - nx * ny] + in[at + nx * ny] -
              6 * in[at];
}
