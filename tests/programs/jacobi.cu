// Double precision, pointers swapped between launches, constant memory, symbols, managed memory.
#include <cmath>
#include <cstdio>
__constant__ double weights[2];
__device__ int sweeps;
__managed__ double worst;
__global__ void sweep(const double* from, double* to, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 && y == 0) sweeps++;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int i = y * nx + x;
    to[i] = weights[0] * from[i] + weights[1] * (from[i - 1] + from[i + 1] + from[i - nx] + from[i + nx]);
}
int main() {
    const int nx = 70, ny = 45, steps = 20;
    const double w[2] = {0.2, 0.2};
    cudaMemcpyToSymbol(weights, w, sizeof w);
    double *a, *b;
    cudaMallocManaged(&a, nx * ny * sizeof(double));
    cudaMallocManaged(&b, nx * ny * sizeof(double));
    double *p = new double[nx * ny], *q = new double[nx * ny];
    for (int i = 0; i < nx * ny; ++i) a[i] = b[i] = p[i] = q[i] = std::sin(i * 0.1);
    dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
    for (int s = 0; s < steps; ++s) {
        sweep<<<grid, block>>>(a, b, nx, ny);
        std::swap(a, b);
        for (int y = 1; y < ny - 1; ++y)
            for (int x = 1; x < nx - 1; ++x) {
                int i = y * nx + x;
                q[i] = w[0] * p[i] + w[1] * (p[i - 1] + p[i + 1] + p[i - nx] + p[i + nx]);
            }
        std::swap(p, q);
    }
    cudaDeviceSynchronize();
    worst = 0;
    for (int i = 0; i < nx * ny; ++i) worst = std::fmax(worst, std::fabs(a[i] - p[i]));
    int done = 0;
    cudaMemcpyFromSymbol(&done, sweeps, sizeof done);
    if (worst > 1e-12 || done != steps) return printf("FAIL %g %d\n", worst, done), 1;
    puts("PASS");
}
