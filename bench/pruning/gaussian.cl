// Gaussian elimination of a size x size matrix, step by step.

// The factors of a column: an item is a row below the pivot's.
__kernel void fan1(__global float *factors, __global const float *a, int size, int step) {
    const int i = get_global_id(0);
    if (i < size - 1 - step) factors[size * (i + step + 1) + step] = a[size * (i + step + 1) + step] / a[size * step + step];
}

// What is left of the matrix, and of the right side: x is the row, y the column.
__kernel void fan2(__global const float *factors, __global float *a, __global float *b, int size, int step) {
    const int i = get_global_id(0), j = get_global_id(1);
    if (i < size - 1 - step && j < size - step) {
        a[size * (i + 1 + step) + j + step] -= factors[size * (i + 1 + step) + step] * a[size * step + j + step];
        if (j == 0) b[i + 1 + step] -= factors[size * (i + 1 + step) + step] * b[step];
    }
}
