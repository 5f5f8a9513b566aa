// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix instructions: mma's fragments against the ISA's formulas, wmma by what it loads, computes and
// stores.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// One mma with `a`, `b`, `c` registers a lane (words of 32 bits) from memory, `d` back to it.
struct Mma {
    std::string mnemonic;
    unsigned a, b, c, d;
};

std::vector<u32> run_mma(const Mma& mma, std::vector<u32> in) {
    const auto names = [](char letter, unsigned count) {
        std::string out = "{";
        for (unsigned i = 0; i < count; i++) out += fmt::format("{}%{}{}", i == 0 ? "" : ", ", letter, i);
        return out + "}";
    };
    const unsigned total = mma.a + mma.b + mma.c;
    std::string body;
    unsigned at = 0;
    for (const auto& [letter, count] : {std::pair{'a', mma.a}, {'b', mma.b}, {'c', mma.c}}) {
        for (unsigned i = 0; i < count; i++, at++)
            body += fmt::format("ld.global.b32 %{}{}, [%in+{}];\n", letter, i, 4 * at);
    }
    body += fmt::format("{} {}, {}, {}, {};\n", mma.mnemonic, names('d', mma.d), names('a', mma.a),
                        names('b', mma.b), names('c', mma.c));
    for (unsigned i = 0; i < mma.d; i++) body += fmt::format("st.global.b32 [%out+{}], %d{};\n", 4 * i, i);
    const auto program = load(fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out) {{
.reg .b32 %a<8>; .reg .b32 %b<8>; .reg .b32 %c<8>; .reg .b32 %d<8>; .reg .b32 %t; .reg .b64 %in, %out;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mad.wide.u32 %in, %t, {}, %in; mad.wide.u32 %out, %t, {}, %out;
{}ret;
}})",
                                          4 * total, 4 * mma.d, body));
    if (program == nullptr) return {};
    HostMemory memory;
    std::vector<u32> out(32 * mma.d);
    run(*program, memory, "test", {}, Parameters(memory.add(in), memory.add(out)));
    return out;
}

u16 half(float value) {
    return std::bit_cast<u16>(static_cast<_Float16>(value));
}

TEST(Mma, M16N8K16HalvesLieWhereTheIsaSays) {
    std::mt19937 random(1);
    float a[16][16], b[16][8], c[16][8];
    for (auto& row : a)
        for (float& x : row) x = static_cast<float>(static_cast<int>(random() % 17) - 8) / 4;
    for (auto& row : b)
        for (float& x : row) x = static_cast<float>(static_cast<int>(random() % 17) - 8) / 2;
    for (auto& row : c)
        for (float& x : row) x = static_cast<float>(random() % 100);
    std::vector<u32> in;
    for (int lane = 0; lane < 32; lane++) {
        const int group = lane >> 2, thread = lane % 4;
        const auto pair = [](float low, float high) { return u32{half(low)} | u32{half(high)} << 16; };
        for (int i = 0; i < 8; i += 2) {
            const int row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
            const int column = thread * 2 + (i >= 4 ? 8 : 0);
            in.push_back(pair(a[row][column], a[row][column + 1]));
        }
        for (int i = 0; i < 4; i += 2) {
            const int row = thread * 2 + (i >= 2 ? 8 : 0);
            in.push_back(pair(b[row][group], b[row + 1][group]));
        }
        for (int i = 0; i < 4; i++)
            in.push_back(std::bit_cast<u32>(c[i < 2 ? group : group + 8][thread * 2 + (i & 1)]));
    }
    const auto out = run_mma({"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 4}, in);
    ASSERT_EQ(out.size(), 128u);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) {
            const int row = (i < 2 ? 0 : 8) + (lane >> 2), column = lane % 4 * 2 + (i & 1);
            float expected = c[row][column];
            for (int k = 0; k < 16; k++) expected += a[row][k] * b[k][column];
            EXPECT_EQ(std::bit_cast<float>(out[lane * 4 + i]), expected) << row << ',' << column;
        }
    }
}

