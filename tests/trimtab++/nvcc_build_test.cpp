// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds written for nvcc, with trimtab++ in its place.
#include "tests/trimtab++/build_fixture.h"

namespace {

using testing::HasSubstr;
using testing::Not;
using trimtab::wrapper::tests::Build;
using trimtab::wrapper::tests::Outcome;

class NvccBuild : public Build {
  protected:
    void SetUp() override {
        Build::SetUp();
        // Kernels, variables and functions that other files declare.
        write("kernels.cu", R"(
__device__ int table[4];
static __device__ int twice(int x) { return 2 * x; }
__device__ int step(int x) { return twice(x) + 1; }
__global__ void add_table(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += table[i & 3];
}
)");
        write("program.cu", R"(
#include <cstdio>
extern __device__ int table[4];
extern __device__ int step(int);
__global__ void add_table(int *, int);
__global__ void apply(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = step(i);
}
int main() {
    const int n = 1000, values[4] = {10, 20, 30, 40};
    int *x, host[n];
    cudaMalloc(&x, sizeof host);
    cudaMemcpyToSymbol(table, values, sizeof values);
    apply<<<(n + 127) / 128, 128>>>(x, n);
    add_table<<<(n + 127) / 128, 128>>>(x, n);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i)
        if (host[i] != 2 * i + 1 + values[i & 3]) { printf("FAIL at %d: %d\n", i, host[i]); return 1; }
    printf("PASS\n");
}
)");
    }

    void expect_pass(const std::string& program) {
        const Outcome ran = shell("TRIMTAB_LOG=info " + program);
        EXPECT_EQ(ran.code, 0) << ran.text;
        EXPECT_THAT(ran.text, HasSubstr("PASS"));
        EXPECT_THAT(ran.text, HasSubstr("apply(int*, int)"));
        EXPECT_THAT(ran.text, HasSubstr("by driver")) << "kernels that call into other files are tuned";
    }
};

TEST_F(NvccBuild, RelocatableDeviceCodeInOneStep) {
    const Outcome built = shell(trimtab("-O2 -arch=sm_75 -rdc=true program.cu kernels.cu -o prog"));
    ASSERT_EQ(built.code, 0) << built.text;
    expect_pass("./prog");
}

TEST_F(NvccBuild, DeviceLinkAsAStepOfItsOwnAndOfSeveralArchitectures) {
    const std::string architectures =
        "-gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=\\\"sm_80,compute_80\\\" ";
    for (const std::string step : {"-dc program.cu kernels.cu", "-dlink program.o kernels.o -o device.o"}) {
        const Outcome outcome = shell(trimtab(architectures + step));
        ASSERT_EQ(outcome.code, 0) << step << '\n' << outcome.text;
    }
    const Outcome linked =
        shell("g++ program.o kernels.o device.o -o prog -L" TRIMTAB_CUDA_PATH "/lib64 -lcudart");
    ASSERT_EQ(linked.code, 0) << linked.text;
    expect_pass("LD_LIBRARY_PATH=" TRIMTAB_CUDA_PATH "/lib64 ./prog");
    ASSERT_EQ(shell(trimtab("program.o kernels.o device.o -o prog2")).code, 0);
    expect_pass("./prog2");
}

TEST_F(NvccBuild, DeviceCodeOfAStaticLibrary) {
    for (const std::string step :
         {"-rdc=true -lib kernels.cu -o libkernels.a", "-rdc=true program.cu -L. -lkernels -o prog"}) {
        const Outcome outcome = shell(trimtab(step));
        ASSERT_EQ(outcome.code, 0) << step << '\n' << outcome.text;
    }
    expect_pass("./prog");
}

TEST_F(NvccBuild, ManagedVariablesOfRelocatableDeviceCode) {
    write("managed.cu", R"(
#include <cstdio>
extern __device__ int step(int);
__managed__ int counters[4] = {1, 2, 3, 4};
__managed__ float scale_of = 0.5f;
__global__ void count(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counters[i & 3], step(0));
    if (i == 0) scale_of *= 3;
}
void add_elsewhere();
int sum_elsewhere();
int main() {
    counters[1] += 30;
    add_elsewhere();
    count<<<4, 64>>>(200);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    good = good && counters[0] == 51 && counters[1] == 92 && counters[3] == 54 && scale_of == 1.5f;
    puts(good && sum_elsewhere() == 250 ? "PASS" : "FAIL");
}
)");
    // The host of another file reads and writes them, too.
    write("elsewhere.cu", R"(
extern __device__ __managed__ int counters[4];
extern __managed__ float scale_of;
void add_elsewhere() { counters[1] += 10; }
int sum_elsewhere() {
    int sum = 0;
    for (int* counter = counters; counter != counters + 4; ++counter) sum += *counter;
    return scale_of == 1.5f ? sum : 0;
}
)");
    const Outcome built =
        shell(trimtab("-O2 -arch=sm_75 -rdc=true managed.cu elsewhere.cu kernels.cu -o prog"));
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(shell("./prog").text, HasSubstr("PASS"));
}

