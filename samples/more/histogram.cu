// A histogram of bytes: each block counts in shared memory, then adds what it has to the counts of all.
#include "../common/sample.h"

constexpr int bins = 256;

__global__ void histogram(const unsigned char* values, int count, unsigned* counts) {
    __shared__ unsigned own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&own[values[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) atomicAdd(&counts[bin], own[bin]);
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {1 << 22, 1 << 30});
    const int n = options.n;
    std::vector<unsigned char> values(n);
    // Some more often than others.
    for (int i = 0; i < n; ++i) {
        const std::uint64_t random = sample::mix(i);
        values[i] = static_cast<unsigned char>(random & (random >> 8));
    }
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<unsigned char> d_values(values);
    sample::DeviceArray<unsigned> d_counts(bins);
    sample::KernelTimer timer("histogram");
    timer.start();
    histogram<<<160, 256>>>(d_values.data(), n, d_counts.data());
    timer.stop();
    timer.print();
    const std::vector<unsigned> counts = d_counts.to_host();
    outputs.add(counts);
    outputs.print();

    std::vector<unsigned> expected(bins);
    for (unsigned char value : values) ++expected[value];
    sample::Verifier verifier;
    for (int bin = 0; bin < bins; ++bin) verifier.within("counts", bin, counts[bin], expected[bin], 0.0);
    return verifier.finish();
}
