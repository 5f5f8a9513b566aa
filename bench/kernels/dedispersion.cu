// Dedispersion of radio signals by brute force, with compile-time block and tile sizes, as autotuners know it: for
// each dispersion measure (DM) and sample, the sum over all channels of the sample that the DM's delay in that
// channel leads to. Nothing is shared, and no loop is unrolled by a pragma.
//
//     clang++ -x cuda --cuda-device-only -S -O3 -DBLOCK_X=32 -DBLOCK_Y=4 -DTILE_X=2 dedispersion.cu
//
// launched with ceil(SAMPLES / (BLOCK_X TILE_X)) by ceil(DMS / (BLOCK_Y TILE_Y)) blocks.
#ifndef BLOCK_X
#define BLOCK_X 32
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 4
#endif
#ifndef TILE_X
#define TILE_X 1
#endif
#ifndef TILE_Y
#define TILE_Y 1
#endif
// A thread's samples and DMs: neighbours (0), or a block apart (1).
#ifndef TILE_STRIDE_X
#define TILE_STRIDE_X 0
#endif
#ifndef TILE_STRIDE_Y
#define TILE_STRIDE_Y 0
#endif

#if defined(__clang__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include <__clang_cuda_builtin_vars.h>
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#endif

constexpr int channels = 1536, samples = 25000, samples_padded = 25650, dms = 2048;
constexpr float first_dm = 0.0f, dm_step = 0.02f;
// MHz; seconds a sample.
constexpr double least_frequency = 1425.0, channel_width = 0.1953125, sampling_time = 0.00004096;

struct Shifts {
    float at[channels];
};

// Samples of delay for each unit of DM, against the highest channel.
constexpr Shifts delays() {
    Shifts out{};
    const double highest = least_frequency + channel_width * (channels - 1);
    for (int c = 0; c < channels; ++c) {
        const double frequency = least_frequency + channel_width * c;
        out.at[c] = static_cast<float>(
            4148.808 * (1.0 / (frequency * frequency) - 1.0 / (highest * highest)) / sampling_time);
    }
    return out;
}

// A parameter in the original, here filled with what it holds.
__device__ Shifts shifts = delays();

extern "C" __global__ void dedispersion(const unsigned char* input, float* output) {
    const int first_sample = blockIdx.x * BLOCK_X * TILE_X + threadIdx.x * (TILE_STRIDE_X ? 1 : TILE_X);
    const int first_row = blockIdx.y * BLOCK_Y * TILE_Y + threadIdx.y * (TILE_STRIDE_Y ? 1 : TILE_Y);
    for (int i = 0; i < TILE_X; ++i) {
        const int sample = first_sample + i * (TILE_STRIDE_X ? BLOCK_X : 1);
        if (sample >= samples) continue;
        for (int j = 0; j < TILE_Y; ++j) {
            const int row = first_row + j * (TILE_STRIDE_Y ? BLOCK_Y : 1);
            if (row >= dms) continue;
            const float dm = first_dm + static_cast<float>(row) * dm_step;
            float sum = 0.0f;
            for (int c = 0; c < channels; ++c) {
                const unsigned shift = static_cast<unsigned>(dm * shifts.at[c]);
                sum += static_cast<float>(input[c * samples_padded + sample + shift]);
            }
            output[row * samples + sample] = sum;
        }
    }
}
