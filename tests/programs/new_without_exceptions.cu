// new (std::nothrow), and what device code sees where there is no memory: a null pointer, and no constructor runs.
#include <cstdio>
#include <new>

struct Numbered {
    int number, rest[3];
    __device__ Numbered() : number(5) {}
};

__global__ void small(int* out) {
    int* row = new (std::nothrow) int[threadIdx.x + 1];
    out[threadIdx.x] = -1;
    if (row != nullptr) {
        for (int i = 0; i <= threadIdx.x; ++i) row[i] = i;
        out[threadIdx.x] = row[threadIdx.x];
    }
    delete[] row;
    void* bytes = operator new(16, std::nothrow);
    if (bytes == nullptr) out[threadIdx.x] = -2;
    operator delete(bytes, std::nothrow);
}

// More than the device's heap.
__global__ void large(int* out, Numbered** kept, size_t count) {
    kept[0] = new (std::nothrow) Numbered[count];
    kept[1] = new Numbered[count];
    for (int i = 0; i < 2; ++i) out[i] = kept[i] == nullptr ? 0 : kept[i][count - 1].number;
}

int main() {
    int* out;
    Numbered** kept;
    cudaMallocManaged(&out, 32 * sizeof(int));
    cudaMallocManaged(&kept, 2 * sizeof *kept);
    small<<<1, 32>>>(out);
    bool ok = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < 32; ++i) ok &= out[i] == i;
    large<<<1, 1>>>(out, kept, size_t{1} << 30);
    ok &= cudaDeviceSynchronize() == cudaSuccess && kept[0] == nullptr && kept[1] == nullptr;
    ok &= out[0] == 0 && out[1] == 0;
    int* on_host = new (std::nothrow) int(7);
    ok &= on_host != nullptr && *on_host == 7;
    delete on_host;
    printf("%s\n", ok ? "PASS" : "FAIL");
}
