// Algorithms of CCCL that work on each element by itself, for what the proof makes of their kernels.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/swap.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>

#include <cstdio>
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>

struct Twice {
    __host__ __device__ float operator()(float x) const { return 2 * x; }
};
struct Square {
    __host__ __device__ long long operator()(long long x) const { return x * x; }
};
struct Odd {
    __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Increment {
    int* data;
    __device__ void operator()(int i) const { data[i]++; }
};
struct Bump {
    __device__ void operator()(int& x) const { x += 3; }
};

int main() {
    const int n = 20000;
    thrust::device_vector<float> a(n), b(n, 1.5f), c(n);
    thrust::device_vector<int> i(n), j(n), k(n);
    thrust::device_vector<long long> squares(n);
    thrust::sequence(a.begin(), a.end());
    thrust::sequence(i.begin(), i.end(), n - 1, -1);
    thrust::transform(a.begin(), a.end(), c.begin(), Twice());
    thrust::transform(a.begin(), a.end(), b.begin(), c.begin(), thrust::plus<float>());
    thrust::transform_if(i.begin(), i.end(), j.begin(), thrust::negate<int>(), Odd());
    thrust::fill(k.begin(), k.end(), 7);
    thrust::copy(k.begin(), k.end(), j.begin());
    thrust::gather(i.begin(), i.end(), k.begin(), j.begin());
    thrust::scatter(k.begin(), k.end(), i.begin(), j.begin());
    thrust::replace_if(i.begin(), i.end(), Odd(), 0);
    thrust::reverse_copy(i.begin(), i.end(), k.begin());
    thrust::swap_ranges(j.begin(), j.end(), k.begin());
    thrust::tabulate(squares.begin(), squares.end(), Square());
    thrust::for_each(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),
                     Increment{j.data().get()});
    cub::DeviceFor::ForEachN(i.begin(), n, Bump());
    cub::DeviceFor::Bulk(n, Increment{k.data().get()});
    cub::DeviceTransform::Transform(a.begin(), b.begin(), n, Twice());
    const bool good = squares[3] == 9 && b[10] == 20 && c[4] == 5.5f && i[n - 1] == 3;
    std::puts(cudaDeviceSynchronize() == cudaSuccess && good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
