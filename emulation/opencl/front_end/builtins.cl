// What OpenCL C has and libclc lacks for NVIDIA's targets. Linked before libclc: what is defined here is not taken from
// there. WORK_DIMENSIONS is the launch's number of them; with GLOBAL_OFFSET it has an offset, else none.

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

// libclc's read beside their tables where they are given a NaN, or are farther off than OpenCL allows; libdevice's are not.
#define OF_LIBDEVICE(F, NARROW, WIDE)                                                \
    float NARROW(float x);                                                           \
    double WIDE(double x);                                                           \
    float OVERLOAD F(float x) { return NARROW(x); }                                  \
    double OVERLOAD F(double x) { return WIDE(x); }                                  \
    PER_ELEMENT(F)                                                                   \
    double2 OVERLOAD F(double2 x) { return (double2)(F(x.x), F(x.y)); }              \
    double3 OVERLOAD F(double3 x) { return (double3)(F(x.x), F(x.y), F(x.z)); }      \
    double4 OVERLOAD F(double4 x) { return (double4)(F(x.lo), F(x.hi)); }            \
    double8 OVERLOAD F(double8 x) { return (double8)(F(x.lo), F(x.hi)); }            \
    double16 OVERLOAD F(double16 x) { return (double16)(F(x.lo), F(x.hi)); }
OF_LIBDEVICE(cosh, __nv_coshf, __nv_cosh)
OF_LIBDEVICE(sinh, __nv_sinhf, __nv_sinh)
OF_LIBDEVICE(lgamma, __nv_lgammaf, __nv_lgamma)
OF_LIBDEVICE(tgamma, __nv_tgammaf, __nv_tgamma)
OF_LIBDEVICE(log1p, __nv_log1pf, __nv_log1p)  // of vectors of doubles, libclc's of infinity is finite

#define PER_ELEMENT_OF_TWO(T, F)                                                                       \
    T##2 OVERLOAD F(T##2 x, T##2 y) { return (T##2)(F(x.x, y.x), F(x.y, y.y)); }                       \
    T##3 OVERLOAD F(T##3 x, T##3 y) { return (T##3)(F(x.x, y.x), F(x.y, y.y), F(x.z, y.z)); }          \
    T##4 OVERLOAD F(T##4 x, T##4 y) { return (T##4)(F(x.lo, y.lo), F(x.hi, y.hi)); }                   \
    T##8 OVERLOAD F(T##8 x, T##8 y) { return (T##8)(F(x.lo, y.lo), F(x.hi, y.hi)); }                   \
    T##16 OVERLOAD F(T##16 x, T##16 y) { return (T##16)(F(x.lo, y.lo), F(x.hi, y.hi)); }
// libclc's of floats are wrong where the divisor is subnormal.
float __nv_fmodf(float x, float y);
float __nv_remainderf(float x, float y);
float OVERLOAD fmod(float x, float y) { return __nv_fmodf(x, y); }
float OVERLOAD remainder(float x, float y) { return __nv_remainderf(x, y); }
PER_ELEMENT_OF_TWO(float, fmod)
PER_ELEMENT_OF_TWO(float, remainder)
float __nv_remquof(float x, float y, generic int* quotient);
#define LDEXP_OF(T, N)                                                                                          \
    T##N OVERLOAD ldexp(T##N x, int##N e) { return (T##N)(ldexp(x.lo, e.lo), ldexp(x.hi, e.hi)); }              \
    T##N OVERLOAD ldexp(T##N x, int e) { return ldexp(x, (int##N)e); }
#define LDEXP(T, DEVICES)                                                                                       \
    T DEVICES(T x, int exponent);                                                                               \
    T OVERLOAD ldexp(T x, int exponent) { return DEVICES(x, exponent); }                                        \
    LDEXP_OF(T, 2)                                                                                              \
    LDEXP_OF(T, 4)                                                                                              \
    LDEXP_OF(T, 8)                                                                                              \
    LDEXP_OF(T, 16)                                                                                             \
    T##3 OVERLOAD ldexp(T##3 x, int3 e) { return (T##3)(ldexp(x.xy, e.xy), ldexp(x.z, e.z)); }                  \
    T##3 OVERLOAD ldexp(T##3 x, int e) { return ldexp(x, (int3)e); }
