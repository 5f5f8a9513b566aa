// A path tracer of triangles and spheres by waves of rays; N is the width of the image, STEPS the samples of a pixel.
// Flags: -O3 -maxrregcount=56
// The rays of all pixels begin; each wave is intersected through a hierarchy of boxes, shaded, and compacted for the next
// one. Then come exposure, a tone curve and a blur of what is bright.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "../common/sample.h"

struct Vec {
    float x, y, z;
};
__host__ __device__ inline Vec operator+(Vec a, Vec b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__host__ __device__ inline Vec operator-(Vec a, Vec b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__host__ __device__ inline Vec operator*(Vec a, float s) {
    return {a.x * s, a.y * s, a.z * s};
}
__host__ __device__ inline Vec operator*(Vec a, Vec b) {
    return {a.x * b.x, a.y * b.y, a.z * b.z};
}
__host__ __device__ inline float dot(Vec a, Vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
__host__ __device__ inline Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__host__ __device__ inline Vec normalized(Vec a) {
    return a * (1.0f / sqrtf(dot(a, a)));
}

struct Triangle {
    Vec a, ab, ac;
    int material;
};
struct Sphere {
    Vec centre;
    float radius;
    int material;
};
struct Material {
    Vec colour, light;
    float mirror;
};
// Of a box: the left child is the next node, the right one `right`; a leaf has `count` triangles from `first` on.
struct Node {
    Vec low, high;
    int right, first, count;
};
struct Camera {
    Vec from, forward, sideward, upward;
    int width, height;
};

constexpr int spheres = 6, materials = 5, deepest = 24, bounces = 4;

struct Scene {
    const Node* nodes;
    const Triangle* triangles;
    int triangle_count;
};
struct Fixed {
    Sphere sphere[spheres];
    Material material[materials];
};
__constant__ Fixed fixed_on_device;

// Rays as a structure of arrays.
struct Rays {
    Vec *origin, *direction, *weight;
    int* pixel;
    unsigned* random;
};
struct Hits {
    float* distance;
    Vec* normal;
    int* material;
};

__host__ __device__ inline float next_random(unsigned& state) {
    state = state * 747796405u + 2891336453u;
    const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return static_cast<float>((word >> 22 ^ word) >> 8) * (1.0f / 16777216.0f);
}

struct Hit {
    float distance = 1e30f;
    Vec normal{0, 0, 0};
    int material = -1;
};

__host__ __device__ inline bool meets(const Node& node, Vec o, Vec inverse, float most) {
    const float x0 = (node.low.x - o.x) * inverse.x, x1 = (node.high.x - o.x) * inverse.x;
    const float y0 = (node.low.y - o.y) * inverse.y, y1 = (node.high.y - o.y) * inverse.y;
    const float z0 = (node.low.z - o.z) * inverse.z, z1 = (node.high.z - o.z) * inverse.z;
    const float near = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fminf(z0, z1));
    const float far = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
    return far >= fmaxf(near, 0.0f) && near < most;
}

// Is it nearer than `most`? That becomes its distance then.
__host__ __device__ inline bool meets(const Triangle& t, Vec o, Vec d, float& most) {
    const Vec p = cross(d, t.ac);
    const float det = dot(t.ab, p);
    if (fabsf(det) < 1e-9f) return false;
    const Vec s = o - t.a;
    const float u = dot(s, p) / det;
    if (u < 0.0f || u > 1.0f) return false;
    const Vec q = cross(s, t.ab);
    const float v = dot(d, q) / det, distance = dot(t.ac, q) / det;
    if (v < 0.0f || u + v > 1.0f || distance < 1e-3f || distance >= most) return false;
    most = distance;
    return true;
}

__host__ __device__ inline bool meets(const Sphere& s, Vec o, Vec d, float& most) {
    const Vec to = o - s.centre;
    const float b = dot(to, d), c = dot(to, to) - s.radius * s.radius, root = b * b - c;
    if (root < 0.0f) return false;
    const float near = -b - sqrtf(root), distance = near > 1e-3f ? near : -b + sqrtf(root);
    if (distance < 1e-3f || distance >= most) return false;
    most = distance;
    return true;
}

__host__ __device__ inline Hit nearest(const Scene& scene, const Fixed& fixed, Vec o, Vec d) {
    Hit hit;
    int triangle = -1, sphere = -1;
    for (int s = 0; s < spheres; ++s)
        if (meets(fixed.sphere[s], o, d, hit.distance)) sphere = s;
    const Vec inverse{1.0f / d.x, 1.0f / d.y, 1.0f / d.z};
    int stack[deepest], waiting = 0;
    stack[waiting++] = 0;
    while (waiting > 0) {
        const int at = stack[--waiting];
        const Node& node = scene.nodes[at];
        if (!meets(node, o, inverse, hit.distance)) continue;
        if (node.count > 0) {
            for (int t = node.first; t < node.first + node.count; ++t)
                if (meets(scene.triangles[t], o, d, hit.distance)) triangle = t;
        } else {
            stack[waiting++] = node.right;
            stack[waiting++] = at + 1;
        }
    }
    if (triangle >= 0) {
        hit.normal = normalized(cross(scene.triangles[triangle].ab, scene.triangles[triangle].ac));
        hit.material = scene.triangles[triangle].material;
    } else if (sphere >= 0) {
        hit.normal =
            (o + d * hit.distance - fixed.sphere[sphere].centre) * (1.0f / fixed.sphere[sphere].radius);
        hit.material = fixed.sphere[sphere].material;
    }
    if (dot(hit.normal, d) > 0.0f) hit.normal = hit.normal * -1.0f;
    return hit;
}

__host__ __device__ inline Vec sky(Vec d) {
    return Vec{0.5f, 0.7f, 1.0f} * (0.3f + 0.3f * fmaxf(d.z, 0.0f));
}

// What a ray adds to its pixel, and the ray that goes on; false: none does.
__host__ __device__ inline bool scatter(const Hit& hit, const Fixed& fixed, Vec& origin, Vec& direction,
                                        Vec& weight, unsigned& random, Vec& added) {
    added = {0, 0, 0};
    if (hit.material < 0) {
        added = weight * sky(direction);
        return false;
    }
    const Material& material = fixed.material[hit.material];
    added = weight * material.light;
    weight = weight * material.colour;
    origin = origin + direction * hit.distance;
    if (next_random(random) < material.mirror) {
        direction = normalized(direction - hit.normal * (2.0f * dot(direction, hit.normal)));
    } else {
        const float z = 2.0f * next_random(random) - 1.0f, angle = 6.2831853f * next_random(random);
        const float r = sqrtf(fmaxf(0.0f, 1.0f - z * z));
        direction = normalized(hit.normal * 1.001f + Vec{r * cosf(angle), r * sinf(angle), z});
    }
    return fmaxf(weight.x, fmaxf(weight.y, weight.z)) > 0.02f;
}

__host__ __device__ inline Vec pixel_direction(const Camera& c, int x, int y, unsigned& random) {
    const float u = (x + next_random(random)) / c.width - 0.5f,
                v = (y + next_random(random)) / c.height - 0.5f;
    return normalized(c.forward + c.sideward * u + c.upward * v);
}

// ---- kernels

__global__ void begin_rays(Rays rays, Camera camera, unsigned sample) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= camera.width || y >= camera.height) return;
    const int i = y * camera.width + x;
    unsigned random = (i * 9781u + sample * 6271u) | 1u;
    rays.direction[i] = pixel_direction(camera, x, y, random);
    rays.origin[i] = camera.from;
    rays.weight[i] = {1, 1, 1};
    rays.pixel[i] = i;
    rays.random[i] = random;
}

