// What every sample program shares.
#pragma once

#include "cuda_check.h"
#include "device_array.h"
#include "kernel_timer.h"
#include "kernel_timers.h"
#include "options.h"
#include "outputs.h"
#include "random.h"
#include "verify.h"
