// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions of two tensors of four indices each to one of six, result -= sum over k of t * v, all extents n. The free
// indices of t are one number, those of v another, so that it is a matrix product with scattered places. Exponents e of the
// strides n^e: RESULT_T and RESULT_V of the result, OF_T and OF_V of t and v, for their three free indices from the fastest, then of k.
// A block has TX x TY threads, and each of them WX x WY results. T_IS_X: x runs along t's indices. CHANGES as in
// samples/more/contraction.cu: 2 and more read places from tables, not by division; 3 reads all results before it writes.
// SHARED 0: operands are read from global memory where they are needed.
constexpr int rt[] = {RESULT_T}, rv[] = {RESULT_V}, te[] = {OF_T}, ve[] = {OF_V};
constexpr int depth = 16, threads = TX * TY, span_x = TX * WX, span_y = TY * WY;
constexpr int span_t = T_IS_X ? span_x : span_y, span_v = T_IS_X ? span_y : span_x;

__host__ __device__ constexpr int power(int n, int e) {
    return e == 0 ? 1 : n * power(n, e - 1);
}
__host__ __device__ constexpr int place(int i, int n, const int (&e)[3]) {
    return i % n * power(n, e[0]) + i / n % n * power(n, e[1]) + i / n / n * power(n, e[2]);
}
struct Places {
    int t_in_result[N * N * N], v_in_result[N * N * N], t_in_t[N * N * N], v_in_v[N * N * N];
};
constexpr int tf[] = {te[0], te[1], te[2]}, vf[] = {ve[0], ve[1], ve[2]};
constexpr Places make() {
    Places p{};
    for (int i = 0; i < N * N * N; ++i) {
        p.t_in_result[i] = place(i, N, rt);
        p.v_in_result[i] = place(i, N, rv);
        p.t_in_t[i] = place(i, N, tf);
        p.v_in_v[i] = place(i, N, vf);
    }
    return p;
}
__device__ const Places places = make();

__global__ void contraction(double* result, const double* t, const double* v, int n) {
    const int all = n * n * n, x = threadIdx.x, y = threadIdx.y, thread = x + TX * y;
    const int first_t = (T_IS_X ? blockIdx.x : blockIdx.y) * span_t,
              first_v = (T_IS_X ? blockIdx.y : blockIdx.x) * span_v;
    const auto t_place = [&](int i) { return CHANGES >= 2 ? places.t_in_t[i] : place(i, n, tf); };
    const auto v_place = [&](int i) { return CHANGES >= 2 ? places.v_in_v[i] : place(i, n, vf); };
    double sum[WX][WY] = {};
#if SHARED
    __shared__ double part_t[depth][span_t + 1], part_v[depth][span_v + 1];
#endif
    for (int start = 0; start < n; start += depth) {
#if SHARED
        for (int e = thread; e < span_t * depth; e += threads) {
            const int k = te[3] == 0 ? e % depth : e / span_t, i = te[3] == 0 ? e / depth : e % span_t;
            const bool is_in = start + k < n && first_t + i < all;
            part_t[k][i] = is_in ? t[t_place(first_t + i) + (start + k) * power(n, te[3])] : 0.0;
        }
        for (int e = thread; e < span_v * depth; e += threads) {
            const int k = ve[3] == 0 ? e % depth : e / span_v, i = ve[3] == 0 ? e / depth : e % span_v;
            const bool is_in = start + k < n && first_v + i < all;
            part_v[k][i] = is_in ? v[v_place(first_v + i) + (start + k) * power(n, ve[3])] : 0.0;
        }
        __syncthreads();
#endif
#pragma unroll 4
        for (int k = 0; k < depth; ++k) {
            double of_x[WX], of_y[WY];
#if SHARED
#pragma unroll
            for (int i = 0; i < WX; ++i) of_x[i] = T_IS_X ? part_t[k][x + TX * i] : part_v[k][x + TX * i];
#pragma unroll
            for (int j = 0; j < WY; ++j) of_y[j] = T_IS_X ? part_v[k][y + TY * j] : part_t[k][y + TY * j];
#else
            const auto one = [&](bool is_t, int i) {
                if (start + k >= n || i >= all) return 0.0;
                return is_t ? t[t_place(i) + (start + k) * power(n, te[3])]
                            : v[v_place(i) + (start + k) * power(n, ve[3])];
            };
#pragma unroll
            for (int i = 0; i < WX; ++i) of_x[i] = one(T_IS_X, (T_IS_X ? first_t : first_v) + x + TX * i);
#pragma unroll
            for (int j = 0; j < WY; ++j) of_y[j] = one(!T_IS_X, (T_IS_X ? first_v : first_t) + y + TY * j);
#endif
#pragma unroll
            for (int i = 0; i < WX; ++i)
#pragma unroll
                for (int j = 0; j < WY; ++j) sum[i][j] += of_x[i] * of_y[j];
        }
#if SHARED
        __syncthreads();
#endif
    }
    const auto at = [&](int i, int j) {
        const int a = first_t + (T_IS_X ? x + TX * i : y + TY * j),
                  b = first_v + (T_IS_X ? y + TY * j : x + TX * i);
        if (a >= all || b >= all) return -1;
        return CHANGES >= 2 ? places.t_in_result[a] + places.v_in_result[b]
                            : place(a, n, rt) + place(b, n, rv);
    };
#if CHANGES >= 3
    double before[WX][WY];
#pragma unroll
    for (int i = 0; i < WX; ++i)
#pragma unroll
        for (int j = 0; j < WY; ++j) before[i][j] = at(i, j) >= 0 ? result[at(i, j)] : 0.0;
#endif
#pragma unroll
    for (int i = 0; i < WX; ++i)
#pragma unroll
        for (int j = 0; j < WY; ++j) {
            const int to = at(i, j);
            if (to < 0) continue;
#if CHANGES >= 3
            result[to] = before[i][j] - sum[i][j];
#else
            result[to] -= sum[i][j];
#endif
        }
}
