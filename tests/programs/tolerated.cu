// What nvcc and its host compiler take: register, narrowing, variable-length arrays, string literals as
// char*. Flags: -O3 -lineinfo -Xptxas -v
#include <sys/time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#define CHECK(call)                                                            \
    {                                                                          \
        const cudaError_t error = call;                                        \
        if (error != cudaSuccess) {                                            \
            printf("Error: %s:%d, ", __FILE__, __LINE__);                      \
            printf("code:%d, reason: %s\n", error, cudaGetErrorString(error)); \
            exit(1);                                                           \
        }                                                                      \
    }
double seconds() {
    struct timeval tp;
    struct timezone tzp;
    int i = gettimeofday(&tp, &tzp);
    return ((double)tp.tv_sec + (double)tp.tv_usec * 1.e-6);
}
__global__ void k(int* a, int n) {
    int i = threadIdx.x;
    switch (i) {
        case 0: {
            int z = 1;
            a[i] = z;
            break;
        }
        default:
            a[i] = 2;
    }
}
int main(int argc, char** argv) {
    int n = argc * 32;
    int host[n];
    float vla2[n][argc];
    vla2[0][0] = 1;
    int* d;
    CHECK(cudaMalloc(&d, n * sizeof(int)));
    k<<<1, n>>>(d, n);
    CHECK(cudaPeekAtLastError());
    CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
    char* s = "literal";
    int arr[] = {(int)1.5, (int)2u};
    unsigned char c[2] = {200, 100};
    int b[1] = {argc * 2};
    float f[2] = {1, argc * 1.0f};
    register int r = 3;
    if (argc > 5) goto end;
    printf("%d %d %s %d\n", host[0], host[1], s, r + arr[0] + c[0] + b[0] + (int)f[0]);
end:
    CHECK(cudaFree(d));
    puts(host[0] == 1 && host[5] == 2 ? "PASS" : "FAIL");
    return 0;
}
