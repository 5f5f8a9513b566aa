// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The driver program's C interface. C99; generated driver programs include nothing else of Trimtab.
 *
 * A driver program predicts one kernel's time from data parameters D, program parameters P (the block, and
 * through it the grid that covers the launch's threads) and hardware parameters H, and searches the legal P.
 * Every number is a double in SI units or a count, unless its name says otherwise. Nothing here allocates,
 * locks, or keeps state: every function may be called from any thread. Results are the same on every machine:
 * compile with -ffp-contract=off and without -ffast-math.
 */
#ifndef TRIMTAB_DRIVER_H
#define TRIMTAB_DRIVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRIMTAB_DRIVER_ABI 3u
#define TRIMTAB_MAX_METRICS 64

typedef struct trimtab_dim3 {
    uint32_t x, y, z;
} trimtab_dim3;

/* H: a device description as the models read it. A cycle is one period of sm_clock_hz. Where a value is from,
 * and how it is measured: core/model/devices/README.md.
 */
typedef struct trimtab_device {
    uint32_t struct_bytes;       /* sizeof(trimtab_device) of whoever filled it in */
    uint32_t compute_capability; /* 10 * major + minor: 75 for 7.5 */

    double sm_count;        /* streaming multiprocessors (SMs) */
    double sm_clock_hz;     /* Hz, under load */
    double memory_clock_hz; /* Hz: dram_bytes_per_s = 2 * memory_clock_hz * dram_bus_bits / 8 */

    double dram_bytes;             /* bytes of device memory, nominal */
    double dram_bytes_per_s;       /* bytes a second, peak */
    double dram_bus_bits;          /* bits */
    double l2_bytes;               /* bytes, of the whole device */
    double l1_bytes;               /* bytes an SM that global loads use by default; 0 where they bypass it */
    double l1_caches_global_loads; /* 1: they are cached there by default, else 0 */

    double shared_bytes_per_sm;             /* bytes, at most */
    double shared_bytes_per_block;          /* bytes a block gets without opting in */
    double shared_bytes_per_block_optin;    /* bytes a block gets at most */
    double shared_reserved_bytes_per_block; /* bytes that the system takes in each resident block */
    double shared_allocation_bytes;         /* bytes: a block's are rounded up to a multiple of it */

    double registers_per_sm;            /* registers of 32 bits */
    double registers_per_block;         /* registers of 32 bits */
    double max_registers_per_thread;    /* registers of 32 bits */
    double register_allocation_unit;    /* registers: a warp's are rounded up to a multiple of it */
    double warp_allocation_granularity; /* warps: a block's are rounded up to a multiple of it */

    double max_threads_per_sm;    /* threads that can be resident */
    double max_threads_per_block; /* threads */
    double max_blocks_per_sm;     /* blocks that can be resident */
    double max_warps_per_sm;      /* warps that can be resident */

    double max_block_x; /* threads */
    double max_block_y; /* threads */
    double max_block_z; /* threads */
    double max_grid_x;  /* blocks */
    double max_grid_y;  /* blocks */
    double max_grid_z;  /* blocks */

    double warp_size;                     /* threads */
    double schedulers_per_sm;             /* warp instructions that an SM can start a cycle */
    double fp32_lanes_per_sm;             /* fused multiply-adds a cycle, of threads */
    double fp64_lanes_per_sm;             /* fused multiply-adds a cycle, of threads */
    double int32_lanes_per_sm;            /* additions a cycle, of threads */
    double special_function_lanes_per_sm; /* approximations (reciprocal, sine ...) a cycle, of threads */
    double load_store_units_per_sm;       /* addresses a cycle */
    double shared_bytes_per_clock;        /* bytes a cycle and SM, without bank conflicts */
    double constant_bytes;                /* bytes of constant memory a module */
    double instruction_cache_bytes;       /* bytes of the first instruction cache that a whole SM shares */

    double latency_fp32_cycles;              /* cycles from a fused multiply-add to one that depends on it */
    double latency_shared_cycles;            /* cycles of a load from shared memory */
    double latency_l1_cycles;                /* cycles of a load that hits L1 */
    double latency_l2_cycles;                /* cycles of a load that hits L2 */
    double latency_dram_cycles;              /* cycles of a load that misses L2 and hits the TLB */
    double departure_delay_coalesced_cycles; /* least cycles between two coalesced requests */
    double departure_delay_uncoalesced_cycles; /* least cycles between parts of one request */
    double launch_overhead_ns;                 /* ns of an empty kernel between two events */

    double concurrent_kernels; /* grids resident at once */
    double copy_engines;       /* copies at once beside kernels */
    double pcie_bytes_per_s;   /* bytes a second of the host link, one direction */
    double l2_bytes_per_clock; /* bytes a cycle, to all SMs together */
} trimtab_device;