LDEXP(float, __nv_ldexpf)  // libclc's rounds subnormal results twice
LDEXP(double, __nv_ldexp)  // libclc's of NaN is a number

// A second result goes where the last argument points. libclc's fract() and modf() of vectors are wrong of infinities.
#define HALVES(F, T, P, SPACE, N, HALF)                                                                         \
    T##N OVERLOAD F(T##N x, SPACE P##N* out) {                                                                  \
        P##HALF low, high;                                                                                      \
        const T##N result = (T##N)(F(x.lo, &low), F(x.hi, &high));                                              \
        *out = (P##N)(low, high);                                                                               \
        return result;                                                                                          \
    }
#define WITH_SECOND_RESULT(F, T, SPACE)                                                                         \
    HALVES(F, T, T, SPACE, 2, )                                                                                 \
    HALVES(F, T, T, SPACE, 4, 2)                                                                                \
    HALVES(F, T, T, SPACE, 8, 4)                                                                                \
    HALVES(F, T, T, SPACE, 16, 8)                                                                               \
    T##3 OVERLOAD F(T##3 x, SPACE T##3* out) {                                                                  \
        T##2 low;                                                                                               \
        T high;                                                                                                 \
        const T##3 result = (T##3)(F(x.xy, &low), F(x.z, &high));                                               \
        *out = (T##3)(low, high);                                                                               \
        return result;                                                                                          \
    }
#define SECOND_RESULTS(F, T)                 \
    T OVERLOAD F(T x, generic T* out);       \
    WITH_SECOND_RESULT(F, T, generic)        \
    WITH_SECOND_RESULT(F, T, global)         \
    WITH_SECOND_RESULT(F, T, local)
SECOND_RESULTS(fract, float)
SECOND_RESULTS(fract, double)
SECOND_RESULTS(modf, float)
SECOND_RESULTS(modf, double)

#define REMQUO_OF(SPACE, N, HALF)                                                                               \
    float##N OVERLOAD remquo(float##N x, float##N y, SPACE int##N* out) {                                       \
        int##HALF low, high;                                                                                    \
        const float##N result = (float##N)(remquo(x.lo, y.lo, &low), remquo(x.hi, y.hi, &high));                \
        *out = (int##N)(low, high);                                                                             \
        return result;                                                                                          \
    }
#define REMQUO(SPACE)                                                                                           \
    float OVERLOAD remquo(float x, float y, SPACE int* out) {                                                   \
        int quotient;                                                                                           \
        const float result = __nv_remquof(x, y, &quotient);                                                     \
        *out = quotient;                                                                                        \
        return result;                                                                                          \
    }                                                                                                           \
    REMQUO_OF(SPACE, 2, )                                                                                       \
    REMQUO_OF(SPACE, 4, 2)                                                                                      \
    REMQUO_OF(SPACE, 8, 4)                                                                                      \
    REMQUO_OF(SPACE, 16, 8)                                                                                     \
    float3 OVERLOAD remquo(float3 x, float3 y, SPACE int3* out) {                                               \
        int2 low;                                                                                               \
        int high;                                                                                               \
        const float3 result = (float3)(remquo(x.xy, y.xy, &low), remquo(x.z, y.z, &high));                      \
        *out = (int3)(low, high);                                                                               \
        return result;                                                                                          \
    }
REMQUO(generic)
REMQUO(global)
REMQUO(local)

// libclc's of vectors is NaN between two infinities.
double OVERLOAD atan2pi(double y, double x);
PER_ELEMENT_OF_TWO(double, atan2pi)

