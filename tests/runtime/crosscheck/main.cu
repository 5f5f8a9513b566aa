// A program with a kernel that memory does not steer, and one that it does; sleeps between launches, so that a
// background thread comes to an end. main LAUNCHES MILLISECONDS
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void product(const float* a, const float* b, float* c, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}

__global__ void gather(float* to, const float* from, const int* places, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[places[i]];
}

int main(int argc, char** argv) {
    const int launches = argc > 1 ? atoi(argv[1]) : 1, milliseconds = argc > 2 ? atoi(argv[2]) : 0;
    const int n = 96, count = n * n;
    std::vector<float> first(count), second(count), result(count);
    std::vector<int> order(count);
    for (int i = 0; i < count; ++i) {
        first[i] = static_cast<float>(i % 7);
        second[i] = static_cast<float>(i % 5);
        order[i] = count - 1 - i;
    }
    float *a, *b, *c;
    int* places;
    cudaMalloc(&a, count * 4);
    cudaMalloc(&b, count * 4);
    cudaMalloc(&c, count * 4);
    cudaMalloc(&places, count * 4);
    cudaMemcpy(a, first.data(), count * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(b, second.data(), count * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(places, order.data(), count * 4, cudaMemcpyHostToDevice);
    for (int i = 0; i < launches; ++i) {
        product<<<dim3(n / 4, n / 8), dim3(4, 8)>>>(a, b, c, n);
        gather<<<(count + 31) / 32, 32>>>(a, c, places, count);
        usleep(1000 * milliseconds);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaMemcpy(result.data(), a, count * 4, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += result[i] * (i % 11);
    std::printf("%.0f\n", sum);
}
