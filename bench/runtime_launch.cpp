// What Trimtab adds to a launch: nanoseconds where the choice is remembered, microseconds where it is new,
// over the bare call. The backend's launch does nothing, and the driver program answers at once: what is
// left is the runtime's own.
#include <benchmark/benchmark.h>

#include <ctime>

#include "runtime/launcher.h"
#include "tests/runtime/fake_backend.h"

namespace {

using namespace trimtab::runtime;
namespace fake = trimtab::runtime::testing;

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

// A kernel with a driver program, registered, and launched as cudaLaunchKernel does.
class Fixture {
  public:
    Fixture() {
        fake::driver_script().predict = [](const double*, trimtab_dim3 block) { return 1000.0 - block.x; };
        bundles_.add(&bundle_.bundle());
        registrations_.add_function(registrations_.add_fat_binary(fat_binary_.wrapper()), &host_function_,
                                    description_.name.c_str());
        calls_.launch_kernel = &launch_nothing;
    }

    cudaError_t bare(int n) {
        n_ = n;
        benchmark::DoNotOptimize(calls_);
        return calls_.launch_kernel(&host_function_, 32, 32, arguments_, 0, nullptr);
    }
    cudaError_t through_trimtab(int n) {
        n_ = n;
        benchmark::DoNotOptimize(calls_);
        const LaunchKernel call = calls_.launch_kernel;
        const LaunchShape shape{
            .grid = {32, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 0, .arguments = arguments_};
        return launcher_.launch(registrations_.find(&host_function_), shape, nullptr,
                                [&](const trimtab_dim3& grid, const trimtab_dim3& block) {
                                    return call(&host_function_, {grid.x, grid.y, grid.z},
                                                {block.x, block.y, block.z}, arguments_, 0, nullptr);
                                });
    }
    double bare_ns() {
        constexpr int calls = 1 << 20;
        const double begin_ns = cpu_time_ns();
        for (int i = 0; i < calls; ++i) bare(1000);
        return (cpu_time_ns() - begin_ns) / calls;
    }

  private:
    trimtab::analysis::KernelDescription description_ = fake::guarded_kernel();
    fake::FakeFatBinary fat_binary_{"a fat binary"};
    fake::FakeBundle bundle_{description_, fat_binary_.hash()};
    BackendCalls calls_ = fake::fake_calls();
    Settings settings_;
    Log log_{LogLevel::off};
    Bundles bundles_{log_};
    Report report_{"", log_};
    Registrations registrations_;
    Launcher launcher_{settings_, calls_, bundles_, report_, log_};
    char host_function_ = 0;
    int n_ = 0, step_ = 1, bound_ = 10;
    float* out_ = nullptr;
    void* arguments_[4] = {&n_, static_cast<void*>(&out_), &step_, &bound_};
};

// Time a launch, and what it is over the bare call: measured beside it, in the same run.
template <typename Body>
void measure(benchmark::State& state, Fixture& fixture, const Body& body) {
    const double bare_ns = fixture.bare_ns();
    std::uint64_t launches = 0;
    const double begin_ns = cpu_time_ns();
    for (auto _ : state) {
        body(static_cast<int>(launches));
        ++launches;
    }
    const double each_ns = (cpu_time_ns() - begin_ns) / static_cast<double>(launches);
    state.counters["bare_ns"] = bare_ns;
    state.counters["over_bare_ns"] = each_ns - bare_ns;
    state.counters["ratio_to_bare"] = each_ns / bare_ns;
}

void bare_call(benchmark::State& state) {
    Fixture fixture;
    measure(state, fixture, [&](int) { fixture.bare(1000); });
}
BENCHMARK(bare_call);

void remembered_choice(benchmark::State& state) {
    Fixture fixture;
    fixture.through_trimtab(1000);
    measure(state, fixture, [&](int) { fixture.through_trimtab(1000); });
}
BENCHMARK(remembered_choice);

// Sixteen sizes in turn: what is remembered is not always the same entry.
void remembered_choice_of_sixteen(benchmark::State& state) {
    Fixture fixture;
    for (int n = 0; n < 16; ++n) fixture.through_trimtab(1000 + n);
    measure(state, fixture, [&](int i) { fixture.through_trimtab(1000 + i % 16); });
}
BENCHMARK(remembered_choice_of_sixteen);

void new_choice(benchmark::State& state) {
    Fixture fixture;
    fixture.through_trimtab(1);
    measure(state, fixture, [&](int i) { fixture.through_trimtab(2 + i); });
}
BENCHMARK(new_choice)->Unit(benchmark::kMicrosecond)->Iterations(100000);

}  // namespace

BENCHMARK_MAIN();
