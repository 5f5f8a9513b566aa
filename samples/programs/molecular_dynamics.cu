// Molecular dynamics of a Lennard-Jones fluid in a periodic box: atoms are sorted into cells, each atom's neighbours are
// listed, and velocity Verlet steps follow, with the list built again every tenth one. N is the number of atoms on an
// edge of the lattice that they begin on.
#include <algorithm>
#include <cmath>

#include "../common/sample.h"

constexpr float cutoff = 2.5f, skin = 0.4f, time_step = 0.004f;
constexpr int most_neighbours = 160, rebuild_every = 10;
constexpr int scan_threads = 256;

struct Box {
    float length;
    int cells;  // on an edge
    __host__ __device__ float nearest(float d) const { return d - length * rintf(d / length); }
    __host__ __device__ float wrapped(float x) const { return x - length * floorf(x / length); }
};

struct Atoms {
    float4* position;  // w: the atom's own number
    float4* velocity;
    float4* force;  // w: the potential energy
    int n;
};

__host__ __device__ inline int cell_on_edge(const Box& box, float x) {
    const int cell = static_cast<int>(x / box.length * box.cells);
    return cell < box.cells ? cell : box.cells - 1;
}

__host__ __device__ inline int cell_of(const Box& box, float4 at) {
    return (cell_on_edge(box, at.z) * box.cells + cell_on_edge(box, at.y)) * box.cells +
           cell_on_edge(box, at.x);
}

// ---- cells

__global__ void count_cells(int* __restrict__ counts, Atoms atoms, Box box) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < atoms.n) atomicAdd(&counts[cell_of(box, atoms.position[i])], 1);
}

// Exclusive sums within blocks of scan_threads cells, and the blocks' sums.
__global__ void scan_blocks(int* begins, int* block_sums, const int* counts, int n) {
    __shared__ int sums[2][scan_threads];
    const int i = blockIdx.x * scan_threads + threadIdx.x, t = threadIdx.x;
    const int own = i < n ? counts[i] : 0;
    int now = 0;
    sums[now][t] = own;
    __syncthreads();
    for (int reach = 1; reach < scan_threads; reach *= 2) {
        sums[1 - now][t] = sums[now][t] + (t >= reach ? sums[now][t - reach] : 0);
        now = 1 - now;
        __syncthreads();
    }
    if (i < n) begins[i] = sums[now][t] - own;
    if (t == scan_threads - 1) block_sums[blockIdx.x] = sums[now][t];
}

__global__ void scan_sums(int* block_sums, int blocks) {
    if (threadIdx.x != 0) return;
    int sum = 0;
    for (int b = 0; b < blocks; ++b) {
        const int own = block_sums[b];
        block_sums[b] = sum;
        sum += own;
    }
}

__global__ void add_sums(int* begins, int* next, const int* block_sums, int n) {
    const int i = blockIdx.x * scan_threads + threadIdx.x;
    if (i >= n) return;
    const int begin = begins[i] + block_sums[blockIdx.x];
    begins[i] = begin;
    next[i] = begin;
}

__global__ void scatter(int* order, int* next, Atoms atoms, Box box) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < atoms.n) order[atomicAdd(&next[cell_of(box, atoms.position[i])], 1)] = i;
}

// By insertion, so that the order of threads leaves no trace: a thread a cell, whose atoms are few.
__global__ void sort_cells(int* order, const int* begins, const int* ends, int cells) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells) return;
    for (int i = begins[cell] + 1; i < ends[cell]; ++i) {
        const int own = order[i];
        int j = i;
        for (; j > begins[cell] && order[j - 1] > own; --j) order[j] = order[j - 1];
        order[j] = own;
    }
}

__global__ void reorder(Atoms to, Atoms from, const int* order) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= to.n) return;
    to.position[i] = from.position[order[i]];
    to.velocity[i] = from.velocity[order[i]];
    to.force[i] = from.force[order[i]];
}

// ---- forces

// The list of an atom is a column, so that neighbouring threads read neighbouring words.
__global__ void list_neighbours(int* __restrict__ neighbours, int* __restrict__ counts, Atoms atoms, Box box,
                                const int* __restrict__ begins, const int* __restrict__ ends) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms.n) return;
    const float4 own = atoms.position[i];
    const int cx = cell_on_edge(box, own.x), cy = cell_on_edge(box, own.y), cz = cell_on_edge(box, own.z);
    const float reach = cutoff + skin;
    int count = 0;
    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                const int x = (cx + dx + box.cells) % box.cells, y = (cy + dy + box.cells) % box.cells,
                          z = (cz + dz + box.cells) % box.cells;
                const int cell = (z * box.cells + y) * box.cells + x;
                for (int j = begins[cell]; j < ends[cell]; ++j) {
                    const float4 other = atoms.position[j];
                    const float rx = box.nearest(own.x - other.x), ry = box.nearest(own.y - other.y),
                                rz = box.nearest(own.z - other.z);
                    if (j != i && rx * rx + ry * ry + rz * rz < reach * reach && count < most_neighbours)
                        neighbours[count++ * atoms.n + i] = j;
                }
            }
    counts[i] = count;
}

