// Launches `step` as often as its first argument says, with pointers in memory, a variable's address as an argument,
// __constant__, __device__ and managed memory, and dynamic shared memory; then prints the bytes of all that, "address
// hexadecimal" each. With "texture", a kernel that reads a texture.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__constant__ float factor;
__constant__ const int* last_count;  // points to a variable
__device__ int count[4];

struct Row {
    float* values;
    long length;
};

__global__ void step(const Row* rows, int* counts, float* sums, short shift) {
    extern __shared__ float share[];
    const Row row = rows[blockIdx.x];
    share[threadIdx.x] = 0;
    for (long i = threadIdx.x; i < row.length; i += blockDim.x) {
        row.values[i] = row.values[i] * factor + shift;
        share[threadIdx.x] += row.values[i];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (unsigned i = 0; i < blockDim.x; ++i) sum += share[i];
        sums[blockIdx.x] = sum + *last_count;
        atomicAdd(&counts[blockIdx.x % 3], 1);
    }
}

__global__ void look(cudaTextureObject_t texture, float* out) {
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

static void print_bytes(const char* name, const void* address, size_t bytes) {
    auto* copy = static_cast<unsigned char*>(malloc(bytes));
    cudaMemcpy(copy, address, bytes, cudaMemcpyDefault);
    printf("%s %p ", name, address);
    for (size_t i = 0; i < bytes; ++i) printf("%02x", copy[i]);
    printf("\n");
    free(copy);
}

static int look_at_texture() {
    float* memory = nullptr;
    cudaMalloc(&memory, 256);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {memory, cudaCreateChannelDesc<float>(), 128};
    cudaTextureDesc description{};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    look<<<1, 32>>>(texture, memory + 32);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

int run_captured(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "texture") == 0) return look_at_texture();
    constexpr int row_count = 5, longest = 40;
    Row rows[row_count];
    for (int r = 0; r < row_count; ++r) {
        float values[longest];
        for (int i = 0; i < longest; ++i) values[i] = static_cast<float>(r * 100 + i);
        rows[r].length = longest - 7 * r;
        cudaMalloc(&rows[r].values, sizeof(float) * rows[r].length);
        cudaMemcpy(rows[r].values, values, sizeof(float) * rows[r].length, cudaMemcpyHostToDevice);
    }
    Row* device_rows = nullptr;
    cudaMalloc(&device_rows, sizeof rows);
    cudaMemcpy(device_rows, rows, sizeof rows, cudaMemcpyHostToDevice);
    float* sums = nullptr;
    cudaMallocManaged(&sums, sizeof(float) * row_count);
    for (int r = 0; r < row_count; ++r) sums[r] = -1;
    const float three = 3;
    cudaMemcpyToSymbol(factor, &three, sizeof three);
    const int counts[4] = {10, 20, 30, 40};
    cudaMemcpyToSymbol(count, counts, sizeof counts);
    int* counted = nullptr;
    cudaGetSymbolAddress(reinterpret_cast<void**>(&counted), count);
    const int* last = counted + 3;
    cudaMemcpyToSymbol(last_count, &last, sizeof last);
    const int launches = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < launches; ++i)
        step<<<row_count, 32, 32 * sizeof(float)>>>(device_rows, counted, sums, 2);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    for (int r = 0; r < row_count; ++r) print_bytes("values", rows[r].values, sizeof(float) * rows[r].length);
    print_bytes("sums", sums, sizeof(float) * row_count);
    print_bytes("count", counted, sizeof counts);
    return 0;
}
