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

#endif
