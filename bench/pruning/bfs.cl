// Breadth-first search, level by level: an item is a node.

typedef struct {
    int first, edges;
} Node;

// The neighbours of this level's nodes get their distance.
__kernel void visit(__global const Node *nodes, __global const int *edges, __global char *is_of_level,
                    __global char *is_of_next, __global const char *is_visited, __global int *distance, int count) {
    const int node = get_global_id(0);
    if (node < count && is_of_level[node]) {
        is_of_level[node] = 0;
        for (int e = nodes[node].first; e < nodes[node].first + nodes[node].edges; ++e) {
            const int other = edges[e];
            if (!is_visited[other]) {
                distance[other] = distance[node] + 1;
                is_of_next[other] = 1;
            }
        }
    }
}

// The next level becomes this one.
__kernel void advance(__global char *is_of_level, __global char *is_of_next, __global char *is_visited,
                      __global char *goes_on, int count) {
    const int node = get_global_id(0);
    if (node < count && is_of_next[node]) {
        is_of_level[node] = 1;
        is_visited[node] = 1;
        *goes_on = 1;
        is_of_next[node] = 0;
    }
}
