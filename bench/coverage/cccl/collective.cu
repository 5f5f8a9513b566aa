// Algorithms of CCCL whose threads work together: sums, scans, selections, searches.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/unique.h>

#include <cstdio>
#include <cub/device/device_histogram.cuh>

struct Odd {
    __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

int main() {
    const int n = 10000;
    thrust::device_vector<int> a(n), b(n), c(2 * n), keys(n), bins(64);
    thrust::sequence(a.begin(), a.end());
    bool good = thrust::reduce(a.begin(), a.end()) == n * (n - 1) / 2;
    good &= thrust::count_if(a.begin(), a.end(), Odd()) == n / 2;
    good &= *thrust::max_element(a.begin(), a.end()) == n - 1;
    good &= thrust::inner_product(a.begin(), a.begin() + 10, a.begin(), 0) == 285;
    thrust::inclusive_scan(a.begin(), a.end(), b.begin());
    good &= b[4] == 10;
    thrust::exclusive_scan(a.begin(), a.end(), b.begin());
    thrust::adjacent_difference(b.begin(), b.end(), c.begin());
    good &= c[9] == 8;
    good &= thrust::copy_if(a.begin(), a.end(), c.begin(), Odd()) - c.begin() == n / 2;
    thrust::partition_copy(a.begin(), a.end(), b.begin(), c.begin(), Odd());
    thrust::merge(a.begin(), a.end(), a.begin(), a.end(), c.begin());
    good &= thrust::unique(c.begin(), c.end()) - c.begin() == n;
    thrust::lower_bound(a.begin(), a.end(), b.begin(), b.end(), keys.begin());
    const auto ends = thrust::reduce_by_key(a.begin(), a.end(), a.begin(), b.begin(), c.begin());
    good &= ends.first - b.begin() == n;
    std::size_t bytes = 0;
    cub::DeviceHistogram::HistogramEven(nullptr, bytes, a.data().get(), bins.data().get(), 65, 0, n, n);
    thrust::device_vector<char> space(bytes);
    cub::DeviceHistogram::HistogramEven(space.data().get(), bytes, a.data().get(), bins.data().get(), 65, 0,
                                        n, n);
    good &= thrust::reduce(bins.begin(), bins.end()) == n;
    std::puts(cudaDeviceSynchronize() == cudaSuccess && good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
