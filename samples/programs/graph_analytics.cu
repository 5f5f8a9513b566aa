// Analytics of one directed graph in compressed rows: degrees, PageRank, connected components, shortest paths, triangles
// and a breadth-first search by a queue. N is the number of vertices; a few have very many edges.
#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <queue>

#include "../common/sample.h"

struct Graph {
    const int* first;  // of vertex v, edges first[v] to first[v + 1] - 1
    const int* target;
    const int* weight;
    int vertices, edges;
};

constexpr int block = 256;
constexpr float damping = 0.85f;

int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

// ---- degrees and PageRank

__global__ void in_degrees(int* degree, const int* target, int edges) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges) atomicAdd(&degree[target[e]], 1);
}

// Counts of vertices whose degree has so many bits.
__global__ void degree_histogram(unsigned* bins, const int* degree, int n) {
    __shared__ unsigned own[32];
    if (threadIdx.x < 32) own[threadIdx.x] = 0;
    __syncthreads();
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x)
        atomicAdd(&own[(32 - __clz(degree[v])) & 31], 1u);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// What a vertex gives to each of its targets.
__global__ void shares(float* share, const float* rank, const int* first, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    const int degree = first[v + 1] - first[v];
    share[v] = degree > 0 ? rank[v] / degree : 0.0f;
}

// A thread a vertex, over its incoming edges.
__global__ void pull_by_thread(float* next, const float* share, const int* first, const int* source, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float sum = 0.0f;
    for (int e = first[v]; e < first[v + 1]; ++e) sum += share[source[e]];
    next[v] = (1.0f - damping) / n + damping * sum;
}

// A warp a vertex: for those with many edges.
__global__ void pull_by_warp(float* __restrict__ next, const float* __restrict__ share,
                             const int* __restrict__ first, const int* __restrict__ source,
                             const int* __restrict__ heavy, int count, int n) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (i >= count) return;
    const int v = heavy[i];
    float sum = 0.0f;
    for (int e = first[v] + lane; e < first[v + 1]; e += 32) sum += share[source[e]];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) next[v] = (1.0f - damping) / n + damping * sum;
}

// The largest change of a rank, as the bits of a float that is not negative: those are ordered as numbers are.
__global__ void largest_change(unsigned* most, const float* a, const float* b, int n) {
    __shared__ float shared[block];
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = v < n ? fabsf(a[v] - b[v]) : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicMax(most, __float_as_uint(shared[0]));
}

// ---- components, by hooking and jumping

__global__ void begin_components(int* parent, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) parent[v] = v;
}

// From the parents of before, so that the order of edges leaves no trace.
__global__ void hook(int* parent, const int* before, Graph graph, int* changed) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= graph.vertices) return;
    for (int e = graph.first[v]; e < graph.first[v + 1]; ++e) {
        const int a = before[v], b = before[graph.target[e]];
        if (a == b) continue;
        atomicMin(&parent[max(a, b)], min(a, b));
        *changed = 1;
    }
}

__global__ void jump(int* parent, const int* before, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int root = before[v];
    while (root != before[root]) root = before[root];
    parent[v] = root;
}

__global__ void count_roots(int* count, const int* parent, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned roots = __ballot_sync(0xffffffffu, v < n && parent[v] == v);
    if ((threadIdx.x & 31) == 0) atomicAdd(count, __popc(roots));
}

// ---- shortest paths

__global__ void fill(int* out, int value, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = value;
}

// An edge a thread, sources in an array of their own.
__global__ void relax(int* distance, const int* before, const int* source, const int* target,
                      const int* weight, int edges, int* changed, int round) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    const int from = before[source[e]];
    if (from == INT_MAX) return;
    const int through = from + weight[e];
    if (through < before[target[e]]) {
        atomicMin(&distance[target[e]], through);
        *changed = round;
    }
}

// ---- triangles: a thread an edge a -> b, a < b; the lists of targets are sorted

__device__ bool has(const int* list, int count, int value) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low] == value;
}

__global__ void triangles(unsigned long long* total, Graph graph, const int* source) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long found = 0;
    if (e < graph.edges) {
        const int a = source[e], b = graph.target[e];
        if (a < b)
            for (int k = graph.first[a]; k < graph.first[a + 1]; ++k) {
                const int c = graph.target[k];
                if (c > b && has(graph.target + graph.first[b], graph.first[b + 1] - graph.first[b], c))
                    ++found;
            }
    }
    if (found > 0) atomicAdd(total, found);
}