TEST(Mma, M16N8K32BytesWithSaturation) {
    std::mt19937 random(2);
    int a[16][32], b[32][8];
    for (auto& row : a)
        for (int& x : row) x = static_cast<int>(random() % 256);
    for (auto& row : b)
        for (int& x : row) x = static_cast<int>(random() % 256) - 128;
    const auto four = [](auto at) {
        u32 word = 0;
        for (int i = 0; i < 4; i++) word |= (static_cast<u32>(at(i)) & 0xff) << (8 * i);
        return word;
    };
    for (const int c : {0, INT32_MAX - 10, INT32_MIN + 10}) {
        for (const bool saturates : {false, true}) {
            std::vector<u32> in;
            for (int lane = 0; lane < 32; lane++) {
                const int group = lane >> 2, thread = lane % 4;
                for (int r = 0; r < 4; r++) {
                    in.push_back(four([&](int i) {
                        return a[group + (r % 2 == 1 ? 8 : 0)][thread * 4 + i + (r >= 2 ? 16 : 0)];
                    }));
                }
                for (int r = 0; r < 2; r++)
                    in.push_back(four([&](int i) { return b[thread * 4 + i + (r == 1 ? 16 : 0)][group]; }));
                for (int i = 0; i < 4; i++) in.push_back(static_cast<u32>(c));
            }
            const std::string name = saturates ? "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32"
                                               : "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32";
            const auto out = run_mma({name, 4, 2, 4, 4}, in);
            ASSERT_EQ(out.size(), 128u);
            for (int lane = 0; lane < 32; lane++) {
                for (int i = 0; i < 4; i++) {
                    const int row = (i < 2 ? 0 : 8) + (lane >> 2), column = lane % 4 * 2 + (i & 1);
                    std::int64_t expected = c;
                    for (int k = 0; k < 32; k++) expected += a[row][k] * b[k][column];
                    if (saturates) expected = std::clamp<std::int64_t>(expected, INT32_MIN, INT32_MAX);
                    EXPECT_EQ(out[lane * 4 + i], static_cast<u32>(expected)) << name;
                }
            }
        }
    }
}

TEST(Mma, Tf32DropsTheLowestBits) {
    std::vector<u32> in;
    for (u32 lane = 0; lane < 32; lane++) {
        // a is 1 + 2^-20, which tf32 cannot hold; b is the column's number, c is 0.
        for (int i = 0; i < 4; i++) in.push_back(std::bit_cast<u32>(1.0f + 0x1p-20f));
        for (int i = 0; i < 2; i++) in.push_back(std::bit_cast<u32>(static_cast<float>(lane >> 2)));
        for (int i = 0; i < 4; i++) in.push_back(0);
    }
    const auto out = run_mma({"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 4}, in);
    ASSERT_EQ(out.size(), 128u);
    for (u32 lane = 0; lane < 32; lane++) {
        for (u32 i = 0; i < 4; i++)
            EXPECT_EQ(std::bit_cast<float>(out[lane * 4 + i]),
                      8.0f * static_cast<float>(lane % 4 * 2 + i % 2));
    }
}

TEST(Matrix, RowsAreSpreadOverLanesAndTurned) {
    const auto program = load(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out) {
.shared .align 16 .b8 tile[512]; .shared .align 16 .b8 back[512];
.reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .b32 %t, %s, %x;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %t, %tid.x;
mul.wide.u32 %rd3, %t, 16; add.u64 %rd4, %rd1, %rd3;
ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd4];
shl.b32 %s, %t, 4; mov.u32 %x, tile; add.u32 %s, %s, %x;
st.shared.v4.b32 [%s], {%r0, %r1, %r2, %r3};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%s];
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r8, %r9, %r10, %r11}, [%s];
movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r4;
shl.b32 %s, %t, 4; mov.u32 %x, back; add.u32 %s, %s, %x;
stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%s], {%r8, %r9, %r10, %r11};
bar.sync 0;
mul.wide.u32 %rd3, %t, 64; add.u64 %rd4, %rd2, %rd3;
st.global.v4.b32 [%rd4], {%r4, %r5, %r6, %r7};
st.global.v4.b32 [%rd4+16], {%r8, %r9, %r10, %r11};
ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%s];
st.global.v4.b32 [%rd4+32], {%r4, %r5, %r6, %r7};
st.global.b32 [%rd4+48], %r0;
ret;
})");
    ASSERT_NE(program, nullptr);
    std::vector<u16> in(256);
    for (u16 i = 0; i < 256; i++) in[i] = i;
    std::vector<u16> out(32 * 32);
    HostMemory memory;
    run(*program, memory, "test", {}, Parameters(memory.add(in), memory.add(out)));
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned matrix = 0; matrix < 4; matrix++) {
            for (unsigned i = 0; i < 2; i++) {
                const unsigned row = lane / 4, column = lane % 4 * 2 + i;
                EXPECT_EQ(out[lane * 32 + matrix * 2 + i], matrix * 64 + row * 8 + column);
                EXPECT_EQ(out[lane * 32 + 8 + matrix * 2 + i], matrix * 64 + column * 8 + row);
                if (matrix == 0) {
                    EXPECT_EQ(out[lane * 32 + 24 + i], column * 8 + row);
                }
            }
        }
        // Turned twice: what was there.
        for (unsigned i = 0; i < 8; i++) EXPECT_EQ(out[lane * 32 + 16 + i], lane * 8 + i);
    }
}

