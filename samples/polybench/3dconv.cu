// A 15-term filter over a volume, one launch an inner plane; the border of the result stays zero.
#include "../common/sample.h"

// Weights by plane (i - 1, i, i + 1) and row (j - 1, j, j + 1).
constexpr float w11 = 0.2f, w12 = -0.3f, w13 = 0.4f;
constexpr float w21 = 0.5f, w22 = 0.6f, w23 = 0.7f;
constexpr float w31 = -0.8f, w32 = -0.9f, w33 = 0.1f;

// Column k + 1 is filtered over its three rows in the outer planes, column k over its three rows in plane i;
// in column k - 1 all weights of an outer plane fall on row j - 1.
__global__ void convolution3D_kernel(const float* A, float* B, int i, int NI, int NJ, int NK) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && j > 0 && k > 0 && i < NI - 1 && j < NJ - 1 && k < NK - 1) {
        const float* below = A + (i - 1) * NJ * NK;
        const float* here = A + i * NJ * NK;
        const float* above = A + (i + 1) * NJ * NK;
        B[(i * NJ + j) * NK + k] = w11 * below[(j - 1) * NK + (k - 1)] + w31 * above[(j - 1) * NK + (k - 1)] +
                                   w12 * below[(j - 1) * NK + (k - 1)] + w32 * above[(j - 1) * NK + (k - 1)] +
                                   w13 * below[(j - 1) * NK + (k - 1)] + w33 * above[(j - 1) * NK + (k - 1)] +
                                   w21 * here[(j - 1) * NK + k] + w22 * here[j * NK + k] +
                                   w23 * here[(j + 1) * NK + k] + w11 * below[(j - 1) * NK + (k + 1)] +
                                   w31 * above[(j - 1) * NK + (k + 1)] + w12 * below[j * NK + (k + 1)] +
                                   w32 * above[j * NK + (k + 1)] + w13 * below[(j + 1) * NK + (k + 1)] +
                                   w33 * above[(j + 1) * NK + (k + 1)];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {128, 1024});
    const int ni = options.n, nj = options.n, nk = options.n;
    const std::size_t plane = std::size_t(nj) * nk, elements = ni * plane;
    const std::vector<float> a = sample::uniform_array(elements, 1);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_b(elements);
    const dim3 block(32, 8);
    const dim3 grid((nk + block.x - 1) / block.x, (nj + block.y - 1) / block.y);
    sample::KernelTimer timer("convolution3D_kernel");
    for (int i = 1; i < ni - 1; i++) {
        timer.start();
        convolution3D_kernel<<<grid, block>>>(d_a.data(), d_b.data(), i, ni, nj, nk);
        timer.stop();
    }
    timer.print();

    const std::vector<float> result = d_b.to_host();
    outputs.add(result);
    outputs.print();

    const float weights[3][3] = {{w11, w12, w13}, {w21, w22, w23}, {w31, w32, w33}};
    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(elements, 15)) {
        const int i = static_cast<int>(at / plane), j = static_cast<int>(at % plane / nk);
        const int k = static_cast<int>(at % nk);
        const auto voxel = [&](int di, int dj, int dk) {
            return double(a[(i + di) * plane + std::size_t(j + dj) * nk + (k + dk)]);
        };
        sample::Sum expected;
        if (i > 0 && j > 0 && k > 0 && i < ni - 1 && j < nj - 1 && k < nk - 1) {
            for (int row = -1; row <= 1; row++) {
                for (int side = -1; side <= 1; side += 2) {
                    const double weight = weights[side + 1][row + 1];
                    expected.add(weight * voxel(side, -1, -1));
                    expected.add(weight * voxel(side, row, +1));
                }
                expected.add(double(weights[1][row + 1]) * voxel(0, row, 0));
            }
        }
        verifier.equals("B", at, result[at], expected);
    }
    return verifier.finish();
}
