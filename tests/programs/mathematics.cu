// libdevice in single and double precision against the host's.
#include <cmath>
#include <cstdio>
#include <vector>
template <typename T>
__global__ void compute(const T* x, T* y, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T v = x[i];
    T* r = y + (size_t)i * width;
    r[0] = sin(v);
    r[1] = cos(v);
    r[2] = tan(v);
    r[3] = exp(v);
    r[4] = log(fabs(v) + T(1e-3));
    r[5] = pow(fabs(v), T(1.7));
    r[6] = sqrt(fabs(v));
    r[7] = cbrt(v);
    r[8] = atan2(v, T(2));
    r[9] = sinh(v);
    r[10] = tanh(v);
    r[11] = erf(v);
    r[12] = lgamma(fabs(v) + T(0.5));
    r[13] = fmod(v, T(1.3));
    r[14] = hypot(v, T(3));
    r[15] = floor(v) + ceil(v) + rint(v) + trunc(v);
    r[16] = log2(fabs(v) + T(2));
    r[17] = exp2(v);
    r[18] = asin(v / T(20));
    r[19] = erfc(v);
    r[20] = log1p(fabs(v));
    r[21] = expm1(v);
    r[22] = tgamma(fabs(v) + T(1));
    r[23] = copysign(T(3), v);
    r[24] = remainder(v, T(2));
    r[25] = fma(v, v, T(1));
}
template <typename T>
bool check(double tolerance) {
    const int n = 777, width = 26;
    std::vector<T> x(n), y(n * width);
    for (int i = 0; i < n; ++i) x[i] = T(i - 388) / T(47);
    T *dx, *dy;
    cudaMalloc(&dx, n * sizeof(T));
    cudaMalloc(&dy, n * width * sizeof(T));
    cudaMemcpy(dx, x.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    compute<T><<<(n + 127) / 128, 128>>>(dx, dy, n, width);
    cudaMemcpy(y.data(), dy, n * width * sizeof(T), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) {
        double v = x[i], a = std::fabs(v);
        double want[] = {std::sin(v),
                         std::cos(v),
                         std::tan(v),
                         std::exp(v),
                         std::log(T(a + T(1e-3))),
                         std::pow(a, (double)T(1.7)),
                         std::sqrt(a),
                         std::cbrt(v),
                         std::atan2(v, 2.),
                         std::sinh(v),
                         std::tanh(v),
                         std::erf(v),
                         std::lgamma(a + 0.5),
                         std::fmod(v, (double)T(1.3)),
                         std::hypot(v, 3.),
                         std::floor(v) + std::ceil(v) + std::rint(v) + std::trunc(v),
                         std::log2(a + 2),
                         std::exp2(v),
                         std::asin((double)(T(v) / T(20))),
                         std::erfc(v),
                         std::log1p(a),
                         std::expm1(v),
                         std::tgamma(a + 1),
                         std::copysign(3., v),
                         std::remainder(v, 2.),
                         v * v + 1};
        for (int k = 0; k < width; ++k)
            if (!(std::fabs(y[i * width + k] - want[k]) <= tolerance * (1 + std::fabs(want[k]))))
                return printf("FAIL f%zu x %g function %d: %.17g, not %.17g\n", sizeof(T) * 8, v, k,
                              (double)y[i * width + k], want[k]),
                       false;
    }
    return true;
}
int main() {
    if (!check<float>(1e-5) || !check<double>(1e-13)) return 1;
    puts("PASS");
}
