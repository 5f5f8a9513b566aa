// What the first thread of a block alone does, under conditions beside that: with another block they may be others. See README.md.
#include <cstdint>
#define FOR_THREADS(k, n) for (int k = threadIdx.x; k < (n); k += blockDim.x)

//= fixed 1 ""
__global__ void and_its_own_sum(int* o, int* note, const int* __restrict__ a, int d) {
    int part = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        part += a[k];
    }
    if (threadIdx.x == 0 && part > 6) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void nested_in_its_own_sum(int* o, int* note, const int* __restrict__ a, int d) {
    int part = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        part += a[k];
    }
    if (part > 6)
        if (threadIdx.x == 0) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void ored_with_its_own_sum(int* o, int* note, const int* __restrict__ a, int d) {
    int part = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        part += a[k] & 1;
    }
    if ((threadIdx.x | (part & ~3)) == 0) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void or_its_own_sum(int* o, int* note, const int* __restrict__ a, int d) {
    int part = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        part += a[k];
    }
    if (threadIdx.x == 0 || part > 6) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void and_several_iterations(int* o, int* note, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 0 && d > blockDim.x) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void ored_with_the_block(int* o, int* note, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if ((threadIdx.x | (blockDim.x & 16)) == 0) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void or_several_iterations(int* o, int* note, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 0 || d > blockDim.x) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void and_its_last_index(int* o, int* note, int d) {
    int last = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        last = k;
    }
    if (threadIdx.x == 0 && last > 10) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void and_its_own_count(int* o, int* note, int d) {
    int count = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        count++;
    }
    if (threadIdx.x == 0 && count > 1) note[blockIdx.x] = 1;
}
//= fixed 1 ""
__global__ void stores_its_own_sum(int* o, int* note, const int* __restrict__ a, int d) {
    int part = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        part += a[k];
    }
    if (threadIdx.x == 0) note[blockIdx.x] = part;
}
//= fixed 1 ""
__global__ void stores_the_block(int* o, int* note, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 0) note[blockIdx.x] = blockDim.x;
}
//= fixed 1 ""
__global__ void one_store_a_thread(int* o, int* note, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 0)
        for (int k = 0; k < blockDim.x; k++) note[blockIdx.x * 1024 + k] = 1;
}
//= fixed 1 ""
__global__ void last_index_in_a_second_loop(int* o, int* p, int d) {
    int last = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        last = k;
    }
    FOR_THREADS(k, d) p[blockIdx.x * d + k] = last ^ k;
}
//= fixed 1 ""
__global__ void count_in_a_second_loop(int* o, int* p, int d) {
    int count = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        count++;
    }
    FOR_THREADS(k, d) p[blockIdx.x * d + k] = count;
}
//= fixed 1 ""
__global__ void flag_in_a_second_loop(int* p, const int* __restrict__ a, int d) {
    bool any = false;
    FOR_THREADS(k, d) any |= a[k] > 5;
    FOR_THREADS(k, d) p[blockIdx.x * d + k] = any;
}
//= fixed 1 ""
__global__ void hash_of_the_last_index(int* o, unsigned* p, int d) {
    int last = 0;
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = k;
        last = k;
    }
    const unsigned v = (last * 2654435761u) >> 20;
    FOR_THREADS(k, d) p[blockIdx.x * d + k] = v ^ k;
}
//= covering
__global__ void and_the_row(int* o, int* note, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    if (threadIdx.x == 0 && blockIdx.x > 1) note[blockIdx.x] = d;
}
