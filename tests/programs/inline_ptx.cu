// Inline PTX: special registers with one percent sign or two, carries, predicates, loads and stores.
#include <cstdio>
__device__ __forceinline__ unsigned laneid() {
    unsigned r;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}
__device__ unsigned smid() {
    unsigned r;
    asm("mov.u32 %0, %smid;" : "=r"(r));
    return r;
}
__device__ __inline__ unsigned long long gt() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}
__device__ int ldcg(const int* p) {
    int v;
    asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
__device__ unsigned lop3(unsigned a, unsigned b, unsigned c) {
    unsigned d;
    asm("lop3.b32 %0,%1,%2,%3,0x96;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
__device__ int bfe(int a) {
    int r;
    asm("bfe.s32 %0, %1, 4, 8;" : "=r"(r) : "r"(a));
    return r;
}
__device__ unsigned addc(unsigned a, unsigned b, unsigned& hi) {
    unsigned r;
    asm("{\n\tadd.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;\n\t}" : "=r"(r), "=r"(hi) : "r"(a), "r"(b));
    return r;
}
__device__ float ex2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ void st(float* p, float v) {
    asm("st.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}
__device__ unsigned long long madwide(unsigned a, unsigned b) {
    unsigned long long r;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
    return r;
}
__device__ unsigned short h(unsigned short a) {
    unsigned short r;
    asm("add.u16 %0,%1,1;" : "=h"(r) : "h"(a));
    return r;
}
__device__ double dd(double a) {
    double r;
    asm("fma.rn.f64 %0,%1,%1,%1;" : "=d"(r) : "d"(a));
    return r;
}
__device__ bool pr(int x) {
    int r;
    asm("{ .reg .pred p; setp.gt.s32 p, %1, 3; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "r"(x));
    return r;
}
__global__ void k(int* o, float* f) {
    int i = threadIdx.x;
    unsigned hi;
    o[0] = laneid();
    o[1] = smid() < 1000;
    o[2] = gt() > 0;
    o[3] = ldcg(o + 10);
    o[4] = lop3(1, 2, 4);
    o[5] = bfe(0xff0);
    o[6] = addc(~0u, 2, hi) + hi * 10;
    f[0] = ex2(3.f);
    st(f + 1, 2.f);
    o[7] = madwide(3, 4);
    o[8] = h(4);
    f[2] = dd(2);
    o[9] = pr(5);
    asm volatile("bar.sync 0;");
    asm volatile("membar.gl;" ::: "memory");
    asm("// comment");
    (void)i;
    o[11] = clock() != 0;
    o[12] = clock64() != 0;
    __nanosleep(10);
    asm volatile("prefetch.global.L2 [%0];" ::"l"(f));
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    unsigned sa = __cvta_generic_to_shared(o) * 0;
    o[13] = sa;
    o[14] = __isGlobal(o);
}
int main() {
    int* o;
    float* f;
    cudaMallocManaged(&o, 256);
    cudaMallocManaged(&f, 256);
    o[10] = 77;
    k<<<1, 1>>>(o, f);
    cudaDeviceSynchronize();
    for (int i = 0; i < 15; i++) printf("%d ", o[i]);
    printf("%g %g %g\n", f[0], f[1], f[2]);
    puts(o[3] == 77 && o[4] == 7 && f[0] == 8 && f[2] == 6 && o[9] == 1 ? "PASS" : "FAIL");
}
