// Threads that wait for what other threads do: see README.md.
#define GX (blockIdx.x * blockDim.x + threadIdx.x)

//= fixed 2 "volatile"
__global__ void spins_on_volatile(int* c, int n) {
    int i = GX;
    if (i < n) {
        atomicAdd(c, 1);
        while (*(volatile int*)c < n) {
        }
    }
}
//= fixed 2 "loop that goes on until memory"
__global__ void spins_on_memory(int* flags, int* o, int n) {
    int i = GX;
    if (i >= n) return;
    flags[i] = 1;
    for (int k = 0; flags[(i + 1) % n] == 0 && k < 1000000; k++) o[i] = k;
}
//= fixed 2 "loop that goes on until memory"
__global__ void spins_until_it_may_exit(int* flags, int* o, int n) {
    int i = GX;
    if (i >= n) return;
    flags[i] = 1;
    for (int k = 0;; k++) {
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p exit; }" ::"r"(flags[(i + 1) % n]) : "memory");
        o[i] = k;
    }
}
//= fixed 2 "loop that goes on until memory"
__global__ void counts_to_what_it_writes(int* c, int* o, int n) {
    int i = GX;
    if (i >= n) return;
    atomicMin(c, i);
    for (int k = 0; k < *c; k++) o[i] = k;
}
//= fixed 2 "loop that goes on until memory"
__global__ void begins_again_until_memory(int* flags, int* o, const int* first, int n) {
    int i = GX;
    if (i >= n) return;
    flags[i] = 1;
    for (int e = first[i]; e < first[i + 1]; e++)
        if (flags[i + 1] == 0) {
            o[i] = 2;
            e = first[i];
        }
}
//= fixed 2 "loop that goes on until memory" alone; -O0 covering; -O1 covering
__global__ void may_leap_its_bound(int* flags, int* o, const int* first, int n) {
    int i = GX;
    if (i >= n) return;
    flags[i] = 1;
    for (int e = first[i]; e != first[i + 1]; e += 2)
        if (flags[i + 1] == 0) o[i] = e;
}
//= fixed 2 "loop that goes on until memory"
__global__ void goes_on_as_memory_says(int* flags, int* o, const int* first, int n) {
    int i = GX;
    if (i >= n) return;
    flags[i] = 1;
    for (int e = first[i]; e < first[i + 1]; e += flags[i + 1]) o[i] = e;
}
//= fixed 2 "loop that goes on until memory"
__global__ void spins_in_a_loop_of_two_entries(int* flags, int* o, int n) {
    int i = GX, k = 0;
    if (i >= n) return;
    flags[i] = 1;
    if (n & 1) goto middle;
top:
    o[i] = ++k;
middle:
    o[i + n] = k;
    if (flags[(i + 1) % n] == 0) goto top;
}
//= fixed 2 "loop that goes on until memory"
__global__ void spins_in_it_within_another(int* flags, int* o, int n) {
    int i = GX, k = 0;
    if (i >= n) return;
    for (int turn = 0; turn < n; turn++) {
        flags[i] = turn;
        if (turn & 1) goto middle;
    top:
        o[i] = ++k;
    middle:
        o[i + n] = k;
        if (flags[(i + 1) % n] < turn) goto top;
    }
}
