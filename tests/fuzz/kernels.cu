// What fuzz_launch launches. kernels.ptx: clang++-22 -x cuda --cuda-device-only -S --cuda-gpu-arch=sm_75 -O2
// -gline-tables-only
extern __shared__ int dynamic_part[];
__device__ int table[16];
__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

extern "C" __global__ void copy(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * weights[i % 8];
}
extern "C" __global__ void at_any_index(int* out, long long index, int value) {
    out[index] = value;
}
extern "C" __global__ void bytes(unsigned char* out, const double2* in, unsigned step, unsigned long long n) {
    for (unsigned long long i = threadIdx.x; i < n; i += step) out[i] = in[i].x + in[n - i].y;
}
extern "C" __global__ void shared(int* data, int at, int size) {
    __shared__ int own[64];
    own[threadIdx.x % 64] = data[threadIdx.x];
    dynamic_part[at + (int)threadIdx.x] = own[(threadIdx.x + 1) % 64];
    __syncthreads();
    data[threadIdx.x] = dynamic_part[size - (int)threadIdx.x] + own[at & 127];
}
extern "C" __global__ void local(int* out, int at, int n) {
    int part[32];
    for (int i = 0; i < 32; i++) part[i] = i * n;
    part[at] = 7;
    out[threadIdx.x] = part[n] + table[at];
}
extern "C" __global__ void atomics(int* counters, unsigned stride, int n) {
    for (int i = 0; i < n; i++) {
        atomicAdd(&counters[i * stride], i);
        atomicMax(&table[(unsigned)i % 16], atomicCAS(&counters[stride], i, n));
    }
}
extern "C" __global__ void exchange(int* data, unsigned mask, int distance) {
    int v = data[threadIdx.x];
    if ((mask >> (threadIdx.x % 32)) & 1)
        v = __shfl_down_sync(mask, v, distance) + __ballot_sync(mask, v > 3);
    data[threadIdx.x] = v;
}
__device__ __noinline__ int depth(int n, int* out) {
    return n <= 0 ? 0 : 1 + depth(n - 1, out) + out[n & 15];
}
extern "C" __global__ void recursive(int* out, int n) {
    out[threadIdx.x % 16] = depth(n, out);
}
typedef int (*Operation)(int, int);
__device__ int add(int a, int b) {
    return a + b;
}
__device__ int times(int a, int b) {
    return a * b;
}
__device__ Operation operations[2] = {add, times};
extern "C" __global__ void indirect(int* out, unsigned which, Operation direct) {
    out[threadIdx.x] = operations[which](3, threadIdx.x) + (which > 100 ? direct(1, 2) : 0);
}
struct Pack {
    int* out;
    int n;
    short s[5];
};
extern "C" __global__ void packed(Pack pack, const char* format) {
    for (int i = 0; i < pack.n; i++) pack.out[i] = pack.s[i];
    if (threadIdx.x == 0) printf(format, pack.n, pack.out, 2.5);
}
extern "C" __global__ void heap(int** out, size_t bytes) {
    int* p = (int*)malloc(bytes);
    if (p) p[threadIdx.x] = 1;
    *out = p;
    __syncthreads();
    free(*out);
}
extern "C" __global__ void divergent(int* out, int n) {
    for (int i = threadIdx.x; i != n; i += 3) {
        if (i % 2)
            __syncthreads();
        else
            out[i & 255] = i;
        if (i > 1000) break;
    }
    __syncthreads();
}