// ---- breadth-first search by a queue

__global__ void expand(int* next_count, int* next, const int* frontier, int count, Graph graph, int* level,
                       int now) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int v = frontier[i];
    for (int e = graph.first[v]; e < graph.first[v + 1]; ++e)
        if (atomicCAS(&level[graph.target[e]], -1, now) == -1)
            next[atomicAdd(next_count, 1)] = graph.target[e];
}

// How many vertices each level has.
__global__ void level_sizes(int* sizes, const int* level, int n, int levels) {
    extern __shared__ int own_sizes[];
    for (int k = threadIdx.x; k < levels; k += blockDim.x) own_sizes[k] = 0;
    __syncthreads();
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && level[v] >= 0) atomicAdd(&own_sizes[min(level[v], levels - 1)], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < levels; k += blockDim.x) atomicAdd(&sizes[k], own_sizes[k]);
}

// ---- on the host

struct HostGraph {
    int n;
    std::vector<int> first{0}, target, weight, source;  // by source
    std::vector<int> in_first, in_source;               // by target

    explicit HostGraph(int vertices) : n(vertices) {
        for (int v = 0; v < n; ++v) {
            // Both ends know each edge of the first kind: triangles and components are those of an undirected graph.
            std::vector<int> to;
            const int degree = v % 97 == 0 ? 100 : static_cast<int>(sample::mix(v) % 8);
            for (int k = 0; k < degree; ++k)
                to.push_back(static_cast<int>(sample::mix(std::uint64_t(v) * 128 + k) % n));
            for (const int near : {v + 1, v + 2, v + 3})
                if (v % 5 != 0 && near < n) to.push_back(near);
            std::sort(to.begin(), to.end());
            to.erase(std::unique(to.begin(), to.end()), to.end());
            for (const int t : to) {
                if (t == v) continue;
                source.push_back(v);
                target.push_back(t);
                weight.push_back(1 + static_cast<int>(sample::mix(std::uint64_t(v) * n + t) % 20));
            }
            first.push_back(static_cast<int>(target.size()));
        }
        in_first.assign(n + 1, 0);
        for (const int t : target) ++in_first[t + 1];
        std::partial_sum(in_first.begin(), in_first.end(), in_first.begin());
        in_source.resize(target.size());
        std::vector<int> next(in_first.begin(), in_first.end() - 1);
        for (std::size_t e = 0; e < target.size(); ++e) in_source[next[target[e]]++] = source[e];
    }
    int edges() const { return static_cast<int>(target.size()); }
};