__global__ void intersect(Hits hits, Rays rays, Scene scene, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Hit hit = nearest(scene, fixed_on_device, rays.origin[i], rays.direction[i]);
    hits.distance[i] = hit.distance;
    hits.normal[i] = hit.normal;
    hits.material[i] = hit.material;
}

// A pixel has one ray of a wave, so that no atomics are needed.
__global__ void shade(Vec* __restrict__ image, int* __restrict__ alive, Rays rays, Hits hits, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Vec origin = rays.origin[i], direction = rays.direction[i], weight = rays.weight[i], added;
    unsigned random = rays.random[i];
    const Hit hit{hits.distance[i], hits.normal[i], hits.material[i]};
    const bool goes_on = scatter(hit, fixed_on_device, origin, direction, weight, random, added);
    const int pixel = rays.pixel[i];
    image[pixel] = image[pixel] + added;
    rays.origin[i] = origin;
    rays.direction[i] = direction;
    rays.weight[i] = weight;
    rays.random[i] = random;
    alive[i] = goes_on;
}

// Places of those that go on: sums within warps, then over the warps of a block of 256; and each block's number.
__global__ void places(int* place, int* block_counts, const int* alive, int count) {
    __shared__ int warp_counts[8];
    const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned votes = __ballot_sync(0xffffffffu, i < count && alive[i] != 0);
    if (lane == 0) warp_counts[warp] = __popc(votes);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < 8; ++w) {
        if (w < warp) before += warp_counts[w];
        all += warp_counts[w];
    }
    if (i < count) place[i] = before + __popc(votes & ((1u << lane) - 1));
    if (threadIdx.x == 0) block_counts[blockIdx.x] = all;
}

