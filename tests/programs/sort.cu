// Bitonic sort over many launches, and merge steps that swap through global memory.
#include <algorithm>
#include <cstdio>
#include <vector>
__global__ void step(int* x, unsigned n, unsigned j, unsigned k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ j;
    if (i >= n || partner <= i) return;
    bool up = (i & k) == 0;
    if ((x[i] > x[partner]) == up) {
        int t = x[i];
        x[i] = x[partner];
        x[partner] = t;
    }
}
int main() {
    const unsigned n = 4096;
    std::vector<int> x(n), y;
    unsigned seed = 7;
    for (auto& v : x) v = int(seed = seed * 1103515245u + 12345u) >> 5;
    int* d;
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, x.data(), n * 4, cudaMemcpyHostToDevice);
    for (unsigned k = 2; k <= n; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) step<<<n / 256, 256>>>(d, n, j, k);
    y = x;
    std::sort(y.begin(), y.end());
    cudaMemcpy(x.data(), d, n * 4, cudaMemcpyDeviceToHost);
    puts(x == y ? "PASS" : "FAIL");
    return x != y;
}
