// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the kinds that table 3 has and bench/pruning has not: written from what they compute.

// Heat on a chip: `rounds` explicit steps of a tile, whose border is `rounds` wide and not written.
__kernel void hotspot(__global const float *power, __global const float *now, __global float *next, __local float *tile,
                      __local float *heat, int columns, int rows, int rounds) {
    const int x = get_local_id(0), y = get_local_id(1), wide = get_local_size(0), high = get_local_size(1);
    const int column = min((int)get_global_id(0), columns - 1), row = min((int)get_global_id(1), rows - 1);
    const int at = row * columns + column, own = y * wide + x;
    tile[own] = now[at];
    heat[own] = power[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < rounds; ++round) {
        const float west = tile[x > 0 ? own - 1 : own], east = tile[x < wide - 1 ? own + 1 : own];
        const float north = tile[y > 0 ? own - wide : own], south = tile[y < high - 1 ? own + wide : own];
        const float warmer = tile[own] + 0.1f * (heat[own] + (north + south - 2 * tile[own]) * 0.5f +
                                                 (west + east - 2 * tile[own]) * 0.5f + (80 - tile[own]) * 0.01f);
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[own] = warmer;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x >= rounds && x < wide - rounds && y >= rounds && y < high - rounds) next[at] = tile[own];
}

// The cheapest path down a grid, row by row: `rounds` rows of a strip.
__kernel void dynproc(__global const int *wall, __global const int *above, __global int *below, __local int *row,
                      int columns, int rounds) {
    const int x = get_local_id(0), wide = get_local_size(0), column = min((int)get_global_id(0), columns - 1);
    row[x] = above[column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < rounds; ++round) {
        const int left = row[max(x - 1, 0)], right = row[min(x + 1, wide - 1)];
        const int cost = wall[round * columns + column] + min(row[x], min(left, right));
        barrier(CLK_LOCAL_MEM_FENCE);
        row[x] = cost;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    below[column] = row[x];
}

// A group aligns a square of `side` cells of two sequences, an item a column, one antidiagonal after the other.
__kernel void align(__global int *score, __global const int *similar, __local int *part, int columns, int penalty, int side) {
    const int x = get_local_id(0), first = get_group_id(0) * side, pitch = side + 1;
    if (x == 0) part[0] = score[first * columns + first];
    part[x + 1] = score[first * columns + first + x + 1];
    part[(x + 1) * pitch] = score[(first + x + 1) * columns + first];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < 2 * side - 1; ++step) {
        const int y = step - x;
        if (y >= 0 && y < side) {
            const int at = (y + 1) * pitch + x + 1;
            part[at] = max(part[at - pitch - 1] + similar[(first + y + 1) * columns + first + x + 1],
                           max(part[at - 1], part[at - pitch]) - penalty);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int y = 0; y < side; ++y) score[(first + y + 1) * columns + first + x + 1] = part[(y + 1) * pitch + x + 1];
}

// What is left of a matrix after `depth` rows and columns of its factors.
__kernel void lud_internal(__global float *matrix, int size, int offset, int depth) {
    const int x = offset + depth + get_global_id(0), y = offset + depth + get_global_id(1);
    if (x >= size || y >= size) return;
    float sum = 0;
    for (int k = 0; k < depth; ++k) sum += matrix[y * size + offset + k] * matrix[(offset + k) * size + x];
    matrix[y * size + x] -= sum;
}

// A group looks for a key in a tree whose nodes have `order` children, level by level; an item per child.
__kernel void find(__global const int *keys, __global const int *children, __global const int *wanted, __global int *found,
                   __local int *node, int order, int height) {
    const int t = get_local_id(0), key = wanted[get_group_id(0)];
    if (t == 0) node[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = 0; level < height; ++level) {
        const int here = node[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < order && keys[here * (order + 1) + t] <= key && keys[here * (order + 1) + t + 1] > key)
            node[0] = children[here * order + t];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t < order && keys[node[0] * (order + 1) + t] == key) found[get_group_id(0)] = children[node[0] * order + t];
}

// The same for both ends of a range.
__kernel void find_range(__global const int *keys, __global const int *children, __global const int *from, __global const int *to,
                         __global int *first, __global int *last, __local int *node, int order, int height) {
    const int t = get_local_id(0), low = from[get_group_id(0)], high = to[get_group_id(0)];
    if (t < 2) node[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int level = 0; level < height; ++level) {
        const int left = node[0] * (order + 1), right = node[1] * (order + 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < order && keys[left + t] <= low && keys[left + t + 1] > low) node[0] = children[node[0] * order + t];
        if (t < order && keys[right + t] <= high && keys[right + t + 1] > high) node[1] = children[node[1] * order + t];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t < order && keys[node[0] * (order + 1) + t] == low) first[get_group_id(0)] = children[node[0] * order + t];
    if (t < order && keys[node[1] * (order + 1) + t] == high) last[get_group_id(0)] = children[node[1] * order + t];
}
