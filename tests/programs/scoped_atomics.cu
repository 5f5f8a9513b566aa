// nvcc's built-in atomics with orders and scopes.
#include <cuda_runtime.h>

#include <cstdio>
__global__ void k(int* c, unsigned* u, unsigned long long* ull, float* f, double* d) {
    __nv_atomic_fetch_add(c, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_add(c + 1, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_fetch_sub(c + 2, 1, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_fetch_max(u, threadIdx.x, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_min(c + 3, -(int)threadIdx.x, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_or(u + 1, 1u << (threadIdx.x & 31), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_and(u + 2, ~(1u << (threadIdx.x & 31)), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_xor(u + 3, threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(f, 0.5f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(d, 0.5, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(ull, 3ull, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    int v = __nv_atomic_load_n(c + 4, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    int w;
    __nv_atomic_load(c + 4, &w, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(c + 5, v + w + 7, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    int q = 9;
    __nv_atomic_store(c + 6, &q, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    unsigned old = __nv_atomic_exchange_n(u + 4, 5u, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    int e = 0;
    bool ok = __nv_atomic_compare_exchange_n(c + 7, &e, 11, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED,
                                             __NV_THREAD_SCOPE_DEVICE);
    int e2 = 0, des = 12;
    bool ok2 = __nv_atomic_compare_exchange(c + 8, &e2, &des, true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE,
                                            __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    if (ok) atomicAdd(c + 9, 1);
    if (ok2) atomicAdd(c + 9, 1);
    (void)old;
}
int main() {
    int* c;
    unsigned* u;
    unsigned long long* l;
    float* f;
    double* d;
    cudaMallocManaged(&c, 64);
    cudaMallocManaged(&u, 64);
    cudaMallocManaged(&l, 64);
    cudaMallocManaged(&f, 64);
    cudaMallocManaged(&d, 64);
    for (int i = 0; i < 16; i++) c[i] = u[i] = 0;
    u[2] = ~0u;
    *l = 0;
    *f = 0;
    *d = 0;
    k<<<2, 64>>>(c, u, l, f, d);
    cudaDeviceSynchronize();
    for (int i = 0; i < 10; i++) printf("%d ", c[i]);
    for (int i = 0; i < 5; i++) printf("%u ", u[i]);
    printf("%llu %g %g\n", *l, *f, *d);
    puts(c[0] == 128 && c[1] == 256 && c[2] == -128 && c[3] == -63 && c[5] == 7 && c[6] == 9 && c[7] == 11 &&
                 c[8] == 12 && c[9] == 2 && u[0] == 63 && u[1] == ~0u && u[2] == 0 && u[4] == 5 && *f == 64 &&
                 *d == 64 && *l == 384
             ? "PASS"
             : "FAIL");
}