// libclc's gives 1 for each element of a vector that is infinite, where OpenCL C has -1 (of scalars it is 1).
#define IS_INFINITE(T, OUT)                                                          \
    OUT##2 OVERLOAD isinf(T##2 x) { return fabs(x) == (T##2)INFINITY; }              \
    OUT##3 OVERLOAD isinf(T##3 x) { return fabs(x) == (T##3)INFINITY; }              \
    OUT##4 OVERLOAD isinf(T##4 x) { return fabs(x) == (T##4)INFINITY; }              \
    OUT##8 OVERLOAD isinf(T##8 x) { return fabs(x) == (T##8)INFINITY; }              \
    OUT##16 OVERLOAD isinf(T##16 x) { return fabs(x) == (T##16)INFINITY; }
IS_INFINITE(float, int)
IS_INFINITE(double, long)

uint OVERLOAD get_work_dim(void) { return WORK_DIMENSIONS; }
#ifdef GLOBAL_OFFSET
size_t trimtab_offset_of(uint dimension);  // device.c
size_t OVERLOAD get_global_offset(uint dimension) { return trimtab_offset_of(dimension); }
static size_t without_offset(uint dimension) {
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
}
size_t OVERLOAD get_global_id(uint dimension) { return without_offset(dimension) + get_global_offset(dimension); }
#else
size_t OVERLOAD get_global_offset(uint dimension) {
    (void)dimension;
    return 0;
}
static size_t without_offset(uint dimension) { return get_global_id(dimension); }
#endif
size_t OVERLOAD get_enqueued_local_size(uint dimension) { return get_local_size(dimension); }
size_t OVERLOAD get_global_linear_id(void) {
    return (without_offset(2) * get_global_size(1) + without_offset(1)) * get_global_size(0) + without_offset(0);
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

// Over a work-group: over its sub-groups, then over what these came to, in their order.
local ulong* work_group_parts(void);

#define WORK_GROUP_REDUCTION(T, NAME, COMBINED)                                                                \
    static T OVERLOAD with_groups_below_##NAME(T x, T whole) {                                                 \
        local T* parts = (local T*)work_group_parts();                                                         \
        if (get_sub_group_local_id() == 0) parts[get_sub_group_id()] = whole;                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
        for (uint group = get_sub_group_id(); group-- > 0;) {                                                  \
            const T y = parts[group];                                                                          \
            x = COMBINED;                                                                                      \
        }                                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
        return x;                                                                                              \
    }                                                                                                          \
    T OVERLOAD work_group_scan_inclusive_##NAME(T x) {                                                         \
        return with_groups_below_##NAME(sub_group_scan_inclusive_##NAME(x), sub_group_reduce_##NAME(x));       \
    }                                                                                                          \
    T OVERLOAD work_group_scan_exclusive_##NAME(T x) {                                                         \
        return with_groups_below_##NAME(sub_group_scan_exclusive_##NAME(x), sub_group_reduce_##NAME(x));       \
    }                                                                                                          \
    T OVERLOAD work_group_reduce_##NAME(T x) {                                                                 \
        local T* parts = (local T*)work_group_parts();                                                         \
        const T whole = sub_group_reduce_##NAME(x);                                                            \
        if (get_sub_group_local_id() == 0) parts[get_sub_group_id()] = whole;                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
        x = parts[0];                                                                                          \
        for (uint group = 1; group < get_num_sub_groups(); ++group) {                                          \
            const T y = parts[group];                                                                          \
            x = COMBINED;                                                                                      \
        }                                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
        return x;                                                                                              \
    }
#define WORK_GROUP_TYPE(T)                                                                                     \
    static T OVERLOAD from_work_item(T x, bool is_source) {                                                    \
        local T* parts = (local T*)work_group_parts();                                                         \
        if (is_source) parts[0] = x;                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
        x = parts[0];                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
        return x;                                                                                              \
    }                                                                                                          \
    T OVERLOAD work_group_broadcast(T x, size_t i) { return from_work_item(x, get_local_id(0) == i); }         \
    T OVERLOAD work_group_broadcast(T x, size_t i, size_t j) {                                                 \
        return from_work_item(x, get_local_id(0) == i && get_local_id(1) == j);                                \
    }                                                                                                          \
    T OVERLOAD work_group_broadcast(T x, size_t i, size_t j, size_t k) {                                       \
        return from_work_item(x, get_local_id(0) == i && get_local_id(1) == j && get_local_id(2) == k);        \
    }                                                                                                          \
    WORK_GROUP_REDUCTION(T, add, x + y)                                                                        \
    WORK_GROUP_REDUCTION(T, min, min(x, y))                                                                    \
    WORK_GROUP_REDUCTION(T, max, max(x, y))

