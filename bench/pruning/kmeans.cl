// k-means clustering: an item is a point.

// Features one after the other for each point become points one after the other for each feature.
__kernel void swap(__global const float *by_point, __global float *by_feature, int points, int features) {
    const int point = get_global_id(0);
    if (point < points)
        for (int f = 0; f < features; ++f) by_feature[f * points + point] = by_point[point * features + f];
}

// The nearest of the cluster centres.
__kernel void assign(__global const float *by_feature, __global const float *centres, __global int *nearest, int points,
                     int clusters, int features) {
    const int point = get_global_id(0);
    if (point >= points) return;
    float least = FLT_MAX;
    int best = 0;
    for (int c = 0; c < clusters; ++c) {
        float distance = 0;
        for (int f = 0; f < features; ++f) {
            const float difference = by_feature[f * points + point] - centres[c * features + f];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    nearest[point] = best;
}
