// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What trimtab++ declares a __shared__ variable as whose class has a constructor that does something: nvcc
// runs none for it, and clang takes a union that runs none.
#pragma once
#pragma clang system_header

template <typename T>
union trimtab_unconstructed {
    T value;
    __host__ __device__ trimtab_unconstructed() {}
    __host__ __device__ ~trimtab_unconstructed() {}
};
