// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics of 64 bits, and of OpenCL C 2.0 what stands beside its atomics: flags, fences, barriers, generic pointers.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>

#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {
namespace {

using testing::ElementsAre;

constexpr std::int64_t high = std::int64_t{1} << 40;  // beyond 32 bits

// Extensions cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics, sections 2 and 3 of each.
TEST(OpenClAtomics, Of64BitsByTheExtensionsNames) {
    const Host host;
    const Program program = host.build(R"(
        #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
        #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
        kernel void k(global long* g, local ulong* l) {
            long i = get_global_id(0);
            if (get_local_id(0) == 0) { l[0] = 1UL << 40; l[1] = 0; }
            barrier(CLK_LOCAL_MEM_FENCE);
            atom_inc(l); atom_dec(l); atom_add(l, 1UL << 33); atom_max(l + 1, 1UL << (i % 64));
            atom_add(g, 1L << 33); atom_sub(g + 1, 1L << 33); atom_inc(g + 2); atom_dec(g + 3);
            atom_min(g + 4, -(i << 33)); atom_max(g + 5, i << 33); atom_or(g + 6, 1L << (i % 50));
            atom_and(g + 7, ~(1L << (i % 50))); atom_xor(g + 8, 1L << 40);
            long old; do { old = g[9]; } while (atom_cmpxchg(g + 9, old, old + (1L << 33)) != old);
            if (i == 0) g[10] = atom_xchg(g + 11, 7L << 33);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_id(0) == 0) { atom_add(g + 12, (long)l[0]); atom_or(g + 13, (long)l[1]); }
        })");
    const Kernel kernel = host.kernel(program, "k");
    std::vector<std::int64_t> start(14);
    start[7] = -1;
    start[11] = high;
    const Memory values = host.buffer(start);
    set_arguments(kernel, values, Local{16});
    ASSERT_EQ(host.run(kernel, {128}, {64}), CL_SUCCESS);
    constexpr std::int64_t step = std::int64_t{1} << 33, low_50 = (std::int64_t{1} << 50) - 1;
    EXPECT_THAT(host.read<std::int64_t>(values, 14),
                ElementsAre(128 * step, -128 * step, 128, -128, -127 * step, 127 * step, low_50, ~low_50, 0,
                            128 * step, high, 7 * step, 2 * (high + 64 * step),
                            std::numeric_limits<std::int64_t>::min()));
}

// OpenCL C 3.0, section 6.15.12.
TEST(OpenClAtomics, FlagsAddressesAndExchangesOfReals) {
    const Host host;
    const Program program = host.build(R"(
        kernel void k(volatile global atomic_flag* flag, volatile global atomic_int* winners,
                      volatile global atomic_uintptr_t* address, volatile global atomic_float* real,
                      volatile global atomic_double* wide, global int* again) {
            if (!atomic_flag_test_and_set(flag)) atomic_fetch_add(winners, 1);
            if (!atomic_flag_test_and_set_explicit(flag + 1, memory_order_relaxed, memory_scope_device)) {
                atomic_flag_clear(flag + 1);
                atomic_fetch_add(winners + 1, 1);
            }
            atomic_fetch_add(address, (ptrdiff_t)-2);
            atomic_fetch_sub_explicit(address, (ptrdiff_t)1, memory_order_relaxed, memory_scope_device);
            float seen = atomic_load(real);
            while (!atomic_compare_exchange_weak(real, &seen, seen + 0.5f)) {}
            double other = 1;
            if (get_global_id(0) == 0) again[0] = atomic_compare_exchange_strong(wide, &other, 2.0) ? -1 : (int)other;
        })",
                                       "-cl-std=CL3.0");
    const Kernel kernel = host.kernel(program, "k");
    const Memory flags = host.buffer(std::vector<int>(2)), winners = host.buffer(std::vector<int>(2)),
                 address = host.buffer(std::vector<std::uint64_t>{1000}),
                 real = host.buffer(std::vector<float>{0}), wide = host.buffer(std::vector<double>{5}),
                 again = host.buffer(std::vector<int>(1));
    set_arguments(kernel, flags, winners, address, real, wide, again);
    ASSERT_EQ(host.run(kernel, {96}, {32}), CL_SUCCESS);
    EXPECT_THAT(host.read<int>(flags, 2), ElementsAre(1, 0)) << "set, and cleared by whoever had set it";
    const auto won = host.read<int>(winners, 2);
    EXPECT_EQ(won[0], 1) << "one work-item alone finds a flag clear";
    EXPECT_GE(won[1], 1);
    EXPECT_THAT(host.read<std::uint64_t>(address, 1), ElementsAre(1000 - 3 * 96));
    EXPECT_THAT(host.read<float>(real, 1), ElementsAre(48.0f));
    EXPECT_THAT(host.read<double>(wide, 1), ElementsAre(5.0)) << "it was not 1";
    EXPECT_THAT(host.read<int>(again, 1), ElementsAre(5)) << "what was there instead";
}

