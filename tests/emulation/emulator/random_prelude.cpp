// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/random_program.h"

namespace trimtab::emulator::test {

// NaNs have no payload here, conversions never overflow, quotients always exist: what C++ leaves open, two
// compilers may answer differently.
const char* const random_prelude = R"(
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef signed char s8; typedef short s16; typedef int s32; typedef long long s64; typedef float f32; typedef double f64;
typedef _Float16 f16;
#ifdef DEVICE
#define DEV static __attribute__((device))
#define TABLE static __attribute__((device)) const
#define SQRT32 __nvvm_sqrt_rn_f
#define SQRT64 __nvvm_sqrt_rn_d
#else
#define DEV static
#define TABLE static const
#define SQRT32 __builtin_sqrtf
#define SQRT64 __builtin_sqrt
#endif
#define NOINLINE __attribute__((noinline))
struct alignas(16) V4 { u32 x, y, z, w; };
struct Pair { u32 a; f64 b; s16 c; };
struct State { u32 ua, ub, uc; s32 sa, sb; u64 la, lb; s64 ma; u16 ha; s16 hb; u8 ca; s8 cb; f32 fa, fb; f64 da, db; f16 xa; };
template <class T> DEV inline T divide(T a, T b) { return b == 0 || (T(0) - 1 < 0 && b == T(0) - 1) ? T(a ^ b) : T(a / b); }
template <class T> DEV inline T modulo(T a, T b) { return b == 0 || (T(0) - 1 < 0 && b == T(0) - 1) ? T(a + b) : T(a % b); }
template <class T> DEV inline T left(T a, u32 n) { return T(u64(a) << (n % (8 * sizeof(T)))); }
template <class T> DEV inline T right(T a, u32 n) { return T(a >> (n % (8 * sizeof(T)))); }
DEV inline u32 turn(u32 a, u32 n) { n &= 31; return n == 0 ? a : (a << n) | (a >> (32 - n)); }
DEV inline u64 turn(u64 a, u32 n) { n &= 63; return n == 0 ? a : (a << n) | (a >> (64 - n)); }
DEV inline u32 high(u32 a, u32 b) { return u32((u64(a) * b) >> 32); }
DEV inline s32 high(s32 a, s32 b) { return s32((s64(a) * b) >> 32); }
DEV inline u64 high(u64 a, u64 b) { return u64(((unsigned __int128)a * b) >> 64); }
DEV inline u32 ones(u32 a) { return u32(__builtin_popcount(a)); }
DEV inline u32 ones(u64 a) { return u32(__builtin_popcountll(a)); }
DEV inline u32 zeros(u32 a) { return a == 0 ? 32 : u32(__builtin_clz(a)); }
DEV inline u32 zeros(u64 a) { return a == 0 ? 64 : u32(__builtin_clzll(a)); }
DEV inline u32 lowest(u32 a) { return a == 0 ? 32 : u32(__builtin_ctz(a)); }
DEV inline u32 turned(u32 a) { return __builtin_bitreverse32(a); }
DEV inline u64 turned(u64 a) { return __builtin_bitreverse64(a); }
DEV inline u32 swapped(u32 a) { return __builtin_bswap32(a); }
DEV inline u64 swapped(u64 a) { return __builtin_bswap64(a); }
template <class T> DEV inline T least(T a, T b) { return a < b ? a : b; }
template <class T> DEV inline T most(T a, T b) { return a > b ? a : b; }
DEV inline f32 least(f32 a, f32 b) { return a == b ? a : __builtin_fminf(a, b); }
DEV inline f64 least(f64 a, f64 b) { return a == b ? a : __builtin_fmin(a, b); }
DEV inline f32 most(f32 a, f32 b) { return a == b ? a : __builtin_fmaxf(a, b); }
DEV inline f64 most(f64 a, f64 b) { return a == b ? a : __builtin_fmax(a, b); }
DEV inline u32 bits(f32 a) { return a != a ? 0x7fc00000u : __builtin_bit_cast(u32, a); }
DEV inline u64 bits(f64 a) { return a != a ? 0x7ff8000000000000ull : __builtin_bit_cast(u64, a); }
DEV inline u16 bits(f16 a) { return a != a ? (u16)0x7e00 : __builtin_bit_cast(u16, a); }
DEV inline f32 real(u32 a) { f32 r = __builtin_bit_cast(f32, a); return r != r ? 1.5f : r; }
DEV inline f64 real(u64 a) { f64 r = __builtin_bit_cast(f64, a); return r != r ? -2.25 : r; }
DEV inline f16 half(u16 a) { f16 r = __builtin_bit_cast(f16, a); return r != r ? (f16)3.0f : r; }
template <class T, class F> DEV inline T whole(F a) { return a > F(-100) && a < F(100) ? T(s32(a)) : sizeof(T) > 2 && a > F(0) && a < F(2e9) ? T(a) : T(7); }
DEV inline f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
DEV inline f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
DEV inline f32 root(f32 a) { return SQRT32(a < 0 ? -a : a); }
DEV inline f64 root(f64 a) { return SQRT64(a < 0 ? -a : a); }
DEV inline f32 below(f32 a) { return __builtin_floorf(a); }
DEV inline f64 below(f64 a) { return __builtin_floor(a); }
DEV inline f32 above(f32 a) { return __builtin_ceilf(a); }
DEV inline f64 above(f64 a) { return __builtin_ceil(a); }
DEV inline f32 nearest(f32 a) { return __builtin_rintf(a); }
DEV inline f64 nearest(f64 a) { return __builtin_rint(a); }
DEV inline f32 size(f32 a) { return __builtin_fabsf(a); }
DEV inline f64 size(f64 a) { return __builtin_fabs(a); }
DEV inline f32 signed_as(f32 a, f32 b) { return b != b ? a : __builtin_copysignf(a, b); }
DEV inline f64 signed_as(f64 a, f64 b) { return b != b ? a : __builtin_copysign(a, b); }
// Through binary32, which holds sums and products of two of them closely enough.
// Nothing beyond half's range: clang 22 folds (f32)(f16)(f32)u to (f32)u where u is one bit, infinity or not.
DEV inline f16 halved(f32 a) { return a > -65000 && a < 65000 ? (f16)a : (f16)1.25f; }
DEV inline u32 digest(const State& s) {
    u32 h = s.ua; h = h * 31 + s.ub; h = h * 31 + s.uc; h = h * 31 + u32(s.sa); h = h * 31 + u32(s.sb);
    h = h * 31 + u32(s.la ^ (s.la >> 32)); h = h * 31 + u32(s.lb ^ (s.lb >> 32)); h = h * 31 + u32(s.ma ^ (s.ma >> 32));
    h = h * 31 + s.ha; h = h * 31 + u32(s.hb); h = h * 31 + s.ca; h = h * 31 + u32(s.cb); h = h * 31 + bits(s.fa);
    h = h * 31 + bits(s.fb); h = h * 31 + u32(bits(s.da) ^ (bits(s.da) >> 32)); h = h * 31 + u32(bits(s.db) ^ (bits(s.db) >> 32));
    return h * 31 + bits(s.xa);
}
DEV inline void begin(State& s, u32 thread, const u32* in) {
    const u32 k = thread * 17;
    s.ua = in[k & 255]; s.ub = thread; s.uc = in[(k + 1) & 255] >> 20; s.sa = s32(in[(k + 2) & 255]); s.sb = s32(thread) - 16;
    s.la = in[(k + 3) & 255] * 0x100000001ull; s.lb = thread; s.ma = s64(s.sa) * s.sb; s.ha = u16(s.ua); s.hb = s16(s.sa >> 3);
    s.ca = u8(s.uc); s.cb = s8(s.sa); s.fa = f32(s.sa) * 0.001f; s.fb = real(in[(k + 4) & 255]); s.da = f64(s.sb) / 7; s.db = f64(s.fa) * s.ub;
    s.xa = halved(f32(s.sb) * 0.37f);
}
)";

}  // namespace trimtab::emulator::test
