// CUDA's mathematics and half types in host code.
// Flags: -O2
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector_functions.h>
#include <vector_types.h>

#include <cstdio>
// nvcc host code: CUDA's host-side math
int main() {
    float a = 4;
    double d = 4;
    float s = rsqrtf(a) + (float)rsqrt(d) + rcbrtf(8.f) + sinpif(.5f) + cospif(1.f) + erfcinvf(1.f) +
              erfinvf(0.f) + normcdff(0.f) + (float)sinpi(.5) + (float)erfinv(0.) + (float)normcdf(0.) +
              exp10f(1) + (float)exp10(1.);
    float sp, cp;
    sincosf(a, &sp, &cp);
    double ds, dc;
    sincos(d, &ds, &dc);
    sincospif(.25f, &sp, &cp);
    printf("%.4f %.4f\n", s, sp);
    half h = __float2half_rn(1.5f);
    __half2 h2 = __floats2half2_rn(1, 2);
    float2 f2 = __half22float2(h2);
    nv_bfloat16 b = __float2bfloat16_rn(2.5f);
    printf("%g %g %g %g\n", __half2float(h), f2.y, __bfloat162float(b), __low2float(h2));
    float3 v = make_float3(1, 2, 3);
    dim3 g(2);
    uint3 u = make_uint3(1, 2, 3);
    int4 q = make_int4(1, 2, 3, 4);
    printf("%g %u %u %d\n", v.z, g.y, u.z, q.w);
    int mm = min(3, 4) + max(5u, 6u) + min(2ll, 3ll) + umin(3u, 4u) + llmax(3ll, 4ll);
    float fm = fminf(1, 2) + fmaxf(1, 2) + max(1.f, 2.f) + min(1.0, 2.0) + fmin(1.f, 2.f);
    printf("%d %g\n", mm, fm);
    puts("PASS");
}
