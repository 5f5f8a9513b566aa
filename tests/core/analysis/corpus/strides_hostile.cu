// Loops that look like grid-stride loops, and whose results depend on the total: see README.md. `covering`
// where the arguments of the launch decide, as they do for memory that two turns meet in.
#include <cstdint>
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)
#define TX (gridDim.x * blockDim.x)
#define TY (gridDim.y * blockDim.y)

//= dividing 3 "gridDim.x"
__global__ void sum_of_a_thread(float* o, const float* __restrict__ x, int n) {
    float s = 0;
    for (int i = GX; i < n; i += TX) s += x[i];
    o[GX] = s;
}
//= dividing 3 "gridDim.x"
__global__ void running_sum(int* o, const int* __restrict__ x, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) o[i] = s += x[i];
}
//= dividing 3 "gridDim.x"
__global__ void value_of_the_last_turn(int* o, const int* __restrict__ x, int n) {
    int last = -1;
    for (int i = GX; i < n; i += TX) {
        o[i] = last;
        last = x[i];
    }
}
//= dividing 3 "gridDim.x"; -O3 covering
__global__ void first_turn_only(int* o, int n) {
    bool first = true;
    for (int i = GX; i < n; i += TX) {
        if (first) o[i] = 1;
        first = false;
    }
}
//= dividing 3 "gridDim.x"
__global__ void number_of_the_turn(int* o, int n) {
    for (int i = GX; i < n; i += TX) o[i] = i / TX;
}
//= dividing 3 "gridDim.x"
__global__ void compares_with_where_it_began(int* o, int n) {
    int g = GX;
    for (int i = g; i < n; i += TX) o[i] = i == g;
}
//= dividing 3 "gridDim.x"
__global__ void two_kinds_of_turns(int* o, int n) {
    for (int i = GX; i < n; i += 2 * TX) {
        o[i] = 1;
        if (i + TX < n) o[i + TX] = 2;
    }
}
//= dividing 3 "gridDim.x"
__global__ void works_before_it_tests(int* o, int n) {
    int i = GX;
    do {
        o[i] = i;
        i += TX;
    } while (i < n);
}
//= dividing 3 "gridDim.x"
__global__ void stops_at_what_it_finds(int* o, const int* __restrict__ x, int n) {
    for (int i = GX; i < n; i += TX) {
        if (x[i] == 3) break;
        o[i] = 1;
    }
}
//= dividing 3 "gridDim.x"
__global__ void returns_at_what_it_finds(int* o, const int* __restrict__ x, int n) {
    for (int i = GX; i < n; i += TX) {
        if (x[i] > 9) return;
        o[i] = x[i];
    }
}
//= dividing 3 "gridDim.x"
__global__ void some_threads_only(int* o, int n) {
    int g = GX;
    if (g % 2 == 0)
        for (int i = g; i < n; i += TX) o[i] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void value_of_the_thread(int* o, int n) {
    int g = GX, k = g < 10 ? 1 : 2;
    for (int i = g; i < n; i += TX) o[i] = k;
}
//= dividing 3 "gridDim.x"
__global__ void value_from_before(int* o, const int* __restrict__ x, int n) {
    int g = GX;
    if (g >= n) return;
    int k = x[g];
    for (int i = g; i < n; i += TX) o[i] = k;
}
//= dividing 3 "gridDim.x"
__global__ void counts_threads(int* count, int* o, int n) {
    for (int i = GX; i < n; i += TX) o[i] = 1;
    atomicAdd(count, 1);
}
//= dividing 3 "gridDim.x"
__global__ void where_it_ended(int* o, int* ends, int n) {
    int i = GX;
    for (; i < n; i += TX) o[i] = 1;
    atomicMax(ends, i);
}
//= dividing 3 "gridDim.x"
__global__ void index_of_another_loop(int* o, int n, int m) {
    int i = GX;
    for (; i < n; i += TX) o[i] = 1;
    for (int j = GX; j < m; j += TX) o[1000 + j] = i;
}
//= dividing 3 "gridDim.x"
__global__ void stack_between_turns(int* o, const int* __restrict__ x, int n, int k) {
    int kept[4] = {0, 0, 0, 0};
    for (int i = GX; i < n; i += TX) {
        o[i] = kept[(i + k) & 3];
        kept[i & 3] = x[i];
    }
}
//= dividing 3 "gridDim.x"
__global__ void word_and_halves(int* o, const int* __restrict__ x, int n) {
    union {
        int word;
        short halves[2];
    } kept;
    kept.word = 7;
    for (int i = GX; i < n; i += TX) {
        o[i] = kept.halves[0];
        kept.word = x[i];
    }
}
//= dividing 3 "gridDim.x"
__global__ void halves_of_the_thread(int* o, int n) {
    union {
        unsigned word;
        unsigned short halves[2];
    } mine;
    mine.word = GX;
    for (int i = mine.word; i < n; i += TX) o[i] = mine.halves[0];
}
//= dividing 3 "gridDim.x"
__global__ void bound_in_memory(int* o, const int* n) {
    for (int i = GX; i < *n; i += TX) o[i] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void next_to_the_end(int* o, int n) {
    for (int i = GX; i < n; i += TX)
        if (i + (int)TX != n) o[i] = 2;
}
//= dividing 3 "gridDim.y"
__global__ void stride_of_another_dimension(int* o, int w, int h) {
    int x = GX;
    if (x < w)
        for (int y = GY; y < h; y += TX) o[y * w + x] = TY;
}
//= covering alone
__global__ void scattered(int* o, const int* __restrict__ to, int n) {
    for (int i = GX; i < n; i += TX) o[to[i]] = i;
}
//= dividing 3 "addresses that are not known" alone
__global__ void decides_by_what_turns_write(int* o, const int* at, int n) {
    if (o[n] > 3) return;
    for (int i = GX; i < n; i += TX) o[at[i]] = i;
}
//= dividing 3 "addresses that are not known" alone
__global__ void scales_by_what_turns_write(int* o, const int* at, int n) {
    int scale = o[0];
    for (int i = GX; i < n; i += TX) o[at[i]] = i * scale;
}
//= dividing 3 "addresses that are not known" alone
__global__ void first_thread_writes_what_turns_read(int* o, const int* at, int n) {
    if (GX == 0) o[n] = n;
    for (int i = GX; i < n; i += TX) at[i] < n ? o[i] = o[at[i]] : 0;
}
//= dividing 3 "addresses that are not known" alone
__global__ void adds_up_where_turns_write(int* o, const int* at, int n) {
    int s = 0;
    for (int i = GX; i < n; i += TX) {
        s += at[i];
        o[at[i]] = i;
    }
    atomicAdd(o, s);
}
//= dividing 3 "addresses that are not known" alone
__global__ void once_a_row(int* o, const int* at, int w, int h) {
    for (int y = GY; y < h; y += TY) {
        int first = o[y * w];
        for (int x = GX; x < w; x += TX) o[at[y * w + x]] = first;
    }
}
//= dividing 3 "gridDim.x"
__global__ void short_index(int* o, int n) {
    for (short i = GX; i < n; i += TX) o[i] = 1;
}
//= dividing 3 "gridDim.x"
__global__ void bytes_of_the_total(int* o, int n) {
    for (int i = GX; i < n; i += (unsigned char)TX) atomicOr(o + i, 1);
}
//= dividing 3 "gridDim.x"
__global__ void steps_a_turn(int* o, int n) {
    int step = TX;
    for (int i = GX; i < n; i += step, step += 1) atomicOr(o + i, 2);
}
//= covering alone
__global__ void neighbour_before(int* o, int n) {
    for (int i = GX; i < n; i += TX) o[i + 1] = o[i];
}
//= dividing 3 "gridDim.x" alone; -O0 covering
__global__ void one_place_for_all(int* o, int n) {
    for (int i = GX; i < n; i += TX) o[0] = i;
}
//= covering
__global__ void two_atomics_on_one_place(int* o, int n) {
    for (int i = GX; i < n; i += TX) {
        atomicAdd(o, 1);
        atomicAnd(o, 15);
    }
}
//= covering
__global__ void begins_below_another_bound(int* o, int n, int m) {
    int g = GX;
    if (g < m)
        for (int i = g; i < n; i += TX) o[i] = 1;
}
//= covering alone
__global__ void rows_that_overlap(int* o, int w, int h, int pitch) {
    for (int y = GY; y < h; y += TY)
        for (int x = GX; x < w; x += TX) o[y * pitch + x] += 1;
}
//= covering alone
__global__ void ends_before_a_minimum(int* o, unsigned n, unsigned m) {
    for (unsigned i = GX; i < n - m; i += TX)
        if (i < 100) o[i] = i;
}
// What follows sees the total, or where a thread starts, through the carry flag alone.
#define CARRY_OF_SUM(carry, a, b)                          \
    unsigned carry;                                        \
    {                                                      \
        unsigned low;                                      \
        asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;" \
            : "=r"(low), "=r"(carry)                       \
            : "r"((unsigned)(a)), "r"((unsigned)(b)));     \
    }
//= dividing 3 "gridDim.x"
__global__ void carry_of_the_total(int* o, int n) {
    CARRY_OF_SUM(many, TX, 0xffffffe0u);
    for (int i = GX; i < n; i += TX) o[i] = many;
}
//= dividing 3 "gridDim.x"
__global__ void carry_decides_who_works(int* o, int n) {
    int g = GX;
    CARRY_OF_SUM(works, g, 0xfffffff0u);
    if (works)
        for (int i = g; i < n; i += TX) o[i] = i;
}
//= dividing 3 "gridDim.x"
__global__ void carry_decides_in_every_turn(int* o, int n) {
    int g = GX;
    CARRY_OF_SUM(works, g, 0xfffffff0u);
    for (int i = g; i < n; i += TX)
        if (works) o[i] = i;
}
//= dividing 3 "gridDim.x"
__global__ void start_in_128_bits(uint64_t* o, uint64_t high, uint64_t low, int n) {
    unsigned __int128 sum = ((unsigned __int128)high << 64 | GX) + ((unsigned __int128)high << 64 | low);
    for (int i = GX; i < n; i += TX) o[i] = sum >> 64;
}
//= dividing 3 "gridDim.x"
__global__ void total_in_128_bits(uint64_t* o, uint64_t high, uint64_t low, int n) {
    unsigned __int128 sum = (unsigned __int128)high << 64 | low;
    sum += (unsigned __int128)TX * 3;
    for (int i = GX; i < n; i += TX) o[i] = sum >> 64;
}
//= dividing 3 "gridDim.x"
__global__ void carry_of_a_product(unsigned* o, int n) {
    unsigned low, high;
    asm("mad.lo.cc.u32 %0, %2, %2, 0xfffffc00;\n\tmadc.hi.u32 %1, 3, 5, 0;"
        : "=r"(low), "=r"(high)
        : "r"(TX));
    for (int i = GX; i < n; i += TX) o[i] = high;
}
//= dividing 3 "gridDim.x"
__global__ void carry_through_a_chain(unsigned* o, int n) {
    unsigned low, middle, high;
    asm("add.cc.u32 %0, %3, 0xffffffe0;\n\taddc.cc.u32 %1, 0xffffffff, 0;\n\taddc.u32 %2, 0, 0;"
        : "=r"(low), "=r"(middle), "=r"(high)
        : "r"(TX));
    for (int i = GX; i < n; i += TX) o[i] = high;
}
//= dividing 3 "gridDim.x"
__global__ void carry_of_a_guarded_sum(unsigned* o, int n) {
    unsigned low, high;
    asm("{ .reg .pred p; setp.gt.u32 p, %2, 32; add.cc.u32 %0, 0, 0;\n\t"
        "@p add.cc.u32 %0, 1, 0xffffffff; addc.u32 %1, 0, 0; }"
        : "=r"(low), "=r"(high)
        : "r"(TX));
    for (int i = GX; i < n; i += TX) o[i] = high;
}
//= dividing 3 "gridDim.x"
__global__ void carry_from_turn_to_turn(unsigned* o, const unsigned* x, int n) {
    unsigned sum = 0, carries = 0;
    for (int i = GX; i < n; i += TX) {
        asm("add.cc.u32 %0, %0, %2;\n\taddc.u32 %1, %1, 0;" : "+r"(sum), "+r"(carries) : "r"(x[i] << 28));
        o[i] = carries;
    }
}
//= dividing 3 ""
__global__ void goes_on_from_where_another_loop_ended(int* o, int n) {
    int i = GX, ended = i;
    for (; ended < n; ended += TX);
    for (; i < n; i = ended + TX) o[i] = i;
}
//= dividing 3 ""
__global__ void ends_by_another_loops_index(int* o, int n) {
    int i = GX, ended = i;
    if (i >= n) return;
    for (; ended < n; ended += TX);
    do {
        o[i] = i;
        i += TX;
    } while (ended + TX < n);
}
// What follows the test of the next index is done in all turns but a thread's last.
//= dividing 3 "gridDim.x"
__global__ void all_turns_but_the_last(int* o, int* p, int n) {
    int i = GX;
    if (i >= n) return;
    for (;;) {
        o[i] = 1;
        const int next = i + TX;
        if (next >= n) break;
        p[i] = 2;
        i = next;
    }
}
//= dividing 3 "gridDim.x"
__global__ void leaves_between_two_stores(int* o, int* p, int n) {
    int i = GX;
    while (i < n) {
        o[i] = 1;
        const int next = i + TX;
        if (next >= n) return;
        for (int k = 0; k < 2; k++) p[2 * i + k] = k;
        i = next;
    }
}
// The rest, as the number of threads has it.
//= dividing 3 "gridDim.x"
__global__ void the_rest_of_the_total(int* o, const int* __restrict__ a, int n) {
    for (int i = n / TX * TX + GX; i < n; i += TX) o[i] = a[i] + 1;
}
//= dividing 3 "gridDim.x"
__global__ void the_rest_after_the_turns(int* o, const int* __restrict__ a, int n) {
    int turns = 0;
    for (int i = GX; i < n / 4; i += TX) turns++;
    for (int i = GX; i < n; i += TX) o[i] = a[i] + turns;
}
//= dividing 3 "gridDim.x"
__global__ void two_threads_do_the_rest(int* o, const int* __restrict__ a, int n) {
    for (int i = GX; i < n / 4; i += TX) o[i] = a[i];
    if (GX == 0 || n < 9 && GX == 1)
        for (int i = n / 4 * 4; i < n; i++) o[i] += a[i];
}
// Arrays on the stack that a turn does not fill.
//= dividing 3 "gridDim.x"
__global__ void half_an_array(int* o, const int* __restrict__ a, int n, int by) {
    int eight[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = GX; i < n; i += TX) {
        for (int k = 0; k < 4; k++) eight[k] = a[i] + k;
        o[i] = eight[by & 7];
        eight[(by + i) & 7] = i;
    }
}
//= dividing 3 "gridDim.x"
__global__ void filled_now_and_then(int* o, const int* __restrict__ a, int n, int by) {
    int four[4] = {1, 2, 3, 4};
    for (int i = GX; i < n; i += TX) {
        if (a[i] & 1)
            for (int k = 0; k < 4; k++) four[k] = a[i] + k;
        o[i] = four[(by + i) & 3];
    }
}
//= dividing 3 "gridDim.x"
__global__ void filled_with_the_turn(int* o, int n, int by) {
    int turn = 0;
    for (int i = GX; i < n; i += TX) {
        int four[4];
        for (int k = 0; k < 4; k++) four[k] = turn + k;
        turn++;
        o[i] = four[(by + i) & 3];
    }
}
//= dividing 3 "gridDim.x"
__global__ void read_after_the_turns(int* o, const int* __restrict__ a, int n, int by) {
    int four[4] = {1, 2, 3, 4};
    for (int i = GX; i < n; i += TX)
        for (int k = 0; k < 4; k++) four[(k + by) & 3] = a[i] + k;
    if (GX == 0) o[0] = four[by & 3];
}
//= dividing 3 "gridDim.x"
__global__ void filled_before_the_turns(int* o, int n, int by) {
    int four[4];
    for (int k = 0; k < 4; k++) four[k] = (int)GX + k;
    for (int i = GX; i < n; i += TX) o[i] = four[(by + i) & 3];
}
// Turns meet in the fifth element: the launch sees it.
//= covering
__global__ void five_elements_of_four(int* o, int n) {
    for (int i = 4 * GX; i < n; i += 4 * TX)
        for (int k = 0; k < 5; k++) o[i + k] = i + k;
}
//= dividing 3 "gridDim.x"
__global__ void scaled_step_alone(int* o, int n) {
    for (int i = GX; i < n; i += 4 * TX) o[i] = i;
}
//= dividing 3 "gridDim.x"
__global__ void scaled_start_alone(int* o, int n) {
    for (int i = 4 * GX; i < n; i += TX) o[i] = i;
}
