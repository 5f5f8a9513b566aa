// Resampling in a particle filter: each particle goes where its random number falls in the running sum of weights.

__kernel void resample(__global const double *x, __global const double *y, __global const double *sums,
                       __global const double *random, __global double *new_x, __global double *new_y, int particles) {
    const int i = get_global_id(0);
    if (i >= particles) return;
    int index = -1;
    for (int p = 0; p < particles; ++p)
        if (sums[p] >= random[i]) {
            index = p;
            break;
        }
    if (index == -1) index = particles - 1;
    new_x[i] = x[index];
    new_y[i] = y[index];
}
