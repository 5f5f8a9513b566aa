// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classical Runge-Kutta of a ring of STATES states, y' = what flows in less what flows out: a thread per set of rates.
// STEP 0: rates set by set, the five arrays by a variable index, so in local memory. 1: neighbours' rates side by side.
// 2: rates in shared memory. 3: the three derivatives in registers, y and yt in memory. 4: yt in registers, dym in memory.
// FLOATS: literals are floats. UNROLLED: the arrays and rates in registers, for which Maxwell has room.
#if FLOATS
#define REAL(x) x##f
#else
#define REAL(x) x
#endif
#if UNROLLED
#define STAY
#else
#define STAY asm volatile("" ::: "memory")  // what is in memory stays there from stage to stage
#endif
#if STEP >= 3 || UNROLLED
#define EACH _Pragma("unroll") for (int i = 0; i < STATES; ++i)
#else
#define EACH _Pragma("unroll 1") for (int i = 0; i < STATES; ++i)
#endif

struct Spread {  // element i of this thread among those of `pitch` threads
    float* first;
    int pitch;
    __device__ float& operator[](int i) const { return first[i * pitch]; }
};

template <class Rates, class State, class Derivative>
__device__ void derive(const Rates& k, const State& y, Derivative& dy) {
    STAY;
    EACH {
        const int before = (i + STATES - 1) % STATES, after = (i + 1) % STATES;
        dy[i] = k[before] * y[before] + REAL(0.25) * k[i] * y[after] - (k[i] + REAL(0.25) * k[before]) * y[i];
    }
    STAY;
}

__global__ void rk4(float* __restrict__ out, float* __restrict__ theta, const float* __restrict__ start,
                    float* __restrict__ work, int sets, int steps, float h) {
    const int set = blockIdx.x * blockDim.x + threadIdx.x;
#if STEP == 0
    const Spread k{theta + set * STATES, 1};
#elif STEP == 1
    const Spread k{theta + set, sets};
#else
    __shared__ float rates[STATES * BLOCK];
    const Spread k{rates + threadIdx.x, BLOCK};
    EACH k[i] = theta[i * sets + set];
#endif
    float dydx[STATES], dyt[STATES];
#if STEP >= 3
    const Spread y{work + set, sets};
#else
    float y[STATES];
#endif
#if STEP == 3
    const Spread yt{work + STATES * sets + set, sets};
    float dym[STATES];
#elif STEP == 4
    float yt[STATES];
    const Spread dym{work + STATES * sets + set, sets};
#else
    float yt[STATES], dym[STATES];
#endif
    EACH y[i] = start[i];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        derive(k, y, dydx);
        EACH yt[i] = y[i] + h / REAL(2.0) * dydx[i];
        derive(k, yt, dyt);
        EACH yt[i] = y[i] + h / REAL(2.0) * dyt[i];
        derive(k, yt, dym);
        EACH {
            yt[i] = y[i] + h * dym[i];
            dym[i] += dyt[i];
        }
        derive(k, yt, dyt);
        EACH y[i] += h / REAL(6.0) * (dydx[i] + dyt[i] + REAL(2.0) * dym[i]);
    }
    EACH out[i * sets + set] = y[i];
}
