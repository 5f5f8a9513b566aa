// Inputs that are the same on every machine and in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sample {

// The finalizer of SplitMix64: spreads consecutive numbers over all 64 bits.
inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// `count` floats in [0, 1), multiples of 2^-24, so that no rounding takes part. Different seeds give
// different arrays.
inline std::vector<float> uniform_array(std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    const std::uint64_t base = mix(seed);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(mix(base + i) >> 40) * 0x1p-24f;
    return values;
}

}  // namespace sample
