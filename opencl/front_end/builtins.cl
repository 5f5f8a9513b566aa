// What OpenCL C has and libclc lacks for NVIDIA's targets. Linked before libclc: what is defined here is not taken from
// there. WORK_DIMENSIONS is the launch's number of them; its global offset is none.

#define OVERLOAD __attribute__((overloadable))

#define PER_ELEMENT(F)                                                         \
    float2 OVERLOAD F(float2 x) { return (float2)(F(x.x), F(x.y)); }           \
    float3 OVERLOAD F(float3 x) { return (float3)(F(x.x), F(x.y), F(x.z)); }   \
    float4 OVERLOAD F(float4 x) { return (float4)(F(x.lo), F(x.hi)); }         \
    float8 OVERLOAD F(float8 x) { return (float8)(F(x.lo), F(x.hi)); }         \
    float16 OVERLOAD F(float16 x) { return (float16)(F(x.lo), F(x.hi)); }

// libclc's end in calls of exp2() and log2(), for which the back end knows no function.
float OVERLOAD native_exp2(float x) { return __nvvm_ex2_approx_f(x); }
float OVERLOAD native_exp(float x) { return __nvvm_ex2_approx_f(x * M_LOG2E_F); }
float OVERLOAD native_exp10(float x) { return __nvvm_ex2_approx_f(x * 0x1.a934f0p+1f); }
float OVERLOAD native_log2(float x) { return __nvvm_lg2_approx_f(x); }
float OVERLOAD native_log(float x) { return __nvvm_lg2_approx_f(x) * M_LN2_F; }
float OVERLOAD native_log10(float x) { return __nvvm_lg2_approx_f(x) * 0x1.344136p-2f; }
PER_ELEMENT(native_exp2)
PER_ELEMENT(native_exp)
PER_ELEMENT(native_exp10)
PER_ELEMENT(native_log2)
PER_ELEMENT(native_log)
PER_ELEMENT(native_log10)

uint OVERLOAD get_work_dim(void) { return WORK_DIMENSIONS; }
size_t OVERLOAD get_global_offset(uint dimension) {
    (void)dimension;
    return 0;
}
size_t OVERLOAD get_enqueued_local_size(uint dimension) { return get_local_size(dimension); }
size_t OVERLOAD get_global_linear_id(void) {
    return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
}
size_t OVERLOAD get_local_linear_id(void) {
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

// A sub-group is a warp, whose last one may be cut short.
#define WARP 32u

static uint work_items(void) { return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)); }
uint OVERLOAD get_max_sub_group_size(void) { return WARP; }
uint OVERLOAD get_num_sub_groups(void) { return (work_items() + WARP - 1) / WARP; }
uint OVERLOAD get_enqueued_num_sub_groups(void) { return get_num_sub_groups(); }
uint OVERLOAD get_sub_group_id(void) { return (uint)get_local_linear_id() / WARP; }
uint OVERLOAD get_sub_group_local_id(void) { return (uint)get_local_linear_id() % WARP; }
uint OVERLOAD get_sub_group_size(void) { return min(WARP, work_items() - get_sub_group_id() * WARP); }

static uint members(void) {
    const uint size = get_sub_group_size();
    return size == WARP ? ~0u : (1u << size) - 1;
}

void OVERLOAD sub_group_barrier(cl_mem_fence_flags flags) {
    (void)flags;
    __nvvm_bar_warp_sync(members());
}
void OVERLOAD sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
    (void)scope;
    sub_group_barrier(flags);
}
int OVERLOAD sub_group_all(int predicate) { return __nvvm_vote_all_sync(members(), predicate != 0); }
int OVERLOAD sub_group_any(int predicate) { return __nvvm_vote_any_sync(members(), predicate != 0); }

#define SHUFFLES_OF_32_BITS(T)                                                                                 \
    static T OVERLOAD from_below(T x, uint lanes) {                                                            \
        return as_##T(__nvvm_shfl_sync_up_i32((int)members(), as_int(x), (int)lanes, 0));                      \
    }                                                                                                          \
    static T OVERLOAD from_lane(T x, uint lane) {                                                              \
        return as_##T(__nvvm_shfl_sync_idx_i32((int)members(), as_int(x), (int)lane, 31));                     \
    }
#define SHUFFLES_OF_64_BITS(T)                                                                                 \
    static T OVERLOAD from_below(T x, uint lanes) {                                                            \
        const int2 words = as_int2(x);                                                                         \
        const int low = __nvvm_shfl_sync_up_i32((int)members(), words.x, (int)lanes, 0);                       \
        return as_##T((int2)(low, __nvvm_shfl_sync_up_i32((int)members(), words.y, (int)lanes, 0)));           \
    }                                                                                                          \
    static T OVERLOAD from_lane(T x, uint lane) {                                                              \
        const int2 words = as_int2(x);                                                                         \
        const int low = __nvvm_shfl_sync_idx_i32((int)members(), words.x, (int)lane, 31);                      \
        return as_##T((int2)(low, __nvvm_shfl_sync_idx_i32((int)members(), words.y, (int)lane, 31)));          \
    }

// The scan that all reductions end in: after the step of d, a lane holds the sum of 2 d lanes up to its own.
#define REDUCTION(T, NAME, COMBINED, NEUTRAL)                                                                  \
    T OVERLOAD sub_group_scan_inclusive_##NAME(T x) {                                                          \
        for (uint lanes = 1; lanes < WARP; lanes *= 2) {                                                       \
            const T y = from_below(x, lanes);                                                                  \
            if (get_sub_group_local_id() >= lanes) x = COMBINED;                                               \
        }                                                                                                      \
        return x;                                                                                              \
    }                                                                                                          \
    T OVERLOAD sub_group_scan_exclusive_##NAME(T x) {                                                          \
        const T below = from_below(sub_group_scan_inclusive_##NAME(x), 1);                                     \
        return get_sub_group_local_id() == 0 ? (T)(NEUTRAL) : below;                                           \
    }                                                                                                          \
    T OVERLOAD sub_group_reduce_##NAME(T x) {                                                                  \
        return from_lane(sub_group_scan_inclusive_##NAME(x), get_sub_group_size() - 1);                        \
    }
#define SUB_GROUP_TYPE(T, LEAST, GREATEST)                                                                     \
    T OVERLOAD sub_group_broadcast(T x, uint lane) { return from_lane(x, lane); }                              \
    REDUCTION(T, add, y + x, 0)                                                                                \
    REDUCTION(T, min, min(y, x), GREATEST)                                                                     \
    REDUCTION(T, max, max(y, x), LEAST)

SHUFFLES_OF_32_BITS(int)
SHUFFLES_OF_32_BITS(uint)
SHUFFLES_OF_32_BITS(float)
SHUFFLES_OF_64_BITS(long)
SHUFFLES_OF_64_BITS(ulong)
SHUFFLES_OF_64_BITS(double)
SUB_GROUP_TYPE(int, INT_MIN, INT_MAX)
SUB_GROUP_TYPE(uint, 0, UINT_MAX)
SUB_GROUP_TYPE(long, LONG_MIN, LONG_MAX)
SUB_GROUP_TYPE(ulong, 0, ULONG_MAX)
SUB_GROUP_TYPE(float, -INFINITY, INFINITY)
SUB_GROUP_TYPE(double, -INFINITY, INFINITY)
