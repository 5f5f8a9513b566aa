// Escape times of the Mandelbrot set on an N x N image: neighbouring threads loop for very different times.
#include "../common/sample.h"

constexpr int max_iterations = 256;

// Fused multiply-adds, written out, leave the compiler no freedom in rounding: host and device agree to the
// last bit, and so does every count.
__host__ __device__ int escape_time(float cx, float cy) {
    float x = 0.0f, y = 0.0f;
    int iteration = 0;
    while (iteration < max_iterations && fmaf(x, x, y * y) <= 4.0f) {
        float next_x = fmaf(x, x, fmaf(-y, y, cx));
        y = fmaf(2.0f * x, y, cy);
        x = next_x;
        iteration++;
    }
    return iteration;
}

__global__ void mandelbrot(int* iterations, int width, int height, float left, float top, float step) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height)
        iterations[row * width + column] = escape_time(fmaf(column, step, left), fmaf(row, step, top));
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {1024, 16384});
    const int n = options.n;
    const float left = -2.0f, top = -1.25f, step = 2.5f / static_cast<float>(n);
    const std::size_t pixels = std::size_t(n) * n;
    sample::Outputs outputs(options.dump_path);

    int* d_iterations = nullptr;
    CUDA_CHECK(cudaMalloc(&d_iterations, pixels * sizeof(int)));
    const dim3 block(32, 8);
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    sample::KernelTimer timer("mandelbrot");
    timer.start();
    mandelbrot<<<grid, block>>>(d_iterations, n, n, left, top, step);
    timer.stop();
    timer.print();

    std::vector<int> iterations(pixels);
    CUDA_CHECK(cudaMemcpy(iterations.data(), d_iterations, pixels * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_iterations));
    outputs.add(iterations);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(pixels, max_iterations)) {
        const float cx = std::fmaf(static_cast<float>(at % n), step, left);
        const float cy = std::fmaf(static_cast<float>(at / n), step, top);
        verifier.within("iterations", at, iterations[at], escape_time(cx, cy), 0.0);
    }
    return verifier.finish();
}
