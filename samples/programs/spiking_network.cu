// A network of leaky integrate-and-fire neurons in the manner of Brian's generated code: exponential synaptic currents, a
// delay for each synapse's target, Poisson input, plasticity that follows spike times. N is the number of neurons, STEPS
// that of steps of 0.1 ms. Synaptic input is summed in fixed point, so that the order of spikes does not matter, and no
// product is rounded twice: the CPU computes the same bits.
#include <algorithm>
#include <cmath>

#include "../common/sample.h"

constexpr int threads_per_block = 256;
constexpr int delays = 16;            // slots of the queue of spikes
constexpr float one_unit = 65536.0f;  // of fixed point: 1 mV

struct Neurons {
    float *v, *excitation, *inhibition, *trace;
    int *refractory_until, *spike_count, *last_spike;
};

struct Synapses {
    const int *first, *target;
    int* weight;  // in units of fixed point
};

struct Constants {
    float leak, excitation_decay, inhibition_decay, trace_decay, rest, threshold, reset, background;
    int refractory_steps, excitatory, poisson_weight;
    unsigned poisson_threshold;
};

__host__ __device__ inline unsigned hashed(unsigned step, unsigned neuron) {
    unsigned x = step * 0x9e3779b1u ^ neuron * 0x85ebca77u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// One neuron's step; false while it is refractory.
__host__ __device__ inline void integrate(float& v, float& excitation, float& inhibition, float& trace,
                                          bool refractory, const Constants& k) {
    const float drive = (excitation - inhibition) + k.background;
    if (!refractory) v = fmaf(k.leak, (k.rest - v) + drive, v);
    excitation *= k.excitation_decay;
    inhibition *= k.inhibition_decay;
    trace *= k.trace_decay;
}

// The weight of a synapse whose target's trace is `trace` as its source spikes: less for targets that spiked of late.
__host__ __device__ inline int depressed(int weight, float trace) {
    const int less = static_cast<int>(trace * 256.0f);
    return weight > less ? weight - less : 0;
}

__host__ __device__ inline int potentiated(int weight, int steps_since, int most) {
    if (steps_since > 200) return weight;
    const int more = weight + (200 - steps_since);
    return more < most ? more : most;
}

// ---- kernels; those of Brian's manner have their number of threads per block built in

// Adds what arrives in this step, and clears its slot.
__global__ void deliver(Neurons neurons, int* __restrict__ arriving_excitation,
                        int* __restrict__ arriving_inhibition, int n, int slot) {
    const int index = blockIdx.x * threads_per_block + threadIdx.x;
    if (index >= n) return;
    const int at = slot * n + index;
    neurons.excitation[index] += static_cast<float>(arriving_excitation[at]) * (1.0f / one_unit);
    neurons.inhibition[index] += static_cast<float>(arriving_inhibition[at]) * (1.0f / one_unit);
    arriving_excitation[at] = 0;
    arriving_inhibition[at] = 0;
}

__global__ void poisson_input(int* arriving_excitation, int n, int slot, unsigned step, Constants k) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < n && hashed(step, index) < k.poisson_threshold)
        arriving_excitation[slot * n + index] += k.poisson_weight;
}

__global__ void state_updater(Neurons neurons, int n, int step, Constants k) {
    const int index = blockIdx.x * threads_per_block + threadIdx.x;
    if (index >= n) return;
    float v = neurons.v[index], excitation = neurons.excitation[index],
          inhibition = neurons.inhibition[index], trace = neurons.trace[index];
    integrate(v, excitation, inhibition, trace, step < neurons.refractory_until[index], k);
    neurons.v[index] = v;
    neurons.excitation[index] = excitation;
    neurons.inhibition[index] = inhibition;
    neurons.trace[index] = trace;
}

__global__ void reset_spike_count(int* spike_space, int n) {
    if (threadIdx.x == 0 && blockIdx.x == 0) spike_space[n] = 0;
}

