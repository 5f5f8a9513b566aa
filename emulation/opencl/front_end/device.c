// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What OpenCL C cannot write, for NVIDIA's targets: in C, whose address spaces are those of the target.
typedef __attribute__((address_space(4))) const char ConstantChar;
typedef __attribute__((address_space(3))) unsigned long LocalWord;

int vprintf(const char* format, __builtin_va_list arguments);

// A variadic function's arguments arrive in a buffer of the caller's, which is what the device's vprintf() takes.
int printf(ConstantChar* format, ...) {
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    const int written = vprintf((const char*)(unsigned long)format, arguments);
    __builtin_va_end(arguments);
    return written < 0 ? -1 : 0;
}

// A word of local memory for each sub-group that a work-group can have, outside any kernel.
static LocalWord parts[32];
LocalWord* work_group_parts(void) {
    return parts;
}

// The launch's global offset, which the host writes there before. Volatile, for the compiler sees nobody write.
static volatile __attribute__((address_space(1))) unsigned long trimtab_global_offset[3];
unsigned long trimtab_offset_of(unsigned dimension) {
    return dimension < 3 ? trimtab_global_offset[dimension] : 0;
}

// Images and samplers are handed to functions as pointers: their handles.
typedef __attribute__((address_space(1))) const void GlobalHandle;
unsigned long trimtab_image_handle(GlobalHandle* image) {
    return (unsigned long)image;
}
unsigned long trimtab_sampler_bits(__attribute__((address_space(4))) const void* sampler) {
    return (unsigned long)sampler;
}
// Of a sampler in the source, its CLK_ constants.
__attribute__((address_space(4))) const void* __translate_sampler_initializer(int bits) {
    return (__attribute__((address_space(4))) const void*)(unsigned long)(unsigned)bits;
}

// Where a generic pointer points to. to_global() and its like are spelt so in calls.
typedef __attribute__((address_space(1))) void GlobalVoid;
typedef __attribute__((address_space(3))) void LocalVoid;
int trimtab_is_local(const void* pointer) {
    return __nvvm_isspacep_shared(pointer);
}
int trimtab_is_private(const void* pointer) {
    return __nvvm_isspacep_local(pointer);
}
GlobalVoid* __to_global(void* pointer) {
    return __nvvm_isspacep_global(pointer) ? (GlobalVoid*)pointer : (GlobalVoid*)0;
}
LocalVoid* __to_local(void* pointer) {
    return __nvvm_isspacep_shared(pointer) ? (LocalVoid*)pointer : (LocalVoid*)0;
}
void* __to_private(void* pointer) {
    return __nvvm_isspacep_local(pointer) ? pointer : (void*)0;
}