// C = A * B + C by nvcuda::wmma, in every layout, with one stride for all.
constexpr const char* wmma_source = R"(
#include <mma.h>
using namespace nvcuda::wmma;
template <int M, int N, int K, class T, class Acc, class La, class Lb>
__device__ void product(const void* a, const void* b, const void* c, void* d, unsigned stride, layout_t lc) {
    fragment<matrix_a, M, N, K, T, La> fa;
    fragment<matrix_b, M, N, K, T, Lb> fb;
    fragment<accumulator, M, N, K, Acc> fc;
    load_matrix_sync(fa, (const T*)a, stride);
    load_matrix_sync(fb, (const T*)b, stride);
    load_matrix_sync(fc, (const Acc*)c, stride, lc);
    mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
    store_matrix_sync((Acc*)d, fc, stride, lc);
}
#define PRODUCT(NAME, M, N, K, T, ACC)                                                                       \
    extern "C" __global__ void NAME(const void* a, const void* b, const void* c, void* d, unsigned stride,   \
                                    int layouts) {                                                           \
        const layout_t lc = layouts & 4 ? mem_col_major : mem_row_major;                                     \
        switch (layouts & 3) {                                                                               \
            case 0: product<M, N, K, T, ACC, row_major, row_major>(a, b, c, d, stride, lc); break;           \
            case 1: product<M, N, K, T, ACC, col_major, row_major>(a, b, c, d, stride, lc); break;           \
            case 2: product<M, N, K, T, ACC, row_major, col_major>(a, b, c, d, stride, lc); break;           \
            default: product<M, N, K, T, ACC, col_major, col_major>(a, b, c, d, stride, lc); break;          \
        }                                                                                                    \
    }
PRODUCT(half_16_16, 16, 16, 16, __half, float)
PRODUCT(half_32_8, 32, 8, 16, __half, __half)
PRODUCT(half_8_32, 8, 32, 16, __half, float)
PRODUCT(bytes_16_16, 16, 16, 16, signed char, int)
PRODUCT(bytes_32_8, 32, 8, 16, unsigned char, int)
)";

template <class T>
double value_of(T x) {
    return static_cast<double>(x);
}

template <class T, class Acc>
void expect_product(Program& program, const std::string& kernel, int m, int n, int k) {
    std::mt19937 random(7);
    const int stride = 48;
    for (int layouts = 0; layouts < 8; layouts++) {
        std::vector<T> a(32 * stride), b(32 * stride);
        std::vector<Acc> c(32 * stride), d(32 * stride);
        for (T& x : a) x = static_cast<T>(random() % 9);
        for (T& x : b) x = static_cast<T>(random() % 7);
        for (Acc& x : c) x = static_cast<Acc>(random() % 50);
        HostMemory memory;
        run(program, memory, kernel, {},
            Parameters(memory.add(a), memory.add(b), memory.add(c), memory.add(d), stride, layouts));
        const auto at = [&](int row, int column, int bit) {
            return static_cast<std::size_t>((layouts & bit) != 0 ? column * stride + row
                                                                 : row * stride + column);
        };
        for (int row = 0; row < m; row++) {
            for (int column = 0; column < n; column++) {
                double expected = value_of(c[at(row, column, 4)]);
                for (int i = 0; i < k; i++)
                    expected += value_of(a[at(row, i, 1)]) * value_of(b[at(i, column, 2)]);
                ASSERT_EQ(value_of(d[at(row, column, 4)]), 2 * expected)
                    << kernel << " layouts " << layouts << " at " << row << ',' << column;
            }
        }
    }
}

TEST(Wmma, MultipliesInEveryLayout) {
    const std::string ptx = compile_cuda(wmma_source);
    ASSERT_FALSE(ptx.empty());
    const auto program = load(ptx);
    ASSERT_NE(program, nullptr);
    expect_product<_Float16, float>(*program, "half_16_16", 16, 16, 16);
    expect_product<_Float16, _Float16>(*program, "half_32_8", 32, 8, 16);
    expect_product<_Float16, float>(*program, "half_8_32", 8, 32, 16);
    expect_product<signed char, int>(*program, "bytes_16_16", 16, 16, 16);
    expect_product<unsigned char, int>(*program, "bytes_32_8", 32, 8, 16);
}

TEST(Mma, AShapeThatIsNotThereIsRefusedByName) {
    const auto module = ptx::parse(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry test() { .reg .f32 %f<8>; .reg .b32 %r<8>;
mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, {%r0,%r1}, {%r2,%r3}, {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};
ret; })",
                                   "volta.ptx");
    ASSERT_TRUE(module);
    const auto program = load_program(*module);
    ASSERT_TRUE(program);
    EXPECT_NE(kernel_info(**program, "test")->error.find("mma.sync.aligned.m8n8k4"), std::string::npos);
}

}  // namespace
}  // namespace trimtab::emulator::test
