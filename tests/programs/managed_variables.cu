// Managed variables of every form, read and written by the host and by kernels.
#include <cstdio>
__device__ __managed__ int counter;
__managed__ float table[16];
__device__ __managed__ double d = 2.5;
static __managed__ __device__ int arr[4] = {1, 2, 3, 4};
struct P {
    int a;
    float b;
};
__managed__ P p;
__global__ void k() {
    atomicAdd(&counter, 1);
    table[threadIdx.x % 16] = threadIdx.x;
    if (threadIdx.x == 0) {
        d += 1;
        arr[2] = 9;
        p.a = 5;
        p.b = 2;
    }
}
int main() {
    counter = 10;
    table[3] = -1;
    k<<<1, 16>>>();
    cudaDeviceSynchronize();
    printf("%d %g %g %d %d %g\n", counter, table[3], d, arr[2], p.a, p.b);
    puts(counter == 26 && table[3] == 3 && d == 3.5 && arr[2] == 9 && arr[3] == 4 && p.a == 5 ? "PASS"
                                                                                              : "FAIL");
}