// The neurons that spike, in any order; their number comes last.
__global__ void thresholder(Neurons neurons, int* spike_space, int n, int step, Constants k) {
    const int index = blockIdx.x * threads_per_block + threadIdx.x;
    if (index >= n) return;
    if (neurons.v[index] > k.threshold && step >= neurons.refractory_until[index])
        spike_space[atomicAdd(&spike_space[n], 1)] = index;
}

__global__ void resetter(Neurons neurons, const int* spike_space, int n, int step, Constants k) {
    const int i = blockIdx.x * threads_per_block + threadIdx.x;
    if (i >= spike_space[n]) return;
    const int index = spike_space[i];
    neurons.v[index] = k.reset;
    neurons.trace[index] += 1.0f;
    neurons.refractory_until[index] = step + k.refractory_steps;
    neurons.last_spike[index] = step;
    neurons.spike_count[index] += 1;
}

// A block for each neuron that spikes, a thread for each of its synapses.
__global__ void effect(Synapses synapses, Neurons neurons, const int* spike_space, int* arriving_excitation,
                       int* arriving_inhibition, int n, int step, Constants k) {
    for (int i = blockIdx.x; i < spike_space[n]; i += gridDim.x) {
        const int source = spike_space[i];
        for (int s = synapses.first[source] + threadIdx.x; s < synapses.first[source + 1]; s += blockDim.x) {
            const int target = synapses.target[s];
            const int slot = (step + 1 + (source + target) % (delays - 1)) % delays;
            if (source < k.excitatory) {
                const int weight = depressed(synapses.weight[s], neurons.trace[target]);
                synapses.weight[s] = weight;
                atomicAdd(&arriving_excitation[slot * n + target], weight);
            } else {
                atomicAdd(&arriving_inhibition[slot * n + target], synapses.weight[s]);
            }
        }
    }
}

// A warp for each excitatory neuron: those of its synapses gain whose target spikes now.
__global__ void potentiate(Synapses synapses, Neurons neurons, int step, int most, Constants k) {
    const int source = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (source >= k.excitatory) return;
    const int since = step - neurons.last_spike[source];
    for (int s = synapses.first[source] + lane; s < synapses.first[source + 1]; s += 32)
        if (neurons.last_spike[synapses.target[s]] == step)
            synapses.weight[s] = potentiated(synapses.weight[s], since, most);
}

// The number of spikes of each step.
__global__ void rate_monitor(int* rate, const int* spike_space, int n, int step) {
    if (threadIdx.x == 0 && blockIdx.x == 0) rate[step] = spike_space[n];
}

// The potentials of every 16th neuron.
__global__ void state_monitor(float* record, const float* v, int recorded, int step) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < recorded) record[step * recorded + i] = v[16 * i];
}

