// Two steps of training a network of one hidden layer. An item is a weight: x is the hidden unit, y the input unit, both
// counted from 1; row and column 0 are the biases'.

// Products of inputs and weights, summed over the rows of a work-group: one partial sum a group and hidden unit.
__kernel void layer_forward(__global const float *input, __global const float *weights, __global float *partial, int hidden,
                            __local float *products) {
    const int x = get_local_id(0), y = get_local_id(1), width = get_local_size(0), height = get_local_size(1);
    const int unit = get_global_id(0) + 1, row = get_global_id(1) + 1;
    products[y * width + x] = input[row] * weights[row * (hidden + 1) + unit];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int left = height; left > 1;) {
        const int upper = (left + 1) / 2;
        if (y + upper < left) products[y * width + x] += products[(y + upper) * width + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        left = upper;
    }
    if (y == 0) partial[get_group_id(1) * hidden + unit - 1] = products[x];
}

__kernel void adjust_weights(__global const float *delta, __global const float *input, __global float *weights,
                             __global float *last_change, int hidden) {
    const int unit = get_global_id(0) + 1, row = get_global_id(1) + 1, at = row * (hidden + 1) + unit;
    const float rate = 0.3f, momentum = 0.3f;
    const float change = rate * delta[unit] * input[row] + momentum * last_change[at];
    weights[at] += change;
    last_change[at] = change;
    if (row == 1) {
        const float bias = rate * delta[unit] + momentum * last_change[unit];
        weights[unit] += bias;
        last_change[unit] = bias;
    }
}
