// Correlation matrix of M vectors of N points each. Indices run from 1: data is (N + 1) x (M + 1).
#include "column_products.h"

constexpr float smallest_deviation = 0.005f;  // a column that varies less counts as constant

__global__ void mean_kernel(float* mean, const float* data, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (j <= M) {
        mean[j] = 0.0f;
        for (int i = 1; i <= N; i++) mean[j] += data[i * (M + 1) + j];
        mean[j] /= N;
    }
}

__global__ void std_kernel(const float* mean, float* stddev, const float* data, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (j <= M) {
        stddev[j] = 0.0f;
        for (int i = 1; i <= N; i++)
            stddev[j] += (data[i * (M + 1) + j] - mean[j]) * (data[i * (M + 1) + j] - mean[j]);
        stddev[j] = sqrtf(stddev[j] / N);
        if (stddev[j] <= smallest_deviation) stddev[j] = 1.0f;
    }
}

__global__ void reduce_kernel(const float* mean, const float* stddev, float* data, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i <= N && j <= M) {
        data[i * (M + 1) + j] -= mean[j];
        data[i * (M + 1) + j] /= sqrtf(static_cast<float>(N)) * stddev[j];
    }
}

__global__ void corr_kernel(float* symmat, const float* data, int M, int N) {
    int j1 = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (j1 <= M) {
        symmat[j1 * (M + 1) + j1] = 1.0f;
        for (int j2 = j1 + 1; j2 <= M; j2++) {
            symmat[j1 * (M + 1) + j2] = 0.0f;
            for (int i = 1; i <= N; i++)
                symmat[j1 * (M + 1) + j2] += data[i * (M + 1) + j1] * data[i * (M + 1) + j2];
            symmat[j2 * (M + 1) + j1] = symmat[j1 * (M + 1) + j2];
        }
    }
}

void verify_deviations(sample::Verifier& verifier, const std::vector<float>& stddev,
                       const std::vector<float>& mean, const std::vector<float>& data, std::size_t m,
                       std::size_t n) {
    for (std::size_t j = 1; j <= m; j++) {
        sample::Sum variance;
        for (std::size_t i = 1; i <= n; i++) {
            const double deviation = double(data[i * (m + 1) + j]) - mean[j];
            variance.add(deviation * deviation / double(n));
        }
        sample::Sum expected;
        expected.add(std::sqrt(variance.value()) <= smallest_deviation ? 1.0 : std::sqrt(variance.value()));
        verifier.within("stddev", j, stddev[j], expected.value(), std::sqrt(n + 4.0) * expected.tolerance());
    }
}

void verify_standardised(sample::Verifier& verifier, const std::vector<float>& standardised,
                         const std::vector<float>& data, const std::vector<float>& mean,
                         const std::vector<float>& stddev, std::size_t m, std::size_t n) {
    for (std::size_t at : sample::outputs_to_check(n * m, 1)) {
        const std::size_t j = at % m + 1, element = (at / m + 1) * (m + 1) + j;
        sample::Sum expected;
        expected.add((double(data[element]) - mean[j]) / (std::sqrt(double(n)) * stddev[j]));
        verifier.equals("data", element, standardised[element], expected);
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 16384});
    const int m = options.n, n = options.n;
    const std::vector<float> data = sample::uniform_array(std::size_t(n + 1) * (m + 1), 1);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_data(data), d_mean(m + 1), d_stddev(m + 1);
    sample::DeviceArray<float> d_symmat(std::size_t(m + 1) * (m + 1));
    const dim3 block1d(256);
    const dim3 grid1d((m + block1d.x - 1) / block1d.x);
    const dim3 block2d(32, 8);
    const dim3 grid2d((m + block2d.x - 1) / block2d.x, (n + block2d.y - 1) / block2d.y);
    sample::KernelTimer mean_timer("mean_kernel"), std_timer("std_kernel");
    sample::KernelTimer reduce_timer("reduce_kernel"), corr_timer("corr_kernel");
    mean_timer.start();
    mean_kernel<<<grid1d, block1d>>>(d_mean.data(), d_data.data(), m, n);
    mean_timer.stop();
    std_timer.start();
    std_kernel<<<grid1d, block1d>>>(d_mean.data(), d_stddev.data(), d_data.data(), m, n);
    std_timer.stop();
    reduce_timer.start();
    reduce_kernel<<<grid2d, block2d>>>(d_mean.data(), d_stddev.data(), d_data.data(), m, n);
    reduce_timer.stop();
    corr_timer.start();
    corr_kernel<<<grid1d, block1d>>>(d_symmat.data(), d_data.data(), m, n);
    corr_timer.stop();
    mean_timer.print();
    std_timer.print();
    reduce_timer.print();
    corr_timer.print();

    const std::vector<float> mean = d_mean.to_host(), stddev = d_stddev.to_host();
    const std::vector<float> standardised = d_data.to_host(), symmat = d_symmat.to_host();
    outputs.add(mean);
    outputs.add(stddev);
    outputs.add(standardised);
    outputs.add(symmat);
    outputs.print();

    sample::Verifier verifier;
    verify_means(verifier, mean, data, m, n);
    verify_deviations(verifier, stddev, mean, data, m, n);
    verify_standardised(verifier, standardised, data, mean, stddev, m, n);
    verify_column_products(verifier, symmat, standardised, m, n, true);
    return verifier.finish();
}
