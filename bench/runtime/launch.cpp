// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Trimtab adds to a launch over the bare call: nanoseconds where the choice is remembered, microseconds
// where it is new, by real driver programs of kernels of one, two and three dimensions. The backend's launch
// does nothing: what is left is the runtime's and the driver program's own. Beside them, on the same device
// and kernel, the arithmetic of cudaOccupancyMaxPotentialBlockSize (cuda_occupancy.h), which knows no data
// and picks a number of threads alone.
#include <benchmark/benchmark.h>
#include <cuda_occupancy.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include "bench/runtime/registered_kernels.h"
#include "core/analysis/launches/legal_blocks.h"
#include "runtime/launches/launcher.h"
#include "tests/runtime/fake_backend.h"

namespace {

using namespace trimtab::runtime;
namespace fake = trimtab::runtime::testing;
using trimtab::bench::registered_object;

// Of this thread alone: other programs on the machine do not count.
double cpu_time_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// The backend's cudaLaunchKernel: as far away as a real one, behind a pointer that the compiler cannot see
// through.
cudaError_t launch_nothing(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t,
                           CUstream_st*) {
    benchmark::DoNotOptimize(function);
    benchmark::DoNotOptimize(grid.x + block.x);
    benchmark::DoNotOptimize(arguments);
    return cudaSuccess;
}

enum class Kernel : int { scale, product, stencil };

// A launch of one of the kernels, with arguments of its own: one a thread.
struct Arguments {
    Kernel kernel = Kernel::scale;
    const float *first = nullptr, *second = nullptr;
    float* out = nullptr;
    float factor = 2;
    int size[3] = {};
    std::array<void*, 6> pointers{};
    LaunchShape shape;

    explicit Arguments(Kernel which) : kernel(which) {
        switch (which) {
            case Kernel::scale:
                pointers = {&first, &out, &factor, &size[0]};
                break;
            case Kernel::product:
                pointers = {&first, &second, &out, &size[0], &size[1], &size[2]};
                break;
            case Kernel::stencil:
                pointers = {&first, &out, &size[0], &size[1], &size[2]};
                break;
        }
    }
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    void set_size(int n) {
        const auto blocks = [](int threads, int block) {
            return static_cast<std::uint32_t>((threads + block - 1) / block);
        };
        size[0] = size[1] = size[2] = n;
        shape.arguments = pointers.data();
        switch (kernel) {
            case Kernel::scale:
                shape.written.block = {256, 1, 1};
                shape.written.grid = {blocks(n, 256), 1, 1};
                break;
            case Kernel::product:
                shape.written.block = {16, 16, 1};
                shape.written.grid = {blocks(n, 16), blocks(n, 16), 1};
                break;
            case Kernel::stencil:
                shape.written.block = {8, 8, 8};
                shape.written.grid = {blocks(n, 8), blocks(n, 8), blocks(n, 8)};
                break;
        }
    }
};

// The runtime with the object's kernels, as libtrimtab.so holds it.
class Fixture {
  public:
    static Fixture& instance() {
        static Fixture& fixture = *new Fixture({});  // the object's destructors come after all others
        return fixture;
    }
    // The same with TRIMTAB_CROSSCHECK=top:4, whose emulation agrees with everything at once.
    static Fixture& checked() {
        static Fixture& fixture = *[] {
            Settings settings;
            settings.crosscheck = {.leaders = 4, .seconds = 5, .launch = 1000};
            return new Fixture(settings);
        }();
        return fixture;
    }

    cudaError_t bare(const Arguments& arguments) {
        const LaunchShape& shape = arguments.shape;
        LaunchKernel call = calls_.launch_kernel;
        benchmark::DoNotOptimize(call);
        return call(host_function(arguments.kernel),
                    {shape.written.grid.x, shape.written.grid.y, shape.written.grid.z},
                    {shape.written.block.x, shape.written.block.y, shape.written.block.z},
                    const_cast<void**>(shape.arguments), 0, nullptr);
    }
    cudaError_t through_trimtab(const Arguments& arguments) {
        LaunchKernel call = calls_.launch_kernel;
        benchmark::DoNotOptimize(call);
        const void* function = host_function(arguments.kernel);
        return launcher_.launch(registrations_.find(function), arguments.shape, nullptr,
                                [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t) {
                                    return call(function, {grid.x, grid.y, grid.z},
                                                {block.x, block.y, block.z},
                                                const_cast<void**>(arguments.shape.arguments), 0, nullptr);
                                });
    }

    const BundledKernel& bundled(Kernel kernel) {
        return *bundles_.find(registered_object().bundle->fat_binary_hash, name(kernel)).kernel;
    }
    const trimtab_device& device() { return *calls_.emulated_device(0, &slug_); }

