// Scan, reduce and reduce by key of CCCL's, in several types.
#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <numeric>

#include "check.h"

template <class T>
void scan(int size) {
    const auto in = values<T>(size, 50, 1);
    Device<T> device(in), out(size);
    std::vector<T> wanted(size);
    run("inclusive scan", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(storage, bytes, device.get(), out.get(), size);
    });
    std::partial_sum(in.begin(), in.end(), wanted.begin(), [](T a, T b) { return T(a + b); });
    expect("inclusive scan", out.host(), wanted);
    run("exclusive scan", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveScan(storage, bytes, device.get(), out.get(), cuda::maximum<>{},
                                              T(7), size);
    });
    std::exclusive_scan(in.begin(), in.end(), wanted.begin(), T(7), [](T a, T b) { return std::max(a, b); });
    expect("exclusive scan", out.host(), wanted);
}

template <class T>
void reduce(int size) {
    const auto in = values<T>(size, 90, 2);
    Device<T> device(in), out(1);
    run("sum", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::Sum(storage, bytes, device.get(), out.get(), size);
    });
    expect("sum", out.host(), {std::accumulate(in.begin(), in.end(), T{})});
    run("minimum", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::Min(storage, bytes, device.get(), out.get(), size);
    });
    expect("minimum", out.host(), {*std::min_element(in.begin(), in.end())});
}

template <class Key, class Value>
void reduce_by_key(int size) {
    const auto keys = runs<Key>(size, 100, 300, 3);
    const auto in = values<Value>(size, 20, 4);
    Device<Key> device_keys(keys), unique(size);
    Device<Value> device_values(in), sums(size);
    Device<int> count(1);
    run("reduce by key", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::ReduceByKey(storage, bytes, device_keys.get(), unique.get(),
                                              device_values.get(), sums.get(), count.get(),
                                              cuda::std::plus<>{}, size);
    });
    std::vector<Key> wanted_keys;
    std::vector<Value> wanted;
    for (int i = 0; i < size; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            wanted_keys.push_back(keys[i]);
            wanted.push_back(Value{});
        }
        wanted.back() = Value(wanted.back() + in[i]);
    }
    expect("reduce by key's count", count.host(), {int(wanted.size())});
    expect("reduce by key's keys", unique.host(), wanted_keys);
    expect("reduce by key's sums", sums.host(), wanted);
}

int main() {
    scan<double>(50000);
    reduce<float>(50000);
    reduce_by_key<int, long long>(80000);
#ifdef ALL_TYPES
    scan<int>(100000);
    scan<unsigned char>(50000);
    reduce<long long>(100000);
    reduce_by_key<unsigned char, float>(50000);
#endif
    return verdict();
}
