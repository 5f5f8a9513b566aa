// C = A B through tiles in shared memory that are as large as the block, whatever it is: the annotation says
// so.
#include <trimtab/annotate.h>

#include "../common/sample.h"

constexpr int written_tile = 16;

extern __shared__ float tiles[];

__global__ void TRIMTAB_TUNE(block(bx == by, bx % 8 == 0), grid(ceil(n / bx), ceil(n / by)),
                             dynamic_shared(8 * bx * by))
    annotated_matmul(const float* a, const float* b, float* c, int n) {
    const int tile = blockDim.x;
    float* a_tile = tiles;
    float* b_tile = tiles + tile * tile;
    const int row = blockIdx.y * tile + threadIdx.y;
    const int column = blockIdx.x * tile + threadIdx.x;
    const int place = threadIdx.y * tile + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += tile) {
        const int a_column = k0 + threadIdx.x;
        const int b_row = k0 + threadIdx.y;
        a_tile[place] = row < n && a_column < n ? a[row * n + a_column] : 0.0f;
        b_tile[place] = b_row < n && column < n ? b[b_row * n + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < tile; k++) sum += a_tile[threadIdx.y * tile + k] * b_tile[k * tile + threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384});
    const int n = options.n;
    const std::size_t elements = std::size_t(n) * n, bytes = elements * sizeof(float);
    const std::vector<float> a = sample::uniform_array(elements, 1);
    const std::vector<float> b = sample::uniform_array(elements, 2);
    sample::Outputs outputs(options.dump_path);

    float* d_a = nullptr;
    float* d_b = nullptr;
    float* d_c = nullptr;
    CUDA_CHECK(cudaMalloc(&d_a, bytes));
    CUDA_CHECK(cudaMalloc(&d_b, bytes));
    CUDA_CHECK(cudaMalloc(&d_c, bytes));
    CUDA_CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));

    const dim3 block(written_tile, written_tile);
    const dim3 grid((n + written_tile - 1) / written_tile, (n + written_tile - 1) / written_tile);
    sample::KernelTimer timer("annotated_matmul");
    timer.start();
    annotated_matmul<<<grid, block, 2 * written_tile * written_tile * sizeof(float)>>>(d_a, d_b, d_c, n);
    timer.stop();
    timer.print();

    std::vector<float> c(elements);
    CUDA_CHECK(cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_b));
    CUDA_CHECK(cudaFree(d_c));
    outputs.add(c);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(elements, n)) {
        const std::size_t i = at / n, j = at % n;
        sample::Sum expected;
        for (int k = 0; k < n; k++) expected.add(double(a[i * n + k]) * b[k * std::size_t(n) + j]);
        verifier.equals("c", at, c[at], expected);
    }
    return verifier.finish();
}
