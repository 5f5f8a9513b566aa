// Grid-stride loops that may have any number of threads: see README.md.
#include <cstdint>
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)
#define TX (gridDim.x * blockDim.x)
#define TY (gridDim.y * blockDim.y)

//= covering
__global__ void scaled_sum(float a, const float* x, float* y, int n) {
    for (int i = GX; i < n; i += TX) y[i] = a * x[i] + y[i];
}
//= covering
__global__ void unsigned_index(unsigned* o, unsigned n) {
    const unsigned step = TX;
    for (unsigned i = GX; i < n; i += step) o[i] = i * 3;
}
//= covering
__global__ void wide_index(double* o, size_t n) {
    size_t step = size_t(blockDim.x) * gridDim.x;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += step) o[i] = i;
}
//= covering; nvcc dividing
__global__ void widened_late(int* o, long long n) {
    for (long long i = GX; i < n; i += TX) o[i]++;
}
//= covering
__global__ void goes_on_while(float* o, int n) {
    int i = GX;
    while (i < n) {
        o[i] = o[i] * 2;
        i += TX;
    }
}
//= covering
__global__ void returns_early(int* o, int n, int k) {
    if (k <= 0) return;
    for (int i = GX; i < n; i += TX) o[i] = k;
}
//= covering
__global__ void tests_twice(int* o, int n) {
    int i = GX;
    if (i >= n) return;
    for (; i < n; i += TX) o[i] += i;
}
//= covering
__global__ void up_to_the_last(int* o, int last) {
    for (int i = GX; i <= last; i += TX) o[i] ^= 5;
}
//= covering
__global__ void but_the_last(int* o, const int* __restrict__ a, int n) {
    for (int i = GX; i < n - 1; i += TX) o[i] = a[i] + a[i + 1];
}
//= covering
__global__ void from_one(int* o, int n) {
    for (int i = GX + 1; i < n; i += TX) o[i] = i;
}
//= covering; -O0 dividing
__global__ void pairs(int2* o, int n) {
    for (int i = GX; i < n / 2; i += TX) o[i] = make_int2(i, -i);
}
//= covering
__global__ void even_places(int* o, int n) {
    for (int i = 2 * GX; i < n; i += 2 * TX) o[i] = i;
}
//= covering
__global__ void backwards(int* o, int n) {
    for (int i = n - 1 - (int)GX; i >= 0; i -= TX) o[i] = i;
}
//= covering
__global__ void leaves_some_out(int* o, const int* __restrict__ a, int n) {
    for (int i = GX; i < n; i += TX) {
        if (a[i] < 5) continue;
        o[i] = a[i];
    }
}
//= covering
__global__ void rows_of_a_matrix(float* y, const float* __restrict__ a, const float* __restrict__ x, int n,
                                 int m) {
    for (int i = GX; i < n; i += TX) {
        float s = 0;
        for (int j = 0; j < m; j++) s += a[i * m + j] * x[j];
        y[i] = s;
    }
}
//= covering
__global__ void plane(float* o, const float* a, int w, int h) {
    for (int y = GY; y < h; y += TY)
        for (int x = GX; x < w; x += TX) o[y * w + x] = 2 * a[y * w + x];
}
//= covering
__global__ void plane_by_columns(float* o, int w, int h) {
    for (int x = GX; x < w; x += TX)
        for (int y = GY; y < h; y += TY) o[y * w + x] += x - y;
}
//= covering
__global__ void strided_rows(float* o, int w, int h) {
    int x = GX;
    if (x >= w) return;
    for (int y = GY; y < h; y += TY) o[y * w + x] = y;
}
//= covering
__global__ void one_bound_and_then_another(int* a, int* b, int n, int m) {
    for (int i = GX; i < n; i += TX) a[i] = i;
    for (int i = GX; i < m; i += TX) b[i] = -i;
}
//= covering
__global__ void sweeps(float* o, int n, int times) {
    for (int t = 0; t < times; t++)
        for (int i = GX; i < n; i += TX) o[i] = 0.5f * o[i] + t;
}
//= covering
__global__ void histogram(int* bins, const int* __restrict__ x, int n) {
    for (int i = GX; i < n; i += TX) atomicAdd(&bins[x[i] & 7], 1);
}
//= covering
__global__ void greatest(int* most, const int* __restrict__ x, int n) {
    for (int i = GX; i < n; i += TX) atomicMax(most, x[i]);
}
//= covering
__global__ void by_a_factor_in_memory(float* o, const float* __restrict__ factor, int n) {
    const float a = factor[0];
    for (int i = GX; i < n; i += TX) o[i] *= a;
}
//= covering
__global__ void transposed(float* o, const float* __restrict__ a, int n, int w) {
    for (int i = GX; i < n; i += TX) o[i] = a[i % w * 3 + i / w];
}
//= covering
__global__ void random_numbers(unsigned* o, unsigned seed, int n) {
    for (int i = GX; i < n; i += TX) {
        unsigned s = seed ^ i * 2654435761u;
        for (int k = 0; k < 8; k++) {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
        }
        o[i] = s;
    }
}
//= covering
__global__ void four_words_each(int* o, int n) {
    for (int i = GX; i < n; i += TX)
        for (int k = 0; k < 4; k++) o[4 * i + k] = i - k;
}
//= covering
__global__ void first_thread_notes(int* o, int* note, int n) {
    for (int i = GX; i < n; i += TX) o[i] = i;
    if (GX == 0) {
        note[0] = n;
        note[1] = note[0] + 1;
    }
}
//= covering
__global__ void depends_on_the_row(int* o, int w, int h) {
    int y = GY;
    if (y >= h) return;
    for (int x = GX; x < w; x += TX) o[y * w + x] = y & 1 ? x : -x;
}
//= covering; -O0 dividing
__global__ void sums_in_128_bits(uint64_t* o, const uint64_t* __restrict__ x, uint64_t high, uint64_t low,
                                 int n) {
    for (int i = GX; i < n; i += TX) {
        unsigned __int128 sum =
            ((unsigned __int128)high << 64 | x[i]) + ((unsigned __int128)x[i] << 64 | low);
        o[i] = (uint64_t)(sum >> 64) ^ (uint64_t)sum;
    }
}
// Sums over turns that end in one atomic.
//= covering
__global__ void sum_of_all(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    atomicAdd(sum, s);
}
//= covering
__global__ void counts_of_two_kinds(unsigned* counts, const int* __restrict__ x, int n) {
    unsigned few = 0, many = 0;
    for (int i = GX; i < n; i += TX) {
        if (x[i] < 4) few++;
        if (x[i] > 11) many += 2;
    }
    atomicAdd(counts, few);
    atomicAdd(counts + 1, many);
}
//= covering
__global__ void largest_and_smallest(int* of, const int* __restrict__ x, int n) {
    int most = -2147483647 - 1, least = 2147483647;
    for (int i = GX; i < n; i += TX) {
        most = max(most, x[i] - i);
        least = min(least, x[i] + i);
    }
    atomicMax(of, most);
    atomicMin(of + 1, least);
}
//= covering
__global__ void bits_of_all(unsigned* bits, const unsigned* __restrict__ x, int n) {
    unsigned any = 0, odd = 0;
    for (int i = GX; i < n; i += TX) {
        any |= 1u << (x[i] & 31);
        odd ^= x[i] * 77u;
    }
    atomicOr(bits, any);
    atomicXor(bits + 1, odd);
}
//= covering
__global__ void wide_sum_of_products(unsigned long long* sum, const int* __restrict__ a,
                                     const int* __restrict__ b, int n) {
    unsigned long long s = 0;
    for (int i = GX; i < n; i += TX) s += (unsigned long long)(unsigned)a[i] * (unsigned)b[i];
    atomicAdd(sum, s);
}
//= covering
__global__ void sum_of_inner_turns(int* sum, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX)
        for (int k = 0; k < 5; k++) s += x[i] ^ k;
    atomicAdd(sum, s);
}
//= covering
__global__ void sum_and_squares(int* __restrict__ o, int* __restrict__ sum, const int* __restrict__ x,
                                int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) {
        o[i] = x[i] * x[i];
        s -= x[i];
    }
    atomicAdd(sum, s);
}
// Vectors, and what is left over.
//= covering; -O0 dividing
__global__ void vectors_and_the_rest(const int* __restrict__ a, int* __restrict__ o, int n) {
    for (int i = GX; i < n / 4; i += TX) {
        int4 v = ((const int4*)a)[i];
        v.x = -v.x;
        v.w += v.y;
        ((int4*)o)[i] = v;
    }
    for (int i = n / 4 * 4 + GX; i < n; i += TX) o[i] = a[i] * 3;
}
//= covering
__global__ void the_rest_alone(const int* __restrict__ a, int* __restrict__ o, int first, int n) {
    for (int i = GX + first; i < n; i += TX) o[i] = a[i] + i;
}
//= covering
__global__ void the_rest_backwards(const int* __restrict__ a, int* __restrict__ o, int last) {
    for (int i = last - (int)GX; i >= 0; i -= TX) o[i] = a[i] + i;
}
//= covering
__global__ void unsigned_rest(const short* __restrict__ a, short* __restrict__ o, unsigned first,
                              unsigned n) {
    for (unsigned i = (first & ~7u) + GX; i < n; i += TX) o[i] = a[i] ^ 3;
}
//= covering
__global__ void the_first_thread_does_one_more(int* __restrict__ o, const int* __restrict__ a,
                                               int* __restrict__ count, int n) {
    for (int i = GX; i < n / 4; i += TX) o[i] = a[i];
    if (GX == 0 && n > 3) count[1] = n / 4;
}
// Arrays on the stack that each turn fills before it reads them.
//= covering; -O0 dividing; -O1 dividing
__global__ void eight_in_another_order(const int* __restrict__ a, int* __restrict__ o, int n, int by) {
    for (int i = GX; i < n; i += TX) {
        int eight[8];
        for (int k = 0; k < 8; k++) eight[k] = a[8 * i + k];
        o[i] = eight[by & 7] - eight[i & 7];
    }
}
//= covering; -O0 dividing
__global__ void counts_of_a_turn(const int* __restrict__ a, int* __restrict__ o, int n) {
    for (int i = GX; i < n; i += TX) {
        int counts[4] = {0, 0, 0, 0};
        for (int k = 0; k < 9; k++) counts[a[(i + k) % n] & 3]++;
        o[i] = counts[i & 3] * 100 + counts[3];
    }
}

