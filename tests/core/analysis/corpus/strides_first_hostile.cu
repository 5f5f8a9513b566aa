// What the thread of index 0 alone does, under conditions beside that: with another number of threads they may be others. See
// README.md.
#include <cstdint>
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define TX (gridDim.x * blockDim.x)

//= dividing 3 "gridDim.x"
__global__ void and_several_iterations(int* o, int* note, int n) {
    int i = GX;
    const int total = TX;
    if (i == 0 && n > total) note[0] = 1;
    for (; i < n; i += total) o[i] = 3 * i;
}
//= dividing 3 "gridDim.x"
__global__ void nested_in_several_iterations(int* o, int* note, int n) {
    const int total = TX;
    if (n > total)
        if (GX == 0) note[0] = 1;
    for (int i = GX; i < n; i += total) o[i] = 3 * i;
}
//= fixed 1 "blockDim.x"
__global__ void and_a_wide_block(int* o, int* note, int n) {
    if (GX == 0 && blockDim.x > 8) note[0] = 1;
    for (int i = GX; i < n; i += TX) o[i] = 3 * i;
}
//= dividing 3 "gridDim.x"
__global__ void or_several_iterations(int* o, int* note, int n) {
    const int total = TX;
    if (GX == 0 || n > total) note[0] = 1;
    for (int i = GX; i < n; i += total) o[i] = 3 * i;
}
//= dividing 3 "gridDim.x"
__global__ void ored_with_the_total(int* o, int* note, int n) {
    if ((GX | (TX & 16)) == 0) note[0] = 1;
    for (int i = GX; i < n; i += TX) o[i] = 3 * i;
}
//= dividing 3 "gridDim.x"
__global__ void ored_with_its_own_sum(int* o, int* note, const int* __restrict__ a, int n) {
    int sum = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        sum += a[i] & 1;
    }
    if ((GX | (sum & ~3)) == 0) note[0] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void and_its_own_sum(int* o, int* note, const int* __restrict__ a, int n) {
    int sum = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        sum += a[i];
    }
    if (GX == 0 && sum > 6) note[0] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void nested_in_its_own_sum(int* o, int* note, const int* __restrict__ a, int n) {
    int sum = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        sum += a[i];
    }
    if (sum > 6)
        if (GX == 0) note[0] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void neither_other_nor_small(int* o, int* note, const int* __restrict__ a, int n) {
    int sum = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        sum += a[i];
    }
    if (!(GX != 0 || sum <= 6)) note[0] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void and_its_own_count(int* o, int* note, int n) {
    int count = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        count++;
    }
    if (GX == 0 && count > 2) note[0] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void and_its_last_index(int* o, int* note, int n) {
    int last = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        last = i;
    }
    if (GX == 0 && last > 20) note[0] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void stores_its_own_sum(int* o, int* note, const int* __restrict__ a, int n) {
    int sum = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        sum += a[i];
    }
    if (GX == 0) note[0] = sum;
}
//= dividing 3 "gridDim.x"
__global__ void stores_the_total(int* o, int* note, int n) {
    for (int i = GX; i < n; i += TX) o[i] = i;
    if (GX == 0) note[0] = TX;
}
//= dividing 3 "gridDim.x"
__global__ void one_store_a_thread(int* o, int* note, int n) {
    for (int i = GX; i < n; i += TX) o[i] = i;
    if (GX == 0)
        for (int k = 0; k < TX && k < 40; k++) note[k] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void and_one_of_two(int* o, int* note, int n, int m) {
    const int total = TX;
    if (GX == 0 && (m > 3 || n > total)) note[0] = 1;
    for (int i = GX; i < n; i += total) o[i] = 3 * i;
}
//= dividing 3 "gridDim.x"
__global__ void three_in_one(int* o, int* note, const int* __restrict__ a, int n, int m) {
    int sum = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        sum += a[i];
    }
    if (m > 1 && GX == 0 && sum > 6) note[0] = 1;
}
//= covering
__global__ void and_an_argument(int* o, int* note, int n, int m) {
    if (GX == 0 && m > 3) note[0] = m;
    for (int i = GX; i < n; i += TX) o[i] = 3 * i;
}
