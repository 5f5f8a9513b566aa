// Distances of places on the map to one: an item is a place.

typedef struct {
    float latitude, longitude;
} Place;

__kernel void nearest_neighbour(__global const Place *places, __global float *distances, int count, float latitude,
                                float longitude) {
    const int i = get_global_id(0);
    if (i >= count) return;
    const float a = latitude - places[i].latitude, b = longitude - places[i].longitude;
    distances[i] = sqrt(a * a + b * b);
}