WORK_GROUP_TYPE(int)
WORK_GROUP_TYPE(uint)
WORK_GROUP_TYPE(long)
WORK_GROUP_TYPE(ulong)
WORK_GROUP_TYPE(float)
WORK_GROUP_TYPE(double)
int OVERLOAD work_group_all(int predicate) { return work_group_reduce_min((int)(predicate != 0)); }
int OVERLOAD work_group_any(int predicate) { return work_group_reduce_max((int)(predicate != 0)); }

// OpenCL C 2.0's atomics. Inlined always, so that orders and scopes are the constants that they mostly are.
#define INLINED OVERLOAD __attribute__((always_inline))
#define ATOMIC_FORMS(SPACE, T, NAME)                                                                           \
    T INLINED atomic_##NAME##_explicit(volatile SPACE atomic_##T* object, T x, memory_order order,             \
                                       memory_scope scope) {                                                   \
        return __opencl_atomic_##NAME(object, x, order, scope);                                                \
    }                                                                                                          \
    T INLINED atomic_##NAME##_explicit(volatile SPACE atomic_##T* object, T x, memory_order order) {           \
        return __opencl_atomic_##NAME(object, x, order, memory_scope_device);                                  \
    }                                                                                                          \
    T INLINED atomic_##NAME(volatile SPACE atomic_##T* object, T x) {                                          \
        return __opencl_atomic_##NAME(object, x, memory_order_seq_cst, memory_scope_device);                   \
    }
#define ATOMIC_ACCESSES(SPACE, T)                                                                              \
    ATOMIC_FORMS(SPACE, T, exchange)                                                                           \
    T INLINED atomic_load_explicit(volatile SPACE atomic_##T* object, memory_order order, memory_scope scope) { \
        return __opencl_atomic_load(object, order, scope);                                                     \
    }                                                                                                          \
    T INLINED atomic_load_explicit(volatile SPACE atomic_##T* object, memory_order order) {                    \
        return __opencl_atomic_load(object, order, memory_scope_device);                                       \
    }                                                                                                          \
    T INLINED atomic_load(volatile SPACE atomic_##T* object) {                                                 \
        return __opencl_atomic_load(object, memory_order_seq_cst, memory_scope_device);                        \
    }                                                                                                          \
    void INLINED atomic_store_explicit(volatile SPACE atomic_##T* object, T x, memory_order order,             \
                                       memory_scope scope) {                                                   \
        __opencl_atomic_store(object, x, order, scope);                                                        \
    }                                                                                                          \
    void INLINED atomic_store_explicit(volatile SPACE atomic_##T* object, T x, memory_order order) {           \
        __opencl_atomic_store(object, x, order, memory_scope_device);                                          \
    }                                                                                                          \
    void INLINED atomic_store(volatile SPACE atomic_##T* object, T x) {                                        \
        __opencl_atomic_store(object, x, memory_order_seq_cst, memory_scope_device);                           \
    }                                                                                                          \
    void INLINED atomic_init(volatile SPACE atomic_##T* object, T x) { __opencl_atomic_init(object, x); }
#define ATOMIC_TYPE(SPACE, T)                                                                                  \
    ATOMIC_ACCESSES(SPACE, T)                                                                                  \
    ATOMIC_FORMS(SPACE, T, fetch_add)                                                                          \
    ATOMIC_FORMS(SPACE, T, fetch_sub)                                                                          \
    ATOMIC_FORMS(SPACE, T, fetch_or)                                                                           \
    ATOMIC_FORMS(SPACE, T, fetch_xor)                                                                          \
    ATOMIC_FORMS(SPACE, T, fetch_and)                                                                          \
    ATOMIC_FORMS(SPACE, T, fetch_min)                                                                          \
    ATOMIC_FORMS(SPACE, T, fetch_max)
#define ATOMIC_TYPES(SPACE)                                                                                    \
    ATOMIC_TYPE(SPACE, int)                                                                                    \
    ATOMIC_TYPE(SPACE, uint)                                                                                   \
    ATOMIC_TYPE(SPACE, long)                                                                                   \
    ATOMIC_TYPE(SPACE, ulong)                                                                                  \
    ATOMIC_ACCESSES(SPACE, float)                                                                              \
    ATOMIC_ACCESSES(SPACE, double)
ATOMIC_TYPES(generic)
ATOMIC_TYPES(global)
ATOMIC_TYPES(local)
// An address and a difference of addresses.
#define ADDRESS_FORMS(SPACE, NAME)                                                                             \
    ulong INLINED atomic_##NAME##_explicit(volatile SPACE atomic_ulong* object, long x, memory_order order,    \
                                           memory_scope scope) {                                               \
        return __opencl_atomic_##NAME(object, (ulong)x, order, scope);                                         \
    }                                                                                                          \
    ulong INLINED atomic_##NAME##_explicit(volatile SPACE atomic_ulong* object, long x, memory_order order) {  \
        return __opencl_atomic_##NAME(object, (ulong)x, order, memory_scope_device);                           \
    }                                                                                                          \
    ulong INLINED atomic_##NAME(volatile SPACE atomic_ulong* object, long x) {                                 \
        return __opencl_atomic_##NAME(object, (ulong)x, memory_order_seq_cst, memory_scope_device);            \
    }
