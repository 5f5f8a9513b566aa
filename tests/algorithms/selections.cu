// Select, unique, partition and run-length encode of CCCL's, in several types.
#include <algorithm>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "check.h"

template <class T>
struct IsSmall {
    __host__ __device__ bool operator()(T value) const { return value < T(60); }
};

template <class T>
void select(int size) {
    const auto in = values<T>(size, 120, 1);
    Device<T> device(in), out(size);
    Device<int> count(1);
    run("select", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceSelect::If(storage, bytes, device.get(), out.get(), count.get(), size,
                                     IsSmall<T>{});
    });
    std::vector<T> wanted;
    std::copy_if(in.begin(), in.end(), std::back_inserter(wanted), IsSmall<T>{});
    expect("select's count", count.host(), {int(wanted.size())});
    expect("select", out.host(), wanted);
}

template <class T>
void select_flagged(int size) {
    const auto in = values<T>(size, 120, 2);
    const auto flags = values<char>(size, 2, 3);
    Device<T> device(in), out(size);
    Device<char> device_flags(flags);
    Device<int> count(1);
    run("select flagged", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(storage, bytes, device.get(), device_flags.get(), out.get(),
                                          count.get(), size);
    });
    std::vector<T> wanted;
    for (int i = 0; i < size; i++) {
        if (flags[i] != 0) wanted.push_back(in[i]);
    }
    expect("select flagged's count", count.host(), {int(wanted.size())});
    expect("select flagged", out.host(), wanted);
}

template <class T>
void unique(int size) {
    auto in = runs<T>(size, 120, 40, 4);
    Device<T> device(in), out(size);
    Device<int> count(1);
    run("unique", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceSelect::Unique(storage, bytes, device.get(), out.get(), count.get(), size);
    });
    in.erase(std::unique(in.begin(), in.end()), in.end());
    expect("unique's count", count.host(), {int(in.size())});
    expect("unique", out.host(), in);
}

template <class T>
void partition(int size) {
    const auto in = values<T>(size, 120, 5);
    Device<T> device(in), out(size);
    Device<int> count(1);
    run("partition", [&](void* storage, std::size_t& bytes) {
        return cub::DevicePartition::If(storage, bytes, device.get(), out.get(), count.get(), size,
                                        IsSmall<T>{});
    });
    // Those that are not chosen stand in reverse order.
    auto wanted = in;
    const auto middle = std::stable_partition(wanted.begin(), wanted.end(), IsSmall<T>{});
    std::reverse(middle, wanted.end());
    expect("partition's count", count.host(), {int(middle - wanted.begin())});
    expect("partition", out.host(), wanted);
}

template <class T>
void run_length_encode(int size) {
    const auto in = runs<T>(size, 100, 500, 6);
    Device<T> device(in), out(size);
    Device<int> lengths(size), count(1);
    run("run-length encode", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceRunLengthEncode::Encode(storage, bytes, device.get(), out.get(), lengths.get(),
                                                  count.get(), size);
    });
    std::vector<T> wanted;
    std::vector<int> wanted_lengths;
    for (int i = 0; i < size; i++) {
        if (i == 0 || in[i] != in[i - 1]) {
            wanted.push_back(in[i]);
            wanted_lengths.push_back(0);
        }
        wanted_lengths.back()++;
    }
    expect("run-length encode's count", count.host(), {int(wanted.size())});
    expect("run-length encode's values", out.host(), wanted);
    expect("run-length encode's lengths", lengths.host(), wanted_lengths);
}

int main() {
    select<int>(80000);
    select_flagged<unsigned char>(60000);
    unique<long long>(40000);
    partition<float>(60000);
    run_length_encode<char>(60000);
#ifdef ALL_TYPES
    select<double>(40000);
    unique<short>(60000);
    partition<unsigned char>(60000);
    run_length_encode<int>(60000);
#endif
    return verdict();
}
