// Memory and events that one process hands to another: CUDA IPC.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        if (const cudaError_t status = (call); status != cudaSuccess) {                              \
            std::printf("%s: line %d: %s: %s\n", role, __LINE__, #call, cudaGetErrorString(status)); \
            std::exit(1);                                                                            \
        }                                                                                            \
    } while (0)
#define EXPECT(condition)                                                 \
    do {                                                                  \
        if (!(condition)) {                                               \
            std::printf("%s: line %d: %s\n", role, __LINE__, #condition); \
            std::exit(1);                                                 \
        }                                                                 \
    } while (0)

__global__ void add(int* values, int n, int amount) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += amount;
}

constexpr int large = 100000, small = 100;

struct Message {
    cudaIpcMemHandle_t large, small;
    cudaIpcEventHandle_t ready;
};

const char* role = "parent";

int first_of(const int* values) {
    int value = -1;
    CHECK(cudaMemcpy(&value, values, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

void fill(int* values, int n, int value) {
    CHECK(cudaMemset(values, 0, n * sizeof(int)));
    add<<<(n + 127) / 128, 128>>>(values, n, value);
    CHECK(cudaGetLastError());
}

void child(int in, int out) {
    role = "child";
    Message message;
    EXPECT(read(in, &message, sizeof message) == sizeof message);
    int *a = nullptr, *again = nullptr, *b = nullptr;
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&a), message.large, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&again), message.large,
                               cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&b), message.small, cudaIpcMemLazyEnablePeerAccess));
    EXPECT(a == again);
    cudaEvent_t ready;
    CHECK(cudaIpcOpenEventHandle(&ready, message.ready));
    CHECK(cudaStreamWaitEvent(nullptr, ready, 0));
    CHECK(cudaEventSynchronize(ready));
    EXPECT(first_of(a) == 1 && first_of(a + large - 1) == 1);
    EXPECT(first_of(b) == 2 && first_of(b + small - 1) == 2);
    EXPECT(cudaFree(a) == cudaErrorInvalidValue);
    add<<<(large + 127) / 128, 128>>>(a, large, 10);
    add<<<1, 128>>>(b, small, 20);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaIpcCloseMemHandle(a));
    EXPECT(first_of(a) == 11);
    CHECK(cudaIpcCloseMemHandle(a));
    EXPECT(cudaIpcCloseMemHandle(a) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaMemcpy(b, a, 4, cudaMemcpyDeviceToDevice) != cudaSuccess);
    EXPECT(write(out, "x", 1) == 1);
    // The memory of a process that has freed it lives as long as it is open here.
    char go = 0;
    EXPECT(read(in, &go, 1) == 1);
    EXPECT(first_of(b) == 22);
    Message broken;
    std::memset(&broken, 7, sizeof broken);
    void* none = nullptr;
    EXPECT(cudaIpcOpenMemHandle(&none, broken.large, cudaIpcMemLazyEnablePeerAccess) ==
           cudaErrorInvalidResourceHandle);
    std::exit(0);
}

int main() {
    int to_child[2], to_parent[2];
    EXPECT(pipe(to_child) == 0 && pipe(to_parent) == 0);
    // Before the first call of CUDA, as CUDA asks for.
    const pid_t process = fork();
    if (process == 0) child(to_child[0], to_parent[1]);
    int *a, *b;
    CHECK(cudaMalloc(&a, large * sizeof(int)));
    CHECK(cudaMalloc(&b, small * sizeof(int)));
    fill(a, large, 1);
    fill(b, small, 2);
    cudaEvent_t ready;
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaEventRecord(ready));
    Message message;
    CHECK(cudaIpcGetMemHandle(&message.large, a));
    CHECK(cudaIpcGetMemHandle(&message.small, b));
    CHECK(cudaIpcGetEventHandle(&message.ready, ready));
    EXPECT(first_of(a) == 1 && first_of(b) == 2);
    void* own = nullptr;
    EXPECT(cudaIpcOpenMemHandle(&own, message.large, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess);
    EXPECT(cudaIpcGetMemHandle(&message.large, &own) == cudaErrorInvalidValue);
    cudaGetLastError();
    EXPECT(write(to_child[1], &message, sizeof message) == sizeof message);
    char done = 0;
    EXPECT(read(to_parent[0], &done, 1) == 1);
    EXPECT(first_of(a) == 11 && first_of(a + large - 1) == 11);
    EXPECT(first_of(b) == 22 && first_of(b + small - 1) == 22);
    CHECK(cudaFree(a));
    EXPECT(write(to_child[1], "x", 1) == 1);
    int status = -1;
    waitpid(process, &status, 0);
    CHECK(cudaFree(b));
    if (status == 0) std::printf("PASS\n");
}
