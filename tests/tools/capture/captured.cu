// Launches `step` as often as its first argument says, with pointers in memory, a variable's address as an argument,
// __constant__, __device__ and managed memory, and dynamic shared memory; then prints the bytes of all that, "address
// hexadecimal" each. With "texture", `look` instead, which reads textures of every kind, in an argument and in memory, and
// writes a surface; with "heap", a kernel that allocates; with "scale", one that may have any block.
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

__device__ float table[64];

enum Kind { linear, pitched, array, layers, levels, of_variable, kinds };

__global__ void look(const cudaTextureObject_t* textures, cudaTextureObject_t first,
                     cudaSurfaceObject_t surface, float* out) {
    const int i = threadIdx.x;
    const float x = (i % 8 + .3f) / 8, y = (i / 8 + .7f) / 4;
    float sum = tex1Dfetch<float>(first, i);
    sum += 2 * tex2D<float>(textures[pitched], i % 8, i / 8);
    sum += 3 * tex2D<float>(textures[array], x, y);
    sum += 5 * tex2DLayered<float>(textures[layers], x * 8, y * 4, i % 3);
    sum += 7 * tex2DLod<float>(textures[levels], x, y, .01f * i);
    sum += tex1Dfetch<float>(textures[of_variable], i);
    out[i] = sum;
    surf2Dwrite(sum, surface, i % 8 * 4, i / 8);
}

__global__ void allocate(int** out) {
    out[0] = static_cast<int*>(malloc(16));
}

static void print_bytes(const char* name, const void* address, size_t bytes) {
    auto* copy = static_cast<unsigned char*>(malloc(bytes));
    cudaMemcpy(copy, address, bytes, cudaMemcpyDefault);
    printf("%s %p ", name, address);
    for (size_t i = 0; i < bytes; ++i) printf("%02x", copy[i]);
    printf("\n");
    free(copy);
}

static cudaTextureObject_t texture_of(const cudaResourceDesc& resource, bool is_filtered) {
    cudaTextureDesc description{};
    description.addressMode[0] = cudaAddressModeMirror;
    description.addressMode[1] = cudaAddressModeBorder;
    description.borderColor[0] = .25f;
    description.maxMipmapLevelClamp = 2;
    if (is_filtered) {
        description.filterMode = description.mipmapFilterMode = cudaFilterModeLinear;
        description.normalizedCoords = 1;
    }
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    return texture;
}

static cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static int look_at_textures() {
    const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    float values[256];
    for (int i = 0; i < 256; ++i) values[i] = .5f * i + 1.f / (i + 1);
    cudaTextureObject_t textures[kinds];
    float *memory = nullptr, *gone = nullptr;
    cudaMalloc(&memory, 512 + 128);
    cudaMalloc(&gone, 128);
    cudaMemcpy(memory, values, 128, cudaMemcpyHostToDevice);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {gone, floats, 128};
    texture_of(resource, false);
    resource.res.linear = {memory, floats, 128};
    textures[linear] = texture_of(resource, false);

    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    float* rows = nullptr;
    size_t pitch_bytes = 0;
    cudaMallocPitch(&rows, &pitch_bytes, 32, 4);
    cudaMemcpy2D(rows, pitch_bytes, values + 32, 32, 32, 4, cudaMemcpyHostToDevice);
    resource.res.pitch2D = {rows, floats, 8, 4, pitch_bytes};
    textures[pitched] = texture_of(resource, false);

    cudaArray_t flat = nullptr, layered = nullptr, written = nullptr;
    cudaMallocArray(&flat, &floats, 8, 4);
    cudaMemcpy2DToArray(flat, 0, 0, values + 64, 32, 32, 4, cudaMemcpyHostToDevice);
    textures[array] = texture_of(resource_of(flat), true);

    cudaMalloc3DArray(&layered, &floats, make_cudaExtent(8, 4, 3), cudaArrayLayered);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(values + 96, 32, 8, 4);
    copy.dstArray = layered;
    copy.extent = make_cudaExtent(8, 4, 3);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    textures[layers] = texture_of(resource_of(layered), false);

    resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    cudaMallocMipmappedArray(&resource.res.mipmap.mipmap, &floats, make_cudaExtent(8, 4, 0), 2);
    for (int level = 0; level < 2; ++level) {
        cudaArray_t part = nullptr;
        cudaGetMipmappedArrayLevel(&part, resource.res.mipmap.mipmap, level);
        cudaMemcpy2DToArray(part, 0, 0, values + 192 + 32 * level, 32 >> level, 32 >> level, 4 >> level,
                            cudaMemcpyHostToDevice);
    }
    textures[levels] = texture_of(resource, true);

    float* variable = nullptr;
    cudaGetSymbolAddress(reinterpret_cast<void**>(&variable), table);
    cudaMemcpyToSymbol(table, values + 100, sizeof table);
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {variable + 16, floats, 128};
    textures[of_variable] = texture_of(resource, false);

    cudaTextureObject_t* handles = nullptr;
    cudaMalloc(&handles, sizeof textures);
    cudaMemcpy(handles, textures, sizeof textures, cudaMemcpyHostToDevice);
    cudaMallocArray(&written, &floats, 8, 4, cudaArraySurfaceLoadStore);
    const cudaResourceDesc target = resource_of(written);
    cudaSurfaceObject_t surface = 0;
    cudaCreateSurfaceObject(&surface, &target);
    cudaFree(gone);
    look<<<1, 32>>>(handles, textures[linear], surface, memory + 128);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    print_bytes("out", memory, 512 + 128);
    float* copied = nullptr;
    cudaMallocHost(&copied, 128);
    cudaMemcpy2DFromArray(copied, 32, written, 0, 0, 32, 4, cudaMemcpyDeviceToHost);
    print_bytes("surface", copied, 128);
    return 0;
}

__global__ void scale(float* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = values[i] * factor + 1;
}

static int scale_values() {
    float* values = nullptr;
    cudaMalloc(&values, 1000 * sizeof *values);
    scale<<<8, 128>>>(values, 1000);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

static int allocate_on_device() {
    int** out = nullptr;
    cudaMalloc(&out, sizeof *out);
    for (int i = 0; i < 2; ++i) allocate<<<1, 1>>>(out);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

int run_captured(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "texture") == 0) return look_at_textures();
    if (argc > 1 && strcmp(argv[1], "heap") == 0) return allocate_on_device();
    if (argc > 1 && strcmp(argv[1], "scale") == 0) return scale_values();
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