// CMake reads what nvcc -v says; the C++ compiler, which links, is trimtab++ as well.
TEST_F(NvccBuild, ACMakeProject) {
    write("CMakeLists.txt", R"(
cmake_minimum_required(VERSION 3.18)
project(prog LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_library(kernels STATIC kernels.cu)
set_target_properties(kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
add_executable(prog program.cu nothing.cpp)
set_target_properties(prog PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_link_libraries(prog kernels CUDA::cudart)
)");
    write("nothing.cpp", "int nothing() { return 0; }\n");
    const Outcome configured = shell(
        "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=75 "
        "-DCMAKE_CUDA_COMPILER=" TRIMTAB_BINARY_DIR "/bin/trimtab++ -DCMAKE_CXX_COMPILER=" TRIMTAB_BINARY_DIR
        "/bin/trimtab++");
    ASSERT_EQ(configured.code, 0) << configured.text;
    const Outcome built = shell("cmake --build build");
    ASSERT_EQ(built.code, 0) << built.text;
    expect_pass("build/prog");
}

// Only the CUDA compiler is trimtab++: c++ links, with a copy of CUDA's runtime, as for nvcc, or with its library.
TEST_F(NvccBuild, ACMakeProjectThatAnotherCompilerLinks) {
    write("CMakeLists.txt", R"(
cmake_minimum_required(VERSION 3.18)
project(programs LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(mixed main.cpp one.cu two.cu)
add_library(kernels STATIC one.cu two.cu)
add_executable(with_copy main.cpp)
target_link_libraries(with_copy kernels)
add_executable(with_library main.cpp)
target_link_libraries(with_library kernels CUDA::cudart)
add_library(shared_kernels SHARED one.cu two.cu)
add_executable(with_shared main.cpp)
target_link_libraries(with_shared shared_kernels CUDA::cudart)
foreach(program IN ITEMS mixed with_copy with_library with_shared)
  target_include_directories(${program} PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  set_target_properties(${program} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()
set_target_properties(shared_kernels PROPERTIES LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY Shared)
)");
    const Outcome configured =
        shell("cmake -S . -B build -DCMAKE_CUDA_ARCHITECTURES=75 -DCMAKE_CUDA_COMPILER=" TRIMTAB_BINARY_DIR
              "/bin/trimtab++ -DCMAKE_CXX_COMPILER=g++");
    ASSERT_EQ(configured.code, 0) << configured.text;
    const Outcome built = shell("cmake --build build");
    ASSERT_EQ(built.code, 0) << built.text;
    for (const std::string program : {"mixed", "with_copy", "with_library", "with_shared"}) {
        EXPECT_THAT(shell("readelf -d build/" + program).text, Not(HasSubstr("libtrimtab")));
        const Outcome ran =
            shell("TRIMTAB_LOG=info LD_LIBRARY_PATH=" TRIMTAB_CUDA_PATH "/lib64 build/" + program);
        EXPECT_EQ(ran.code, 0) << program << '\n' << ran.text;
        EXPECT_THAT(ran.text, HasSubstr("PASS")) << program;
        EXPECT_THAT(ran.text, HasSubstr("by driver")) << program;
    }
}

TEST_F(NvccBuild, AMakefileThatLinksByTheHostsCompiler) {
    write("Makefile", R"(
NVCC ?= nvcc
prog: main.o one.o two.o
	g++ $^ -o $@ $(LIBRARIES)
%.o: %.cu
	$(NVCC) -O3 -c $< -o $@
%.o: %.cpp
	g++ -I$(CUDA)/include -c $< -o $@
)");
    const std::string variables = " NVCC=" TRIMTAB_BINARY_DIR "/bin/trimtab++ CUDA=" TRIMTAB_CUDA_PATH;
    for (const std::string libraries :
         {"-lcudart", "-lcudart_static -lrt -lpthread -ldl", "-no-pie -lcudart"}) {
        const Outcome built = shell("rm -f prog && make prog LIBRARIES='-L" TRIMTAB_CUDA_PATH "/lib64 " +
                                    libraries + "'" + variables);
        ASSERT_EQ(built.code, 0) << built.text;
        const Outcome ran = shell("TRIMTAB_LOG=info LD_LIBRARY_PATH=" TRIMTAB_CUDA_PATH "/lib64 ./prog");
        EXPECT_THAT(ran.text, HasSubstr("PASS")) << libraries;
        EXPECT_THAT(ran.text, HasSubstr("by driver")) << libraries;
    }
    // Without symbols a copy is found by its code.
    ASSERT_EQ(shell("strip prog").code, 0);
    EXPECT_THAT(shell("TRIMTAB_LOG=info LD_LIBRARY_PATH=" TRIMTAB_CUDA_PATH "/lib64 ./prog").text,
                HasSubstr("PASS"));
    ASSERT_EQ(shell("rm prog && make prog LIBRARIES='-s -L" TRIMTAB_CUDA_PATH
                    "/lib64 -lcudart_static -lrt -lpthread -ldl'" +
                    variables)
                  .code,
              0);
    const Outcome stripped = shell("TRIMTAB_LOG=info ./prog");
    EXPECT_THAT(stripped.text, HasSubstr("PASS"));
    EXPECT_THAT(stripped.text, HasSubstr("by driver"));
}

TEST_F(NvccBuild, AMakefileForNvcc) {
    write("helper.c", "int helper(int class) { int new = class; return new; }\n");  // C, and no C++
    write("caller.cpp", R"(
#include <cuda_runtime.h>
extern "C" int helper(int);
int devices() {
    int count = 0;
    cudaGetDeviceCount(&count);
    return helper(count);
}
)");
    write("Makefile", R"(
NVCC ?= nvcc
FLAGS := -std=c++17 -O3 -arch=sm_60 -Xcompiler -Wall,-fopenmp --use_fast_math -lineinfo -Xptxas -O3 \
         --expt-relaxed-constexpr -ccbin g++ -Wno-deprecated-gpu-targets
prog: scale.o caller.o helper.o
	$(NVCC) $(FLAGS) $^ -o $@ -lm -Xlinker -z,now
%.o: %.cu
	$(NVCC) $(FLAGS) -c $< -o $@
%.o: %.cpp
	$(NVCC) $(FLAGS) -c $< -o $@
%.o: %.c
	$(NVCC) $(FLAGS) -c $< -o $@
)");
    const Outcome built = shell("make prog NVCC=" TRIMTAB_BINARY_DIR "/bin/trimtab++");
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(built.text, Not(HasSubstr("-ccbin is"))) << "most Makefiles that name it mean any compiler";
    const Outcome ran = shell("TRIMTAB_LOG=info ./prog");
    EXPECT_THAT(ran.text, HasSubstr("PASS"));
    EXPECT_THAT(ran.text, HasSubstr("scale"));
}

// What clang refuses, or leaves undefined, and nvcc takes; under a path that is not ASCII.
TEST_F(NvccBuild, APlaceBeyondAsciiAndWhatClangHasNot) {
    write("größe.cu", R"(
#include <climits>
#include <cstdio>
#include <cstring>
#include <cxxabi.h>
struct Shape {
    __device__ virtual float area(float) const = 0;
    __device__ virtual ~Shape() {}
};
struct alignas(256) Square : Shape {
    __device__ float area(float x) const override { return x * x; }
};
// Tables that nvcc has in global memory, 880 KB: more than constant memory holds.
__device__ const float large[200000] = {3, 5, 7};
const double another[10000] = {0.5};
__constant__ int factors[4] = {1, 2, 3, 4};
__global__ void fill(float *x, double *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Shape *shape = new Square;
    const bool aligned = (reinterpret_cast<size_t>(shape) & 255) == 0;
    x[i] = shape->area(i) * aligned + large[i % 3] * factors[i & 3] + another[i];
    delete shape;
    d[i] = i & 1 ? nan("0x12") : __float_as_int(nanf("7"));
}
// A template of a dependent class, whose arguments are deduced.
template <typename T>
struct Cast {
    template <typename U>
    static __host__ __device__ T of(U u) {
        return T(u);
    }
};
template <typename T>
__host__ __device__ T whole(T x) {
    return Cast<int>::template of(x) + Cast<T>::template of(0);
}
// Templates of the host, named in device code and not called.
#include <utility>
template <typename T>
T of_the_host(T x) {
    return x;
}
template <typename T>
using Named = decltype(of_the_host(std::declval<T>()));
template <typename T>
__device__ T same(T x) {
    const Named<T> y = x;
    return y;
}
// On the device as on the host, bit for bit.
struct Reals {
    double d, ud;
    float f, uf;
    __int128 back;
    unsigned __int128 unsigned_back;
};
__host__ __device__ Reals reals_of(__int128 wide) {
    const unsigned __int128 w = wide;
    const double kept = (double)(w >> 1);
    return {(double)wide, (double)w, (float)wide, (float)(w >> 1), (__int128)-kept, (unsigned __int128)(float)(w >> 1)};
}
__global__ void convert(const __int128 *wide, Reals *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = reals_of(same(wide[i]));
}
bool converts() {
    const int n = 512;
    __int128 *wide;
    Reals *out;
    cudaMallocManaged(&wide, n * sizeof *wide);
    cudaMallocManaged(&out, n * sizeof *out);
    // Runs of ones, and what is past halfway between two numbers by its last bits alone; both signs.
    for (int i = 0; i < n; ++i) {
        const unsigned __int128 one = 1, run = ~(one - one) >> (i % 128);
        const int first = 127 - i % 60, precision = i < 384 ? 53 : 24;
        const unsigned __int128 past = one << first | one << (first - precision) | 3;
        wide[i] = (__int128)(i < 128 ? run : i < 256 ? run << 37 : past);
    }
    wide[0] = 0;
    convert<<<4, 128>>>(wide, out, n);
    if (cudaDeviceSynchronize() != cudaSuccess) return false;
    for (int i = 0; i < n; ++i) {
        const Reals host = reals_of(wide[i]);
        if (host.d != out[i].d || host.ud != out[i].ud || host.f != out[i].f || host.uf != out[i].uf ||
            host.back != out[i].back || host.unsigned_back != out[i].unsigned_back) {
            printf("conversion %d\n", i);
            return false;
        }
    }
    return true;
}
__attribute__((noinline)) bool grows(int x) { return x + 1 > x; }
int main(int count, char **) {
    const int n = 100;
    float *x;
    double *d;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&d, n * sizeof(double));
    const int values[4] = {2, 2, 3, 4};
    bool good = cudaMemcpyToSymbol(factors, values, sizeof values) == cudaSuccess;
    fill<<<1, 128>>>(x, d, n);
    good &= cudaDeviceSynchronize() == cudaSuccess;
    good &= x[0] == 6.5f && x[1] == 1 + 5 * 2 && x[2] == 4 + 7 * 3 && x[3] == 9 + 3 * 4;
    unsigned long long bits;
    memcpy(&bits, d + 1, sizeof bits);
    good &= d[0] == 0x7fc00007 && bits == 0x7ff8000000000012;
    good &= isfinite(count) && !isnan(7u) && !isinf(count) && !signbit(3L) && isgreater(count, 0) &&
            fpclassify(count) == FP_NORMAL && isnormal((short)count);
    good &= !grows(INT_MAX + count - 1) && converts() && whole(2.5f) == 2;
    puts(good ? "PASS" : "FAIL");
}
)");
    // Without an optimiser the pure function's place in the table stays; sm_88 wants the newest PTX.
    for (const std::string options : {"-O2 -G -rdc=true -arch=sm_75", "-O2 -arch=sm_88"}) {
        const Outcome built = shell(trimtab(options + " größe.cu -o prog"));
        ASSERT_EQ(built.code, 0) << built.text;
        EXPECT_THAT(shell("TRIMTAB_DEVICE=h100 ./prog").text, HasSubstr("PASS")) << options;
    }
    EXPECT_THAT(shell(TRIMTAB_BINARY_DIR "/bin/trimtab inspect prog").text, HasSubstr("größe.cu:17"));
}

TEST_F(NvccBuild, CMakeFindsOpenMp) {
    write("CMakeLists.txt", R"(
cmake_minimum_required(VERSION 3.18)
project(prog LANGUAGES CXX)
find_package(OpenMP REQUIRED)
add_executable(prog prog.cpp)
target_link_libraries(prog OpenMP::OpenMP_CXX)
)");
    write("prog.cpp", R"(
#include <cstdio>
#include <omp.h>
int main() {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    puts(sum == 4950 && omp_get_max_threads() > 0 ? "PASS" : "FAIL");
}
)");
    const Outcome built = shell("cmake -S . -B build -DCMAKE_CXX_COMPILER=" TRIMTAB_BINARY_DIR
                                "/bin/trimtab++ && cmake --build build");
    ASSERT_EQ(built.code, 0) << built.text;
    EXPECT_THAT(shell("build/prog").text, HasSubstr("PASS"));
}

// In a CUDA unit that is not compiled for OpenMP, as nvcc has g++ find it.
TEST_F(NvccBuild, CudaUnitsFindTheHeadersOfTheHostsCompiler) {
    write("calls.cu", R"(
#include <cstdio>
#include <omp.h>
__global__ void nothing() {}
int main() {
    nothing<<<1, 1>>>();
    puts(omp_get_max_threads() > 0 && cudaDeviceSynchronize() == cudaSuccess ? "PASS" : "FAIL");
}
)");
    for (const std::string step : {"-arch=sm_75 -c calls.cu", "calls.o -Xcompiler -fopenmp -o calls"}) {
        const Outcome built = shell(trimtab(step));
        ASSERT_EQ(built.code, 0) << built.text;
    }
    EXPECT_THAT(shell("./calls").text, HasSubstr("PASS"));
}

// A warp's leader alone sets what the others are handed; launches as a formatter left them.
TEST_F(NvccBuild, WhatClangTakesForUndefinedAndNvccDoesNot) {
    write("leaders.cu", R"(
#include <cstdio>
__device__ unsigned taken;
__device__ unsigned take_next() {
    const unsigned lanes = __activemask(), lane = threadIdx.x % 32, leader = __ffs(lanes) - 1;
    unsigned first;
    if (lane == leader) first = atomicAdd(&taken, __popc(lanes));
    first = __shfl_sync(lanes, first, leader);
    return first + __popc(lanes & ((1u << lane) - 1));
}
// Floats that are moved as unsigned numbers.
__device__ void move(void *to, const void *from) {
    for (int k = 0; k < 4; k++) static_cast<unsigned *>(to)[k] = static_cast<const unsigned *>(from)[k];
}
__global__ void twice(float *x) {
    float four[4];
    move(four, x + 4 * threadIdx.x);
    for (float &each : four) each *= 2;
    move(x + 4 * threadIdx.x, four);
}
__global__ void take(unsigned *places, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) places[take_next()] = 1;
}
int main() {
    const int n = 1000;
    unsigned *places, count = 0, host[n];
    cudaMalloc(&places, sizeof host);
    cudaMemset(places, 0, sizeof host);
    take << <(n + 127) / 128, 128 >> > (places, n);
    cudaMemcpy(host, places, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, taken, sizeof count);
    for (unsigned each : host) count -= each;
    float *x, doubled[128];
    for (int i = 0; i < 128; i++) doubled[i] = i;
    cudaMalloc(&x, sizeof doubled);
    cudaMemcpy(x, doubled, sizeof doubled, cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(x);
    cudaMemcpy(doubled, x, sizeof doubled, cudaMemcpyDeviceToHost);
    puts(count == 0 && doubled[1] == 2 && doubled[127] == 254 ? "PASS" : "FAIL");
}
)");
    for (const char* level : {"-O0", "-O1", "-O3"}) {
        const Outcome built = shell(trimtab(std::string(level) + " --trimtab-quiet leaders.cu -o leaders"));
        ASSERT_EQ(built.code, 0) << built.text;
        EXPECT_THAT(shell("./leaders").text, HasSubstr("PASS")) << level;
    }
}

TEST_F(NvccBuild, DeviceCodeAlone) {
    for (const std::string output : {"ptx", "cubin", "fatbin"}) {
        const Outcome made = shell(trimtab("-arch=sm_75 -" + output + " scale.cu"));
        ASSERT_EQ(made.code, 0) << made.text;
    }
    EXPECT_THAT(shell("cat scale.ptx").text, HasSubstr(".entry _Z5scale"));
    EXPECT_EQ(shell("head -c4 scale.cubin | tail -c3").text, "ELF");
    EXPECT_EQ(shell("od -An -tx4 -N4 scale.fatbin").text, " ba55ed50\n");
}

TEST_F(NvccBuild, AnOptionThatNeitherHasIsClangsToRefuse) {
    const Outcome outcome = shell(trimtab("--no-such-option -c scale.cu"));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.text, HasSubstr("--no-such-option"));
}

}  // namespace
