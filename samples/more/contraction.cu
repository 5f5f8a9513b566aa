// A contraction of the kind that coupled-cluster methods are made of: six indices of the result, one that is summed,
//
//     r(h1,h3,h2,p5,p4,p6) -= sum over h7 of t(h7,p4,p5,h1) * v(h3,h2,p6,h7)       (the leftmost index varies fastest)
//
// A block has 64 x 64 results, a thread 4 x 4 of them; slabs of t and v pass through shared memory. CHANGES counts
// changes to the code that each take away what limited the one before (docs/abstract-emulation.md):
// 1: neighbouring threads have neighbouring h1, along which the result lies, not h3; 2: places in the arrays are read
// from tables, not divided out of an index; 3: all results are read before the first is written.
#include <memory>

#include "../common/sample.h"

#ifndef CHANGES
#define CHANGES 3
#endif

constexpr int side = 16, work = 4, span = side * work, depth = 16;

// An index of t but h7 (h1, p5, p4), or of v but h7 (h3, h2, p6), as one number `i` < count.
struct Extents {
    int h1, h2, h3, h7, p4, p5, p6;
    __host__ __device__ constexpr int t_count() const { return h1 * p5 * p4; }
    __host__ __device__ constexpr int v_count() const { return h3 * h2 * p6; }
    // Where it lies in the result, and in t; v has it in place.
    __host__ __device__ constexpr int t_in_result(int i) const {
        return i % h1 + h1 * h3 * h2 * (i / h1 % p5 + p5 * (i / h1 / p5));
    }
    __host__ __device__ constexpr int t_in_t(int i) const {
        return h7 * (i / h1 / p5 + p4 * (i / h1 % p5 + p5 * (i % h1)));
    }
    __host__ __device__ constexpr int v_in_result(int i) const {
        return h1 * (i % h3 + h3 * (i / h3 % h2)) + h1 * h3 * h2 * p5 * p4 * (i / h3 / h2);
    }
};

// Tables of the three functions above: for extents of 16 as the program is loaded, and main() fills them for others.
constexpr int most = 20, usual = 16;
struct Places {
    int t_in_result[most * most * most], t_in_t[most * most * most], v_in_result[most * most * most];
};
constexpr Places places_of(const Extents& extents) {
    Places places{};
    for (int i = 0; i < extents.t_count(); ++i) {
        places.t_in_result[i] = extents.t_in_result(i);
        places.t_in_t[i] = extents.t_in_t(i);
    }
    for (int i = 0; i < extents.v_count(); ++i) places.v_in_result[i] = extents.v_in_result(i);
    return places;
}
__device__ Places places = places_of({usual, usual, usual, usual, usual, usual, usual});

template <int changes>
__global__ void contraction(double* result, const double* t, const double* v, int h1, int h2, int h3, int h7,
                            int p4, int p5, int p6) {
    const Extents extents{h1, h2, h3, h7, p4, p5, p6};
    __shared__ double t_slab[depth][span + 1], v_slab[depth][span + 1];
    const int t_lane = changes >= 1 ? threadIdx.x : threadIdx.y,
              v_lane = changes >= 1 ? threadIdx.y : threadIdx.x;
    const int t_count = extents.t_count(), v_count = extents.v_count();

    // Places of this thread's results; of what is out of range, those of the last.
    int t_at[work], v_at[work], t_from[work], v_from[work];
    bool t_is_in[work], v_is_in[work];
#pragma unroll
    for (int k = 0; k < work; ++k) {
        const int ti = blockIdx.x * span + t_lane + side * k, vi = blockIdx.y * span + v_lane + side * k;
        t_is_in[k] = ti < t_count;
        v_is_in[k] = vi < v_count;
        const int tc = t_is_in[k] ? ti : t_count - 1, vc = v_is_in[k] ? vi : v_count - 1;
        t_at[k] = changes >= 2 ? places.t_in_result[tc] : extents.t_in_result(tc);
        t_from[k] = changes >= 2 ? places.t_in_t[tc] : extents.t_in_t(tc);
        v_at[k] = changes >= 2 ? places.v_in_result[vc] : extents.v_in_result(vc);
        v_from[k] = vc;
    }

    double sum[work][work] = {};
    for (int first = 0; first < extents.h7; first += depth) {
        const int t_h7 = first + v_lane, v_h7 = first + t_lane;
#pragma unroll
        for (int k = 0; k < work; ++k) {
            t_slab[v_lane][t_lane + side * k] = t_h7 < extents.h7 ? t[t_from[k] + t_h7] : 0.0;
            v_slab[t_lane][v_lane + side * k] = v_h7 < extents.h7 ? v[v_from[k] + v_count * v_h7] : 0.0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < depth; ++k)
#pragma unroll
            for (int i = 0; i < work; ++i)
#pragma unroll
                for (int j = 0; j < work; ++j)
                    sum[i][j] += t_slab[k][t_lane + side * i] * v_slab[k][v_lane + side * j];
        __syncthreads();
    }

    double before[work][work] = {};
    if (changes >= 3) {
#pragma unroll
        for (int i = 0; i < work; ++i)
#pragma unroll
            for (int j = 0; j < work; ++j)
                if (t_is_in[i] && v_is_in[j]) before[i][j] = result[t_at[i] + v_at[j]];
    }
#pragma unroll
    for (int i = 0; i < work; ++i)
#pragma unroll
        for (int j = 0; j < work; ++j) {
            if (!t_is_in[i] || !v_is_in[j]) continue;
            double& place = result[t_at[i] + v_at[j]];
            place = (changes >= 3 ? before[i][j] : place) - sum[i][j];
        }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {12, most});
    const int n = options.n;
    const Extents extents{n, n, n, n, n, n, n};
    const auto doubles = [](std::size_t count, int seed) {
        const std::vector<float> values = sample::uniform_array(count, seed);
        return std::vector<double>(values.begin(), values.end());
    };
    const int t_count = extents.t_count(), v_count = extents.v_count();
    const std::vector<double> before = doubles(std::size_t(t_count) * v_count, 1);
    const std::vector<double> t = doubles(std::size_t(t_count) * n, 2),
                              v = doubles(std::size_t(v_count) * n, 3);
    const auto filled = std::make_unique<Places>(places_of(extents));
    CUDA_CHECK(cudaMemcpyToSymbol(places, filled.get(), sizeof(Places)));
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<double> d_result(before), d_t(t), d_v(v);
    const dim3 grid((t_count + span - 1) / span, (v_count + span - 1) / span);
    sample::KernelTimer timer("contraction");
    timer.start();
    contraction<CHANGES>
        <<<grid, dim3(side, side)>>>(d_result.data(), d_t.data(), d_v.data(), n, n, n, n, n, n, n);
    timer.stop();
    timer.print();
    const std::vector<double> result = d_result.to_host();
    outputs.add(result);
    outputs.print();

    sample::Verifier verifier;
    for (std::size_t at : sample::outputs_to_check(result.size(), n)) {
        // From the result's own layout.
        std::size_t left = at;
        const auto next = [&left](int extent) {
            const int index = static_cast<int>(left % extent);
            left /= extent;
            return index;
        };
        const int h1 = next(n), h3 = next(n), h2 = next(n), p5 = next(n), p4 = next(n), p6 = next(n);
        double expected = before[at];
        for (int h7 = 0; h7 < n; ++h7)
            expected -= t[h7 + n * (p4 + n * (p5 + n * h1))] * v[h3 + n * (h2 + n * (p6 + n * h7))];
        verifier.within("result", at, result[at], expected, 1e-12 * n);
    }
    return verifier.finish();
}
