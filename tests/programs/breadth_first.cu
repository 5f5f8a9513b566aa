// A graph in compressed rows: data-dependent loops, a flag that the host reads after each level.
#include <cstdio>
#include <queue>
#include <vector>
__global__ void expand(const int* row, const int* column, int* level, int n, int depth, int* changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != depth) return;
    for (int e = row[v]; e < row[v + 1]; ++e)
        if (level[column[e]] < 0) {
            level[column[e]] = depth + 1;
            *changed = 1;
        }
}
int main() {
    const int n = 700;
    std::vector<int> row{0}, column;
    for (int v = 0; v < n; ++v) {
        for (int k = 1; k <= v % 4 + 1; ++k) column.push_back((v * 13 + k * k * 71) % n);
        row.push_back(column.size());
    }
    std::vector<int> want(n, -1), got(n, -1);
    std::queue<int> todo({0});
    want[0] = got[0] = 0;
    while (!todo.empty()) {
        int v = todo.front();
        todo.pop();
        for (int e = row[v]; e < row[v + 1]; ++e)
            if (want[column[e]] < 0) want[column[e]] = want[v] + 1, todo.push(column[e]);
    }
    int *r, *c, *l, *flag, changed = 1;
    cudaMalloc(&r, row.size() * 4);
    cudaMalloc(&c, column.size() * 4);
    cudaMalloc(&l, n * 4);
    cudaMalloc(&flag, 4);
    cudaMemcpy(r, row.data(), row.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(c, column.data(), column.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(l, got.data(), n * 4, cudaMemcpyHostToDevice);
    for (int depth = 0; changed; ++depth) {
        cudaMemset(flag, 0, 4);
        expand<<<(n + 255) / 256, 256>>>(r, c, l, n, depth, flag);
        cudaMemcpy(&changed, flag, 4, cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(got.data(), l, n * 4, cudaMemcpyDeviceToHost);
    puts(got == want ? "PASS" : "FAIL");
    return got != want;
}
