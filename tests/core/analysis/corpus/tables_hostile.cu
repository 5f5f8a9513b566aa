// Nearly kernels whose blocks fill tables as every block does, or count into bins for all. See README.md.
#define FILL(N, WITH) \
    for (int k = threadIdx.x; k < N; k += blockDim.x) s[k] = WITH
#define COUNT                                      \
    int i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i < n) atomicAdd(&s[a[i] & 15], 1)
#define FLUSH(N) \
    for (int k = threadIdx.x; k < N; k += blockDim.x) atomicAdd(&o[k], s[k])

//= fixed 2 "shared memory"
__global__ void filled_with_ones(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 1);
    __syncthreads();
    COUNT;
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void filled_in_part(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(12, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void filled_by_one_block(int* o, const int* a, int n) {
    __shared__ int s[16];
    if (blockIdx.x == 0) FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void flushed_by_full_blocks(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    if ((blockIdx.x + 1) * blockDim.x <= n) FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void no_barrier_before(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    COUNT;
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void no_barrier_behind(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void some_have_left(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&s[a[i] & 15], 1);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void counted_then_largest(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicMax(&o[k], s[k]);
}
//= fixed 2 "shared memory"
__global__ void counted_two_ways(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[a[i] & 15], 1);
    if (i < n) atomicMax(&s[a[i] & 7], 3);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void stored_bins(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) o[k] = s[k];
}
//= fixed 2 "shared memory"
__global__ void bins_of_a_block(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[blockIdx.x * 16 + k], s[k]);
}
//= fixed 2 "shared memory"
__global__ void wide_flush(unsigned long long* o, const int* a, int n) {
    __shared__ unsigned s[16];
    FILL(16, 0);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[a[i] & 15], 0x40000000u);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void full_blocks_count(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x)
        if (s[k] > 2) atomicAdd(&o[k], s[k]);
}
//= fixed 2 "shared memory"
__global__ void clipped_bins(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[k], min(s[k], 3));
}
//= fixed 2 "shared memory"
__global__ void flushed_twice(int* o, int* p, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) {
        atomicAdd(&o[k], s[k]);
        atomicMax(&p[k], s[k]);
    }
}
//= fixed 2 "shared memory"
__global__ void flushed_in_turns_of_two(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += 2 * blockDim.x) atomicAdd(&o[k], s[k]);
}
//= fixed 2 "shared memory"
__global__ void read_while_counting(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && s[a[i] & 15] < 2) atomicAdd(&s[a[i] & 15], 1);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void takes_numbers(int* o, int* p, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = atomicAdd(&s[a[i] & 15], 1);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void counts_places_in_blocks(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[threadIdx.x >> 6 & 15], a[i]);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void many_rows(int* o, const int* a, int n) {
    __shared__ int s[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x + n * (blockIdx.y * blockDim.y + threadIdx.y);
    FILL(16, 0);
    __syncthreads();
    if (i < n) atomicAdd(&s[a[i] & 15], 1);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void sums_of_floats(float* o, const float* a, int n) {
    __shared__ float s[16];
    FILL(16, 0);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[i & 15], a[i]);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "shared memory"
__global__ void goes_on_from_the_loop(int* o, int* p, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    COUNT;
    __syncthreads();
    int k = threadIdx.x;
    for (; k < 16; k += blockDim.x) atomicAdd(&o[k], s[k]);
    p[i] = k;
}
// Left to the launch, which sees what is counted and where it goes.
//= covering alone; -O0 fixed
__global__ void counts_what_it_counted(int* o, const int* a, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    if (blockIdx.x * blockDim.x + threadIdx.x < n)
        atomicAdd(&s[o[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1);
    __syncthreads();
    FLUSH(16);
}
//= fixed 2 "addresses that are not known"; -O0 fixed
__global__ void counts_what_is_anywhere(int* o, const int* a, const int* b, int n) {
    __shared__ int s[16];
    FILL(16, 0);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[b[a[i]] & 15], 1);
    __syncthreads();
    FLUSH(16);
}

// --- tables ---

//= fixed 2 "shared memory"
__global__ void table_of_a_block(int* o, const int* table, int n) {
    __shared__ int s[16];
    FILL(16, table[k] + blockIdx.x);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
}
//= fixed 2 "shared memory"
__global__ void table_of_a_size(int* o, const int* table, int n) {
    __shared__ int s[16];
    FILL(16, table[k] * blockDim.x);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
}
//= fixed 2 "shared memory"
__global__ void tile(int* o, const int* a, int n) {
    __shared__ int s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) s[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n) o[i] = s[63 - threadIdx.x];
}
//= fixed 2 "shared memory"
__global__ void as_long_as_the_block(int* o, const int* table, int n) {
    __shared__ int s[64];
    for (int k = threadIdx.x; k < 2 * blockDim.x; k += blockDim.x) s[k] = table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 63];
}
//= fixed 2 "shared memory"
__global__ void by_who_made_it(int* o, const int* table, int n) {
    __shared__ int s[16];
    FILL(16, table[k] + threadIdx.x);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
}
//= fixed 2 "shared memory"
__global__ void read_too_early(int* o, const int* table, int n) {
    __shared__ int s[16];
    FILL(16, table[k]);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
    __syncthreads();
}
//= fixed 2 "shared memory"
__global__ void written_again(int* o, const int* table, int n) {
    __shared__ int s[16];
    FILL(16, table[k]);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
    if (threadIdx.x == 3) s[5] = o[0];
}
//= fixed 2 "shared memory"
__global__ void two_in_one_place(int* o, const int* table, int n) {
    __shared__ int s[17];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) {
        s[k] = table[k];
        s[k + 1] = 7;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
}
//= fixed 2 "shared memory"
__global__ void left_at_a_stop(int* o, const int* table, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) {
        if (table[k] < 0) break;
        s[k] = table[k];
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
}
//= fixed 2 "shared memory"
__global__ void carried_along(int* o, const int* table, int n) {
    __shared__ int s[16];
    int sum = 0;
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = sum += table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
}
//= fixed 2 "shared memory"
__global__ void more_than_a_table(int* o, int* p, const int* table, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) {
        s[k] = table[k];
        atomicAdd(&p[k], 1);
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
}
//= fixed 2 "shared memory"
__global__ void where_another_loop_ended(int* o, const int* table, int n) {
    __shared__ int s[16], u[16];
    int last = threadIdx.x;
    for (; last < 16; last += blockDim.x) u[last] = table[last];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = last;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15] + u[i & 7];
}
//= fixed 2 "shared memory"
__global__ void of_the_first_turn(int* o, const int* table, int n) {
    __shared__ int s[16];
    if (threadIdx.x < 16) {
        int mine = table[threadIdx.x], k = threadIdx.x;
        do {
            s[k] = mine;
            k += blockDim.x;
        } while (k < 16);
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 15];
}
//= fixed 2 "shared memory"
__global__ void stays_where_it_began(int* o, const int* table, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[threadIdx.x & 15] = table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i & 3];
}
//= fixed 2 "shared memory"
__global__ void begins_at_one(int* o, const int* table, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x + 1; k < 16; k += blockDim.x) s[k] = table[k - 1] + k % blockDim.x;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[(i & 7) + 1];
}
// Left to the launch.
//= covering alone; -O0 fixed
__global__ void changes_its_table(int* table, int n) {
    __shared__ int s[16];
    FILL(16, table[k]);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) table[i] = s[i & 15] + 1;
}
//= fixed 2 "addresses that are not known"; -O0 fixed
__global__ void scatters_from_a_table(int* o, const int* a, const int* table, int n) {
    __shared__ int s[16];
    FILL(16, table[k]);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[a[i]] = s[i & 15];
}
//= fixed 2 "does not fill each element of 't' exactly once"; -O0 fixed
__global__ void table_by_another_thread(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[4];
    if (threadIdx.x == 5) {
        t[0] = a[0];
        t[1] = a[1];
        t[2] = n;
        t[3] = 7;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i & 3];
}
//= fixed 2 "shared memory"
__global__ void table_by_some_thread(int* o, const int* __restrict__ a, int n, int at) {
    __shared__ int t[2];
    if (threadIdx.x == at) t[0] = a[0], t[1] = a[1];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i & 1];
}
//= fixed 2 "shared memory"
__global__ void table_by_all_but_the_first(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[16];
    if (threadIdx.x > 0 && threadIdx.x < 16) t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[1 + i % 15];
}
//= fixed 2 "fills 't' with values that are not proved equal in every block"; -O0 fixed
__global__ void table_of_the_block(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[4];
    if (threadIdx.x == 0) {
        t[0] = a[0];
        t[1] = blockDim.x;
        t[2] = n;
        t[3] = 7;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i & 3];
}
//= fixed 2 "shared memory"
__global__ void table_by_the_first_block(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[2];
    if (threadIdx.x == 0 && blockIdx.x == 0) t[0] = a[0], t[1] = a[1];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i & 1];
}
//= fixed 2 "may fill an element of 't' twice"; -O0 fixed
__global__ void table_whose_entry_is_set_twice(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) t[k] = a[k] * 3;
    if (threadIdx.x == 0) t[15] = n;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i % 16];
}
//= fixed 2 "shared memory"
__global__ void table_whose_bound_may_reach_an_entry(int* o, const int* __restrict__ a, int n, int m) {
    __shared__ int t[16];
    for (int k = threadIdx.x; k < m; k += blockDim.x) t[k] = a[k] * 3;
    if (threadIdx.x == 0) t[15] = n;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i % 16];
}
//= fixed 2 "does not fill 's' with the value that"; -O0 fixed
__global__ void sum_of_a_grid_with_a_start(int* o, const int* __restrict__ a, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 1;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, a[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(o, s);
}
//= fixed 2 "shared memory"
__global__ void sum_that_every_thread_adds(int* o, const int* __restrict__ a, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, a[i]);
    __syncthreads();
    atomicAdd(o, s);
}
//= fixed 2 "shared memory"
__global__ void sum_that_another_thread_adds(int* o, const int* __restrict__ a, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, a[i]);
    __syncthreads();
    if (threadIdx.x == 64) atomicAdd(o, s);
}
//= fixed 2 "reads 's' for something other than adding each element once"; -O0 fixed
__global__ void sum_of_a_block_is_stored(int* o, const int* __restrict__ a, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, a[i]);
    __syncthreads();
    if (threadIdx.x == 0) o[blockIdx.x] = s;
}
//= fixed 2 "shared memory"
__global__ void sum_of_a_block_by_another_operation(int* o, const int* __restrict__ a, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, a[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(o, s);
}
//= fixed 2 "shared memory"
__global__ void twice_the_sum_of_a_grid(int* o, const int* __restrict__ a, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, a[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(o, s & 1);
}
//= fixed 2 "shared memory"
__global__ void bins_of_two_types(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&s[a[i] & 15], 1);
        atomicAdd((float*)&s[a[i] & 7], 1.0f);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[k], s[k]);
}
//= fixed 2 "TRIMTAB_REASSOCIATE=1 allows that"; -O0 fixed
__global__ void float_bins_without_leave(float* o, const int* __restrict__ a, int n) {
    __shared__ float s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[a[i] & 15], 0.5f);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[k], s[k]);
}
// How much of it the block as written had is not told.
//= fixed 2 "shared memory"
__global__ void bins_up_to_the_block(unsigned* o, const unsigned* __restrict__ a, int n) {
    extern __shared__ unsigned own_bins[];
    for (int k = threadIdx.x; k < blockDim.x; k += blockDim.x) own_bins[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own_bins[a[i] % blockDim.x], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < blockDim.x; k += blockDim.x) atomicAdd(&o[k], own_bins[k]);
}
//= fixed 2 "does not fill each element of 'read_bins' exactly once"; -O0 fixed
__global__ void bins_up_to_what_memory_says(unsigned* o, const unsigned* __restrict__ a, int n) {
    extern __shared__ unsigned read_bins[];
    const int m = a[0];
    for (int k = threadIdx.x; k < m; k += blockDim.x) read_bins[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&read_bins[a[i] % m], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < m; k += blockDim.x) atomicAdd(&o[k], read_bins[k]);
}
//= fixed 2 "adds more of 'more_bins' to global memory than it has filled"; -O0 fixed
__global__ void bins_of_another_number(unsigned* o, const unsigned* __restrict__ a, int n, int m) {
    extern __shared__ unsigned more_bins[];
    for (int k = threadIdx.x; k < m; k += blockDim.x) more_bins[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&more_bins[a[i] % m], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < m + 1; k += blockDim.x) atomicAdd(&o[k], more_bins[k]);
}