__global__ void block_places(int* block_counts, int* total, int blocks) {
    if (threadIdx.x != 0) return;
    int sum = 0;
    for (int b = 0; b < blocks; ++b) {
        const int own = block_counts[b];
        block_counts[b] = sum;
        sum += own;
    }
    *total = sum;
}

__global__ void compact(Rays to, Rays from, const int* __restrict__ place,
                        const int* __restrict__ block_places, const int* __restrict__ alive, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count || !alive[i]) return;
    const int at = block_places[i / 256] + place[i];
    to.origin[at] = from.origin[i];
    to.direction[at] = from.direction[i];
    to.weight[at] = from.weight[i];
    to.pixel[at] = from.pixel[i];
    to.random[at] = from.random[i];
}

__device__ float luminance(Vec c) {
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

// Counts of pixels by the logarithm of their luminance.
__global__ void luminance_histogram(unsigned* bins, const Vec* image, int n, float scale) {
    __shared__ unsigned own[128];
    for (int k = threadIdx.x; k < 128; k += blockDim.x) own[k] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float level = (log2f(luminance(image[i]) * scale + 1e-6f) + 12.0f) * 8.0f;
        atomicAdd(&own[static_cast<unsigned>(fminf(fmaxf(level, 0.0f), 127.0f))], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 128; k += blockDim.x) atomicAdd(&bins[k], own[k]);
}

__global__ void bright_parts(Vec* out, const Vec* image, int width, int height, float exposure) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const Vec c = image[y * width + x] * exposure;
    const float over = fmaxf(luminance(c) - 1.0f, 0.0f);
    out[y * width + x] = c * (over / (over + 1.0f));
}

// Along one axis, by a filter in constant memory.
constexpr int reach = 4;
__constant__ float filter_on_device[2 * reach + 1];

template <bool along_x>
__global__ void blur(Vec* __restrict__ out, const Vec* __restrict__ in, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    Vec sum{0, 0, 0};
    for (int k = -reach; k <= reach; ++k) {
        const int px = along_x ? min(max(x + k, 0), width - 1) : x,
                  py = along_x ? y : min(max(y + k, 0), height - 1);
        sum = sum + in[py * width + px] * filter_on_device[k + reach];
    }
    out[y * width + x] = sum;
}

__global__ void tone(uchar4* out, const Vec* image, const Vec* glow, int n, float exposure) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Vec c = image[i] * exposure + glow[i] * 0.3f;
    const auto curve = [](float v) { return static_cast<unsigned char>(255.0f * sqrtf(v / (1.0f + v))); };
    out[i] = make_uchar4(curve(c.x), curve(c.y), curve(c.z), 255);
}

// ---- the scene

struct HostScene {
    std::vector<Triangle> triangles;
    std::vector<Node> nodes;
    Fixed fixed;

