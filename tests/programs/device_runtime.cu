// Kernels that copy and fill memory, ask for the device, allocate, and order launches by events.
// Flags: -O2 -rdc=true -arch=sm_75
#include <cstdio>
#include <cstring>

__global__ void add(int* values, int amount) {
    values[threadIdx.x] += amount;
}

__device__ bool is(const char* text, const char* wanted) {
    while (*text != 0 && *text == *wanted) ++text, ++wanted;
    return *text == *wanted;
}

__global__ void parent(int* from, int* to, int* facts) {
    if (threadIdx.x != 0) return;
    int device = -1, warp = 0, processors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    facts[0] = device;
    facts[1] = warp;
    facts[2] = processors > 0;
    void* memory = nullptr;
    facts[3] = cudaMalloc(&memory, 100) == cudaSuccess && memory != nullptr;
    cudaFree(memory);
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    // In the stream's order: copied before it is filled and added to.
    facts[4] = cudaMemcpyAsync(to, from, 64 * sizeof(int), cudaMemcpyDeviceToDevice, stream);
    facts[5] = cudaMemsetAsync(from, 1, 64 * sizeof(int), stream);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(stream, event, 0);
    add<<<1, 64, 0, stream>>>(to, 7);
    add<<<1, 64>>>(from, 1);
    // Two rows of four of the eight that a row has.
    facts[6] = cudaMemcpy2DAsync(to + 64, 4 * sizeof(int), to, 8 * sizeof(int), 4 * sizeof(int), 2,
                                 cudaMemcpyDeviceToDevice, stream);
    int own = 0;
    facts[7] = cudaMemcpyAsync(&own, from, sizeof own, cudaMemcpyDeviceToDevice, stream) == cudaSuccess;
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    facts[8] = cudaGetLastError();
    facts[9] = is(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
    facts[10] = is(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
    facts[11] = is(cudaGetErrorString(static_cast<cudaError_t>(123456)), "unrecognized error code");
}

int main() {
    int *from, *to, *facts;
    cudaMallocManaged(&from, 64 * sizeof(int));
    cudaMallocManaged(&to, 128 * sizeof(int));
    cudaMallocManaged(&facts, 16 * sizeof(int));
    for (int i = 0; i < 64; ++i) from[i] = i;
    memset(to, 0, 128 * sizeof(int));
    parent<<<1, 32>>>(from, to, facts);
    bool ok = cudaDeviceSynchronize() == cudaSuccess;
    const int expected[] = {0, 32, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1};
    for (int i = 0; i < 12; ++i) ok &= facts[i] == expected[i];
    for (int i = 0; i < 64; ++i) ok &= to[i] == i + 7 && from[i] == 0x01010101 + 1;
    for (int i = 0; i < 8; ++i) ok &= to[64 + i] == i / 4 * 8 + i % 4 + 7;
    printf("%s\n", ok ? "PASS" : "FAIL");
}