// At places that are not known: where each thread of the launch as written makes one turn.
//= covering
__global__ void gathered_from_who_knows_where(int* o, const int* from, const int* at, int n) {
    for (int i = GX; i < n; i += TX) o[i] = from[at[i]];
}
//= covering
__global__ void scattered(int* o, const int* at, int n) {
    for (int i = GX; i < n; i += TX) o[16 * i + (at[i] & 15)] = i;
}
//= covering
__global__ void columns_of_an_image(const float* image, int n, int w, int k, float* columns) {
    for (int i = GX; i < n; i += TX) {
        const float* from = image + i / w;
        float* to = columns + i;
        for (int a = 0; a < k; a++) {
            *to = a < w ? from[a * w] : 0;
            to += n;
        }
    }
}
//= covering
__global__ void two_kinds_of_sums(int* o, const int* at, int n) {
    for (int i = GX; i < n; i += TX) {
        atomicAdd(&o[at[i]], i);
        atomicMax(&o[64 + at[i]], i);
    }
}
//= covering
__global__ void gathered_twice(int* o, int* between, const int* from, const int* at, int n) {
    for (int i = GX; i < n; i += TX) between[i] = from[at[i]];
    for (int i = GX; i < n; i += TX) o[i] = between[i] + from[at[i] + 1];
}
//= covering
__global__ void gathered_plane(int* o, const int* from, const int* at, int w, int h) {
    for (int y = GY; y < h; y += TY)
        for (int x = GX; x < w; x += TX) o[y * w + x] = from[at[x] + y];
}
//= covering
__global__ void four_elements_of_a_turn(int* o, int n) {
    for (int i = 4 * GX; i < n; i += 4 * TX)
        for (int k = 0; k < 4; k++) o[i + k] = i + k;
}
//= covering
__global__ void every_third_element(unsigned* o, unsigned n) {
    for (unsigned i = 3 * GX; i < n; i += 3 * TX) o[i] = i;
}
// Two of its members are loaded at once, as one vector.
struct Volume {
    int width, height, depth;
    float* data;
};
//= covering alone
__global__ void members_of_a_structure(const Volume volume, float* o) {
    for (size_t i = GX; i < volume.width * volume.height * volume.depth; i += TX) o[i] = i;
}