__device__ float4 pair_force(float rx, float ry, float rz) {
    const float squared = rx * rx + ry * ry + rz * rz;
    if (squared >= cutoff * cutoff) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float inverse = 1.0f / squared, sixth = inverse * inverse * inverse;
    constexpr float at_cutoff = 1.0f / (cutoff * cutoff * cutoff * cutoff * cutoff * cutoff);
    const float f = 24.0f * sixth * (2.0f * sixth - 1.0f) * inverse;
    // Shifted, so that the energy is continuous; half of it is the other atom's.
    return make_float4(f * rx, f * ry, f * rz,
                       2.0f * (sixth * (sixth - 1.0f) - at_cutoff * (at_cutoff - 1.0f)));
}

__global__ void __launch_bounds__(256)
    forces(Atoms atoms, const int* __restrict__ neighbours, const int* __restrict__ counts, Box box) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms.n) return;
    const float4 own = atoms.position[i];
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k = 0; k < counts[i]; ++k) {
        const float4 other = atoms.position[neighbours[k * atoms.n + i]];
        const float4 f = pair_force(box.nearest(own.x - other.x), box.nearest(own.y - other.y),
                                    box.nearest(own.z - other.z));
        sum.x += f.x;
        sum.y += f.y;
        sum.z += f.z;
        sum.w += f.w;
    }
    atoms.force[i] = sum;
}

// ---- time

// Half a step of the velocities, and, in the first half, a step of the positions.
template <bool first_half>
__global__ void integrate(Atoms atoms, Box box, float dt) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms.n) return;
    float4 v = atoms.velocity[i];
    const float4 f = atoms.force[i];
    v.x += 0.5f * dt * f.x;
    v.y += 0.5f * dt * f.y;
    v.z += 0.5f * dt * f.z;
    atoms.velocity[i] = v;
    if constexpr (first_half) {
        float4 p = atoms.position[i];
        p.x = box.wrapped(p.x + dt * v.x);
        p.y = box.wrapped(p.y + dt * v.y);
        p.z = box.wrapped(p.z + dt * v.z);
        atoms.position[i] = p;
    }
}

