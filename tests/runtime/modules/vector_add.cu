// vector_add FILE: as nvcc builds it; its result as bytes.
#include <cstdio>
#include <vector>

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
    constexpr int n = 100000;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i) / 3;
    float *a = nullptr, *c = nullptr;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&c, n * sizeof(float));
    cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    vector_add<<<(n + 31) / 32, 32>>>(a, a, c, n);
    if (cudaMemcpy(host.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    std::FILE* file = argc == 2 ? std::fopen(argv[1], "wb") : nullptr;
    if (file == nullptr) return 2;
    std::fwrite(host.data(), sizeof(float), host.size(), file);
    std::fclose(file);
    std::puts("PASS");
}
