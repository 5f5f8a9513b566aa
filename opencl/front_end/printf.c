// OpenCL C's printf() for NVIDIA's targets, in C: OpenCL C cannot write a variadic function. Its arguments arrive in a
// buffer of the caller's, which is what the device's vprintf() takes.
typedef __attribute__((address_space(4))) const char ConstantChar;

int vprintf(const char* format, __builtin_va_list arguments);

int printf(ConstantChar* format, ...) {
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    const int written = vprintf((const char*)(unsigned long)format, arguments);
    __builtin_va_end(arguments);
    return written < 0 ? -1 : 0;
}
