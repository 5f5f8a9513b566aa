// printf and assert on the device; clock; several launches before the output is read.
#include <cassert>
#include <cstdio>
__global__ void say(int n, double d, const char* word) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == n) printf("thread %d says %s %5.2f %c %llu%%\n", i, "hello", d, 'x', 1ull << 40);
    assert(i < 1000);
    long long start = clock64();
    if (clock64() < start) printf("time runs back\n");
}
int main() {
    say<<<2, 32>>>(33, 2.5, nullptr);
    if (cudaDeviceSynchronize() != cudaSuccess) return puts("FAIL"), 1;
    puts("PASS");
}
