// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms of source that nvcc takes and clang alone refuses.
#include "tests/trimtab++/build_fixture.h"

namespace {

using testing::HasSubstr;
using trimtab::wrapper::tests::Build;
using trimtab::wrapper::tests::Outcome;

class NvccForms : public Build {};

// Several forms in one source, one of them more often than clang tells at once.
TEST_F(NvccForms, RefusedOnesAreChangedInACopy) {
    std::string many;
    for (int i = 0; i < 30; ++i) many += "    r" + std::to_string(i % 4) + " = {};\n";
    write("forms.cu", R"(
#include <cuda/barrier>
#include <cuda_fp16.h>
#include <cstdio>
template <typename T, int n> void launch(T *p);
template <typename T, int n> __global__ void fill(T *p) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    T r0, r1, r2, r3;
)" + many + R"(
    barrier.arrive_and_wait();
    p[threadIdx.x] = threadIdx.x < n ? r0 : T(__float2half(1.f), __float2half(2.f));
}
template <typename T, int n> void launch<T, n>(T *p) { fill<T, n><<<1, 32>>>(p); }
int main() {
    half2 *p;
    cudaMallocManaged(&p, 32 * sizeof *p);
    for (int i = 0; i < 32; ++i) p[i].x = p[i].y = 7;
    launch<half2, 5>(p);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < 32; ++i)
        good &= (float)p[i].x == (i < 5 ? 0 : 1) && (float)p[i].y == (i < 5 ? 0 : 2);
    puts(good ? "PASS" : "FAIL");
}
)");
    const Outcome built = shell(trimtab("-O2 -arch=sm_75 forms.cu -o prog"));
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(shell("./prog").text, HasSubstr("PASS"));
    // Words of the declaration alone, indices copied, a function of newer toolkits.
    write("words.cu", R"(
#include <cmath>
#include <cstdio>
#if __CUDACC__
#define SHARED __shared__
#endif
extern "C" __host__ __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
template <class T> struct Pair;
struct Whole {
    int x;
  public:
    Whole(int = 0);
};
__host__ __device__ Whole::Whole(int y) : x(y) {}
template <class T> T thrice(T x);
template <class T> __host__ __device__ T thrice(T x) { return 3 * x; }
template <class T> struct Pair {
    T x;
    __device__ T plus(T) const;
    __host__ __device__ T value() const;
    __host__ __device__ Pair(T);
};
template <class T> T Pair<T>::plus(T y) const { return x + y; }
template <class T>
T Pair<T>::value() const { return x; }
template <class T> Pair<T>::Pair(T y) : x(y) {}
struct One { __device__ static int of(int); };
int One::of(int x) { return x + 1; }
__host__ __device__ int twice(int);
int twice(int x) { return 2 * x; }
__global__ void apply(float *p) {
    auto thread = threadIdx;
    const auto block = blockDim;
    Pair<float> pair(p[thread.x]);
    SHARED Whole wholes[32];
    wholes[thread.x] = Whole(1);
    if (p[thread.x] > 1e6f) __assertfail("large", __FILE__, __LINE__, "apply", 1);
    p[thread.x] = pair.plus(1) + pair.value() + One::of(2) + twice(3) + block.x + thrice(wholes[thread.x].x);
    if (thread.x == 0) p[0] = __tanhf(.5f);
}
int main() {
    float *p;
    cudaMallocManaged(&p, 32 * sizeof *p);
    for (int i = 0; i < 32; ++i) p[i] = i;
    apply<<<1, 32>>>(p);
    bool good = cudaDeviceSynchronize() == cudaSuccess && Pair<int>(4).value() == 4 && twice(4) == 8;
    for (int i = 1; i < 32; ++i) good &= p[i] == 2 * i + 1 + 3 + 6 + 32 + 3;
    puts(good && std::fabs(p[0] - std::tanh(.5)) < 1e-3 ? "PASS" : "FAIL");
}
)");
    const Outcome words = shell(trimtab("-O2 -arch=sm_75 words.cu -o words"));
    ASSERT_EQ(words.code, 0) << words.text;
    EXPECT_THAT(shell("./words").text, HasSubstr("PASS"));
    // A message of what is still wrong names the user's file and line.
    write("wrong.cu", "#include <cuda_fp16.h>\n__global__ void k(half2 *p) { half2 r;\nr = {};\np = r; }\n");
    const Outcome wrong = shell(trimtab("-arch=sm_75 -c wrong.cu -o wrong.o"));
    EXPECT_NE(wrong.code, 0);
    EXPECT_THAT(wrong.text, HasSubstr("wrong.cu:4:"));
}

}  // namespace
