// Segmented sort of CCCL's, in two types.
#include <algorithm>
#include <cub/device/device_segmented_sort.cuh>

#include "check.h"

template <class Key>
void segmented_sort(int size) {
    auto keys = values<Key>(size, 30000, 3);
    // Empty ones, short ones, and one that is longer than a block sorts at once.
    std::vector<int> ends{0, 0, 1, 3, 40, 340, 20000};
    while (ends.back() < size) ends.push_back(std::min(size, ends.back() + 777));
    Device<Key> in(keys), out(size);
    Device<int> places(ends);
    const int segments = int(ends.size()) - 1;
    run("segmented sort", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceSegmentedSort::SortKeys(storage, bytes, in.get(), out.get(), size, segments,
                                                  places.get(), places.get() + 1);
    });
    for (int i = 0; i < segments; i++) std::sort(keys.begin() + ends[i], keys.begin() + ends[i + 1]);
    expect("segmented sort", out.host(), keys);
}

int main() {
    segmented_sort<int>(40000);
#ifdef ALL_TYPES
    segmented_sort<double>(30000);
#endif
    return verdict();
}
