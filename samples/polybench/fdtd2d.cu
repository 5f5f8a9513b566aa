// FDTD-2D: the electric field (ex, ey) and the magnetic field hz of an NX x NY domain, driven at its row 0.
#include "../common/sample.h"
#include "fdtd2d_reference.h"

__global__ void fdtd_step1_kernel(const float* fict, [[maybe_unused]] float* ex, float* ey, const float* hz,
                                  int t, int NX, int NY) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NX && j < NY) {
        if (i == 0)
            ey[i * NY + j] = fict[t];
        else
            ey[i * NY + j] = ey[i * NY + j] - 0.5f * (hz[i * NY + j] - hz[(i - 1) * NY + j]);
    }
}

__global__ void fdtd_step2_kernel(float* ex, [[maybe_unused]] float* ey, const float* hz,
                                  [[maybe_unused]] int t, int NX, int NY) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NX && j < NY && j > 0)
        ex[i * (NY + 1) + j] = ex[i * (NY + 1) + j] - 0.5f * (hz[i * NY + j] - hz[i * NY + (j - 1)]);
}

__global__ void fdtd_step3_kernel(const float* ex, const float* ey, float* hz, [[maybe_unused]] int t, int NX,
                                  int NY) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < NX && j < NY)
        hz[i * NY + j] = hz[i * NY + j] - 0.7f * (ex[i * (NY + 1) + (j + 1)] - ex[i * (NY + 1) + j] +
                                                  ey[(i + 1) * NY + j] - ey[i * NY + j]);
}

void verify_window(sample::Verifier& verifier, const Field& field, const FieldReference& expected, int steps,
                   int ny, Range rows, Range columns) {
    double largest = 1.0;
    for (int i = rows.first; i < rows.last; i++)
        for (int j = columns.first; j < columns.last; j++)
            largest = std::max({largest, std::fabs(expected.ex(i, j)), std::fabs(expected.ey(i, j)),
                                std::fabs(expected.hz(i, j))});
    // Every step adds a few roundings, relative to the field; the scheme, stable for these coefficients, does
    // not amplify them.
    const double tolerance = 2e-6 * largest * std::sqrt(steps + 4.0);
    for (int i = rows.first; i < rows.last; i++) {
        for (int j = columns.first; j < columns.last; j++) {
            const std::size_t ex_at = i * (ny + std::size_t{1}) + j, at = i * std::size_t(ny) + j;
            verifier.within("ex", ex_at, field.ex[ex_at], expected.ex(i, j), tolerance);
            verifier.within("ey", at, field.ey[at], expected.ey(i, j), tolerance);
            verifier.within("hz", at, field.hz[at], expected.hz(i, j), tolerance);
        }
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384, 500, 100000});
    const int nx = options.n, ny = options.n, steps = options.steps;
    const Field start{sample::uniform_array(nx * (ny + std::size_t{1}), 1),
                      sample::uniform_array((nx + std::size_t{1}) * ny, 2),
                      sample::uniform_array(std::size_t(nx) * ny, 3)};
    const std::vector<float> fict = sample::uniform_array(steps, 4);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_fict(fict), d_ex(start.ex), d_ey(start.ey), d_hz(start.hz);
    const dim3 block(32, 8);
    const dim3 grid((ny + block.x - 1) / block.x, (nx + block.y - 1) / block.y);
    sample::KernelTimer timer1("fdtd_step1_kernel"), timer2("fdtd_step2_kernel"), timer3("fdtd_step3_kernel");
    for (int t = 0; t < steps; t++) {
        timer1.start();
        fdtd_step1_kernel<<<grid, block>>>(d_fict.data(), d_ex.data(), d_ey.data(), d_hz.data(), t, nx, ny);
        timer1.stop();
        timer2.start();
        fdtd_step2_kernel<<<grid, block>>>(d_ex.data(), d_ey.data(), d_hz.data(), t, nx, ny);
        timer2.stop();
        timer3.start();
        fdtd_step3_kernel<<<grid, block>>>(d_ex.data(), d_ey.data(), d_hz.data(), t, nx, ny);
        timer3.stop();
    }
    timer1.print();
    timer2.print();
    timer3.print();

    const Field field{d_ex.to_host(), d_ey.to_host(), d_hz.to_host()};
    outputs.add(field.ex);
    outputs.add(field.ey);
    outputs.add(field.hz);
    outputs.print();

    // A small domain is checked whole, a large one in windows at two corners and in the middle.
    std::vector<Range> windows{{0, nx}};
    if (nx > 600) windows = {{0, 24}, {nx / 2 - 12, nx / 2 + 12}, {nx - 24, nx}};
    sample::Verifier verifier;
    for (const Range& window : windows) {
        const FieldReference expected(start, fict, nx, ny, window, window);
        verify_window(verifier, field, expected, steps, ny, window, window);
    }
    return verifier.finish();
}