// Counts of synapses by weight, 64 bins.
__global__ void weight_histogram(unsigned* bins, const int* weight, int synapses, int most) {
    __shared__ unsigned own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    for (int s = blockIdx.x * blockDim.x + threadIdx.x; s < synapses; s += gridDim.x * blockDim.x)
        atomicAdd(&own[static_cast<int>(63ll * min(weight[s], most) / most)], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// All spikes of the run, and the largest count.
__global__ void count_spikes(unsigned long long* total, int* largest, const int* spike_count, int n) {
    unsigned long long sum = 0;
    int most = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += spike_count[i];
        most = max(most, spike_count[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
        most = max(most, __shfl_down_sync(0xffffffffu, most, offset));
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
        atomicMax(largest, most);
    }
}

// ---- the network

struct Network {
    int n;
    Constants k;
    int most;
    std::vector<int> first{0}, target, weight;
    std::vector<float> v;

    explicit Network(int neurons) : n(neurons), most(static_cast<int>(2.0f * one_unit)) {
        const int excitatory = n - n / 5;
        k = {0.02f,
             0.98f,
             0.99f,
             0.995f,
             -49.0f,
             -50.0f,
             -60.0f,
             -2.0f,
             20,
             excitatory,
             static_cast<int>(1.5f * one_unit),
             static_cast<unsigned>(0.03 * 4294967296.0)};
        for (int source = 0; source < n; ++source) {
            const std::uint64_t seed = sample::mix(source);
            const int degree = 20 + static_cast<int>(seed % 60);
            for (int s = 0; s < degree; ++s) {
                target.push_back(static_cast<int>(sample::mix(seed + s) % n));
                weight.push_back(static_cast<int>((source < excitatory ? 0.6f : 2.0f) * one_unit));
            }
            first.push_back(static_cast<int>(target.size()));
        }
        v = sample::uniform_array(n, 3);
        for (float& each : v) each = -60.0f + 10.0f * each;
    }
};

struct Results {
    std::vector<int> spike_count, weight, rate;
    std::vector<float> v, record;
    std::vector<unsigned> bins;
    unsigned long long total;
    int largest;
};

Results on_device(const Network& network, int steps) {
    const int n = network.n, synapse_count = static_cast<int>(network.target.size()),
              recorded = (n + 15) / 16;
    const std::vector<float> zeros(n, 0.0f);
    const std::vector<int> none(n, 0), never(n, -100000);
    sample::DeviceArray<float> v(network.v), excitation(n), inhibition(n), trace(n),
        record(std::size_t(steps) * recorded);
    sample::DeviceArray<int> refractory(none), count(n), last(never), first(network.first),
        target(network.target), weight(network.weight), spike_space(n + 1), rate(steps), largest(1);
    sample::DeviceArray<int> arriving_excitation(std::size_t(delays) * n),
        arriving_inhibition(std::size_t(delays) * n);
    sample::DeviceArray<unsigned> bins(64);
    sample::DeviceArray<unsigned long long> total(1);
    const Neurons neurons{v.data(),          excitation.data(), inhibition.data(), trace.data(),
                          refractory.data(), count.data(),      last.data()};
    const Synapses synapses{first.data(), target.data(), weight.data()};
    const Constants& k = network.k;
    const int blocks = (n + threads_per_block - 1) / threads_per_block;

    sample::KernelTimers timers;
    for (int step = 0; step < steps; ++step) {
        const int slot = step % delays;
        timers.time("poisson_input", [&] {
            poisson_input<<<(n + 127) / 128, 128>>>(arriving_excitation.data(), n, slot, step, k);
        });
        timers.time("deliver", [&] {
            deliver<<<blocks, threads_per_block>>>(neurons, arriving_excitation.data(),
                                                   arriving_inhibition.data(), n, slot);
        });
        timers.time("state_updater",
                    [&] { state_updater<<<blocks, threads_per_block>>>(neurons, n, step, k); });
        timers.time("reset_spike_count", [&] { reset_spike_count<<<1, 32>>>(spike_space.data(), n); });
        timers.time("thresholder", [&] {
            thresholder<<<blocks, threads_per_block>>>(neurons, spike_space.data(), n, step, k);
        });
        timers.time("effect", [&] {
            effect<<<std::min(n, 64), 128>>>(synapses, neurons, spike_space.data(),
                                             arriving_excitation.data(), arriving_inhibition.data(), n, step,
                                             k);
        });
        timers.time("resetter", [&] {
            resetter<<<blocks, threads_per_block>>>(neurons, spike_space.data(), n, step, k);
        });
        timers.time("potentiate", [&] {
            potentiate<<<(k.excitatory * 32 + 255) / 256, 256>>>(synapses, neurons, step, network.most, k);
        });
        timers.time("rate_monitor",
                    [&] { rate_monitor<<<1, 1>>>(rate.data(), spike_space.data(), n, step); });
        timers.time("state_monitor", [&] {
            state_monitor<<<(recorded + 63) / 64, 64>>>(record.data(), v.data(), recorded, step);
        });
    }
    timers.time("weight_histogram", [&] {
        weight_histogram<<<32, 256>>>(bins.data(), weight.data(), synapse_count, network.most);
    });
    timers.time("count_spikes",
                [&] { count_spikes<<<8, 256>>>(total.data(), largest.data(), count.data(), n); });
    timers.print();
    return {count.to_host(),  weight.to_host(), rate.to_host(),     v.to_host(),
            record.to_host(), bins.to_host(),   total.to_host()[0], largest.to_host()[0]};
}

Results on_host(const Network& network, int steps) {
    const int n = network.n, recorded = (n + 15) / 16;
    const Constants& k = network.k;
    std::vector<float> excitation(n), inhibition(n), trace(n);
    std::vector<int> refractory(n), last(n, -100000), spiking;
    std::vector<int> arriving_excitation(std::size_t(delays) * n),
        arriving_inhibition(std::size_t(delays) * n);
    Results out{std::vector<int>(n), network.weight, {}, network.v, {}, std::vector<unsigned>(64), 0, 0};
    for (int step = 0; step < steps; ++step) {
        const std::size_t slot = std::size_t(step % delays) * n;
        spiking.clear();
        for (int i = 0; i < n; ++i) {
            if (hashed(step, i) < k.poisson_threshold) arriving_excitation[slot + i] += k.poisson_weight;
            excitation[i] += static_cast<float>(arriving_excitation[slot + i]) * (1.0f / one_unit);
            inhibition[i] += static_cast<float>(arriving_inhibition[slot + i]) * (1.0f / one_unit);
            arriving_excitation[slot + i] = arriving_inhibition[slot + i] = 0;
            integrate(out.v[i], excitation[i], inhibition[i], trace[i], step < refractory[i], k);
            if (out.v[i] > k.threshold && step >= refractory[i]) spiking.push_back(i);
        }
        for (const int source : spiking)
            for (int s = network.first[source]; s < network.first[source + 1]; ++s) {
                const int target = network.target[s];
                const std::size_t at =
                    std::size_t((step + 1 + (source + target) % (delays - 1)) % delays) * n + target;
                if (source < k.excitatory) {
                    out.weight[s] = depressed(out.weight[s], trace[target]);
                    arriving_excitation[at] += out.weight[s];
                } else {
                    arriving_inhibition[at] += out.weight[s];
                }
            }
        for (const int i : spiking) {
            out.v[i] = k.reset;
            trace[i] += 1.0f;
            refractory[i] = step + k.refractory_steps;
            last[i] = step;
            out.total += 1;
            out.largest = std::max(out.largest, ++out.spike_count[i]);
        }
        for (int source = 0; source < k.excitatory; ++source)
            for (int s = network.first[source]; s < network.first[source + 1]; ++s)
                if (last[network.target[s]] == step)
                    out.weight[s] = potentiated(out.weight[s], step - last[source], network.most);
        out.rate.push_back(static_cast<int>(spiking.size()));
        for (int i = 0; i < recorded; ++i) out.record.push_back(out.v[16 * i]);
    }
    for (const int w : out.weight) ++out.bins[63ll * std::min(w, network.most) / network.most];
    return out;
}

template <typename T>
void compare(sample::Verifier& verifier, const char* name, const std::vector<T>& got,
             const std::vector<T>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) verifier.within(name, i, got[i], expected[i], 0.0);
}

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {20000, 1 << 20, 50, 10000});
    sample::Outputs outputs(options.dump_path);
    const Network network(options.n);
    const Results got = on_device(network, options.steps);
    outputs.add(got.spike_count);
    outputs.add(got.weight);
    outputs.add(got.rate);
    outputs.add(got.v);
    outputs.add(got.record);
    outputs.add(got.bins);
    outputs.print();

    sample::Verifier verifier;
    const Results expected = on_host(network, options.steps);
    compare(verifier, "spike_count", got.spike_count, expected.spike_count);
    compare(verifier, "weight", got.weight, expected.weight);
    compare(verifier, "rate", got.rate, expected.rate);
    compare(verifier, "v", got.v, expected.v);
    compare(verifier, "record", got.record, expected.record);
    compare(verifier, "bins", got.bins, expected.bins);
    verifier.within("total", 0, static_cast<double>(got.total), static_cast<double>(expected.total), 0.0);
    verifier.within("largest", 0, got.largest, expected.largest, 0.0);
    return verifier.finish();
}
