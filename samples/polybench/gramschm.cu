// QR factorisation of an M x N matrix by the modified Gram-Schmidt process: A = Q R, three launches a column.
#include "../common/sample.h"

__global__ void gramschmidt_kernel1(const float* a, float* r, [[maybe_unused]] float* q, int k, int M,
                                    int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j == 0) {
        float squares = 0.0f;
        for (int i = 0; i < M; i++) squares += a[i * N + k] * a[i * N + k];
        r[k * N + k] = sqrtf(squares);
    }
}

__global__ void gramschmidt_kernel2(const float* a, const float* r, float* q, int k, int M, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M) q[i * N + k] = a[i * N + k] / r[k * N + k];
}

__global__ void gramschmidt_kernel3(float* a, float* r, const float* q, int k, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > k && j < N) {
        r[k * N + j] = 0.0f;
        for (int i = 0; i < M; i++) r[k * N + j] += q[i * N + k] * a[i * N + j];
        for (int i = 0; i < M; i++) a[i * N + j] -= q[i * N + k] * r[k * N + j];
    }
}

// Noise around a dominant diagonal: the columns are far from dependent, so that Q is orthogonal to working
// accuracy.
std::vector<float> well_conditioned_matrix(int n) {
    std::vector<float> a = sample::uniform_array(std::size_t(n) * n, 1);
    for (float& element : a) element -= 0.5f;
    for (int i = 0; i < n; i++) a[i * std::size_t(n) + i] += 1.0f + std::sqrt(static_cast<float>(n));
    return a;
}

// A positive diagonal of R, zeros below it, Q R = A and Q' Q = I determine Q and R.
void verify_factors(sample::Verifier& verifier, const std::vector<float>& q, const std::vector<float>& r,
                    const std::vector<float>& a, std::size_t n) {
    for (std::size_t k = 0; k < n; k++)
        verifier.within("sign of r", k * n + k, r[k * n + k] > 0.0f ? 1.0 : -1.0, 1.0, 0.0);
    const double tolerance = 2e-6 * std::sqrt(n + 4.0);
    for (std::size_t at : sample::outputs_to_check(n * n, 2 * n)) {
        const std::size_t i = at / n, j = at % n;
        double product = 0.0, inner = 0.0;
        for (std::size_t k = 0; k <= j; k++) product += double(q[i * n + k]) * r[k * n + j];
        for (std::size_t k = 0; k < n; k++) inner += double(q[k * n + i]) * q[k * n + j];
        verifier.within("q * r", at, product, a[at], tolerance * r[j * n + j]);
        verifier.within("q' * q", at, inner, i == j ? 1.0 : 0.0, tolerance);
        if (i > j) verifier.within("r", at, r[at], 0.0, 0.0);
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {256, 16384});
    const int m = options.n, n = options.n;
    const std::vector<float> a = well_conditioned_matrix(n);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_a(a), d_r(a.size()), d_q(a.size());
    const dim3 block(256);
    const dim3 grid((n + block.x - 1) / block.x);
    sample::KernelTimer timer1("gramschmidt_kernel1"), timer2("gramschmidt_kernel2"),
        timer3("gramschmidt_kernel3");
    for (int k = 0; k < n; k++) {
        timer1.start();
        gramschmidt_kernel1<<<grid, block>>>(d_a.data(), d_r.data(), d_q.data(), k, m, n);
        timer1.stop();
        timer2.start();
        gramschmidt_kernel2<<<grid, block>>>(d_a.data(), d_r.data(), d_q.data(), k, m, n);
        timer2.stop();
        timer3.start();
        gramschmidt_kernel3<<<grid, block>>>(d_a.data(), d_r.data(), d_q.data(), k, m, n);
        timer3.stop();
    }
    timer1.print();
    timer2.print();
    timer3.print();

    const std::vector<float> q = d_q.to_host(), r = d_r.to_host();
    outputs.add(q);
    outputs.add(r);
    outputs.print();

    sample::Verifier verifier;
    verify_factors(verifier, q, r, a, n);
    return verifier.finish();
}
