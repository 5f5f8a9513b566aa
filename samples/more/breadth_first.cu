// Breadth-first search by levels: a launch for each level, a thread for each vertex; those of the level look at their
// neighbours. Degrees vary, so that threads of a warp loop for different times.
#include <queue>

#include "../common/sample.h"

__global__ void next_level(const int* first_edge, const int* edges, int* level, int* found, int vertices,
                           int now) {
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices || level[vertex] != now) return;
    for (int edge = first_edge[vertex]; edge < first_edge[vertex + 1]; ++edge)
        if (level[edges[edge]] < 0) {
            // Whoever comes first writes what all the others would.
            level[edges[edge]] = now + 1;
            *found = 1;
        }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {1 << 18, 1 << 24});
    const int n = options.n;
    std::vector<int> first_edge{0}, edges;
    for (int vertex = 0; vertex < n; ++vertex) {
        // A ring, so that all are reached, and up to fifteen more.
        edges.push_back((vertex + 1) % n);
        for (std::uint64_t k = 0; k < sample::mix(vertex) % 16; ++k)
            edges.push_back(static_cast<int>(sample::mix(std::uint64_t(vertex) * 16 + k) % n));
        first_edge.push_back(static_cast<int>(edges.size()));
    }
    sample::Outputs outputs(options.dump_path);

    std::vector<int> level(n, -1);
    level[0] = 0;
    sample::DeviceArray<int> d_first_edge(first_edge), d_edges(edges), d_level(level), d_found(1);
    sample::KernelTimer timer("next_level");
    timer.start();
    int found = 1;
    for (int now = 0; found != 0; ++now) {
        CUDA_CHECK(cudaMemset(d_found.data(), 0, sizeof(int)));
        next_level<<<(n + 255) / 256, 256>>>(d_first_edge.data(), d_edges.data(), d_level.data(),
                                             d_found.data(), n, now);
        found = d_found.to_host()[0];
    }
    timer.stop();
    timer.print();
    const std::vector<int> levels = d_level.to_host();
    outputs.add(levels);
    outputs.print();

    std::queue<int> waiting({0});
    while (!waiting.empty()) {
        const int vertex = waiting.front();
        waiting.pop();
        for (int edge = first_edge[vertex]; edge < first_edge[vertex + 1]; ++edge)
            if (level[edges[edge]] < 0) {
                level[edges[edge]] = level[vertex] + 1;
                waiting.push(edges[edge]);
            }
    }
    sample::Verifier verifier;
    for (int vertex = 0; vertex < n; ++vertex)
        verifier.within("level", vertex, levels[vertex], level[vertex], 0.0);
    return verifier.finish();
}