#define FLAG_FORMS(SPACE)                                                                                      \
    bool INLINED atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag* object, memory_order order,     \
                                                   memory_scope scope) {                                       \
        return __opencl_atomic_exchange(object, 1, order, scope) != 0;                                         \
    }                                                                                                          \
    bool INLINED atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag* object, memory_order order) {   \
        return atomic_flag_test_and_set_explicit(object, order, memory_scope_device);                          \
    }                                                                                                          \
    bool INLINED atomic_flag_test_and_set(volatile SPACE atomic_flag* object) {                                \
        return atomic_flag_test_and_set_explicit(object, memory_order_seq_cst, memory_scope_device);           \
    }                                                                                                          \
    void INLINED atomic_flag_clear_explicit(volatile SPACE atomic_flag* object, memory_order order,            \
                                            memory_scope scope) {                                              \
        __opencl_atomic_store(object, 0, order, scope);                                                        \
    }                                                                                                          \
    void INLINED atomic_flag_clear_explicit(volatile SPACE atomic_flag* object, memory_order order) {          \
        atomic_flag_clear_explicit(object, order, memory_scope_device);                                        \
    }                                                                                                          \
    void INLINED atomic_flag_clear(volatile SPACE atomic_flag* object) {                                       \
        atomic_flag_clear_explicit(object, memory_order_seq_cst, memory_scope_device);                         \
    }
#define OTHER_ATOMICS(SPACE)         \
    ADDRESS_FORMS(SPACE, fetch_add)  \
    ADDRESS_FORMS(SPACE, fetch_sub)  \
    FLAG_FORMS(SPACE)
OTHER_ATOMICS(generic)
OTHER_ATOMICS(global)
OTHER_ATOMICS(local)
#define COMPARE_EXCHANGE(T, STRENGTH)                                                                          \
    bool INLINED atomic_compare_exchange_##STRENGTH##_explicit(volatile generic atomic_##T* object,            \
                                                               generic T* expected, T desired,                 \
                                                               memory_order success, memory_order failure,     \
                                                               memory_scope scope) {                           \
        return __opencl_atomic_compare_exchange_##STRENGTH(object, expected, desired, success, failure, scope); \
    }                                                                                                          \
    bool INLINED atomic_compare_exchange_##STRENGTH##_explicit(volatile generic atomic_##T* object,            \
                                                               generic T* expected, T desired,                 \
                                                               memory_order success, memory_order failure) {   \
        return __opencl_atomic_compare_exchange_##STRENGTH(object, expected, desired, success, failure,        \
                                                           memory_scope_device);                               \
    }                                                                                                          \
    bool INLINED atomic_compare_exchange_##STRENGTH(volatile generic atomic_##T* object, generic T* expected,  \
                                                    T desired) {                                               \
        return __opencl_atomic_compare_exchange_##STRENGTH(object, expected, desired, memory_order_seq_cst,    \
                                                           memory_order_seq_cst, memory_scope_device);         \
    }
