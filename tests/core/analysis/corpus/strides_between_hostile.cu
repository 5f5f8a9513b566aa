// Values that outlive the loop over a thread's indices in which they were made, and go into a second such loop, into a tail or
// behind: with another number of threads they are other values. See README.md.
#include <cstdint>
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define TX (gridDim.x * blockDim.x)

//= dividing 3 "gridDim.x"
__global__ void last_index_hashed(int* o, unsigned* p, int n) {
    int last = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        last = i;
    }
    const unsigned v = (last * 2654435761u) >> 20;
    for (int i = GX; i < n; i += TX) p[i] = v ^ i;
}
//= dividing 3 "gridDim.x"
__global__ void last_index_scaled(int* o, int* p, int n) {
    int last = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        last = 3 * i + 1;
    }
    for (int i = GX; i < n; i += TX) p[i] = last + i;
}
//= dividing 3 "gridDim.x"
__global__ void index_behind_the_loop(int* o, int* p, int n) {
    int i = GX;
    for (; i < n; i += TX) o[i] = i;
    for (int k = GX; k < n; k += TX) p[k] = i - k;
}
//= dividing 3 "gridDim.x"
__global__ void number_of_iterations(int* o, int* p, int n) {
    int count = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        count++;
    }
    for (int i = GX; i < n; i += TX) p[i] = count ^ i;
}
//= dividing 3 "gridDim.x"
__global__ void parity_of_iterations(int* o, int* p, int n) {
    bool odd = false;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        odd = !odd;
    }
    for (int i = GX; i < n; i += TX) p[i] = odd ? i : -i;
}
//= dividing 3 "gridDim.x"
__global__ void number_of_large_ones(int* p, const int* __restrict__ a, int n) {
    int count = 0;
    for (int i = GX; i < n; i += TX) count += a[i] > 5;
    for (int i = GX; i < n; i += TX) p[i] = count + a[i];
}
//= dividing 3 "gridDim.x"
__global__ void any_large_one(int* p, const int* __restrict__ a, int n) {
    bool any = false;
    for (int i = GX; i < n; i += TX) any |= a[i] > 5;
    for (int i = GX; i < n; i += TX) p[i] = any;
}
//= dividing 3 "gridDim.x"
__global__ void any_large_one_guards(int* p, const int* __restrict__ a, int n) {
    bool any = false;
    for (int i = GX; i < n; i += TX)
        if (a[i] > 5) any = true;
    for (int i = GX; i < n; i += TX)
        if (any) p[i] = i;
}
//= dividing 3 "gridDim.x"
__global__ void any_iteration(int* o, int* p, int n, int m) {
    int any = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        any = 1;
    }
    for (int i = GX; i < m; i += TX) p[i] = any;
}
//= dividing 3 "gridDim.x"
__global__ void largest_of_a_thread(int* p, const int* __restrict__ a, int n) {
    int most = -1000;
    for (int i = GX; i < n; i += TX) most = max(most, a[i]);
    for (int i = GX; i < n; i += TX) p[i] = most - a[i];
}
//= dividing 3 "gridDim.x"
__global__ void bits_of_a_thread(int* p, const int* __restrict__ a, int n) {
    int bits = 0;
    for (int i = GX; i < n; i += TX) bits |= 1 << (a[i] & 31);
    for (int i = GX; i < n; i += TX) p[i] = bits;
}
//= dividing 3 "gridDim.x"
__global__ void last_value(int* p, const int* __restrict__ a, int n) {
    int last = 0;
    for (int i = GX; i < n; i += TX) last = a[i];
    for (int i = GX; i < n; i += TX) p[i] = last + i;
}
//= dividing 3 "gridDim.x"
__global__ void wide_sum_of_a_thread(int64_t* p, const int* __restrict__ a, int n) {
    int64_t sum = 0;
    for (int i = GX; i < n; i += TX) sum += a[i];
    for (int i = GX; i < n; i += TX) p[i] = sum;
}
//= dividing 3 "gridDim.x"
__global__ void last_index_in_the_tail(int* o, int* p, int n) {
    int last = 0;
    for (int i = GX; i < n / 4; i += TX) {
        o[i] = i;
        last = i;
    }
    for (int i = n / 4 * 4 + GX; i < n; i += TX) p[i] = last ^ i;
}
//= dividing 3 "gridDim.x"
__global__ void count_in_the_tail(int* o, int* p, int n) {
    int count = 0;
    for (int i = GX; i < n / 4; i += TX) {
        o[i] = i;
        count++;
    }
    for (int i = n / 4 * 4 + GX; i < n; i += TX) p[i] = count;
}
//= dividing 3 "gridDim.x"
__global__ void last_index_by_the_first_thread(int* o, int* p, int n) {
    int last = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        last = i;
    }
    if (GX == 0) p[0] = last;
}
//= dividing 3 "gridDim.x"
__global__ void pointer_behind_the_loop(int* o, int64_t* p, int n) {
    int* q = o + GX;
    for (; q < o + n; q += TX) *q = 1;
    for (int i = GX; i < n; i += TX) p[i] = q - o - i;
}
//= dividing 3 "gridDim.x"
__global__ void last_index_as_a_place(int* o, const int* __restrict__ a, int n) {
    int last = 0;
    for (int i = GX; i < n; i += TX)
        if (a[i] > 2) last = i;
    for (int i = GX; i < n; i += TX) o[i] = a[last];
}
//= dividing 3 "gridDim.x"
__global__ void bound_of_the_second_loop(int* o, int* p, int n) {
    int count = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        count++;
    }
    for (int i = GX; i < n / count; i += TX) p[i] = i;
}
//= dividing 3 "gridDim.x"
__global__ void through_a_third_loop(int* o, int* p, int n) {
    int last = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        last = i;
    }
    int sum = 0;
    for (int k = 0; k < 5; k++) sum += last * k;
    for (int i = GX; i < n; i += TX) p[i] = sum;
}
//= dividing 3 "gridDim.x"
__global__ void picked_between_the_loops(int* o, int* p, int n, int m) {
    int last = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = i;
        last = i;
    }
    int v = 7;
    if (m > 3) v = last / 2;
    for (int i = GX; i < n; i += TX) p[i] = v;
}