  private:
    explicit Fixture(const Settings& settings)
        : launcher_(settings, calls_, bundles_, report_, log_, nullptr, [](std::string&) {
              return CrossCheck::Emulate([](const EmulationQuestion& question, char*, std::size_t) {
                  for (std::uint32_t i = 0; i < question.launch_count; ++i) question.launches[i].ns = 1000;
                  return std::int32_t{emulation_done};
              });
          }) {
        const auto& object = registered_object();
        if (object.bundle == nullptr || object.kernels.size() != 3 || object.bundle->driver_count != 3) {
            std::fprintf(stderr, "the kernels' object brought no driver programs\n");
            std::abort();
        }
        bundles_.add(object.bundle);
        void** handle = registrations_.add_fat_binary(object.wrapper);
        for (const auto& kernel : object.kernels)
            registrations_.add_function(handle, kernel.host_function, kernel.name.c_str());
        calls_.launch_kernel = &launch_nothing;
        for (const Kernel kernel : {Kernel::scale, Kernel::product, Kernel::stencil})
            functions_[static_cast<std::size_t>(kernel)] = find(kernel).host_function;
    }
    static const trimtab::bench::RegisteredObject::Kernel& find(Kernel kernel) {
        static constexpr const char* names[] = {"scale", "product", "stencil"};
        for (const auto& known : registered_object().kernels)
            if (known.name.find(names[static_cast<int>(kernel)]) != std::string::npos) return known;
        std::abort();
    }
    static std::string name(Kernel kernel) { return find(kernel).name; }
    const void* host_function(Kernel kernel) const { return functions_[static_cast<std::size_t>(kernel)]; }