    HostScene() {
        const auto random = sample::uniform_array(4096, 5);
        for (int k = 0; k < 200; ++k) {
            const float* r = &random[k * 12];
            const Vec a{8 * r[0] - 4, 8 * r[1] - 4, 2.5f * r[2]};
            triangles.push_back({a, Vec{r[3] - 0.5f, r[4] - 0.5f, r[5] - 0.5f},
                                 Vec{r[6] - 0.5f, r[7] - 0.5f, r[8] - 0.5f}, k % 3});
        }
        triangles.push_back({{-20, -20, 0}, {40, 0, 0}, {0, 40, 0}, 0});
        triangles.push_back({{20, 20, 0}, {-40, 0, 0}, {0, -40, 0}, 0});
        split(0, static_cast<int>(triangles.size()));
        fixed.material[0] = {{0.7f, 0.7f, 0.7f}, {0, 0, 0}, 0.0f};
        fixed.material[1] = {{0.8f, 0.4f, 0.3f}, {0, 0, 0}, 0.1f};
        fixed.material[2] = {{0.3f, 0.5f, 0.8f}, {0, 0, 0}, 0.3f};
        fixed.material[3] = {{0.9f, 0.9f, 0.9f}, {0, 0, 0}, 1.0f};
        fixed.material[4] = {{0.0f, 0.0f, 0.0f}, {8, 7, 5}, 0.0f};
        for (int s = 0; s < spheres; ++s)
            fixed.sphere[s] = {
                {s * 1.3f - 3.2f, s % 2 * 2.0f - 1.0f, s == 5 ? 3.5f : 0.6f}, 0.6f, s == 5 ? 4 : s % 2 + 2};
    }

    int split(int first, int count) {
        const int at = static_cast<int>(nodes.size());
        Node node{{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}, 0, first, count};
        for (int t = first; t < first + count; ++t)
            for (const Vec& p :
                 {triangles[t].a, triangles[t].a + triangles[t].ab, triangles[t].a + triangles[t].ac}) {
                node.low = {std::min(node.low.x, p.x), std::min(node.low.y, p.y), std::min(node.low.z, p.z)};
                node.high = {std::max(node.high.x, p.x), std::max(node.high.y, p.y),
                             std::max(node.high.z, p.z)};
            }
        nodes.push_back(node);
        if (count <= 4) return at;
        const Vec size = node.high - node.low;
        const auto key = [&](const Triangle& t) {
            return size.x > size.y && size.x > size.z ? t.a.x : size.y > size.z ? t.a.y : t.a.z;
        };
        std::sort(triangles.begin() + first, triangles.begin() + first + count,
                  [&](const Triangle& a, const Triangle& b) { return key(a) < key(b); });
        split(first, count / 2);
        const int right = split(first + count / 2, count - count / 2);
        nodes[at].right = right;
        nodes[at].count = 0;
        return at;
    }
};

struct RayArrays {
    sample::DeviceArray<Vec> origin, direction, weight;
    sample::DeviceArray<int> pixel;
    sample::DeviceArray<unsigned> random;
    explicit RayArrays(int n) : origin(n), direction(n), weight(n), pixel(n), random(n) {}
    Rays view() { return {origin.data(), direction.data(), weight.data(), pixel.data(), random.data()}; }
};

struct Results {
    std::vector<Vec> image;
    std::vector<unsigned> bins;
    std::vector<uchar4> pixels;
};

