// The kinds of kernels that PolyBench has, as OpenCL programmers write them: the global size is rounded up to whole
// work-groups, and a guard turns the rest away.
kernel void gemm(global const float* a, global const float* b, global float* c, float alpha, float beta, int n) {
    int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) {
        c[i * n + j] *= beta;
        for (int k = 0; k < n; k++) c[i * n + j] += alpha * a[i * n + k] * b[k * n + j];
    }
}
kernel void product(global const float* a, global const float* b, global float* c, uint n) {
    const uint column = get_global_id(0), row = get_global_id(1);
    if (row >= n || column >= n) return;
    float sum = 0;
    for (uint k = 0; k < n; ++k) sum = fma(a[row * n + k], b[k * n + column], sum);
    c[row * n + column] = sum;
}
kernel void mvt_rows(global const float* a, global float* x, global const float* y, int n) {
    int i = get_global_id(0);
    if (i < n)
        for (int j = 0; j < n; j++) x[i] += a[i * n + j] * y[j];
}
kernel void mvt_columns(global const float* a, global float* x, global const float* y, int n) {
    int i = get_global_id(0);
    if (i < n)
        for (int j = 0; j < n; j++) x[i] += a[j * n + i] * y[j];
}
kernel void gesummv(global const float* a, global const float* b, global const float* x, global float* y, float alpha,
                    float beta, int n) {
    int i = get_global_id(0);
    if (i < n) {
        float s = 0, t = 0;
        for (int j = 0; j < n; j++) {
            s += a[i * n + j] * x[j];
            t += b[i * n + j] * x[j];
        }
        y[i] = alpha * s + beta * t;
    }
}
kernel void syrk(global const float* a, global float* c, float alpha, float beta, int n) {
    int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) {
        c[i * n + j] *= beta;
        for (int k = 0; k < n; k++) c[i * n + j] += alpha * a[i * n + k] * a[j * n + k];
    }
}
kernel void convolution(global const float* in, global float* out, int n) {
    int j = get_global_id(0), i = get_global_id(1);
    if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
        out[i * n + j] = 0.2f * in[(i - 1) * n + j - 1] - 0.3f * in[i * n + j] + 0.4f * in[(i + 1) * n + j + 1] +
                         0.5f * in[(i - 1) * n + j] - 0.6f * in[i * n + j + 1];
}
kernel void jacobi(global const float* a, global float* b, int n) {
    int i = get_global_id(1), j = get_global_id(0);
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1)
        b[i * n + j] = 0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
}
kernel void fdtd_ey(global const float* source, global float* ey, global const float* hz, int t, int n) {
    int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) {
        if (i == 0)
            ey[i * n + j] = source[t];
        else
            ey[i * n + j] -= 0.5f * (hz[i * n + j] - hz[(i - 1) * n + j]);
    }
}
kernel void column_means(global const float* data, global float* mean, float points, int n) {
    int j = get_global_id(0);
    if (j < n) {
        mean[j] = 0;
        for (int i = 0; i < n; i++) mean[j] += data[i * n + j];
        mean[j] /= points;
    }
}
kernel void center(global float* data, global const float* mean, int n) {
    int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) data[i * n + j] -= mean[j];
}
kernel void project(global float* a, global const float* q, global float* r, int k, int n) {
    int j = get_global_id(0);
    if (j > k && j < n) {
        r[k * n + j] = 0;
        for (int i = 0; i < n; i++) r[k * n + j] += q[i * n + k] * a[i * n + j];
        for (int i = 0; i < n; i++) a[i * n + j] -= q[i * n + k] * r[k * n + j];
    }
}

// What the rules let go otherwise.
kernel void unguarded(global float* x) { x[get_global_id(0)] *= 2; }
kernel void reads_the_total(global float* x, int n) {
    int i = get_global_id(0);
    if (i < n) x[i] += get_global_size(0);
}
kernel void shares_memory(global float* x, local float* part, int n) {
    int l = get_local_id(0), i = get_global_id(0);
    part[l] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) x[i] = part[get_local_size(0) - 1 - l];
}
kernel void reads_its_place(global int* x, int n) {
    int i = get_global_id(0);
    if (i < n) x[i] = get_local_id(0);
}
kernel void reads_its_group(global int* x, int n) {
    int i = get_global_id(0);
    if (i < n) x[i] = get_group_id(0);
}
kernel void reads_the_group_size(global int* x, int n) {
    int i = get_global_id(0);
    if (i < n) x[i] = get_local_size(0);
}
kernel void takes_tickets(global int* x, global int* next, int n) {
    int i = get_global_id(0);
    if (i < n) x[atomic_inc(next)] = i;
}
kernel void prints(int n) {
    int i = get_global_id(0);
    if (i < n) printf("%d\n", i);
}
kernel void of_a_warp(global int* x, int n) {
    int i = get_global_id(0);
    if (i < n) x[i] = sub_group_broadcast(x[i], 0);
}
