// Kernels whose blocks fill tables with what every block fills them with, or count into bins of their own and add
// these to global memory. See README.md.
//= covering; -O0 fixed
__global__ void bins_in_turns(int* o, const int* a, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[a[i] & 15], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[k], s[k]);
}
//= covering; -O0 fixed
__global__ void bins_of_one_element(unsigned* o, const unsigned char* a, long n) {
    __shared__ unsigned s[8];
    if (threadIdx.x < 8) s[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[a[i] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&o[threadIdx.x], s[threadIdx.x]);
}
//= covering; -O0 fixed
__global__ void bins_while(unsigned* o, const unsigned char* a, long n) {
    __shared__ unsigned s[8];
    if (threadIdx.x < 8) s[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;
    while (i < n) {
        atomicAdd(&s[a[i] % 8], 1);
        i += step;
    }
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&o[threadIdx.x], s[threadIdx.x]);
}
//= covering; -O0 fixed
__global__ void bins_that_skip_zeros(int* o, const int* __restrict__ a, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[a[i] & 15], a[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x)
        if (s[k] != 0) atomicAdd(&o[k], s[k]);
}
//= covering; -O0 fixed
__global__ void largest_of_bins(int* o, const int* a, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = -2147483647 - 1;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(&s[a[i] & 15], a[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicMax(&o[k], s[k]);
}
//= covering; -O0 fixed
__global__ void two_kinds_of_bins(int* o, unsigned* most, const int* a, int n) {
    __shared__ int s[16];
    __shared__ unsigned m[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) {
        s[k] = 0;
        m[k] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&s[a[i] & 7], 1);
        atomicMax(&m[a[i] & 7], (unsigned)a[i] >> 3);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) {
        atomicAdd(&o[k], s[k]);
        atomicMax(&most[k], m[k]);
    }
}
//= covering; -O0 fixed
__global__ void lookup_table(int* o, const int* __restrict__ a, const int* table, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[a[i] & 15];
}
//= covering; -O0 fixed
__global__ void table_by_first_threads(int* o, const int* a, const int* table, int n) {
    __shared__ int s[8];
    if (threadIdx.x < 8) s[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k < 8; k++) sum = sum * 3 + s[k] * a[i];
    o[i] = sum;
}
//= covering; -O0 fixed
__global__ void computed_table(int* o, const int* a, int f, int n) {
    __shared__ int s[32];
    for (int k = threadIdx.x; k < 32; k += blockDim.x) s[k] = k * k + f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        o[i] = s[a[i] & 31];
}
//= covering; -O0 fixed
__global__ void table_of_pairs(int* o, const int2* __restrict__ table, const int* a, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 8; k += blockDim.x) {
        s[2 * k] = table[k].y;
        s[2 * k + 1] = table[k].x;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[a[i] & 15];
}
//= covering; -O0 fixed
__global__ void table_as_long_as_told(int* o, const int* table, int entries, int n) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < (entries & 15) + 1; k += blockDim.x) s[k] = table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = s[i % ((entries & 15) + 1)];
}
//= covering; -O0 fixed
__global__ void table_for_bins(int* o, const int* __restrict__ a, const int* __restrict__ table, int n) {
    __shared__ int s[16], t[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) {
        s[k] = 0;
        t[k] = table[k];
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[t[a[i] & 15] & 15], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 16; k += blockDim.x) atomicAdd(&o[k], s[k]);
}
//= dividing 3 "no test of the index"; -O0 fixed
__global__ void table_without_a_guard(int* o, const int* table) {
    __shared__ int s[16];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) s[k] = table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = s[i & 15];
}
//= covering; -O0 fixed
__global__ void table_by_the_first_thread(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[4];
    if (threadIdx.x == 0) {
        t[0] = a[0];
        t[1] = a[1];
        t[2] = n;
        t[3] = 7;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i & 3];
}
//= covering; -O0 fixed
__global__ void table_with_a_last_entry(int* o, const int* __restrict__ a, int n) {
    __shared__ int t[17];
    for (int k = threadIdx.x; k < 16; k += blockDim.x) t[k] = a[k] * 3;
    if (threadIdx.x == 0) t[16] = n;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i % 17];
}
//= covering; -O0 fixed
__global__ void sum_of_a_grid(int* o, const int* __restrict__ a, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, a[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(o, s);
}
//= covering; -O0 fixed
__global__ void sum_of_turns_of_a_grid(unsigned* o, const unsigned* __restrict__ a, int n) {
    __shared__ unsigned s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    unsigned sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i];
    atomicAdd(&s, sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(o, s);
}
//= covering; -O0 fixed
__global__ void least_of_a_grid(int* o, const int* __restrict__ a, int n) {
    __shared__ int least;
    if (threadIdx.x == 0) least = 2147483647;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMin(&least, a[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicMin(o, least);
}
//= covering; -O0 fixed
__global__ void bins_of_any_number(unsigned* o, const unsigned* __restrict__ a, int n, int m) {
    extern __shared__ unsigned any_bins[];
    for (int k = threadIdx.x; k < m; k += blockDim.x) any_bins[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (a[i] < m) atomicAdd(&any_bins[a[i]], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < m; k += blockDim.x) atomicAdd(&o[k], any_bins[k]);
}
//= covering; -O0 fixed
__global__ void table_in_dynamic_memory(int* o, const int* __restrict__ a, int n, int m) {
    extern __shared__ int any_table[];
    for (int k = threadIdx.x; k < m; k += blockDim.x) any_table[k] = a[k] * k;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[i] < m ? any_table[a[i]] : 0;
}
