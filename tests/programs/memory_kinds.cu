// Managed memory with advice and prefetch, mapped and registered host memory, stream-ordered allocation,
// attributes.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t status = (call);                                                       \
        if (status != cudaSuccess) {                                                       \
            printf("FAIL line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(status)); \
            return EXIT_FAILURE;                                                           \
        }                                                                                  \
    } while (0)
__global__ void increment(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}
int main(void) {
    const int n = 1000, blocks = 8, threads = 128;
    int device, good = 1, *managed, *mapped, *alias, *stream_ordered;
    CHECK(cudaGetDevice(&device));
    cudaMemLocation place;
    place.type = cudaMemLocationTypeDevice;
    place.id = device;
    CHECK(cudaMallocManaged((void**)&managed, n * sizeof(int), cudaMemAttachGlobal));
    for (int i = 0; i < n; i++) managed[i] = i;
    CHECK(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseSetPreferredLocation, place));
    CHECK(cudaMemPrefetchAsync(managed, n * sizeof(int), place, 0, 0));
    increment<<<blocks, threads>>>(managed, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) good &= managed[i] == i + 1;

    CHECK(cudaHostAlloc((void**)&mapped, n * sizeof(int), cudaHostAllocMapped));
    memset(mapped, 0, n * sizeof(int));
    CHECK(cudaHostGetDevicePointer((void**)&alias, mapped, 0));
    increment<<<blocks, threads>>>(alias, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) good &= mapped[i] == 1;

    int* registered = (int*)aligned_alloc(4096, 8192);
    memset(registered, 0, 8192);
    CHECK(cudaHostRegister(registered, 8192, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer((void**)&alias, registered, 0));
    increment<<<blocks, threads>>>(alias, n);
    CHECK(cudaDeviceSynchronize());
    good &= registered[n - 1] == 1 && registered[n] == 0;
    CHECK(cudaHostUnregister(registered));

    CHECK(cudaMallocAsync((void**)&stream_ordered, n * sizeof(int), 0));
    CHECK(cudaMemsetAsync(stream_ordered, 0, n * sizeof(int), 0));
    increment<<<blocks, threads>>>(stream_ordered, n);
    CHECK(cudaMemcpyAsync(mapped, stream_ordered, n * sizeof(int), cudaMemcpyDefault, 0));
    CHECK(cudaFreeAsync(stream_ordered, 0));
    CHECK(cudaStreamSynchronize(0));
    good &= mapped[n / 2] == 1;

    struct cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    good &= attributes.type == cudaMemoryTypeManaged;
    CHECK(cudaPointerGetAttributes(&attributes, mapped));
    good &= attributes.type == cudaMemoryTypeHost;
    CHECK(cudaFree(managed));
    CHECK(cudaFreeHost(mapped));
    puts(good ? "PASS" : "FAIL");
    return !good;
}
