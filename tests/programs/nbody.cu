// float4, rsqrtf, structures by value, device functions, shared tiles, fast special functions.
#include <cmath>
#include <cstdio>
#include <vector>
struct Settings {
    float softening, dt;
    int n;
};
__device__ float3 pull(float4 a, float4 b, float3 sum, float softening) {
    float3 r = make_float3(b.x - a.x, b.y - a.y, b.z - a.z);
    float d = r.x * r.x + r.y * r.y + r.z * r.z + softening;
    float inverse = rsqrtf(d);
    float s = b.w * inverse * inverse * inverse;
    return make_float3(sum.x + r.x * s, sum.y + r.y * s, sum.z + r.z * s);
}
__global__ void plain(const float4* bodies, float3* force, Settings s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.n) return;
    float3 sum = make_float3(0, 0, 0);
    for (int j = 0; j < s.n; ++j) sum = pull(bodies[i], bodies[j], sum, s.softening);
    force[i] = sum;
}
__global__ void tiled(const float4* bodies, float3* force, Settings s) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < s.n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int base = 0; base < s.n; base += blockDim.x) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < s.n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < blockDim.x && base + k < s.n; ++k) sum = pull(me, tile[k], sum, s.softening);
        __syncthreads();
    }
    if (i < s.n) force[i] = sum;
}
int main() {
    const int n = 300;
    std::vector<float4> bodies(n);
    for (int i = 0; i < n; ++i)
        bodies[i] = make_float4(std::sin(i), std::cos(2.f * i), std::sin(3.f * i), 1.f + i % 3);
    float4* d;
    float3 *f, *g;
    cudaMalloc(&d, n * sizeof(float4));
    cudaMalloc(&f, n * sizeof(float3));
    cudaMalloc(&g, n * sizeof(float3));
    cudaMemcpy(d, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
    Settings s{0.01f, 0.1f, n};
    plain<<<(n + 63) / 64, 64>>>(d, f, s);
    tiled<<<(n + 63) / 64, 64, 64 * sizeof(float4)>>>(d, g, s);
    std::vector<float3> a(n), b(n);
    cudaMemcpy(a.data(), f, n * sizeof(float3), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), g, n * sizeof(float3), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) {
        double x = 0;
        for (int j = 0; j < n; ++j) {
            double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y,
                   dz = bodies[j].z - bodies[i].z;
            double r = dx * dx + dy * dy + dz * dz + 0.01f;
            x += dx * bodies[j].w / (r * std::sqrt(r));
        }
        if (std::fabs(a[i].x - x) > 1e-3 * (1 + std::fabs(x)) || a[i].x != b[i].x)
            return printf("FAIL %d %g %g %g\n", i, a[i].x, b[i].x, x), 1;
    }
    puts("PASS");
}
