// A captured graph launched again and again, streams that wait for events, host callbacks, several host
// threads.
#include <cstdio>
#include <thread>
#include <vector>
__global__ void increment(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i]++;
}
static void CUDART_CB count(void* calls) {
    ++*static_cast<int*>(calls);
}
int main() {
    const int n = 1000;
    int *p, *mine[3], calls = 0, host[n];
    bool good = true;
    cudaStream_t first, second;
    cudaEvent_t ready;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreate(&second);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaMalloc(&p, n * 4);
    cudaMemset(p, 0, n * 4);
    increment<<<8, 128, 0, first>>>(p, n);
    cudaEventRecord(ready, first);
    cudaStreamWaitEvent(second, ready, 0);
    increment<<<8, 128, 0, second>>>(p, n);
    cudaLaunchHostFunc(second, count, &calls);
    cudaStreamSynchronize(second);
    good = calls == 1 && cudaStreamQuery(second) == cudaSuccess;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < 5; i++) increment<<<8, 128, 0, first>>>(p, n);
    if (cudaStreamEndCapture(first, &graph) || cudaGraphInstantiate(&executable, graph, 0)) good = false;
    for (int i = 0; i < 3; i++) cudaGraphLaunch(executable, first);
    cudaStreamSynchronize(first);
    cudaMemcpy(host, p, n * 4, cudaMemcpyDeviceToHost);
    for (int v : host) good = good && v == 17;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([&mine, t, n] {
            cudaMalloc(&mine[t], n * 4);
            cudaMemset(mine[t], 0, n * 4);
            for (int i = 0; i < 10 + t; i++) increment<<<8, 128>>>(mine[t], n);
            cudaDeviceSynchronize();
        });
    for (auto& thread : threads) thread.join();
    for (int t = 0; t < 3; t++) {
        cudaMemcpy(host, mine[t], n * 4, cudaMemcpyDeviceToHost);
        for (int v : host) good = good && v == 10 + t;
    }
    puts(good && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
