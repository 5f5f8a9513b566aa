// Jacobi steps of the 7-point stencil on an N x N x N grid of points; the outer layer keeps its values.
#include "../common/sample.h"

constexpr float centre_weight = 0.4f;
constexpr float face_weight = 0.1f;

__global__ void stencil7(const float* in, float* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    size_t row = nx, plane = row * ny;
    size_t at = z * plane + y * row + x;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[at] = in[at];
        return;
    }
    out[at] = centre_weight * in[at] + face_weight * (in[at - 1] + in[at + 1] + in[at - row] + in[at + row] +
                                                      in[at - plane] + in[at + plane]);
}

// One step on the CPU: value at (x, y, z) of what `in` becomes.
sample::Sum stepped(const std::vector<float>& in, std::size_t n, std::size_t at) {
    const std::size_t row = n, plane = n * n, x = at % n, y = at / row % n, z = at / plane;
    sample::Sum value;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
        value.add(in[at]);
        return value;
    }
    value.add(double(centre_weight) * in[at]);
    for (std::size_t neighbour : {at - 1, at + 1, at - row, at + row, at - plane, at + plane})
        value.add(double(face_weight) * in[neighbour]);
    return value;
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {128, 1024});
    const int n = options.n;
    const std::size_t points = std::size_t(n) * n * n, bytes = points * sizeof(float);
    const std::vector<float> start = sample::uniform_array(points, 1);
    sample::Outputs outputs(options.dump_path);

    float* d_in = nullptr;
    float* d_out = nullptr;
    CUDA_CHECK(cudaMalloc(&d_in, bytes));
    CUDA_CHECK(cudaMalloc(&d_out, bytes));
    CUDA_CHECK(cudaMemcpy(d_in, start.data(), bytes, cudaMemcpyHostToDevice));

    const dim3 block(32, 4, 2);
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y, (n + block.z - 1) / block.z);
    std::vector<float> first(points), second(points);
    sample::KernelTimer timer("stencil7");
    timer.start();
    stencil7<<<grid, block>>>(d_in, d_out, n, n, n);
    timer.stop();
    CUDA_CHECK(cudaMemcpy(first.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    timer.start();
    stencil7<<<grid, block>>>(d_out, d_in, n, n, n);
    timer.stop();
    CUDA_CHECK(cudaMemcpy(second.data(), d_in, bytes, cudaMemcpyDeviceToHost));
    timer.print();
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    outputs.add(first);
    outputs.add(second);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(points, 14)) {
        verifier.equals("first step", at, first[at], stepped(start, n, at));
        verifier.equals("second step", at, second[at], stepped(first, n, at));
    }
    return verifier.finish();
}
