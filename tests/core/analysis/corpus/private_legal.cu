// Shared memory with a slot for each thread, and barriers that order nothing: see README.md.
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)
// What a thread stored is loaded again.
#define KEPT() asm volatile("" ::: "memory")
#define FOR_THREADS(k, n) for (int k = threadIdx.x; k < (n); k += blockDim.x)

//= covering; -O0 fixed
__global__ void own_slot(float* __restrict__ o, const float* __restrict__ a, int n) {
    __shared__ float s[256];
    const int i = GX;
    if (i < n) s[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n) o[i] = 2 * s[threadIdx.x];
}
//= covering; -O0 fixed
__global__ void returns_before_the_barrier(float* __restrict__ o, const float* __restrict__ a, int n) {
    __shared__ float s[128];
    const int i = GX;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    __syncthreads();
    o[i] = s[threadIdx.x] + 1;
}
//= covering; -O0 fixed
__global__ void without_barrier(float* o, const float* a, int n) {
    __shared__ float s[64];
    const int i = GX;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    for (int k = 0; k < n; k++) s[threadIdx.x] = 0.5f * s[threadIdx.x] + a[i];
    o[i] = s[threadIdx.x];
}
//= covering; -O0 fixed
__global__ void three_slots_each(int* o, const int* a, int n) {
    __shared__ int s[3 * 100];
    const int i = GX;
    if (i >= n) return;
    int* mine = s + 3 * threadIdx.x;
    mine[0] = a[i];
    mine[1] = mine[0] * 2;
    mine[2] = mine[1] + mine[0];
    KEPT();
    o[i] = mine[2] - mine[1];
}
//= covering; -O0 fixed
__global__ void rows_of_slots(int* o, const int* a, int n) {
    __shared__ int s[4][32];
    const int i = GX;
    if (i >= n) return;
    s[0][threadIdx.x] = a[i];
    s[3][threadIdx.x] = a[i] + 1;
    KEPT();
    o[i] = s[3][threadIdx.x] * s[0][threadIdx.x];
}
//= covering; -O0 fixed
__global__ void plane_of_slots(float* o, const float* a, int w, int h) {
    __shared__ float s[256];
    const int x = GX, y = GY, t = threadIdx.y * blockDim.x + threadIdx.x;
    if (x >= w || y >= h) return;
    s[t] = a[y * w + x];
    KEPT();
    o[y * w + x] = s[t] * s[t];
}
//= covering; -O0 dividing
__global__ void waits_for_its_warp(int* __restrict__ o, const int* __restrict__ a, int n) {
    const int i = GX;
    int v = i < n ? a[i] : 0;
    __syncwarp();
    if (i < n) o[i] = v;
}
//= covering; -O0 fixed
__global__ void waits_in_a_loop(int* __restrict__ o, const int* __restrict__ a, int n, int times) {
    const int i = GX;
    if (i >= n) return;
    int v = a[i];
    for (int t = 0; t < times; t++) {
        v += t;
        __syncthreads();
    }
    o[i] = v;
}
//= covering
__global__ void phases_of_a_row(int* o, int d) {
    FOR_THREADS(k, d) o[blockIdx.x * d + k] = k;
    __syncthreads();
    FOR_THREADS(k, d) o[blockIdx.x * d + k] *= 3;
}
//= covering; -O0 fixed
__global__ void slot_of_a_row(float* o, const float* __restrict__ a, int d) {
    __shared__ float s[512];
    FOR_THREADS(k, d) {
        s[threadIdx.x] = a[blockIdx.x * d + k];
        KEPT();
        o[blockIdx.x * d + k] = s[threadIdx.x] * 2;
    }
}
//= covering; -O0 fixed
__global__ void waits_at_the_end(int* o, const int* a, const int* from, int n) {
    const int i = GX;
    if (i < n) o[i] = a[from[i] & 3];
    __syncthreads();
    KEPT();
    __syncwarp();
}
//= covering; -O0 fixed
__global__ void waits_first(int* o, const int* a, const int* from, int n) {
    __syncthreads();
    const int i = GX;
    if (i < n) o[i] = a[from[i] & 3];
}
