// 3 x 3 convolution of an image; the border of the result stays zero.
#include "../common/sample.h"

constexpr float w11 = 0.11f, w12 = -0.23f, w13 = 0.31f;
constexpr float w21 = 0.41f, w22 = 0.53f, w23 = -0.17f;
constexpr float w31 = -0.29f, w32 = 0.19f, w33 = 0.07f;

__global__ void Convolution2D_kernel(const float* A, float* B, int NI, int NJ) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && j > 0 && i < NI - 1 && j < NJ - 1) {
        B[i * NJ + j] = w11 * A[(i - 1) * NJ + (j - 1)] + w12 * A[(i - 1) * NJ + j] +
                        w13 * A[(i - 1) * NJ + (j + 1)] + w21 * A[i * NJ + (j - 1)] + w22 * A[i * NJ + j] +
                        w23 * A[i * NJ + (j + 1)] + w31 * A[(i + 1) * NJ + (j - 1)] +
                        w32 * A[(i + 1) * NJ + j] + w33 * A[(i + 1) * NJ + (j + 1)];
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {2048, 16384});
    const int ni = options.n, nj = options.n;
    const std::size_t elements = std::size_t(ni) * nj;
    const std::vector<float> a = sample::uniform_array(elements, 1);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_b(elements);
    const dim3 block(32, 8);
    const dim3 grid((nj + block.x - 1) / block.x, (ni + block.y - 1) / block.y);
    sample::KernelTimer timer("Convolution2D_kernel");
    timer.start();
    Convolution2D_kernel<<<grid, block>>>(d_a.data(), d_b.data(), ni, nj);
    timer.stop();
    timer.print();

    const std::vector<float> result = d_b.to_host();
    outputs.add(result);
    outputs.print();

    const float weights[3][3] = {{w11, w12, w13}, {w21, w22, w23}, {w31, w32, w33}};
    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(elements, 9)) {
        const int i = static_cast<int>(at / nj), j = static_cast<int>(at % nj);
        sample::Sum expected;
        if (i > 0 && j > 0 && i < ni - 1 && j < nj - 1) {
            for (int di = -1; di <= 1; di++)
                for (int dj = -1; dj <= 1; dj++)
                    expected.add(double(weights[di + 1][dj + 1]) * a[std::size_t(i + di) * nj + (j + dj)]);
        }
        verifier.equals("B", at, result[at], expected);
    }
    return verifier.finish();
}