#define COMPARE_EXCHANGES(T)     \
    COMPARE_EXCHANGE(T, strong)  \
    COMPARE_EXCHANGE(T, weak)
COMPARE_EXCHANGES(int)
COMPARE_EXCHANGES(uint)
COMPARE_EXCHANGES(long)
COMPARE_EXCHANGES(ulong)
COMPARE_EXCHANGES(float)
COMPARE_EXCHANGES(double)

// Those of cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics: libclc's are of 32 bits.
#define ATOM(SPACE, T, NAME, OPERATION)                                                                        \
    T INLINED atom_##NAME(volatile SPACE T* object, T x) {                                                     \
        return __opencl_atomic_##OPERATION((volatile SPACE atomic_##T*)object, x, memory_order_relaxed,        \
                                           memory_scope_device);                                               \
    }
#define ATOMS_OF_TYPE(SPACE, T)                                                                                \
    ATOM(SPACE, T, add, fetch_add)                                                                             \
    ATOM(SPACE, T, sub, fetch_sub)                                                                             \
    ATOM(SPACE, T, xchg, exchange)                                                                             \
    ATOM(SPACE, T, min, fetch_min)                                                                             \
    ATOM(SPACE, T, max, fetch_max)                                                                             \
    ATOM(SPACE, T, and, fetch_and)                                                                             \
    ATOM(SPACE, T, or, fetch_or)                                                                               \
    ATOM(SPACE, T, xor, fetch_xor)                                                                             \
    T INLINED atom_inc(volatile SPACE T* object) { return atom_add(object, (T)1); }                            \
    T INLINED atom_dec(volatile SPACE T* object) { return atom_sub(object, (T)1); }                            \
    T INLINED atom_cmpxchg(volatile SPACE T* object, T expected, T desired) {                                  \
        __opencl_atomic_compare_exchange_strong((volatile SPACE atomic_##T*)object, &expected, desired,        \
                                                memory_order_relaxed, memory_order_relaxed,                    \
                                                memory_scope_device);                                          \
        return expected;                                                                                       \
    }
ATOMS_OF_TYPE(global, long)
ATOMS_OF_TYPE(global, ulong)
ATOMS_OF_TYPE(local, long)
ATOMS_OF_TYPE(local, ulong)

// OpenCL C 2.0's fences. A barrier orders what its work-group sees; a wider scope is told as well.
void INLINED atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
    (void)flags;
    if (order == memory_order_relaxed || scope == memory_scope_work_item) return;
    if (scope == memory_scope_work_group || scope == memory_scope_sub_group)
        __nvvm_membar_cta();
    else if (scope == memory_scope_device)
        __nvvm_membar_gl();
    else
        __nvvm_membar_sys();
}
void INLINED work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
    if (scope != memory_scope_work_group) atomic_work_item_fence(flags, memory_order_acq_rel, scope);
    barrier(flags);
}
void INLINED work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }

int trimtab_is_local(const generic void*);    // device.c
int trimtab_is_private(const generic void*);  // device.c
cl_mem_fence_flags INLINED get_fence(const generic void* pointer) {
    if (trimtab_is_local(pointer)) return CLK_LOCAL_MEM_FENCE;
    return trimtab_is_private(pointer) ? 0 : CLK_GLOBAL_MEM_FENCE;
}
cl_mem_fence_flags INLINED get_fence(generic void* pointer) { return get_fence((const generic void*)pointer); }