Results on_device(const HostScene& host, const Camera& camera, int samples) {
    const int n = camera.width * camera.height;
    CUDA_CHECK(cudaMemcpyToSymbol(fixed_on_device, &host.fixed, sizeof host.fixed));
    std::vector<float> filter(2 * reach + 1);
    for (int k = -reach; k <= reach; ++k) filter[k + reach] = std::exp(-0.2f * k * k);
    const float sum = std::accumulate(filter.begin(), filter.end(), 0.0f);
    for (float& f : filter) f /= sum;
    CUDA_CHECK(cudaMemcpyToSymbol(filter_on_device, filter.data(), filter.size() * sizeof(float)));

    sample::DeviceArray<Node> nodes(host.nodes);
    sample::DeviceArray<Triangle> triangles(host.triangles);
    const Scene scene{nodes.data(), triangles.data(), static_cast<int>(host.triangles.size())};
    RayArrays now(n), then(n);
    sample::DeviceArray<float> distance(n);
    sample::DeviceArray<Vec> normal(n), image(n), glow(n), blurred(n);
    sample::DeviceArray<int> material(n), alive(n), place(n), block_counts((n + 255) / 256), total(1);
    sample::DeviceArray<unsigned> bins(128);
    sample::DeviceArray<uchar4> pixels(n);
    const Hits hits{distance.data(), normal.data(), material.data()};
    const dim3 block(16, 16), grid((camera.width + 15) / 16, (camera.height + 15) / 16);
    Rays rays = now.view(), next = then.view();
    sample::KernelTimers timers;

    for (int s = 0; s < samples; ++s) {
        timers.time("begin_rays", [&] { begin_rays<<<grid, block>>>(rays, camera, s); });
        int count = n;
        for (int bounce = 0; bounce < bounces && count > 0; ++bounce) {
            timers.time("intersect",
                        [&] { intersect<<<(count + 127) / 128, 128>>>(hits, rays, scene, count); });
            timers.time("shade", [&] {
                shade<<<(count + 255) / 256, 256>>>(image.data(), alive.data(), rays, hits, count);
            });
            const int blocks = (count + 255) / 256;
            timers.time("places", [&] {
                places<<<blocks, 256>>>(place.data(), block_counts.data(), alive.data(), count);
            });
            timers.time("block_places",
                        [&] { block_places<<<1, 32>>>(block_counts.data(), total.data(), blocks); });
            timers.time("compact", [&] {
                compact<<<blocks, 256>>>(next, rays, place.data(), block_counts.data(), alive.data(), count);
            });
            count = total.to_host()[0];
            std::swap(rays, next);
        }
    }
    timers.time("luminance_histogram", [&] {
        luminance_histogram<<<(n + 255) / 256, 256>>>(bins.data(), image.data(), n, 1.0f / samples);
    });
    const float exposure = 1.5f / samples;
    timers.time("bright_parts", [&] {
        bright_parts<<<grid, block>>>(glow.data(), image.data(), camera.width, camera.height, exposure);
    });
    timers.time("blur<true>", [&] {
        blur<true><<<grid, block>>>(blurred.data(), glow.data(), camera.width, camera.height);
    });
    timers.time("blur<false>", [&] {
        blur<false><<<grid, block>>>(glow.data(), blurred.data(), camera.width, camera.height);
    });
    timers.time("tone", [&] {
        tone<<<(n + 255) / 256, 256>>>(pixels.data(), image.data(), glow.data(), n, exposure);
    });
    timers.print();
    return {image.to_host(), bins.to_host(), pixels.to_host()};
}

Vec on_host(const HostScene& host, const Camera& camera, int samples, int pixel) {
    const Scene scene{host.nodes.data(), host.triangles.data(), static_cast<int>(host.triangles.size())};
    Vec sum{0, 0, 0};
    for (int s = 0; s < samples; ++s) {
        unsigned random = (pixel * 9781u + s * 6271u) | 1u;
        Vec direction = pixel_direction(camera, pixel % camera.width, pixel / camera.width, random);
        Vec origin = camera.from, weight{1, 1, 1}, added;
        bool goes_on = true;
        for (int bounce = 0; bounce < bounces && goes_on; ++bounce) {
            const Hit hit = nearest(scene, host.fixed, origin, direction);
            goes_on = scatter(hit, host.fixed, origin, direction, weight, random, added);
            sum = sum + added;
        }
    }
    return sum;
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {512, 4096, 2, 1024});
    const int width = std::max(options.n, 4), height = (width * 3 + 3) / 4, samples = options.steps;
    const Camera camera{{0, -7, 2.5f}, normalized({0, 1, -0.25f}), {1.2f, 0, 0}, {0, 0.2f, 0.9f}, width,
                        height};
    sample::Outputs outputs(options.dump_path);
    const HostScene host;
    const Results got = on_device(host, camera, samples);
    outputs.add(got.image);
    outputs.add(got.bins);
    outputs.add(got.pixels);
    outputs.print();

    // Rounding decides now and then which way a ray goes, and then all that follows.
    sample::Verifier verifier;
    std::size_t others = 0;
    const std::vector<std::size_t> checked = sample::outputs_to_check(got.image.size(), 20000 * samples);
    for (const std::size_t pixel : checked) {
        const Vec expected = on_host(host, camera, samples, static_cast<int>(pixel));
        const Vec off = got.image[pixel] - expected;
        if (!(std::fabs(off.x) + std::fabs(off.y) + std::fabs(off.z) <= 1e-3f * samples)) ++others;
    }
    verifier.within("pixels that differ", 0, static_cast<double>(others), 0.0, 0.01 * checked.size() + 1);
    std::size_t counted = 0;
    for (const unsigned bin : got.bins) counted += bin;
    verifier.within("histogram", 0, static_cast<double>(counted), static_cast<double>(got.image.size()), 0.0);
    return verifier.finish();
}
