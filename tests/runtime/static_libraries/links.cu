// Is linked to the library, and holds a runtime of its own besides.
#include <cstdio>

extern "C" int work(int n);

__global__ void count(int* c) {
    atomicAdd(c, 1);
}

int main() {
    int *c, total = 0;
    if (cudaMalloc(&c, sizeof(int)) != cudaSuccess || cudaMemset(c, 0, sizeof(int)) != cudaSuccess) return 1;
    count<<<3, 50>>>(c);
    if (cudaMemcpy(&total, c, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess || total != 150) return 1;
    return work(1000) + work(100000);
}
