// Nearly grid-stride loops that add up over their turns: see README.md.
#include <cstdint>
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)
#define TX (gridDim.x * blockDim.x)
#define TY (gridDim.y * blockDim.y)
//= dividing 3 "gridDim.x"
__global__ void sum_with_a_start(int* sum, const int* __restrict__ x, int n) {
    int s = 1;
    for (int i = GX; i < n; i += TX) s += x[i];
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_from_an_argument(int* sum, const int* __restrict__ x, int n, int start) {
    int s = start;
    for (int i = GX; i < n; i += TX) s += x[i];
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_of_floats(float* sum, const float* __restrict__ x, int n) {
    float s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_that_is_reset(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) {
        s += x[i];
        if (x[i] == 7) s = 0;
    }
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_without_the_last(int* sum, const int* __restrict__ x, int n) {
    int s = 0, before = 0;
    for (int i = GX; i < n; i += TX) {
        before = s;
        s += x[i];
    }
    atomicAdd(sum, before);
}
//= dividing 3 "gridDim.x"
__global__ void sum_of_one_or_the_other(int* sum, const int* __restrict__ x, int n) {
    int s = 0, t = 0;
    for (int i = GX; i < n; i += TX) {
        t += x[i];
        s = x[i] > 7 ? s + 1 : t;
    }
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_that_weighs_itself(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s = 3 * s + x[i];
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_to_places_of_threads(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    atomicAdd(sum + (GX & 1), s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_of_threads(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s += x[i] + GX;
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void largest_sum(int* most, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    atomicMax(most, s);
}
//= dividing 3 "gridDim.x"
__global__ void smallest_of_another_sign(unsigned* least, const int* __restrict__ x, int n) {
    int s = -1;
    for (int i = GX; i < n; i += TX) s = min(s, x[i]);
    atomicMin(least, (unsigned)s);
}
//= dividing 3 "gridDim.x"
__global__ void sums_that_are_enough(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    if (s > 10) atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_cut_off(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    atomicAdd(sum, s < 100 ? s : 100);
}
//= dividing 3 "gridDim.x"
__global__ void sum_of_even_threads(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    if (GX % 2 == 1) s = 0;
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_of_two_loops(int* sum, const int* __restrict__ x, int n, int m) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    int j = GX;
    if (j >= m) return;
    for (; j < m; j += TX) s += 5;
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_of_bytes(unsigned* sum, const int* __restrict__ x, int n) {
    unsigned char s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    atomicAdd(sum, (unsigned)s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_before_the_test(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX;; i += TX) {
        s += 3;
        if (i >= n) break;
    }
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_behind_the_test(int* sum, const int* __restrict__ x, int n) {
    int s = 0, i = GX;
    if (i < n)
        for (;;) {
            const int next = i + TX;
            if (next >= n) break;
            s += x[i];
            i = next;
        }
    atomicAdd(sum, s);
}
//= dividing 3 "gridDim.x"
__global__ void sum_that_is_told(int* __restrict__ o, int* __restrict__ sum, const int* __restrict__ x,
                                 int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) o[i] = s += x[i];
    atomicAdd(sum, s);
}
