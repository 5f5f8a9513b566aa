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

/* H: a device description as the models read it. model/devices/README.md gives each value's meaning and unit.
 */
typedef struct trimtab_device {
    uint32_t struct_bytes;       /* sizeof(trimtab_device) of whoever filled it in */
    uint32_t compute_capability; /* 75 for 7.5 */
    double sm_count, sm_clock_hz, memory_clock_hz;
    double dram_bytes, dram_bytes_per_s, dram_bus_bits, l2_bytes, l1_bytes, l1_caches_global_loads;
    double shared_bytes_per_sm, shared_bytes_per_block, shared_bytes_per_block_optin,
        shared_reserved_bytes_per_block, shared_allocation_bytes;
    double registers_per_sm, registers_per_block, max_registers_per_thread, register_allocation_unit,
        warp_allocation_granularity;
    double max_threads_per_sm, max_threads_per_block, max_blocks_per_sm, max_warps_per_sm;
    double max_block_x, max_block_y, max_block_z, max_grid_x, max_grid_y, max_grid_z;
    double warp_size, schedulers_per_sm, fp32_lanes_per_sm, fp64_lanes_per_sm, int32_lanes_per_sm,
        special_function_lanes_per_sm, load_store_units_per_sm, shared_bytes_per_clock, constant_bytes,
        instruction_cache_bytes;
    double latency_fp32_cycles, latency_shared_cycles, latency_l1_cycles, latency_l2_cycles,
        latency_dram_cycles, departure_delay_coalesced_cycles, departure_delay_uncoalesced_cycles,
        launch_overhead_ns;
    double concurrent_kernels, copy_engines, pcie_bytes_per_s;
    double l2_bytes_per_clock; /* to all SMs together */
} trimtab_device;

/* What the compiler decided for the image of the kernel that the device runs. */
typedef struct trimtab_image {
    double registers_per_thread, static_shared_bytes, local_bytes_per_thread;
    double max_threads_per_block; /* launch bounds and the function's attribute; 0: no limit of its own */
} trimtab_image;

/* The blocks that this very launch may use: what the proof allows for its arguments, and the device's limits.
 */
typedef struct trimtab_limits {
    trimtab_dim3 extent; /* threads of the launch as written, by dimension: grid * block; where the grid stays
                            whatever the block is, the largest block */
    trimtab_dim3 max_block; /* largest block by dimension; 1 in a dimension that must stay 1 */
    trimtab_dim3 max_grid;
    uint32_t max_threads;     /* threads a block, over all dimensions */
    uint32_t thread_multiple; /* threads a block must be a multiple of this: the warp size, unless the launch
                                 as written is smaller */
    uint32_t
        dividing; /* bit d (x: 1, y: 2, z: 4): the block must divide the extent of that dimension exactly */
    uint32_t
        max_dynamic_shared_bytes; /* a block; for kernels whose annotation states dynamic shared memory */
} trimtab_limits;

typedef struct trimtab_prediction {
    double predicted_ns;   /* of the kernel on the device, launch overhead included */
    double relative_error; /* bound from the fits' errors on points they did not see; 0.1 is ten per cent */
    uint32_t uncertain;    /* not 0: outside what the profile can speak for; do not choose by it */
    uint32_t metric_count; /* of `metrics`, in the order of trimtab_driver.metric_names */
    double metrics[TRIMTAB_MAX_METRICS];
} trimtab_prediction;

typedef struct trimtab_choice {
    trimtab_dim3 block, grid;
    double predicted_ns, relative_error;
    uint32_t uncertain;
    uint32_t reserved;
} trimtab_choice;

typedef struct trimtab_driver {
    uint32_t abi;          /* TRIMTAB_DRIVER_ABI */
    uint32_t struct_bytes; /* sizeof(trimtab_driver) */
    const char* id;        /* of the kernel description: 16 hex digits */
    const char* kernel;    /* the mangled name */
    uint32_t
        data_count; /* D, in the order of data_names; launch extents are named extent.x, extent.y, extent.z */
    uint32_t metric_count;
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
} trimtab_driver;

/* What one object file hands to the runtime when the program or library that holds it is loaded: the drivers
 * of the kernels of one fat binary, and their descriptions (the JSON that `trimtab inspect` reads from
 * section trimtab_data). */
typedef struct trimtab_bundle {
    uint32_t abi;
    uint32_t driver_count;       /* kernels that are left alone have a description and no driver */
    const char* fat_binary_hash; /* 16 hex digits: a kernel is (fat binary, name), for two static kernels may
                                    share a name */
    const trimtab_driver* const* drivers;
    const char* json; /* one record, see section.h */
    uint64_t json_bytes;
} trimtab_bundle;

/* Exported by libtrimtab; called by the bundles' constructors through a weak reference, so that an object
 * links without it. */
void trimtab_register_bundle(const trimtab_bundle* bundle);
void trimtab_unregister_bundle(const trimtab_bundle* bundle);

#ifdef __cplusplus
}
#endif
#endif
