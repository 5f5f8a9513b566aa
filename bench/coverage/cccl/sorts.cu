// CCCL's sorts.
#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include <cstdio>

struct ByLastDigits {
    __host__ __device__ bool operator()(int a, int b) const { return a % 1000 < b % 1000; }
};

int main() {
    const int n = 10000;
    thrust::device_vector<int> a(n), b(n);
    thrust::sequence(a.begin(), a.end(), n, -1);
    thrust::sequence(b.begin(), b.end());
    thrust::sort_by_key(a.begin(), a.end(), b.begin());
    bool good = a[0] == 1 && b[0] == n - 1;
    thrust::stable_sort(a.begin(), a.end(), ByLastDigits());
    good &= a[0] == 1000 && a[1] == 2000;
    std::puts(cudaDeviceSynchronize() == cudaSuccess && good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
