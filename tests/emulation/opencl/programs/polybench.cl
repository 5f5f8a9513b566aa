// The 21 kinds of PolyBench's OpenCL programs, from their mathematics: each work-item takes one element, the global size is
// rounded up to whole work-groups, and a guard turns the rest away.
#define AT(m, i, j) m[(i) * n + (j)]

kernel void multiply(global const float* a, global const float* b, global float* c, float alpha, float beta, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i >= n || j >= n) return;
    float sum = AT(c, i, j) * beta;
    for (int k = 0; k < n; ++k) sum += alpha * AT(a, i, k) * AT(b, k, j);
    AT(c, i, j) = sum;
}
kernel void rank_update(global const float* a, global float* c, float alpha, float beta, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) {
        float sum = AT(c, i, j) * beta;
        for (int k = 0; k < n; ++k) sum += alpha * AT(a, i, k) * AT(a, j, k);
        AT(c, i, j) = sum;
    }
}
kernel void rank_update_of_two(global const float* a, global const float* b, global float* c, float alpha, float beta,
                               int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) {
        float sum = AT(c, i, j) * beta;
        for (int k = 0; k < n; ++k) sum += alpha * (AT(a, i, k) * AT(b, j, k) + AT(b, i, k) * AT(a, j, k));
        AT(c, i, j) = sum;
    }
}
kernel void convolve_plane(global const float* in, global float* out, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1) return;
    AT(out, i, j) = 0.2f * AT(in, i - 1, j - 1) - 0.3f * AT(in, i, j - 1) + 0.4f * AT(in, i + 1, j - 1) +
                    0.5f * AT(in, i - 1, j) + 0.6f * AT(in, i, j) - 0.7f * AT(in, i + 1, j) -
                    0.8f * AT(in, i - 1, j + 1) + 0.9f * AT(in, i, j + 1) + 0.1f * AT(in, i + 1, j + 1);
}
// One plane a launch, as PolyBench does.
kernel void convolve_volume(global const float* in, global float* out, int i, int n) {
    const int k = get_global_id(0), j = get_global_id(1);
    if (j < 1 || k < 1 || j >= n - 1 || k >= n - 1) return;
    global const float *above = in + (i - 1) * n * n, *here = in + i * n * n, *below = in + (i + 1) * n * n;
    AT((out + i * n * n), j, k) = 0.2f * AT(above, j - 1, k - 1) + 0.5f * AT(below, j - 1, k - 1) -
                                  0.3f * AT(here, j, k) + 0.4f * AT(below, j + 1, k + 1) - 0.6f * AT(above, j + 1, k) +
                                  0.1f * AT(here, j, k + 1);
}
kernel void rows_times(global const float* a, global const float* x, global float* y, float factor, int n) {
    const int i = get_global_id(0);
    if (i < n) {
        float sum = y[i];
        for (int j = 0; j < n; ++j) sum += factor * AT(a, i, j) * x[j];
        y[i] = sum;
    }
}
kernel void columns_times(global const float* a, global const float* x, global float* y, float factor, int n) {
    const int j = get_global_id(0);
    if (j < n) {
        float sum = y[j];
        for (int i = 0; i < n; ++i) sum += factor * AT(a, i, j) * x[i];
        y[j] = sum;
    }
}
kernel void sum_of_products(global const float* a, global const float* b, global const float* x, global float* y,
                            float alpha, float beta, int n) {
    const int i = get_global_id(0);
    if (i >= n) return;
    float s = 0, t = 0;
    for (int j = 0; j < n; ++j) {
        s += AT(a, i, j) * x[j];
        t += AT(b, i, j) * x[j];
    }
    y[i] = alpha * s + beta * t;
}
kernel void add_outer(global float* a, global const float* u1, global const float* v1, global const float* u2,
                      global const float* v2, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) AT(a, i, j) += u1[i] * v1[j] + u2[i] * v2[j];
}
kernel void add_vector(global float* x, global const float* z, int n) {
    const int i = get_global_id(0);
    if (i < n) x[i] += z[i];
}
kernel void means(global const float* data, global float* mean, int n) {
    const int j = get_global_id(0);
    if (j < n) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += AT(data, i, j);
        mean[j] = sum / n;
    }
}
kernel void deviations(global const float* data, global const float* mean, global float* deviation, int n) {
    const int j = get_global_id(0);
    if (j < n) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += (AT(data, i, j) - mean[j]) * (AT(data, i, j) - mean[j]);
        const float root = sqrt(sum / n);
        deviation[j] = root <= 0.005f ? 1.0f : root;
    }
}
kernel void centre(global float* data, global const float* mean, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) AT(data, i, j) -= mean[j];
}
kernel void standardise(global float* data, global const float* mean, global const float* deviation, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) AT(data, i, j) = (AT(data, i, j) - mean[j]) / (sqrt((float)n) * deviation[j]);
}
// A row of the symmetric matrix and its mirror image: triangular work.
kernel void products_of_columns(global const float* data, global float* out, int n) {
    const int j1 = get_global_id(0);
    if (j1 < n)
        for (int j2 = j1; j2 < n; ++j2) {
            float sum = 0;
            for (int i = 0; i < n; ++i) sum += AT(data, i, j1) * AT(data, i, j2);
            AT(out, j1, j2) = sum;
            AT(out, j2, j1) = sum;
        }
}
kernel void contract(global const float* a, global const float* c4, global float* sum, int r, int n) {
    const int p = get_global_id(0), q = get_global_id(1);
    if (p < n && q < n) {
        float s = 0;
        for (int k = 0; k < n; ++k) s += a[(r * n + q) * n + k] * AT(c4, k, p);
        sum[(r * n + q) * n + p] = s;
    }
}
kernel void put_back(global float* a, global const float* sum, int r, int n) {
    const int p = get_global_id(0), q = get_global_id(1);
    if (p < n && q < n) a[(r * n + q) * n + p] = sum[(r * n + q) * n + p];
}
kernel void fdtd_y(global float* ey, global const float* hz, float source, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) AT(ey, i, j) = i == 0 ? source : AT(ey, i, j) - 0.5f * (AT(hz, i, j) - AT(hz, i - 1, j));
}
kernel void fdtd_x(global float* ex, global const float* hz, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n && j > 0) AT(ex, i, j) -= 0.5f * (AT(hz, i, j) - AT(hz, i, j - 1));
}
kernel void fdtd_z(global const float* ex, global const float* ey, global float* hz, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < n - 1 && j < n - 1)
        AT(hz, i, j) -= 0.7f * (AT(ex, i, j + 1) - AT(ex, i, j) + AT(ey, i + 1, j) - AT(ey, i, j));
}
kernel void norm_of_column(global const float* a, global float* r, int k, int n) {
    if (get_global_id(0) == 0) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += AT(a, i, k) * AT(a, i, k);
        AT(r, k, k) = sqrt(sum);
    }
}
kernel void scale_column(global const float* a, global const float* r, global float* q, int k, int n) {
    const int i = get_global_id(0);
    if (i < n) AT(q, i, k) = AT(a, i, k) / AT(r, k, k);
}
kernel void take_off(global float* a, global float* r, global const float* q, int k, int n) {
    const int j = get_global_id(0);
    if (j > k && j < n) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += AT(q, i, k) * AT(a, i, j);
        AT(r, k, j) = sum;
        for (int i = 0; i < n; ++i) AT(a, i, j) -= AT(q, i, k) * sum;
    }
}
kernel void smooth_line(global const float* a, global float* b, int n) {
    const int i = get_global_id(0);
    if (i > 0 && i < n - 1) b[i] = 0.33333f * (a[i - 1] + a[i] + a[i + 1]);
}
kernel void copy_line(global float* a, global const float* b, int n) {
    const int i = get_global_id(0);
    if (i > 0 && i < n - 1) a[i] = b[i];
}
kernel void smooth_plane(global const float* a, global float* b, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1)
        AT(b, i, j) = 0.2f * (AT(a, i, j) + AT(a, i, j - 1) + AT(a, i, j + 1) + AT(a, i + 1, j) + AT(a, i - 1, j));
}
kernel void copy_plane(global float* a, global const float* b, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) AT(a, i, j) = AT(b, i, j);
}
kernel void divide_row(global float* a, int k, int n) {
    const int j = get_global_id(0);
    if (j > k && j < n) AT(a, k, j) /= AT(a, k, k);
}
kernel void eliminate(global float* a, int k, int n) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i > k && j > k && i < n && j < n) AT(a, i, j) -= AT(a, i, k) * AT(a, k, j);
}
kernel void sweep_rows(global const float* a, global float* b, global float* x, int n) {
    const int i = get_global_id(0);
    if (i < n) {
        for (int j = 1; j < n; ++j) {
            AT(x, i, j) -= AT(x, i, j - 1) * AT(a, i, j) / AT(b, i, j - 1);
            AT(b, i, j) -= AT(a, i, j) * AT(a, i, j) / AT(b, i, j - 1);
        }
        AT(x, i, n - 1) /= AT(b, i, n - 1);
        for (int j = n - 2; j > 0; --j)
            AT(x, i, j) = (AT(x, i, j) - AT(x, i, j - 1) * AT(a, i, j - 1)) / AT(b, i, j - 1);
    }
}
kernel void sweep_column(global const float* a, global float* b, global float* x, int i, int n) {
    const int j = get_global_id(0);
    if (j < n) {
        AT(x, i, j) -= AT(x, i - 1, j) * AT(a, i, j) / AT(b, i - 1, j);
        AT(b, i, j) -= AT(a, i, j) * AT(a, i, j) / AT(b, i - 1, j);
    }
}
