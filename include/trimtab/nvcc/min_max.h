// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// min and max of the global namespace in host code: the overloads of nvcc's crt/math_functions.h, which clang
// has for the device alone.
#pragma once
#pragma clang system_header

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define TRIMTAB_MIN_MAX(result, first, second)                                           \
    static inline __host__ constexpr result min(first a, second b) {                     \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)  \
                                                               : static_cast<result>(b); \
    }                                                                                    \
    static inline __host__ constexpr result max(first a, second b) {                     \
        return static_cast<result>(a) > static_cast<result>(b) ? static_cast<result>(a)  \
                                                               : static_cast<result>(b); \
    }
// A NaN gives the other one, as fmin and fmax have it.
#define TRIMTAB_FLOATING_MIN_MAX(result, first, second)    \
    static inline __host__ result min(first a, second b) { \
        return static_cast<result>(__builtin_fmin(a, b));  \
    }                                                      \
    static inline __host__ result max(first a, second b) { \
        return static_cast<result>(__builtin_fmax(a, b));  \
    }
// NOLINTEND(bugprone-macro-parentheses)

TRIMTAB_MIN_MAX(int, int, int)
TRIMTAB_MIN_MAX(unsigned int, unsigned int, unsigned int)
TRIMTAB_MIN_MAX(unsigned int, int, unsigned int)
TRIMTAB_MIN_MAX(unsigned int, unsigned int, int)
TRIMTAB_MIN_MAX(long, long, long)
TRIMTAB_MIN_MAX(unsigned long, unsigned long, unsigned long)
TRIMTAB_MIN_MAX(unsigned long, long, unsigned long)
TRIMTAB_MIN_MAX(unsigned long, unsigned long, long)
TRIMTAB_MIN_MAX(long long, long long, long long)
TRIMTAB_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
TRIMTAB_MIN_MAX(unsigned long long, long long, unsigned long long)
TRIMTAB_MIN_MAX(unsigned long long, unsigned long long, long long)
TRIMTAB_FLOATING_MIN_MAX(float, float, float)
TRIMTAB_FLOATING_MIN_MAX(double, double, double)
TRIMTAB_FLOATING_MIN_MAX(double, float, double)
TRIMTAB_FLOATING_MIN_MAX(double, double, float)

static inline __host__ unsigned int umin(unsigned int a, unsigned int b) {
    return min(a, b);
}
static inline __host__ unsigned int umax(unsigned int a, unsigned int b) {
    return max(a, b);
}
static inline __host__ long long llmin(long long a, long long b) {
    return min(a, b);
}
static inline __host__ long long llmax(long long a, long long b) {
    return max(a, b);
}
static inline __host__ unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return min(a, b);
}
static inline __host__ unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return max(a, b);
}

#undef TRIMTAB_MIN_MAX
#undef TRIMTAB_FLOATING_MIN_MAX
