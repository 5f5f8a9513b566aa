// Global and shared atomics of several kinds; their results are used.
#include <cstdio>
#include <vector>
__global__ void count(const unsigned char* data, int n, unsigned* bins) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
__global__ void extremes(const int* x, int n, int* low, int* high, unsigned* ticket, float* sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMin(low, x[i]);
    atomicMax(high, x[i]);
    if (atomicInc(ticket, 0xffffffffu) == 0u) atomicAdd(sum, 0.5f);
}
__global__ void add_double(double* target, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto* bits = (unsigned long long*)target;
    unsigned long long seen = *bits, expected;
    do {
        expected = seen;
        seen = atomicCAS(bits, expected, __double_as_longlong(__longlong_as_double(expected) + 1.0));
    } while (seen != expected);
}
int main() {
    const int n = 20011;
    std::vector<unsigned char> data(n);
    std::vector<int> x(n);
    unsigned want[256] = {}, bins[256];
    for (int i = 0; i < n; ++i) data[i] = (i * 7919u) >> 3, ++want[data[i]], x[i] = (i * 37) % 5003 - 1000;
    unsigned char* d;
    unsigned *b, *ticket;
    int *dx, *low;
    float* sum;
    double* total;
    cudaMalloc(&d, n);
    cudaMalloc(&b, sizeof bins);
    cudaMalloc(&ticket, 4);
    cudaMalloc(&dx, n * 4);
    cudaMalloc(&low, 8);
    cudaMalloc(&sum, 4);
    cudaMalloc(&total, 8);
    cudaMemset(b, 0, sizeof bins);
    cudaMemset(ticket, 0, 4);
    cudaMemset(low, 0, 8);
    cudaMemset(sum, 0, 4);
    cudaMemset(total, 0, 8);
    cudaMemcpy(d, data.data(), n, cudaMemcpyHostToDevice);
    cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice);
    count<<<8, 256>>>(d, n, b);
    extremes<<<(n + 127) / 128, 128>>>(dx, n, low, low + 1, ticket, sum);
    add_double<<<3, 100>>>(total, 250);
    int range[2];
    unsigned t;
    float s;
    double total_host;
    cudaMemcpy(bins, b, sizeof bins, cudaMemcpyDeviceToHost);
    cudaMemcpy(range, low, 8, cudaMemcpyDeviceToHost);
    cudaMemcpy(&t, ticket, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(&s, sum, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(&total_host, total, 8, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 256; ++i)
        if (bins[i] != want[i]) return printf("FAIL bin %d\n", i), 1;
    if (range[0] != -1000 || range[1] != 4002 || t != n || s != 0.5f || total_host != 250)
        return printf("FAIL %d %d %u %g %g\n", range[0], range[1], t, s, total_host), 1;
    puts("PASS");
}
