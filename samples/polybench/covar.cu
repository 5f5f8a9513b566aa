// Covariance matrix (not divided by N) of M vectors of N points each. Indices run from 1: data is (N + 1) x
// (M + 1).
#include "column_products.h"

__global__ void mean_kernel(float* mean, const float* data, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (j <= M) {
        mean[j] = 0.0f;
        for (int i = 1; i <= N; i++) mean[j] += data[i * (M + 1) + j];
        mean[j] /= N;
    }
}

__global__ void reduce_kernel(const float* mean, float* data, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i <= N && j <= M) data[i * (M + 1) + j] -= mean[j];
}

__global__ void covar_kernel(float* symmat, const float* data, int M, int N) {
    int j1 = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (j1 <= M) {
        for (int j2 = j1; j2 <= M; j2++) {
            symmat[j1 * (M + 1) + j2] = 0.0f;
            for (int i = 1; i <= N; i++)
                symmat[j1 * (M + 1) + j2] += data[i * (M + 1) + j1] * data[i * (M + 1) + j2];
            symmat[j2 * (M + 1) + j1] = symmat[j1 * (M + 1) + j2];
        }
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384});
    const int m = options.n, n = options.n;
    const std::vector<float> data = sample::uniform_array(std::size_t(n + 1) * (m + 1), 1);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_data(data), d_mean(m + 1), d_symmat(std::size_t(m + 1) * (m + 1));
    const dim3 block1d(256);
    const dim3 grid1d((m + block1d.x - 1) / block1d.x);
    const dim3 block2d(32, 8);
    const dim3 grid2d((m + block2d.x - 1) / block2d.x, (n + block2d.y - 1) / block2d.y);
    sample::KernelTimer mean_timer("mean_kernel"), reduce_timer("reduce_kernel"), covar_timer("covar_kernel");
    mean_timer.start();
    mean_kernel<<<grid1d, block1d>>>(d_mean.data(), d_data.data(), m, n);
    mean_timer.stop();
    reduce_timer.start();
    reduce_kernel<<<grid2d, block2d>>>(d_mean.data(), d_data.data(), m, n);
    reduce_timer.stop();
    covar_timer.start();
    covar_kernel<<<grid1d, block1d>>>(d_symmat.data(), d_data.data(), m, n);
    covar_timer.stop();
    mean_timer.print();
    reduce_timer.print();
    covar_timer.print();

    const std::vector<float> mean = d_mean.to_host();
    const std::vector<float> centred = d_data.to_host(), symmat = d_symmat.to_host();
    outputs.add(mean);
    outputs.add(centred);
    outputs.add(symmat);
    outputs.print();

    sample::Verifier verifier;
    verify_means(verifier, mean, data, m, n);
    for (std::size_t at : sample::outputs_to_check(std::size_t(n) * m, 1)) {
        const std::size_t j = at % m + 1, element = (at / m + 1) * (m + 1) + j;
        sample::Sum expected;
        expected.add(double(data[element]) - mean[j]);
        verifier.equals("data", element, centred[element], expected);
    }
    verify_column_products(verifier, symmat, centred, m, n, false);
    return verifier.finish();
}