// OpenCL C 3.0, sections 6.15.8 and 6.15.12.5: a value that another work-item wrote is seen behind the barrier.
TEST(OpenClAtomics, WorkGroupBarriersAndFences) {
    const Host host;
    const Program program = host.build(R"(
        kernel void k(global int* out, local int* shared) {
            size_t l = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
            shared[l] = (int)i;
            work_group_barrier(CLK_LOCAL_MEM_FENCE);
            out[i] = shared[n - 1 - l];
            work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device);
            shared[l] = out[i / n * n + n - 1 - l];
            atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
            work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
            out[i] += 1000 * shared[(l + 1) % n];
        })",
                                       "-cl-std=CL3.0");
    const Kernel kernel = host.kernel(program, "k");
    const Memory out = host.buffer(std::vector<int>(256));
    set_arguments(kernel, out, Local{64 * sizeof(int)});
    ASSERT_EQ(host.run(kernel, {256}, {64}), CL_SUCCESS);
    const auto found = host.read<int>(out, 256);
    for (int i = 0; i < 256; ++i) {
        const int group = i / 64 * 64, l = i % 64;
        ASSERT_EQ(found[static_cast<std::size_t>(i)], group + 63 - l + 1000 * (group + (l + 1) % 64)) << i;
    }
}

// OpenCL C 3.0, section 6.15.9: null where the pointer points elsewhere.
TEST(OpenClAtomics, GenericPointersTellWhereTheyPoint) {
    const Host host;
    const Program program = host.build(R"(
        int named(generic int* p) {
            return (to_global(p) != 0 ? 1 : 0) + (to_local(p) != 0 ? 2 : 0) + (to_private(p) != 0 ? 4 : 0);
        }
        kernel void k(global int* out, local int* shared) {
            size_t i = get_global_id(0);
            int own = (int)i;
            generic int* all[3] = {out, shared, &own};
            out[3 * i] = named(all[i % 3]);
            out[3 * i + 1] = (int)get_fence(all[i % 3]);
            *to_private(&own) += 5;
            out[3 * i + 2] = own;
        })",
                                       "-cl-std=CL3.0");
    const Kernel kernel = host.kernel(program, "k");
    const Memory out = host.buffer(std::vector<int>(9));
    set_arguments(kernel, out, Local{4});
    ASSERT_EQ(host.run(kernel, {3}, {3}), CL_SUCCESS);
    constexpr int local_fence = 1, global_fence = 2;  // CLK_LOCAL_MEM_FENCE, CLK_GLOBAL_MEM_FENCE
    EXPECT_THAT(host.read<int>(out, 9), ElementsAre(1, global_fence, 5, 2, local_fence, 6, 4, 0, 7));
}

}  // namespace
}  // namespace trimtab::opencl::test