/* What the compiler decided for the image of the kernel that the device runs. */
typedef struct trimtab_image {
    double registers_per_thread;   /* registers of 32 bits */
    double static_shared_bytes;    /* bytes a block */
    double local_bytes_per_thread; /* bytes */
    double max_threads_per_block;  /* threads: launch bounds, function attribute; 0: no limit of its own */
} trimtab_image;

/* The blocks that this very launch may use: what the proof allows for its arguments, and the device's limits.
 */
typedef struct trimtab_limits {
    /* Threads of the launch as written, by dimension: grid * block; where the grid stays whatever the block is,
     * the largest block. */
    trimtab_dim3 extent;
    trimtab_dim3 max_block;   /* threads, by dimension; 1 in a dimension that must stay 1 */
    trimtab_dim3 max_grid;    /* blocks, by dimension */
    uint32_t max_threads;     /* threads a block, over all dimensions */
    uint32_t thread_multiple; /* threads: a block's are a multiple of it (the warp size, mostly) */
    uint32_t dividing;        /* bit d (x: 1, y: 2, z: 4): the block must divide the extent exactly */
    uint32_t max_dynamic_shared_bytes; /* bytes a block; where an annotation states them */
} trimtab_limits;

/* Why a prediction is uncertain: one of these in the low eight bits, and above them the place of what it is about, in
 * data_names or in metric_names. */
#define TRIMTAB_DOUBT_UNTOLD 1u      /* no more is known: so say driver programs of earlier builds */
#define TRIMTAB_DOUBT_OTHER_VALUE 2u /* data: the profile knows one value of it, and this is another */
#define TRIMTAB_DOUBT_TOO_SMALL 3u   /* data: below 0, or a stride below those that were profiled */
#define TRIMTAB_DOUBT_IDLE 4u        /* no index passes the guards; no place */
#define TRIMTAB_DOUBT_NO_COUNT 5u    /* metric: it comes out below 0 */
#define TRIMTAB_DOUBT_RIVALS 6u      /* metric: none, or some: other functions tell the profile as well */
#define TRIMTAB_DOUBT_ARRAYS 7u /* metric: the contents of the arrays decide it, and the time leans on it */
#define TRIMTAB_DOUBT_NUMBER 8u /* data: a number that reaches a branch has a value that was not profiled */
#define TRIMTAB_DOUBT_ERROR 9u  /* metric: of all whose errors are too much together, the worst */
#define TRIMTAB_DOUBT(why, place) ((why) | (uint32_t)(place) << 8)
#define TRIMTAB_DOUBT_WHY(doubt) ((doubt) & 0xffu)
#define TRIMTAB_DOUBT_PLACE(doubt) ((doubt) >> 8)

