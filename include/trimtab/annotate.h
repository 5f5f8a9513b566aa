// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* What a programmer promises of a kernel that Trimtab cannot prove: which blocks it works with, the grid and
 * the dynamic shared memory that go with a block, and which arguments are data sizes.
 *
 *     #include <trimtab/annotate.h>
 *
 *     __global__ void
 *     TRIMTAB_TUNE(block(ispow2(bx), bx >= 64), grid(ceil(n / (2 * bx))), dynamic_shared(4 * bx))
 *     block_sum(const float *in, float *out, int n) { ... }
 *
 * docs/annotations.md has the grammar and what each clause promises. Macros in it are expanded. Every other
 * compiler than clang sees nothing of it, so that nvcc and g++ build the same source.
 */
#ifndef TRIMTAB_ANNOTATE_H
#define TRIMTAB_ANNOTATE_H

#if defined(__clang__) && defined(__CUDA__)
#define TRIMTAB_ANNOTATION_TEXT(...) #__VA_ARGS__
#define TRIMTAB_TUNE(...) __attribute__((annotate("trimtab: " TRIMTAB_ANNOTATION_TEXT(__VA_ARGS__))))
#else
#define TRIMTAB_TUNE(...)
#endif

/* Beside a kernel that is a template of its block's size: these instantiations are bodies of one kernel.
 *
 *     template <int BLOCK> __global__ void
 *     TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx)))
 *     reduce(const int *in, int *total, int n) { __shared__ int sums[BLOCK]; ... }
 *     TRIMTAB_VARIANTS(reduce, 64, 128, 256, 512);
 *
 *     reduce<256><<<(n + 255) / 256, 256>>>(in, total, n);   // any of the four, each with its own block and grid
 *
 * A body whose template has further arguments, or that is no template, is made known by itself:
 *
 *     TRIMTAB_VARIANT(product, 16, product<float, 16>);
 *
 * docs/variants.md says what follows. At most 16 values.
 */
#if defined(__clang__) && defined(__CUDA__)
/* The compiler's plugin reads the list from the device code and takes it out there; the host's keeps the
 * instantiations. */
#if defined(__CUDA_ARCH__)
#define TRIMTAB_VARIANT_MEMORY __device__
#else
#define TRIMTAB_VARIANT_MEMORY
#endif
struct trimtab_variant_entry {
    const void* kernel;
    long long value;
};
#define TRIMTAB_VARIANT_PASTE_(a, b) a##b
#define TRIMTAB_VARIANT_PASTE(a, b) TRIMTAB_VARIANT_PASTE_(a, b)
#define TRIMTAB_VARIANT_LIST(name, ...)                                                      \
    static TRIMTAB_VARIANT_MEMORY __attribute__((used, annotate("trimtab variants: " name))) \
    const trimtab_variant_entry                                                              \
    TRIMTAB_VARIANT_PASTE(trimtab_variants_, __COUNTER__)[] = {__VA_ARGS__}
#define TRIMTAB_VARIANT_ENTRY(kernel, value) {(const void*)&kernel<(value)>, (long long)(value)},
#define TRIMTAB_VARIANTS_1(kernel, a) TRIMTAB_VARIANT_ENTRY(kernel, a)
#define TRIMTAB_VARIANTS_2(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_1(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_3(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_2(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_4(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_3(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_5(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_4(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_6(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_5(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_7(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_6(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_8(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_7(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_9(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_8(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_10(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_9(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_11(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_10(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_12(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_11(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_13(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_12(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_14(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_13(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_15(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_14(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_16(kernel, a, ...) \
    TRIMTAB_VARIANT_ENTRY(kernel, a) TRIMTAB_VARIANTS_15(kernel, __VA_ARGS__)
#define TRIMTAB_VARIANTS_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, name, \
                              ...)                                                                         \
    name
#define TRIMTAB_VARIANTS(kernel, ...)                                                                 \
    TRIMTAB_VARIANT_LIST(                                                                             \
        #kernel, TRIMTAB_VARIANTS_PICK(__VA_ARGS__, TRIMTAB_VARIANTS_16, TRIMTAB_VARIANTS_15,         \
                                       TRIMTAB_VARIANTS_14, TRIMTAB_VARIANTS_13, TRIMTAB_VARIANTS_12, \
                                       TRIMTAB_VARIANTS_11, TRIMTAB_VARIANTS_10, TRIMTAB_VARIANTS_9,  \
                                       TRIMTAB_VARIANTS_8, TRIMTAB_VARIANTS_7, TRIMTAB_VARIANTS_6,    \
                                       TRIMTAB_VARIANTS_5, TRIMTAB_VARIANTS_4, TRIMTAB_VARIANTS_3,    \
                                       TRIMTAB_VARIANTS_2, TRIMTAB_VARIANTS_1, 0)(kernel, __VA_ARGS__))
#define TRIMTAB_VARIANT(name, value, ...) \
    TRIMTAB_VARIANT_LIST(#name, {(const void*)&__VA_ARGS__, (long long)(value)})
#else
#define TRIMTAB_VARIANTS(kernel, ...) static_assert(true, "")
#define TRIMTAB_VARIANT(name, value, ...) static_assert(true, "")
#endif

#endif