    BackendCalls calls_ = fake::fake_calls();
    Log log_{LogLevel::off};
    Bundles bundles_{log_};
    Report report_{"", log_};
    Registrations registrations_;
    Launcher launcher_;
    std::array<const void*, 3> functions_{};
    const char* slug_ = nullptr;
};

double bare_ns(Kernel kernel) {
    Arguments arguments(kernel);
    arguments.set_size(1000);
    constexpr int calls = 1 << 20;
    const double begin_ns = cpu_time_ns();
    for (int i = 0; i < calls; ++i) Fixture::instance().bare(arguments);
    return (cpu_time_ns() - begin_ns) / calls;
}

// Time a launch, and what it is over the bare call: measured beside it, in the same run and thread.
template <typename Body>
void measure(benchmark::State& state, Kernel kernel, const Body& body) {
    const double bare = bare_ns(kernel);
    std::uint64_t launches = 0;
    const double begin_ns = cpu_time_ns();
    for (auto _ : state) body(static_cast<int>(launches++));
    const double each_ns = (cpu_time_ns() - begin_ns) / static_cast<double>(launches);
    const auto average = benchmark::Counter::kAvgThreads;
    state.counters["bare_ns"] = benchmark::Counter(bare, average);
    state.counters["over_bare_ns"] = benchmark::Counter(each_ns - bare, average);
}

void bare_call(benchmark::State& state) {
    Arguments arguments(Kernel::product);
    arguments.set_size(1000);
    measure(state, Kernel::product, [&](int) { Fixture::instance().bare(arguments); });
}
BENCHMARK(bare_call)->ThreadRange(1, 2);

void remembered_choice(benchmark::State& state) {
    const auto kernel = static_cast<Kernel>(state.range(0));
    Arguments arguments(kernel);
    arguments.set_size(500);
    Fixture::instance().through_trimtab(arguments);
    measure(state, kernel, [&](int) { Fixture::instance().through_trimtab(arguments); });
}
BENCHMARK(remembered_choice)->ArgName("dimensions-1")->DenseRange(0, 2)->ThreadRange(1, 2);

// With a cross-check that has taken effect; and while its launches are counted still, which is never for long.
void checked_choice(benchmark::State& state) {
    const auto kernel = static_cast<Kernel>(state.range(0));
    Arguments arguments(kernel);
    arguments.set_size(500);
    for (int i = 0; i < 1000; ++i) Fixture::checked().through_trimtab(arguments);
    measure(state, kernel, [&](int) { Fixture::checked().through_trimtab(arguments); });
}
BENCHMARK(checked_choice)->ArgName("dimensions-1")->DenseRange(0, 2)->ThreadRange(1, 2);

void choice_that_awaits_its_check(benchmark::State& state) {
    Arguments arguments(Kernel::product);
    measure(state, Kernel::product, [&](int i) {
        arguments.set_size(20000 + i / 900);
        Fixture::checked().through_trimtab(arguments);
    });
}
BENCHMARK(choice_that_awaits_its_check)->Iterations(90000);

// Sixteen sizes in turn: what is remembered is not always the same entry.
void remembered_choice_of_sixteen(benchmark::State& state) {
    Arguments arguments(Kernel::product);
    for (int n = 0; n < 16; ++n) {
        arguments.set_size(1000 + 16 * n);
        Fixture::instance().through_trimtab(arguments);
    }
    measure(state, Kernel::product, [&](int i) {
        arguments.set_size(1000 + 16 * (i % 16));
        Fixture::instance().through_trimtab(arguments);
    });
}
BENCHMARK(remembered_choice_of_sixteen)->ThreadRange(1, 2);

// Ever new sizes: the proof at these arguments, the driver program's search, and remembering it.
void new_choice(benchmark::State& state) {
    const auto kernel = static_cast<Kernel>(state.range(0));
    Arguments arguments(kernel);
    arguments.set_size(400);
    Fixture::instance().through_trimtab(arguments);
    measure(state, kernel, [&](int i) {
        arguments.set_size(500 + (i * 2 + state.thread_index()) % 100000);
        Fixture::instance().through_trimtab(arguments);
    });
}
BENCHMARK(new_choice)
    ->Unit(benchmark::kMicrosecond)
    ->ArgName("dimensions-1")
    ->DenseRange(0, 2)
    ->Iterations(20000)
    ->ThreadRange(1, 2);

// The search alone.
void driver_search(benchmark::State& state) {
    const auto kernel = static_cast<Kernel>(state.range(0));
    Fixture& fixture = Fixture::instance();
    const BundledKernel& bundled = fixture.bundled(kernel);
    const trimtab_image image =
        trimtab::analysis::to_driver_image(trimtab::analysis::image_for(bundled.description, 75));
    Arguments arguments(kernel);
    int n = 500;
    for (auto _ : state) {
        arguments.set_size(n++);
        const auto bytes = argument_bytes(bundled.description, arguments.shape.arguments);
        const auto& written = arguments.shape.written;
        const auto limits = trimtab::analysis::legal_blocks(bundled.description, bytes, written.grid,
                                                            written.block, fixture.device(), image);
        const auto data = trimtab::analysis::data_values(bundled.description, bytes, written.extent());
        std::array<trimtab_choice, 4> choices{};
        const double begin_ns = cpu_time_ns();
        benchmark::DoNotOptimize(
            bundled.driver->select(&fixture.device(), &image, data.data(), &*limits, 0, 4, choices.data()));
        state.SetIterationTime((cpu_time_ns() - begin_ns) / 1e9);
    }
}
BENCHMARK(driver_search)
    ->Unit(benchmark::kMicrosecond)
    ->ArgName("dimensions-1")
    ->DenseRange(0, 2)
    ->UseManualTime();

// cuda_occupancy.h on the same device and image: it takes no arguments into account.
void cuda_occupancy(benchmark::State& state) {
    const trimtab_device& device = Fixture::instance().device();
    cudaOccDeviceProp properties;
    properties.computeMajor = static_cast<int>(device.compute_capability / 10);
    properties.computeMinor = static_cast<int>(device.compute_capability % 10);
    properties.maxThreadsPerBlock = static_cast<int>(device.max_threads_per_block);
    properties.maxThreadsPerMultiprocessor = static_cast<int>(device.max_threads_per_sm);
    properties.regsPerBlock = static_cast<int>(device.registers_per_block);
    properties.regsPerMultiprocessor = static_cast<int>(device.registers_per_sm);
    properties.warpSize = static_cast<int>(device.warp_size);
    properties.sharedMemPerBlock = static_cast<std::size_t>(device.shared_bytes_per_block);
    properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.shared_bytes_per_sm);
    properties.numSms = static_cast<int>(device.sm_count);
    properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.shared_bytes_per_block_optin);
    properties.reservedSharedMemPerBlock = static_cast<std::size_t>(device.shared_reserved_bytes_per_block);
    const auto& description = Fixture::instance().bundled(Kernel::product).description;
    cudaOccFuncAttributes attributes;
    attributes.maxThreadsPerBlock = 1024;
    attributes.numRegs = static_cast<int>(trimtab::analysis::image_for(description, 75).registers);
    attributes.sharedSizeBytes = 0;
    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT;
    attributes.maxDynamicSharedSizeBytes = properties.sharedMemPerBlock;
    attributes.numBlockBarriers = 0;
    const cudaOccDeviceState device_state;
    int block = 0;
    for (auto _ : state) {
        int grid = 0;
        benchmark::DoNotOptimize(attributes);
        if (cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &properties, &attributes, &device_state,
                                                  std::size_t{0}) != CUDA_OCC_SUCCESS) {
            state.SkipWithError("cuda_occupancy.h has no answer");
            return;
        }
        benchmark::DoNotOptimize(grid);
    }
    state.counters["threads"] = block;
}
BENCHMARK(cuda_occupancy)->ThreadRange(1, 2);

}  // namespace

BENCHMARK_MAIN();
