// Functors, lambdas, virtual dispatch inside the device, recursion, switch, function pointers.
#include <cstdio>
#include <vector>
struct Scale {
    float factor;
    __device__ float operator()(float v) const { return v * factor; }
};
template <typename F>
__global__ void apply(float* x, int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = f(x[i]);
}
__device__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ int twice(int v) {
    return 2 * v;
}
__device__ int thrice(int v) {
    return 3 * v;
}
typedef int (*Function)(int);
__device__ Function table[2] = {twice, thrice};
struct Shape {
    __device__ virtual int area(int v) const { return v; }
};
struct Square : Shape {
    __device__ int area(int v) const override { return v * v; }
};
__global__ void dispatch(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Shape shape;
    Square square;
    const Shape* s = i % 2 ? &shape : (const Shape*)&square;
    int v = s->area(i);
    switch (i % 5) {
        case 0:
            v += 7;
            break;
        case 1:
            v ^= 3;
            break;
        case 2:
            v = fibonacci(i % 12);
            break;
        case 3:
            v = table[i % 2](v);
            break;
        default:
            v = -v;
    }
    out[i] = v;
}
static int fibonacci_host(int n) {
    return n < 2 ? n : fibonacci_host(n - 1) + fibonacci_host(n - 2);
}
int main() {
    const int n = 130;
    float* x;
    int* out;
    cudaMalloc(&x, n * 4);
    cudaMalloc(&out, n * 4);
    std::vector<float> h(n, 2.f);
    cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice);
    apply<<<(n + 63) / 64, 64>>>(x, n, Scale{3.f});
    float shift = 1.5f;
    apply<<<(n + 63) / 64, 64>>>(x, n, [shift] __device__(float v) { return v + shift; });
    dispatch<<<(n + 31) / 32, 32>>>(out, n);
    std::vector<int> o(n);
    cudaMemcpy(h.data(), x, n * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(o.data(), out, n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) {
        int v = i % 2 ? i : i * i;
        switch (i % 5) {
            case 0:
                v += 7;
                break;
            case 1:
                v ^= 3;
                break;
            case 2:
                v = fibonacci_host(i % 12);
                break;
            case 3:
                v = i % 2 ? 3 * v : 2 * v;
                break;
            default:
                v = -v;
        }
        if (h[i] != 7.5f || o[i] != v) return printf("FAIL %d %g %d %d\n", i, h[i], o[i], v), 1;
    }
    printf("%s\n", cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