// Kinetic and potential energy, and momentum: sums of a block.
template <int size>
__global__ void measure(double* sums, Atoms atoms) {
    __shared__ double shared[5][size];
    double own[5] = {};
    for (int i = blockIdx.x * size + threadIdx.x; i < atoms.n; i += gridDim.x * size) {
        const float4 v = atoms.velocity[i];
        own[0] += 0.5 * (static_cast<double>(v.x) * v.x + static_cast<double>(v.y) * v.y +
                         static_cast<double>(v.z) * v.z);
        own[1] += atoms.force[i].w;
        own[2] += v.x;
        own[3] += v.y;
        own[4] += v.z;
    }
    for (int k = 0; k < 5; ++k) shared[k][threadIdx.x] = own[k];
    __syncthreads();
    for (int half = size / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            for (int k = 0; k < 5; ++k) shared[k][threadIdx.x] += shared[k][threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x < 5) sums[blockIdx.x * 5 + threadIdx.x] = shared[threadIdx.x][0];
}

// How often each distance occurs among neighbours: the radial distribution, in 64 bins.
__global__ void distances(unsigned* bins, Atoms atoms, const int* neighbours, const int* counts, Box box) {
    __shared__ unsigned own[64];
    for (int k = threadIdx.x; k < 64; k += blockDim.x) own[k] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < atoms.n) {
        const float4 p = atoms.position[i];
        for (int k = 0; k < counts[i]; ++k) {
            const float4 q = atoms.position[neighbours[k * atoms.n + i]];
            const float rx = box.nearest(p.x - q.x), ry = box.nearest(p.y - q.y), rz = box.nearest(p.z - q.z);
            atomicAdd(&own[min(63, static_cast<int>(sqrtf(rx * rx + ry * ry + rz * rz) * (64.0f / 3.0f)))],
                      1u);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 64; k += blockDim.x) atomicAdd(&bins[k], own[k]);
}

// ---- the simulation

struct Energies {
    double kinetic, potential, momentum[3];
    double total() const { return kinetic + potential; }
};

class Simulation {
  public:
    Simulation(const std::vector<float4>& positions, const std::vector<float4>& velocities, Box box)
        : n_(static_cast<int>(positions.size())),
          box_(box),
          cells_(box.cells * box.cells * box.cells),
          position_(positions),
          velocity_(velocities),
          force_(n_),
          sorted_position_(n_),
          sorted_velocity_(n_),
          sorted_force_(n_),
          counts_(cells_),
          begins_(cells_),
          next_(cells_),
          block_sums_(blocks(cells_)),
          order_(n_),
          neighbours_(std::size_t(n_) * most_neighbours),
          neighbour_counts_(n_),
          sums_(5 * partials),
          bins_(64) {
        rebuild();
        compute_forces();
    }

    void step(int number) {
        timers_.time("integrate<true>",
                     [&] { integrate<true><<<blocks(n_), 256>>>(atoms(), box_, time_step); });
        if (number % rebuild_every == 0) rebuild();
        compute_forces();
        timers_.time("integrate<false>",
                     [&] { integrate<false><<<blocks(n_), 256>>>(atoms(), box_, time_step); });
    }

    Energies energies() {
        timers_.time("measure", [&] { measure<128><<<partials, 128>>>(sums_.data(), atoms()); });
        const std::vector<double> sums = sums_.to_host();
        Energies out{};
        for (int p = 0; p < partials; ++p) {
            out.kinetic += sums[p * 5];
            out.potential += sums[p * 5 + 1];
            for (int k = 0; k < 3; ++k) out.momentum[k] += sums[p * 5 + 2 + k];
        }
        return out;
    }

    std::vector<unsigned> distance_bins() {
        timers_.time("distances", [&] {
            distances<<<(n_ + 127) / 128, 128>>>(bins_.data(), atoms(), neighbours_.data(),
                                                 neighbour_counts_.data(), box_);
        });
        return bins_.to_host();
    }

    std::vector<float4> positions() const { return position_.to_host(); }
    std::vector<float4> velocities() const { return velocity_.to_host(); }
    std::vector<float4> forces_now() const { return force_.to_host(); }
    std::vector<int> neighbour_counts() const { return neighbour_counts_.to_host(); }
    void print_times() const { timers_.print(); }

  private:
    static constexpr int partials = 16;
    static int blocks(int n) { return (n + 255) / 256; }
    Atoms atoms() { return {position_.data(), velocity_.data(), force_.data(), n_}; }

    void rebuild() {
        const Atoms sorted{sorted_position_.data(), sorted_velocity_.data(), sorted_force_.data(), n_};
        CUDA_CHECK(cudaMemset(counts_.data(), 0, cells_ * sizeof(int)));
        timers_.time("count_cells", [&] { count_cells<<<blocks(n_), 256>>>(counts_.data(), atoms(), box_); });
        timers_.time("scan_blocks", [&] {
            scan_blocks<<<blocks(cells_), scan_threads>>>(begins_.data(), block_sums_.data(), counts_.data(),
                                                          cells_);
        });
        timers_.time("scan_sums", [&] { scan_sums<<<1, 32>>>(block_sums_.data(), blocks(cells_)); });
        timers_.time("add_sums", [&] {
            add_sums<<<blocks(cells_), scan_threads>>>(begins_.data(), next_.data(), block_sums_.data(),
                                                       cells_);
        });
        timers_.time("scatter",
                     [&] { scatter<<<blocks(n_), 256>>>(order_.data(), next_.data(), atoms(), box_); });
        timers_.time("sort_cells", [&] {
            sort_cells<<<(cells_ + 63) / 64, 64>>>(order_.data(), begins_.data(), next_.data(), cells_);
        });
        timers_.time("reorder", [&] { reorder<<<blocks(n_), 256>>>(sorted, atoms(), order_.data()); });
        const std::size_t bytes = n_ * sizeof(float4);
        CUDA_CHECK(cudaMemcpy(position_.data(), sorted.position, bytes, cudaMemcpyDeviceToDevice));
        CUDA_CHECK(cudaMemcpy(velocity_.data(), sorted.velocity, bytes, cudaMemcpyDeviceToDevice));
        CUDA_CHECK(cudaMemcpy(force_.data(), sorted.force, bytes, cudaMemcpyDeviceToDevice));
        timers_.time("list_neighbours", [&] {
            list_neighbours<<<(n_ + 127) / 128, 128>>>(neighbours_.data(), neighbour_counts_.data(), atoms(),
                                                       box_, begins_.data(), next_.data());
        });
    }

    void compute_forces() {
        timers_.time("forces", [&] {
            forces<<<blocks(n_), 256>>>(atoms(), neighbours_.data(), neighbour_counts_.data(), box_);
        });
    }

    int n_;
    Box box_;
    int cells_;
    sample::DeviceArray<float4> position_, velocity_, force_, sorted_position_, sorted_velocity_,
        sorted_force_;
    sample::DeviceArray<int> counts_, begins_, next_, block_sums_, order_, neighbours_, neighbour_counts_;
    sample::DeviceArray<double> sums_;
    sample::DeviceArray<unsigned> bins_;
    sample::KernelTimers timers_;
};

// Forces of all pairs in double precision, for some atoms.
void check_forces(sample::Verifier& verifier, const char* name, const std::vector<float4>& positions,
                  const std::vector<float4>& forces, double length) {
    const std::size_t n = positions.size();
    double largest = 0.0;
    for (const float4& f : forces) largest = std::fmax(largest, std::fabs(f.x));
    for (const std::size_t i : sample::outputs_to_check(n, n * 32)) {
        double fx = 0.0, fy = 0.0, fz = 0.0;
        for (std::size_t j = 0; j < n; ++j) {
            const auto nearest = [&](double d) { return d - length * std::rint(d / length); };
            const double rx = nearest(double(positions[i].x) - positions[j].x),
                         ry = nearest(double(positions[i].y) - positions[j].y),
                         rz = nearest(double(positions[i].z) - positions[j].z),
                         squared = rx * rx + ry * ry + rz * rz;
            if (j == i || squared >= cutoff * cutoff) continue;
            const double sixth = std::pow(squared, -3.0), f = 24.0 * sixth * (2.0 * sixth - 1.0) / squared;
            fx += f * rx;
            fy += f * ry;
            fz += f * rz;
        }
        verifier.within(name, 3 * i, forces[i].x, fx, 1e-4 * largest + 0.02);
        verifier.within(name, 3 * i + 1, forces[i].y, fy, 1e-4 * largest + 0.02);
        verifier.within(name, 3 * i + 2, forces[i].z, fz, 1e-4 * largest + 0.02);
    }
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {32, 200, 20, 100000});
    const int edge = std::max(options.n, 8), n = edge * edge * edge;
    const float spacing = 1.1f;
    Box box{edge * spacing, 0};
    box.cells = static_cast<int>(box.length / (cutoff + skin));
    std::vector<float4> positions(n), velocities(n);
    const std::vector<float> random = sample::uniform_array(std::size_t(n) * 3, 1);
    for (int i = 0; i < n; ++i) {
        positions[i] = make_float4((i % edge + 0.5f) * spacing, (i / edge % edge + 0.5f) * spacing,
                                   (i / edge / edge + 0.5f) * spacing, static_cast<float>(i));
        velocities[i] =
            make_float4(random[3 * i] - 0.5f, random[3 * i + 1] - 0.5f, random[3 * i + 2] - 0.5f, 0.0f);
    }
    sample::Outputs outputs(options.dump_path);

    Simulation simulation(positions, velocities, box);
    const Energies before = simulation.energies();
    const std::vector<float4> first_positions = simulation.positions(),
                              first_forces = simulation.forces_now();
    for (int step = 1; step <= options.steps; ++step) simulation.step(step);
    const Energies after = simulation.energies();
    const std::vector<unsigned> bins = simulation.distance_bins();
    const std::vector<float4> last_positions = simulation.positions(), last_forces = simulation.forces_now();
    simulation.print_times();
    outputs.add(last_positions);
    outputs.add(last_forces);
    outputs.add(simulation.velocities());
    outputs.add(bins);
    outputs.print();

    sample::Verifier verifier;
    check_forces(verifier, "first forces", first_positions, first_forces, box.length);
    check_forces(verifier, "last forces", last_positions, last_forces, box.length);
    verifier.within("energy", 0, after.total(), before.total(), 2e-3 * before.kinetic);
    for (int k = 0; k < 3; ++k)
        verifier.within("momentum", k, after.momentum[k], before.momentum[k], 1e-3 * n / 100);
    std::size_t pairs = 0, counted = 0;
    for (const int each : simulation.neighbour_counts()) pairs += each;
    for (const unsigned each : bins) counted += each;
    verifier.within("distances", 0, static_cast<double>(counted), static_cast<double>(pairs), 0.0);
    return verifier.finish();
}