typedef struct trimtab_prediction {
    double predicted_ns;   /* of the kernel on the device, launch overhead included */
    double relative_error; /* bound from the fits' errors on points they did not see; 0.1 is ten per cent */
    uint32_t uncertain;    /* not 0: a TRIMTAB_DOUBT; outside the profile, do not choose by it */
    uint32_t metric_count; /* of `metrics`, in the order of trimtab_driver.metric_names */
    double metrics[TRIMTAB_MAX_METRICS];
} trimtab_prediction;

typedef struct trimtab_choice {
    trimtab_dim3 block;  /* threads, by dimension */
    trimtab_dim3 grid;   /* blocks, by dimension */
    double predicted_ns; /* as in trimtab_prediction, like the next two */
    double relative_error;
    uint32_t uncertain;
    uint32_t reserved; /* 0 */
} trimtab_choice;

/* A launch of the kernel, of two that are compared. */
typedef struct trimtab_asked {
    const double* data;          /* D of it */
    trimtab_dim3 block;          /* threads, by dimension */
    double dynamic_shared_bytes; /* bytes a block */
} trimtab_asked;

typedef struct trimtab_driver {
    uint32_t abi;          /* TRIMTAB_DRIVER_ABI */
    uint32_t struct_bytes; /* sizeof(trimtab_driver) */
    const char* id;        /* of the kernel description: 16 hex digits */
    const char* kernel;    /* the mangled name */
    uint32_t data_count;   /* D, in the order of data_names; extents are named extent.x, extent.y, extent.z */
    uint32_t metric_count; /* in the order of metric_names */
    const char* const* data_names;
    const char* const* metric_names;
    /* 0, or a negative number where the block cannot be launched on the device (it does not fit) or D is no
     * number. Where an annotation states the grid or the dynamic shared memory that goes with a block, the
     * driver works them out itself, from D with the extents of the launch as written; dynamic_shared_bytes
     * then counts only where no annotation states it. */
    int (*evaluate)(const trimtab_device* device, const trimtab_image* image, const double* data,
                    trimtab_dim3 block, double dynamic_shared_bytes, trimtab_prediction* out);
    /* Writes the k best legal blocks in order, least predicted time first, ties decided the same way
     * everywhere; returns how many (0: none is legal), or a negative number as evaluate does. */
    int (*select)(const trimtab_device* device, const trimtab_image* image, const double* data,
                  const trimtab_limits* limits, double dynamic_shared_bytes, uint32_t k, trimtab_choice* out);
    /* By data: the least and the most that were profiled. Here where struct_bytes says so. */
    const double* profiled_least;
    const double* profiled_most;
    /* Of launches whose time is uncertain because of what arrays or numbers hold (TRIMTAB_DOUBT_ARRAYS,
     * TRIMTAB_DOUBT_NUMBER). 1: `first`, which is predicted to take less time than `second`, takes at most a tenth more than that,
     * however much these decide; 0: it may take longer; or a negative number as evaluate does. Here where struct_bytes
     * says so. */
    int (*keeps_order)(const trimtab_device* device, const trimtab_image* image, const trimtab_asked* first,
                       const trimtab_asked* second);
} trimtab_driver;

/* What one object file hands to the runtime when the program or library that holds it is loaded: the drivers
 * of the kernels of one fat binary, and their descriptions (the JSON that `trimtab inspect` reads from
 * section trimtab_data). */
typedef struct trimtab_bundle {
    uint32_t abi;
    uint32_t driver_count;       /* kernels that are left alone have a description and no driver */
    const char* fat_binary_hash; /* 16 hex digits: two static kernels of one name are in two fat binaries */
    const trimtab_driver* const* drivers;
    const char* json;    /* one record, see section.h */
    uint64_t json_bytes; /* of it, in bytes */
} trimtab_bundle;

/* Exported by libtrimtab; called by the bundles' constructors through a weak reference, so that an object
 * links without it. */
void trimtab_register_bundle(const trimtab_bundle* bundle);
void trimtab_unregister_bundle(const trimtab_bundle* bundle);

#ifdef __cplusplus
}
#endif
#endif
