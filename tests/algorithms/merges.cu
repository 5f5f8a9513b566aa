// Histogram and merge of CCCL's, in several types.
#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_merge.cuh>

#include "check.h"

template <class Sample, class Level>
void histogram(int size, int bins) {
    const auto in = values<Sample>(size, 250, 1);
    Device<Sample> device(in);
    Device<int> counts(bins);
    const Level lower = Level(10), upper = Level(10 + 2 * bins);
    run("histogram", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(storage, bytes, device.get(), counts.get(), bins + 1,
                                                   lower, upper, size);
    });
    std::vector<int> wanted(bins);
    for (const Sample sample : in) {
        if (Level(sample) >= lower && Level(sample) < upper) wanted[(int(sample) - 10) / 2]++;
    }
    expect("histogram", counts.host(), wanted);
}

template <class Key>
void merge(int first, int second) {
    auto a = values<Key>(first, 30000, 2), b = values<Key>(second, 30000, 3);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    Device<Key> device_a(a), device_b(b), out(first + second);
    run("merge", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceMerge::MergeKeys(storage, bytes, device_a.get(), first, device_b.get(), second,
                                           out.get());
    });
    std::vector<Key> wanted(first + second);
    std::merge(a.begin(), a.end(), b.begin(), b.end(), wanted.begin());
    expect("merge", out.host(), wanted);
}

int main() {
    histogram<unsigned char, int>(100000, 100);
    merge<int>(30000, 50000);
#ifdef ALL_TYPES
    histogram<int, int>(60000, 100);
    histogram<float, float>(60000, 64);
    merge<double>(40000, 1000);
    merge<short>(1, 30000);
#endif
    return verdict();
}
