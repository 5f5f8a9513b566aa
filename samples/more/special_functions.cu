// The time average of a sum of damped oscillations: a loop of reciprocal square roots, sines and exponentials, as the
// special function unit has them.
#include "../common/sample.h"

constexpr int terms = 64;

__global__ void oscillations(const float* start, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = start[i];
    float sum = 0.0f;
    for (int k = 1; k <= terms; ++k) {
        const float phase = x * k;
        sum += __sinf(phase) * __expf(-phase) * rsqrtf(phase + 1.0f);
    }
    out[i] = sum;
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {1 << 20, 1 << 28});
    const int n = options.n;
    const std::vector<float> start = sample::uniform_array(n, 1);
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<float> d_start(start), d_out(n);
    sample::KernelTimer timer("oscillations");
    timer.start();
    oscillations<<<(n + 255) / 256, 256>>>(d_start.data(), d_out.data(), n);
    timer.stop();
    timer.print();
    const std::vector<float> out = d_out.to_host();
    outputs.add(out);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t i : sample::outputs_to_check(n, terms)) {
        double expected = 0;
        for (int k = 1; k <= terms; ++k) {
            const double phase = double(start[i]) * k;
            expected += std::sin(phase) * std::exp(-phase) / std::sqrt(phase + 1);
        }
        verifier.within("out", i, out[i], expected, 1e-4);
    }
    return verifier.finish();
}
