// new and delete in device code, where a header of C++20 reads <new> before clang has the device's malloc.
// Flags: -O3 -std=c++20
#include <algorithm>
#include <cstdio>
#include <span>

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square final : Shape {
    float side;
    __device__ explicit Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};

__global__ void areas(float* out) {
    Shape* shape = new Square(threadIdx.x);
    out[threadIdx.x] = shape->area();
    delete shape;
    float* row = new float[threadIdx.x + 1];
    for (unsigned i = 0; i <= threadIdx.x; ++i) row[i] = i;
    out[threadIdx.x] += row[threadIdx.x];
    delete[] row;
}

int main() {
    float* out;
    cudaMallocManaged(&out, 32 * sizeof(float));
    areas<<<1, 32>>>(out);
    bool ok = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < 32; ++i) ok &= out[i] == i * i + i;
    printf("%s\n", ok ? "PASS" : "FAIL");
}
