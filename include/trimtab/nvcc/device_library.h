// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the device that clang declares, or calls by itself, and leaves undefined.
#pragma once
#pragma clang system_header

// The payload of a NaN, as the toolkit's host code reads it (crt/math_functions.hpp): a number with C's
// prefixes.
static inline __device__ unsigned long long trimtab_nan_payload(const char* tag) {
    if (tag == nullptr) return 0;
    unsigned base = 10;
    if (*tag == '0') {
        base = tag[1] == 'x' || tag[1] == 'X' ? 16 : 8;
        tag += base == 16 ? 2 : 1;
    }
    unsigned long long payload = 0;
    bool overflows = false;
    for (; *tag != '\0'; ++tag) {
        const char lower = *tag >= 'A' && *tag <= 'F' ? static_cast<char>(*tag - 'A' + 'a') : *tag;
        unsigned digit = base;
        if (lower >= '0' && lower <= '9') digit = static_cast<unsigned>(lower - '0');
        if (lower >= 'a' && lower <= 'f') digit = static_cast<unsigned>(lower - 'a') + 10;
        if (digit >= base) return 0;
        overflows = overflows || payload > (~0ULL - digit) / base;
        payload = payload * base + digit;
    }
    return overflows ? ~0ULL : payload;
}
static inline __device__ double nan(const char* tag) {
    return __longlong_as_double(
        static_cast<long long>((trimtab_nan_payload(tag) & 0xfffffffffffffULL) | 0x7ff8000000000000ULL));
}
static inline __device__ float nanf(const char* tag) {
    return __int_as_float(static_cast<int>((trimtab_nan_payload(tag) & 0x7fffffULL) | 0x7fc00000ULL));
}

// PTX ISA 8.8, section 9.7.3.23: from sm_75 on, which is the least of the toolkits that have it.
#if CUDART_VERSION >= 13000
static inline __device__ float __tanhf(float x) {
    float tangent;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tangent) : "f"(x));
    return tangent;
}
#endif

// What virtual tables hold for functions that no object has.
extern "C" {
inline __device__ __attribute__((noreturn)) void __cxa_pure_virtual(void) {
    __trap();
    __builtin_unreachable();
}
inline __device__ __attribute__((noreturn)) void __cxa_deleted_virtual(void) {
    __trap();
    __builtin_unreachable();
}
}

// new (std::nothrow): the library's own one is a variable of the host. Nobody reads it; inline, it is in no module.
#ifdef __CUDA_ARCH__
namespace std {
inline __device__ const nothrow_t nothrow{};
}
#endif

// new and delete of classes with a wide alignment: what malloc gave stands before the object.
#ifdef __cpp_aligned_new
inline __device__ void* operator new(__SIZE_TYPE__ bytes, std::align_val_t alignment) {
    const __SIZE_TYPE__ mask = static_cast<__SIZE_TYPE__>(alignment) - 1;
    void* const block = ::malloc(bytes + sizeof(void*) + mask);
    if (block == nullptr) return nullptr;
    void** const object =
        reinterpret_cast<void**>((reinterpret_cast<__SIZE_TYPE__>(block) + sizeof(void*) + mask) & ~mask);
    object[-1] = block;
    return object;
}
inline __device__ void* operator new[](__SIZE_TYPE__ bytes, std::align_val_t alignment) {
    return ::operator new(bytes, alignment);
}
inline __device__ void operator delete(void* object, std::align_val_t) noexcept {
    if (object != nullptr) ::free(static_cast<void**>(object)[-1]);
}
inline __device__ void operator delete[](void* object, std::align_val_t alignment) noexcept {
    ::operator delete(object, alignment);
}
inline __device__ void operator delete(void* object, __SIZE_TYPE__, std::align_val_t alignment) noexcept {
    ::operator delete(object, alignment);
}
inline __device__ void operator delete[](void* object, __SIZE_TYPE__, std::align_val_t alignment) noexcept {
    ::operator delete(object, alignment);
}
#endif
