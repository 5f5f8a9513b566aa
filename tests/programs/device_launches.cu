// Kernels that launch kernels: a tree of them, a sort that calls itself, streams, shared memory, one order.
// Flags: -O3 -rdc=true -lcudadevrt
#include <cstdio>
template <typename T>
__global__ void child(T* out, int n, T add) {
    extern __shared__ int buffer[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    buffer[threadIdx.x] = i;
    __syncthreads();
    if (i < n) out[i] = out[i] * 2 + add + buffer[threadIdx.x] - i;
}
__global__ void parent(double* out, int n) {
    // In the order of one stream.
    if (threadIdx.x != 0) return;
    for (int k = 0; k < 3; k++) child<double><<<(n + 63) / 64, 64, 64 * sizeof(int)>>>(out, n, k);
    if (cudaGetLastError() != cudaSuccess) out[0] = -1;
}
__global__ void count(int* counts, int depth) {
    if (threadIdx.x == 0) atomicAdd(&counts[depth], 1);
    if (depth < 4 && threadIdx.x < 2) count<<<2, 32>>>(counts, depth + 1);
}
__global__ void quicksort(int* a, int left, int right, int depth) {
    if (depth >= 12 || right - left < 8) {
        for (int i = left + 1; i <= right; i++) {
            int value = a[i], j = i - 1;
            for (; j >= left && a[j] > value; j--) a[j + 1] = a[j];
            a[j + 1] = value;
        }
        return;
    }
    int pivot = a[(left + right) / 2], i = left, j = right;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            int swapped = a[i];
            a[i++] = a[j];
            a[j--] = swapped;
        }
    }
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (left < j) quicksort<<<1, 1, 0, streams[0]>>>(a, left, j, depth + 1);
    if (i < right) quicksort<<<1, 1, 0, streams[1]>>>(a, i, right, depth + 1);
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
}
int main() {
    const int n = 1000;
    double* out;
    int *counts, *a;
    cudaMallocManaged(&out, n * sizeof(double));
    cudaMallocManaged(&counts, 5 * sizeof(int));
    cudaMallocManaged(&a, n * sizeof(int));
    for (int i = 0; i < n; i++) {
        out[i] = i;
        a[i] = i * 7919 % n;
    }
    for (int i = 0; i < 5; i++) counts[i] = 0;
    parent<<<1, 32>>>(out, n);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < n; i++) good = good && out[i] == i * 8 + 0 * 4 + 1 * 2 + 2;
    count<<<1, 32>>>(counts, 0);
    good = good && cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0, all = 1; i < 5; i++, all *= 4) good = good && counts[i] == all;
    quicksort<<<1, 1>>>(a, 0, n - 1, 0);
    good = good && cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < n; i++) good = good && a[i] == i;
    puts(good ? "PASS" : "FAIL");
}
