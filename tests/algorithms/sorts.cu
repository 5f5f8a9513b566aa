// Radix sort and merge sort of CCCL's, in several types.
#include <algorithm>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <functional>
#include <numeric>

#include "check.h"

template <class Key, class Value>
void radix_sort(int size) {
    const auto keys = values<Key>(size, 200, 1);
    std::vector<Value> places(size);
    std::iota(places.begin(), places.end(), Value{});
    Device<Key> in(keys), out(size);
    Device<Value> values_in(places), values_out(size);
    run("radix sort", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, in.get(), out.get(), values_in.get(),
                                               values_out.get(), size);
    });
    std::stable_sort(places.begin(), places.end(),
                     [&](Value a, Value b) { return keys[std::size_t(a)] < keys[std::size_t(b)]; });
    auto sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    expect("radix sort's keys", out.host(), sorted);
    expect("radix sort's values", values_out.host(), places);
}

template <class Key>
void merge_sort(int size) {
    auto keys = values<Key>(size, 30000, 2);
    Device<Key> device(keys);
    run("merge sort", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceMergeSort::SortKeys(storage, bytes, device.get(), size, cuda::std::greater<>{});
    });
    std::sort(keys.begin(), keys.end(), std::greater<>{});
    expect("merge sort", device.host(), keys);
}

int main() {
    radix_sort<float, long long>(60000);
    merge_sort<short>(30000);
#ifdef ALL_TYPES
    radix_sort<unsigned char, int>(60000);
    merge_sort<double>(30000);
#endif
    return verdict();
}