int find(std::vector<int>& parent, int v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

template <typename T>
void compare(sample::Verifier& verifier, const char* name, const std::vector<T>& got,
             const std::vector<T>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
        verifier.within(name, i, static_cast<double>(got[i]), static_cast<double>(expected[i]), 0.0);
}

struct Results {
    std::vector<int> degree, component, distance, level, level_sizes;
    std::vector<unsigned> bins;
    std::vector<float> rank;
    int components, rounds;
    unsigned long long triangles;
};

constexpr int most_levels = 64, most_rounds = 20;

Results on_device(const HostGraph& host) {
    const int n = host.n, m = host.edges();
    sample::DeviceArray<int> first(host.first), target(host.target), weight(host.weight), source(host.source),
        in_first(host.in_first), in_source(host.in_source);
    const Graph graph{first.data(), target.data(), weight.data(), n, m};
    sample::KernelTimers timers;
    sample::DeviceArray<int> flag(1);
    Results out{};

    sample::DeviceArray<int> degree(n);
    sample::DeviceArray<unsigned> bins(32);
    timers.time("in_degrees",
                [&] { in_degrees<<<blocks_for(m, block), block>>>(degree.data(), target.data(), m); });
    timers.time("degree_histogram", [&] { degree_histogram<<<16, block>>>(bins.data(), degree.data(), n); });
    out.degree = degree.to_host();
    out.bins = bins.to_host();

    std::vector<int> heavy_vertices;
    for (int v = 0; v < n; ++v)
        if (host.in_first[v + 1] - host.in_first[v] >= 12) heavy_vertices.push_back(v);
    const int heavy_count = static_cast<int>(heavy_vertices.size());
    heavy_vertices.push_back(0);
    sample::DeviceArray<int> heavy(heavy_vertices);
    sample::DeviceArray<float> share(n), next(n), rank(std::vector<float>(n, 1.0f / n));
    sample::DeviceArray<unsigned> most(1);
    float* now = rank.data();
    float* then = next.data();
    for (float change = 1.0f; out.rounds < most_rounds && change > 1e-3f / n; ++out.rounds) {
        timers.time("shares",
                    [&] { shares<<<blocks_for(n, block), block>>>(share.data(), now, first.data(), n); });
        timers.time("pull_by_thread", [&] {
            pull_by_thread<<<blocks_for(n, block), block>>>(then, share.data(), in_first.data(),
                                                            in_source.data(), n);
        });
        if (heavy_count > 0)
            timers.time("pull_by_warp", [&] {
                pull_by_warp<<<blocks_for(heavy_count * 32, 128), 128>>>(
                    then, share.data(), in_first.data(), in_source.data(), heavy.data(), heavy_count, n);
            });
        CUDA_CHECK(cudaMemset(most.data(), 0, sizeof(unsigned)));
        timers.time("largest_change",
                    [&] { largest_change<<<blocks_for(n, block), block>>>(most.data(), now, then, n); });
        const unsigned bits = most.to_host()[0];
        std::copy_n(reinterpret_cast<const char*>(&bits), sizeof bits, reinterpret_cast<char*>(&change));
        std::swap(now, then);
    }
    out.rank.resize(n);
    CUDA_CHECK(cudaMemcpy(out.rank.data(), now, n * sizeof(float), cudaMemcpyDeviceToHost));

    sample::DeviceArray<int> parent(n), before(n), roots(1);
    const auto keep = [&](sample::DeviceArray<int>& array) {
        CUDA_CHECK(cudaMemcpy(before.data(), array.data(), n * sizeof(int), cudaMemcpyDeviceToDevice));
    };
    timers.time("begin_components",
                [&] { begin_components<<<blocks_for(n, block), block>>>(parent.data(), n); });
    do {
        CUDA_CHECK(cudaMemset(flag.data(), 0, sizeof(int)));
        keep(parent);
        timers.time("hook", [&] {
            hook<<<blocks_for(n, 128), 128>>>(parent.data(), before.data(), graph, flag.data());
        });
        keep(parent);
        timers.time("jump", [&] { jump<<<blocks_for(n, block), block>>>(parent.data(), before.data(), n); });
    } while (flag.to_host()[0] != 0);
    timers.time("count_roots",
                [&] { count_roots<<<blocks_for(n, block), block>>>(roots.data(), parent.data(), n); });
    out.component = parent.to_host();
    out.components = roots.to_host()[0];

    sample::DeviceArray<int> distance(n);
    const int zero = 0;
    timers.time("fill",
                [&] { fill<<<std::min(blocks_for(n, block), 80), block>>>(distance.data(), INT_MAX, n); });
    CUDA_CHECK(cudaMemcpy(distance.data(), &zero, sizeof zero, cudaMemcpyHostToDevice));
    int round = 0;
    do {
        ++round;
        keep(distance);
        timers.time("relax", [&] {
            relax<<<blocks_for(m, block), block>>>(distance.data(), before.data(), source.data(),
                                                   target.data(), weight.data(), m, flag.data(), round);
        });
    } while (flag.to_host()[0] == round);
    out.distance = distance.to_host();

    sample::DeviceArray<unsigned long long> total(1);
    timers.time("triangles",
                [&] { triangles<<<blocks_for(m, 128), 128>>>(total.data(), graph, source.data()); });
    out.triangles = total.to_host()[0];

    sample::DeviceArray<int> level(n), frontier(n), following(n), sizes(most_levels);
    timers.time("fill", [&] { fill<<<std::min(blocks_for(n, block), 80), block>>>(level.data(), -1, n); });
    CUDA_CHECK(cudaMemcpy(level.data(), &zero, sizeof zero, cudaMemcpyHostToDevice));
    int* from = frontier.data();
    int* to = following.data();
    for (int count = 1, depth = 1; count > 0; ++depth) {
        CUDA_CHECK(cudaMemset(flag.data(), 0, sizeof(int)));
        timers.time("expand", [&] {
            expand<<<blocks_for(count, block), block>>>(flag.data(), to, from, count, graph, level.data(),
                                                        depth);
        });
        count = flag.to_host()[0];
        std::swap(from, to);
    }
    timers.time("level_sizes", [&] {
        level_sizes<<<blocks_for(n, block), block, most_levels * sizeof(int)>>>(sizes.data(), level.data(), n,
                                                                                most_levels);
    });
    out.level = level.to_host();
    out.level_sizes = sizes.to_host();
    timers.print();
    return out;
}

void check(sample::Verifier& verifier, const HostGraph& host, const Results& got) {
    const int n = host.n, m = host.edges();
    std::vector<int> degree(n), parent(n), distance(n, INT_MAX), level(n, -1), sizes(most_levels);
    std::vector<unsigned> bins(32);
    for (const int t : host.target) ++degree[t];
    for (const int d : degree) ++bins[d == 0 ? 0 : static_cast<int>(std::log2(d)) + 1];
    compare(verifier, "degree", got.degree, degree);
    compare(verifier, "bins", got.bins, bins);

    std::vector<double> rank(n, 1.0 / n), next(n);
    for (int round = 0; round < got.rounds; ++round) {
        std::fill(next.begin(), next.end(), (1.0 - damping) / n);
        for (int e = 0; e < m; ++e) {
            const int s = host.source[e];
            next[host.target[e]] += damping * rank[s] / (host.first[s + 1] - host.first[s]);
        }
        std::swap(rank, next);
    }
    for (int v = 0; v < n; ++v) verifier.within("rank", v, got.rank[v], rank[v], 1e-5 * rank[v]);

    std::iota(parent.begin(), parent.end(), 0);
    for (int e = 0; e < m; ++e) {
        const int a = find(parent, host.source[e]), b = find(parent, host.target[e]);
        parent[std::max(a, b)] = std::min(a, b);
    }
    int components = 0;
    for (int v = 0; v < n; ++v) {
        components += parent[v] == v;
        verifier.within("component", v, got.component[v], find(parent, v), 0.0);
    }
    verifier.within("components", 0, got.components, components, 0.0);

    using Entry = std::pair<int, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> nearest({}, {{0, 0}});
    distance[0] = 0;
    while (!nearest.empty()) {
        const auto [d, v] = nearest.top();
        nearest.pop();
        if (d > distance[v]) continue;
        for (int e = host.first[v]; e < host.first[v + 1]; ++e)
            if (d + host.weight[e] < distance[host.target[e]])
                nearest.push({distance[host.target[e]] = d + host.weight[e], host.target[e]});
    }
    compare(verifier, "distance", got.distance, distance);

    unsigned long long found = 0;
    for (int e = 0; e < m; ++e) {
        const int a = host.source[e], b = host.target[e];
        if (a >= b) continue;
        for (int k = host.first[a]; k < host.first[a + 1]; ++k)
            found += host.target[k] > b &&
                     std::binary_search(host.target.begin() + host.first[b],
                                        host.target.begin() + host.first[b + 1], host.target[k]);
    }
    verifier.within("triangles", 0, static_cast<double>(got.triangles), static_cast<double>(found), 0.0);

    std::queue<int> waiting({0});
    level[0] = 0;
    while (!waiting.empty()) {
        const int v = waiting.front();
        waiting.pop();
        ++sizes[std::min(level[v], most_levels - 1)];
        for (int e = host.first[v]; e < host.first[v + 1]; ++e)
            if (level[host.target[e]] < 0) {
                level[host.target[e]] = level[v] + 1;
                waiting.push(host.target[e]);
            }
    }
    compare(verifier, "level", got.level, level);
    compare(verifier, "level_sizes", got.level_sizes, sizes);
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {1 << 16, 1 << 22});
    sample::Outputs outputs(options.dump_path);
    const HostGraph host(options.n);
    const Results got = on_device(host);
    outputs.add(got.degree);
    outputs.add(got.bins);
    outputs.add(got.rank);
    outputs.add(got.component);
    outputs.add(got.distance);
    outputs.add(got.level);
    outputs.add(got.level_sizes);
    outputs.print();
    sample::Verifier verifier;
    check(verifier, host, got);
    return verifier.finish();
}
