// Integer intrinsics and 64-bit arithmetic against the host.
#include <cstdint>
#include <cstdio>
#include <vector>
__global__ void compute(const uint32_t* x, uint64_t* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t a = x[i], b = x[(i + 1) % n];
    uint64_t w = ((uint64_t)a << 32) | b;
    uint64_t* r = y + i * 12;
    r[0] = __popc(a);
    r[1] = __clz(a);
    r[2] = __ffs(a);
    r[3] = __brev(a);
    r[4] = __umulhi(a, b);
    r[5] = __byte_perm(a, b, 0x3614);
    r[6] = __popcll(w) + __clzll(w) * 100;
    r[7] = w / (b | 1);
    r[8] = w % (a | 1);
    r[9] = (uint64_t)((int64_t)w >> (b & 63));
    r[10] = __funnelshift_l(a, b, 7);
    r[11] = (uint64_t)(int64_t)((int32_t)a / (int32_t)(b | 1)) ^ __mul24(a & 0xffff, b & 0xff) ^
            __sad((int)a, (int)b, 3u);
}
int main() {
    const int n = 500;
    std::vector<uint32_t> x(n);
    uint32_t seed = 1;
    for (auto& v : x) v = seed = seed * 1664525u + 1013904223u;
    x[0] = 0;
    x[1] = 0xffffffffu;
    x[2] = 0x80000000u;
    x[3] = 1;
    uint32_t* d;
    uint64_t* out;
    cudaMalloc(&d, n * 4);
    cudaMalloc(&out, n * 12 * 8);
    cudaMemcpy(d, x.data(), n * 4, cudaMemcpyHostToDevice);
    compute<<<(n + 95) / 96, 96>>>(d, out, n);
    std::vector<uint64_t> y(n * 12);
    cudaMemcpy(y.data(), out, n * 12 * 8, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) {
        uint32_t a = x[i], b = x[(i + 1) % n];
        uint64_t w = ((uint64_t)a << 32) | b, ab = ((uint64_t)b << 32) | a;
        uint32_t reversed = 0, permuted = 0;
        for (int k = 0; k < 32; ++k) reversed |= ((a >> k) & 1u) << (31 - k);
        const int pick[4] = {4, 1, 6, 3};
        for (int k = 0; k < 4; ++k) permuted |= (uint32_t)((ab >> (8 * pick[k])) & 0xff) << (8 * k);
        uint32_t difference = (int32_t)a > (int32_t)b ? a - b : b - a;
        uint64_t want[12] = {(uint64_t)__builtin_popcount(a),
                             (uint64_t)(a ? __builtin_clz(a) : 32),
                             (uint64_t)__builtin_ffs(a),
                             reversed,
                             ((uint64_t)a * b) >> 32,
                             permuted,
                             (uint64_t)__builtin_popcountll(w) + (w ? __builtin_clzll(w) : 64) * 100,
                             w / (b | 1),
                             w % (a | 1),
                             (uint64_t)((int64_t)w >> (b & 63)),
                             (uint32_t)((b << 7) | (a >> 25)),
                             (uint64_t)(int64_t)((int32_t)((int64_t)(int32_t)a / (int32_t)(b | 1))) ^
                                 (uint64_t)(int64_t)(int32_t)((a & 0xffff) * (b & 0xff)) ^
                                 (uint64_t)(difference + 3u)};
        for (int k = 0; k < 12; ++k)
            if (y[i * 12 + k] != want[k])
                return printf("FAIL %d operation %d: %llx, not %llx\n", i, k,
                              (unsigned long long)y[i * 12 + k], (unsigned long long)want[k]),
                       1;
    }
    puts("PASS");
}
