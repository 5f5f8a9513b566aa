// Guards that are none, or do not hold for all arguments: see README.md.
#include <cstdint>
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)

// --- guards that are none, or do not hold ---
//= dividing 3 "no test of the index in x"
__global__ void unguarded(int* o) {
    o[GX]++;
}
//= dividing 3 "no test of the index in x"
__global__ void guard_after_effect(int* o, int n) {
    int i = GX;
    o[i]++;
    if (i >= n) return;
    o[i] += 2;
}
//= dividing 3 "no test of the index in x"
__global__ void load_before_guard(int* o, const int* in, int n) {
    int i = GX;
    if (in[i] > 3 && i < n) o[i]++;
}
//= dividing 3 "reads its bound from memory"
__global__ void bound_in_memory(int* o, const int* n) {
    int i = GX;
    if (i < *n) o[i]++;
}
__constant__ int constant_bound = 20;
//= dividing 3 "memory"
__global__ void bound_in_constant_memory(int* o) {
    int i = GX;
    if (i < constant_bound) o[i]++;
}
//= dividing 3 "no test of the index in x"
__global__ void narrow_index(unsigned char* o, int n) {
    unsigned char i = GX;
    if (i < n) o[i]++;
}
//= dividing 3 "no test of the index in x"
__global__ void sixteen_bit_index(unsigned char* o, int n) {
    uint16_t i = GX;
    if (i < n) o[i]++;
}
//= dividing 3 "no test of the index in x"; -O0 covering
__global__ void index_clamped_by_select(int* o, int n) {
    int g = GX, i = g < n ? g : 0;
    if (i < n) atomicAdd(o + i, 1);
}
//= dividing 3 "no test of the index in x"
__global__ void index_clamped_by_minimum(int* o, int n) {
    int i = min((int)GX, n - 1);
    if (i < n) atomicAdd(o + i, 1);
}
//= dividing 3 "no test of the index in x"
__global__ void index_by_remainder(int* o, int n) {
    int i = GX;
    if (i % 8 < n) o[i]++;
}
//= dividing 3 "no test of the index in x"
__global__ void index_by_mask(int* o, int n) {
    int i = GX;
    if ((i & 15) < n) o[i]++;
}
//= dividing 3 "no test of the index in x"
__global__ void guard_by_float(int* o, float n) {
    int i = GX;
    if ((float)i < n) o[i]++;
}
//= dividing 3 "no test of the index in x"
__global__ void counts_down_past_zero(int* o, unsigned n) {
    unsigned i = GX, left = n - i;
    if (left == 0) return;
    o[i] += left;
}
//= dividing 3 "no test of the index in y"
__global__ void only_x_is_guarded(int* o, int n, int w) {
    int x = GX, y = GY;
    if (x < n) atomicAdd(o + y * w + x, 1);
}
//= dividing 3 "no test of the index in y"
__global__ void work_between_guards(int* o, int n, int m) {
    int x = GX, y = GY;
    if (x >= n) return;
    atomicAdd(o + x, 1);
    if (y >= m) return;
    o[100 + y * n + x] = 2;
}
//= dividing 3 "gridDim.x"
__global__ void total_as_bound(int* o) {
    int i = GX;
    if (i < gridDim.x * blockDim.x) o[i]++;
}
//= dividing 3 "gridDim.x"
__global__ void total_as_result(int* o, int n) {
    int i = GX;
    if (i < n) o[i] = gridDim.x * blockDim.x;
}
//= dividing 3 "gridDim.x"
__global__ void total_as_stride_of_a_sum(float* o, int n, int m) {
    int g = GX, total = gridDim.x * blockDim.x;
    if (g < n) {
        float s = 0;
        for (int i = g; i < m; i += total) s += i;
        o[g] = s;
    }
}
//= dividing 3 "gridDim.x"
__global__ void counts_its_turns(int* o, int n) {
    int turns = 0;
    for (int i = GX; i < n; i += gridDim.x * blockDim.x) o[i] = turns++;
}
//= dividing 3 "gridDim.x"
__global__ void remembers_where_it_began(int* o, int n) {
    int g = GX;
    for (int i = g; i < n; i += gridDim.x * blockDim.x) o[i] = g;
}
//= dividing 3 "gridDim.x"
__global__ void stops_at_one_index(int* o, int n) {
    for (int i = GX; i < n && i != 17; i += gridDim.x * blockDim.x) o[i] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void once_a_thread(int* threads, int* o, int n) {
    atomicAdd(threads, 1);
    for (int i = GX; i < n; i += gridDim.x * blockDim.x) o[i] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void slot_of_the_thread(float* sums, const float* x, int n) {
    int g = GX;
    for (int i = g; i < n; i += gridDim.x * blockDim.x) sums[g] += x[i];
}
//= covering alone
__global__ void ordered_within_a_thread(float* o, int n) {
    for (int i = GX; i < n; i += gridDim.x * blockDim.x) o[i % 1024] += i;
}
//= dividing 3 "gridDim.x"
__global__ void two_strides(int* o, int n) {
    for (int i = GX; i < n; i += 2 * gridDim.x * blockDim.x) o[i] = 1;
}

// --- guards whose arguments decide ---
//= covering
__global__ void unsigned_with_minus_one(int* o, int n) {
    unsigned i = GX;
    if (i < n - 30) o[i]++;
}
//= covering
__global__ void shifted_guard(int* o, unsigned n) {
    unsigned i = GX;
    if (i - 5 < n) o[i]++;
}
//= covering
__global__ void gap_after_the_end(int* o, int n) {
    int i = GX;
    if (i < n || i == n + 7) o[i]++;
}
//= covering
__global__ void product_that_wraps(int* o, int n) {
    int i = GX;
    if (i * 100000000 < n) o[i]++;
}
//= covering
__global__ void square_of_the_index(int* o, int n) {
    int i = GX;
    if (i * i < n) o[i]++;
}
//= covering
__global__ void guard_on_one_path(int* o, int n, int mode) {
    int i = GX;
    if (mode > 3) {
        if (i >= n) return;
    }
    o[i]++;
}
//= covering
__global__ void flat_guard_of_a_plane(int* o, int w, int n) {
    int i = GY * w + GX;
    if (i < n) atomicAdd(o + i, 1);
}
//= covering
__global__ void narrow_bound(int* o, int n) {
    int i = GX;
    if (i < (signed char)(n * 3)) o[i]++;
}

// --- clamped indices: on each path they are one value, which code with branches still tells; the arguments
// of the launch decide ---
//= covering
__global__ void clamped_to_the_end(int* o, int n) {
    int g = GX, i = g < n ? g : n;
    if (i >= n) return;
    atomicAdd(o + i, 1);
}
//= dividing 3 "no test of the index in x"; -O0 covering
__global__ void clamped_to_the_last(int* o, int n) {
    int g = GX, i = g < n ? g : n - 1;
    if (i >= n) return;
    atomicAdd(o + i, 1);
}
//= dividing 3 "no test of the index in x"
__global__ void clamped_in_two_steps(int* o, int n) {
    int g = GX, i = g;
    if (g >= n) i = 2 * n - g;
    if (i >= n) return;
    atomicAdd(o + 100 + i, 1);
}
//= dividing 3 "no test of the index in x"
__global__ void wrapped_round(int* o, int n) {
    int i = GX;
    while (i >= n + 40) i -= n + 40;
    if (i >= n) return;
    atomicAdd(o + i, 1);
}
//= dividing 3 "no test of the index in x"
__global__ void lower_bound_alone(int* o, int n) {
    int i = GX;
    if (i > 0) atomicAdd(o + i, n);
}
