// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing that this library constructs is destroyed when the process ends: its thread may be at work then. Destructors
// run in the reverse order of the registrations, and what the thread constructs as it goes is registered after the
// handler that waits for it.

// What the compiler calls for each static object with a destructor; this library's own, for none but it.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the ABI's name
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*destroy)(void*), void* object,
                                                                  void* library) {
    (void)destroy;
    (void)object;
    (void)library;
    return 0;
}
