// A three-dimensional grid and block, cudaMalloc3D's pitch, unsigned indices, ternary clamps.
#include <cstdio>
#include <vector>
__global__ void smooth(cudaPitchedPtr in, float* out, unsigned nx, unsigned ny, unsigned nz) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
             z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    unsigned left = x > 0 ? x - 1 : 0, right = x + 1 < nx ? x + 1 : nx - 1;
    const float* row = (const float*)((const char*)in.ptr + (z * ny + y) * in.pitch);
    out[(z * ny + y) * nx + x] = row[left] + row[x] + row[right];
}
int main() {
    const unsigned nx = 19, ny = 11, nz = 7;
    std::vector<float> a(nx * ny * nz), b(nx * ny * nz);
    for (size_t i = 0; i < a.size(); ++i) a[i] = i % 23;
    cudaPitchedPtr p;
    cudaMalloc3D(&p, make_cudaExtent(nx * sizeof(float), ny, nz));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(a.data(), nx * sizeof(float), nx, ny);
    copy.dstPtr = p;
    copy.extent = make_cudaExtent(nx * sizeof(float), ny, nz);
    copy.kind = cudaMemcpyHostToDevice;
    if (cudaMemcpy3D(&copy) != cudaSuccess) return puts("FAIL copy"), 1;
    float* out;
    cudaMalloc(&out, a.size() * 4);
    dim3 block(8, 4, 2), grid((nx + 7) / 8, (ny + 3) / 4, (nz + 1) / 2);
    smooth<<<grid, block>>>(p, out, nx, ny, nz);
    cudaMemcpy(b.data(), out, b.size() * 4, cudaMemcpyDeviceToHost);
    for (unsigned z = 0; z < nz; ++z)
        for (unsigned y = 0; y < ny; ++y)
            for (unsigned x = 0; x < nx; ++x) {
                size_t r = (z * ny + y) * nx;
                float want = a[r + (x ? x - 1 : 0)] + a[r + x] + a[r + (x + 1 < nx ? x + 1 : nx - 1)];
                if (b[r + x] != want) return printf("FAIL %u %u %u\n", x, y, z), 1;
            }
    puts("PASS");
}
