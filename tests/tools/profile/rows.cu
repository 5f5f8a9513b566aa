// A sparse matrix times a vector: how much a thread does is in the arrays.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                 \
    if (const cudaError_t status = (call); status != cudaSuccess) { \
        std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
        return 1;                                                   \
    }

__global__ void multiply_rows(const int* begin, const int* column, const float* value, const float* x,
                              float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; ++k) sum += value[k] * x[column[k]];
    y[i] = sum;
}
__global__ void double_all(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * y[i];
}

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 3000, each = 24;
    std::vector<int> begin(n + 1), column;
    std::vector<float> value, x(n), y(n);
    for (int i = 0; i < n; ++i) {
        begin[i] = static_cast<int>(column.size());
        for (int k = 0; k < each; ++k) {
            column.push_back((i + 7 * k) % n);
            value.push_back(1.0f / (1 + k));
        }
        x[i] = static_cast<float>(i % 13);
    }
    begin[n] = static_cast<int>(column.size());
    int *d_begin = nullptr, *d_column = nullptr;
    float *d_value = nullptr, *d_x = nullptr, *d_y = nullptr;
    CHECK(cudaMalloc(&d_begin, begin.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_column, column.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_value, value.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMemcpy(d_begin, begin.data(), begin.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_column, column.data(), column.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_value, value.data(), value.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    multiply_rows<<<(n + 1023) / 1024, 1024>>>(d_begin, d_column, d_value, d_x, d_y, n);
    double_all<<<(n + 255) / 256, 256>>>(d_y, n);
    CHECK(cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
        float sum = 0;
        for (int k = begin[i]; k < begin[i + 1]; ++k) sum += value[k] * x[column[k]];
        if (y[i] - 2 * sum > 1e-3f || 2 * sum - y[i] > 1e-3f) {
            std::printf("FAIL: row %d is %g, not %g\n", i, y[i], 2 * sum);
            return 1;
        }
    }
    std::printf("PASS\n");
}
