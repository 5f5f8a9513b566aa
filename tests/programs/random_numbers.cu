// curand_kernel.h on the device: a state for each thread kept between kernels, and Philox; pi by chance.
#include <curand_kernel.h>
#include <stdio.h>

#include <cmath>
#define THREADS 64
#define BLOCKS 8
#define TRIALS 60
__global__ void set_up(curandState* state, unsigned long seed) {
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    curand_init(seed, id, 0, &state[id]);
}
__global__ void estimate(float* out, curandState* states) {
    unsigned id = threadIdx.x + blockDim.x * blockIdx.x;
    curandState local = states[id];
    int inside = 0;
    for (int i = 0; i < TRIALS; i++) {
        float x = curand_uniform(&local), y = curand_uniform(&local);
        inside += (x * x + y * y <= 1.0f);
    }
    states[id] = local;
    out[id] = 4.0f * inside / (float)TRIALS;
}
__global__ void normal(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    curandStatePhilox4_32_10_t state;
    curand_init(1234ULL, i, 0, &state);
    float4 v = curand_normal4(&state);
    out[i] = (v.x + v.y + v.z + v.w) / 2;
}
int main() {
    const int n = THREADS * BLOCKS;
    float *out, host[n];
    curandState* states;
    cudaMalloc((void**)&out, sizeof host);
    cudaMalloc((void**)&states, n * sizeof(curandState));
    set_up<<<BLOCKS, THREADS>>>(states, 42);
    double pi = 0, mean = 0, square = 0;
    for (int round = 0; round < 2; round++) {
        estimate<<<BLOCKS, THREADS>>>(out, states);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        for (float v : host) pi += v / (2 * n);
    }
    normal<<<BLOCKS, THREADS>>>(out, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (float v : host) mean += v / n, square += v * v / n;
    printf("%.9g %.9g %.9g\n", pi, mean, square);
    puts(fabs(pi - 3.14159) < 0.03 && fabs(mean) < 0.2 && fabs(square - 1) < 0.25 ? "PASS" : "FAIL");
}
