// A shared library with a kernel of its own.
#include "forms.h"

#ifndef FORM_NAME
#define FORM_NAME in_library
#endif

FORM_KERNEL(FORM_NAME)

extern "C" void run_library() {
    check_form("library",
               [](float* in, float* out) { FORM_NAME<<<form_grid, form_block>>>(in, out, form_count); });
}
