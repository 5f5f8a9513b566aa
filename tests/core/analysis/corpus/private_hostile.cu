// Shared memory and barriers that look like threads' own affair: see README.md.
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)
// What a thread stored is loaded again.
#define KEPT() asm volatile("" ::: "memory")
#define FOR_THREADS(k, n) for (int k = threadIdx.x; k < (n); k += blockDim.x)

//= fixed 2 ""
__global__ void reads_a_neighbour(float* __restrict__ o, const float* __restrict__ a, int n) {
    __shared__ float s[256];
    const int i = GX;
    if (i < n) s[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n) o[i] = s[threadIdx.x ^ 1];
}
//= fixed 2 ""
__global__ void reads_the_next(float* __restrict__ o, const float* __restrict__ a, int n) {
    __shared__ float s[257];
    const int i = GX;
    if (i < n) s[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n) o[i] = s[threadIdx.x + 1];
}
//= fixed 2 ""
__global__ void reads_the_first(float* __restrict__ o, const float* __restrict__ a, int n) {
    __shared__ float s[256];
    const int i = GX;
    if (i < n) s[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n) o[i] = s[0];
}
//= fixed 2 ""
__global__ void reads_where_it_is_told(float* __restrict__ o, const int* __restrict__ a, int n) {
    __shared__ float s[256];
    const int i = GX;
    if (i < n) s[threadIdx.x] = i;
    __syncthreads();
    if (i < n) o[i] = s[a[i] & 255];
}
//= fixed 2 ""
__global__ void slots_that_overlap(int* o, const int* a, int n) {
    __shared__ int s[512];
    const int i = GX;
    if (i >= n) return;
    int* mine = s + 2 * threadIdx.x;
    mine[0] = a[i];
    mine[1] = mine[0] * 2;
    mine[2] = mine[1];
    KEPT();
    o[i] = mine[0] + mine[2];
}
//= fixed 2 ""
__global__ void slots_of_two_widths(int* o, const int* a, int n) {
    __shared__ int s[512];
    const int i = GX;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    KEPT();
    o[i] = s[2 * threadIdx.x];
}
//= fixed 2 ""
__global__ void bytes_of_others(int* o, const int* a, int n) {
    __shared__ int s[256];
    const int i = GX;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    KEPT();
    o[i] = reinterpret_cast<const char*>(s)[threadIdx.x];
}
//= fixed 2 ""
__global__ void columns_that_are_shared(float* o, const float* a, int w, int h) {
    __shared__ float s[256];
    const int x = GX, y = GY;
    if (x >= w || y >= h) return;
    s[threadIdx.x] = a[y * w + x];
    KEPT();
    o[y * w + x] = s[threadIdx.x];
}
//= fixed 2 ""
__global__ void address_gets_away(long long* o, int n) {
    __shared__ int s[256];
    const int i = GX;
    if (i >= n) return;
    s[threadIdx.x] = i;
    KEPT();
    o[i] = reinterpret_cast<long long>(s + threadIdx.x) + s[threadIdx.x];
}
//= fixed 2 ""
__global__ void slot_of_the_warp(float* __restrict__ o, const float* __restrict__ a, int n) {
    __shared__ float s[32];
    const int i = GX;
    if (i < n) s[threadIdx.x / 32] = a[i];
    __syncthreads();
    if (i < n) o[i] = s[threadIdx.x / 32];
}
//= fixed 2 ""
__global__ void slot_of_the_lane(float* __restrict__ o, const float* __restrict__ a, int n) {
    __shared__ float s[32];
    const int i = GX;
    if (i >= n) return;
    s[threadIdx.x % 32] = a[i];
    KEPT();
    o[i] = s[threadIdx.x % 32];
}
//= fixed 2 ""
__global__ void adds_in_its_slot(int* o, const int* a, int n) {
    __shared__ int s[256];
    const int i = GX;
    if (i >= n) return;
    s[threadIdx.x] = 0;
    atomicAdd(&s[threadIdx.x], a[i]);
    KEPT();
    o[i] = s[threadIdx.x];
}
//= fixed 2 ""
__global__ void volatile_slot(int* o, const int* a, int n) {
    __shared__ volatile int s[256];
    const int i = GX;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    o[i] = s[threadIdx.x];
}
//= fixed 2 ""
__global__ void dynamic_slots(int* o, const int* a, int n) {
    extern __shared__ int d[];
    const int i = GX;
    if (i >= n) return;
    d[threadIdx.x] = a[i];
    o[i] = d[threadIdx.x];
}
//= fixed 2 ""
__global__ void talks_through_memory(int* m, int n) {
    const int i = GX;
    if (i < n) m[i + 1] = i;
    __syncthreads();
    if (i < n) m[i] += 1;
}
//= fixed 2 ""
__global__ void talks_through_other_memory(int* a, int* b, int n) {
    const int i = GX;
    if (i < n) a[i] = i;
    __syncthreads();
    if (i < n) b[i] = a[n - 1 - i];
}
//= dividing 3 "no test of the index in x" alone
__global__ void talks_in_its_warp(int* m, int n) {
    const int i = GX;
    if (i < n) m[i] = i;
    __syncwarp();
    if (i < n && i > 0) m[i + 5000] = m[i - 1];
}
//= dividing 3 "no test of the index in x" alone
__global__ void waits_for_some(int* __restrict__ o, const int* __restrict__ a, int n) {
    const int i = GX;
    if (i < n) o[i] = a[i];
    __syncwarp(0xffff);
}
//= fixed 2 ""
__global__ void waits_if_told(int* __restrict__ o, const int* __restrict__ a, int n) {
    const int i = GX;
    if (i >= n) return;
    if (a[i] > 3) __syncthreads();
    o[i] = a[i];
}
//= fixed 2 ""
__global__ void waits_by_halves(int* __restrict__ o, const int* __restrict__ a, int n) {
    const int i = GX;
    if (i < n / 2)
        __syncthreads();
    else
        __syncthreads();
    if (i < n) o[i] = a[i];
}
//= fixed 2 ""
__global__ void waits_as_often_as_told(int* __restrict__ o, const int* __restrict__ a, int n) {
    const int i = GX;
    if (i >= n) return;
    for (int k = 0; k < a[i]; k++) __syncthreads();
    o[i] = a[i];
}
//= fixed 2 ""
__global__ void waits_and_ends(int* __restrict__ o, const int* __restrict__ a, int n) {
    const int i = GX;
    if (i >= n) return;
    o[i] = a[i];
    for (int k = 0; k < a[i]; k++) __syncthreads();
}
//= fixed 2 ""
__global__ void votes(int* __restrict__ o, const int* __restrict__ a, int n) {
    const int i = GX;
    const int any = __syncthreads_or(i < n && a[i] > 3);
    if (i < n) o[i] = any;
}
//= covering; -O0 covering
__global__ void phases_that_meet(int* a, int* b, int d) {
    FOR_THREADS(k, d) a[blockIdx.x * d + k] = k;
    __syncthreads();
    FOR_THREADS(k, d) b[blockIdx.x * d + k] = a[blockIdx.x * d + d - 1 - k];
}
//= fixed 2 ""
__global__ void waits_in_every_turn(float* o, const float* __restrict__ a, int d) {
    FOR_THREADS(k, d) {
        o[blockIdx.x * d + k] = a[k];
        __syncwarp();
    }
}
//= fixed 2 ""
__global__ void row_through_a_slot(float* o, const float* __restrict__ a, int d) {
    __shared__ float s[512];
    float v = 0;
    FOR_THREADS(k, d) v += a[blockIdx.x * d + k];
    s[threadIdx.x] = v;
    KEPT();
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = s[threadIdx.x];
}
//= covering; -O0 fixed
__global__ void reads_past_the_caches(float* __restrict__ o, const float* __restrict__ a, int n) {
    const int i = GX;
    if (i < n) o[i] = 1;
    __syncthreads();
    if (i < n) o[i] += a[i + 1];
}
//= fixed 2 ""
__global__ void gathers_past_the_caches(float* __restrict__ o, const float* __restrict__ a,
                                        const int* __restrict__ from, int n) {
    const int i = GX;
    if (i < n) o[i] = 1;
    __syncthreads();
    if (i < n) o[i] += a[from[i]];
}
//= fixed 2 ""
__global__ void waits_in_the_middle_too(int* o, int* b, const int* from, int n) {
    const int i = GX;
    if (i < n) b[i] = i;
    __syncthreads();
    if (i < n) o[i] = b[from[i] & 3];
    __syncthreads();
}
//= fixed 2 ""
__global__ void waits_at_the_end_of_a_turn(int* o, const int* from, int n) {
    const int i = GX;
    for (int k = 0; k < 3; k++) {
        if (i < n) o[i] += o[from[i + k] & 3];
        __syncthreads();
    }
}
//= fixed 2 ""
__global__ void waits_first_in_a_turn(int* o, const int* from, int n, int m) {
    const int i = GX;
    for (int k = 0; k < m; k++) {
        __syncthreads();
        if (i < n) atomicAdd(&o[from[i + k] & 3], o[i]);
    }
}
