// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Put before libtrimtab.so by LD_PRELOAD: spoils what a program's object hands to the runtime, in the way
 * that SPOIL names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <trimtab/driver.h>

static trimtab_bundle spoilt_bundle;
static trimtab_driver spoilt_driver;
static const trimtab_driver* drivers[1];
static const trimtab_driver* sound;

static int is_mode(const char* name) {
    const char* mode = getenv("SPOIL");
    return mode != 0 && strcmp(mode, name) == 0;
}

static int select_nonsense(const trimtab_device* device, const trimtab_image* image, const double* data,
                           const trimtab_limits* limits, double shared, uint32_t k, trimtab_choice* out) {
    int found = sound->select(device, image, data, limits, shared, k, out);
    trimtab_dim3 zero = {0, 0, 0}, large = {1u << 31, 1024, 1024};
    if (is_mode("many")) return 1000000;
    if (found < 1) return found;
    if (is_mode("block-zero")) out[0].block = zero;
    if (is_mode("block-large")) out[0].block = large;
    if (is_mode("time-nan")) out[0].predicted_ns = NAN;
    if (is_mode("time-negative")) out[0].predicted_ns = -1;
    return found;
}

static int evaluate_nonsense(const trimtab_device* device, const trimtab_image* image, const double* data,
                             trimtab_dim3 block, double shared, trimtab_prediction* out) {
    int answer = sound->evaluate(device, image, data, block, shared, out);
    if (is_mode("written-infinite")) out->predicted_ns = INFINITY;
    return answer;
}

static void overwrite(const char* from, const char* to) {
    char* copy = malloc(spoilt_bundle.json_bytes);
    char* place;
    memcpy(copy, spoilt_bundle.json, spoilt_bundle.json_bytes);
    place = memmem(copy, spoilt_bundle.json_bytes, from, strlen(from));
    if (place != 0) memcpy(place, to, strlen(to));
    spoilt_bundle.json = copy;
}

static void next(const char* name, const trimtab_bundle* bundle) {
    void (*function)(const trimtab_bundle*) = (void (*)(const trimtab_bundle*))dlsym(RTLD_NEXT, name);
    if (function != 0) function(bundle);
}

void trimtab_register_bundle(const trimtab_bundle* bundle) {
    spoilt_bundle = *bundle;
    sound = bundle->drivers[0];
    spoilt_driver = *sound;
    spoilt_driver.select = select_nonsense;
    spoilt_driver.evaluate = evaluate_nonsense;
    drivers[0] = &spoilt_driver;
    spoilt_bundle.drivers = drivers;
    if (is_mode("abi")) spoilt_bundle.abi = 99;
    if (is_mode("driver-abi")) spoilt_driver.abi = 99;
    if (is_mode("driver-size")) spoilt_driver.struct_bytes = 8;
    if (is_mode("driver-missing")) drivers[0] = 0;
    if (is_mode("driver-stray")) spoilt_driver.id = "0000000000000000";
    if (is_mode("record-cut")) spoilt_bundle.json_bytes /= 2;
    if (is_mode("record-overwritten")) overwrite("{\"abi\"", "######");
    if (is_mode("record-version")) overwrite("{\"abi\":2", "{\"abi\":9");
    if (is_mode("guard-unreadable")) overwrite("\"setp.", "\"sexp.");
    next("trimtab_register_bundle", &spoilt_bundle);
}

void trimtab_unregister_bundle(const trimtab_bundle* bundle) {
    (void)bundle;
    next("trimtab_unregister_bundle", &spoilt_bundle);
}
