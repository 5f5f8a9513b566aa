// Sparse matrix by vector in doubles: templates in a namespace, rows by threads and by warps, coordinates
// with atomics. Flags: -O2 -std=c++20 --cuda-gpu-arch=sm_80
#include <cstdio>
#include <random>
#include <vector>
namespace sparse {
template <typename I, typename T>
__global__ void by_thread(I rows, const I* __restrict__ start, const I* __restrict__ column,
                          const T* __restrict__ value, const T* __restrict__ x, T* __restrict__ y) {
    const I row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
    for (I j = start[row]; j < start[row + 1]; ++j) sum += value[j] * x[column[j]];
    y[row] = sum;
}
template <typename I, typename T>
__global__ void by_warp(I rows, const I* start, const I* column, const T* value, const T* x, T* y) {
    const I row = (blockDim.x * blockIdx.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    T sum = 0;
    for (I j = start[row] + lane; j < start[row + 1]; j += 32) sum += value[j] * x[column[j]];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (lane == 0) y[row] = sum;
}
__global__ void by_entry(int entries, const int* row, const int* column, const double* value, const double* x,
                         double* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += blockDim.x * gridDim.x)
        atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}
}  // namespace sparse
template <typename T>
T* on_device(const std::vector<T>& v) {
    T* p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
int main() {
    std::mt19937 random(7);
    const int n = 300;
    std::vector<int> start{0}, row, column;
    std::vector<double> value, x(n), want(n, 0), got(n);
    for (int i = 0; i < n; i++) {
        x[i] = random() % 17;
        for (int k = random() % 40; k > 0; k--) {
            row.push_back(i);
            column.push_back(random() % n);
            value.push_back((int)(random() % 9) - 4);
        }
        start.push_back(column.size());
    }
    for (size_t i = 0; i < row.size(); i++) want[row[i]] += value[i] * x[column[i]];
    const int *s = on_device(start), *r = on_device(row), *c = on_device(column);
    const double *v = on_device(value), *dx = on_device(x);
    double* y = on_device(got);
    bool good = true;
    for (int way = 0; way < 3; way++) {
        cudaMemset(y, 0, n * sizeof(double));
        if (way == 0) sparse::by_thread<int, double><<<(n + 255) / 256, 256>>>(n, s, c, v, dx, y);
        if (way == 1) sparse::by_warp<int, double><<<(n * 32 + 255) / 256, 256>>>(n, s, c, v, dx, y);
        if (way == 2) sparse::by_entry<<<13, 96>>>(row.size(), r, c, v, dx, y);
        cudaMemcpy(got.data(), y, n * sizeof(double), cudaMemcpyDeviceToHost);
        good = good && got == want;
    }
    puts(good ? "PASS" : "FAIL");
}
