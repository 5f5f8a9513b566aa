// Two steps of a five-point stencil on an N x N grid in one kernel: a block reads its tile with a border of two, keeps
// what the first step makes of it in shared memory, and writes the second. The edge of the grid stays as it is.
#include "../common/sample.h"

constexpr int tile_x = 32, tile_y = 8;

__host__ __device__ float relaxed(float centre, float north, float south, float west, float east) {
    return fmaf(0.125f, (north + south) + (west + east), 0.5f * centre);
}

__global__ void fused_stencil(const float* in, float* out, int n) {
    __shared__ float first[tile_y + 4][tile_x + 4], second[tile_y + 2][tile_x + 2];
    const int left = blockIdx.x * tile_x - 2, top = blockIdx.y * tile_y - 2;
    const int thread = threadIdx.y * tile_x + threadIdx.x;
    for (int i = thread; i < (tile_x + 4) * (tile_y + 4); i += tile_x * tile_y) {
        const int x = left + i % (tile_x + 4), y = top + i / (tile_x + 4);
        first[i / (tile_x + 4)][i % (tile_x + 4)] = x >= 0 && x < n && y >= 0 && y < n ? in[y * n + x] : 0.0f;
    }
    __syncthreads();
    for (int i = thread; i < (tile_x + 2) * (tile_y + 2); i += tile_x * tile_y) {
        const int column = i % (tile_x + 2), row = i / (tile_x + 2);
        const int x = left + 1 + column, y = top + 1 + row;
        const float centre = first[row + 1][column + 1];
        second[row][column] = x > 0 && x < n - 1 && y > 0 && y < n - 1
                                  ? relaxed(centre, first[row][column + 1], first[row + 2][column + 1],
                                            first[row + 1][column], first[row + 1][column + 2])
                                  : centre;
    }
    __syncthreads();
    const int x = left + 2 + threadIdx.x, y = top + 2 + threadIdx.y;
    if (x >= n || y >= n) return;
    const int column = threadIdx.x + 1, row = threadIdx.y + 1;
    const float centre = second[row][column];
    out[y * n + x] = x > 0 && x < n - 1 && y > 0 && y < n - 1
                         ? relaxed(centre, second[row - 1][column], second[row + 1][column],
                                   second[row][column - 1], second[row][column + 1])
                         : centre;
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {2048, 16384});
    const int n = options.n;
    const std::vector<float> in = sample::uniform_array(std::size_t(n) * n, 1);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_in(in), d_out(in.size());
    const dim3 block(tile_x, tile_y), grid((n + tile_x - 1) / tile_x, (n + tile_y - 1) / tile_y);
    sample::KernelTimer timer("fused_stencil");
    timer.start();
    fused_stencil<<<grid, block>>>(d_in.data(), d_out.data(), n);
    timer.stop();
    timer.print();
    const std::vector<float> out = d_out.to_host();
    outputs.add(out);
    outputs.print();

    // One step after the other.
    std::vector<float> now = in;
    for (int step = 0; step < 2; ++step) {
        std::vector<float> next = now;
        for (int y = 1; y < n - 1; ++y)
            for (int x = 1; x < n - 1; ++x) {
                const float* at = &now[std::size_t(y) * n + x];
                next[std::size_t(y) * n + x] = relaxed(at[0], at[-n], at[n], at[-1], at[1]);
            }
        now = next;
    }
    sample::Verifier verifier;
    for (std::size_t i = 0; i < out.size(); ++i) verifier.within("out", i, out[i], now[i], 1e-6);
    return verifier.finish();
}
