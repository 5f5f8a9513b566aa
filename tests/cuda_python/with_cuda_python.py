# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuda-python: the driver's bindings and NVRTC's. (The runtime's hold a copy of CUDA's runtime without symbols.)"""
import ctypes

import numpy
from cuda.bindings import driver, nvrtc


def checked(answer):
    status, *values = answer
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else values


checked(driver.cuInit(0))
assert checked(driver.cuDeviceGetCount()) >= 1
device = checked(driver.cuDeviceGet(0))
context = checked(driver.cuDevicePrimaryCtxRetain(device))
checked(driver.cuCtxSetCurrent(context))
n = 5000
x = numpy.arange(n, dtype=numpy.float32)
pointer = checked(driver.cuMemAlloc(x.nbytes))
checked(driver.cuMemcpyHtoD(pointer, x.ctypes.data, x.nbytes))

source = rb'''extern "C" __global__ void twice(float* x, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}'''
program = checked(nvrtc.nvrtcCreateProgram(source, b"twice.cu", 0, [], []))
checked(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_75"]))
size = checked(nvrtc.nvrtcGetCUBINSize(program))
code = b" " * size
checked(nvrtc.nvrtcGetCUBIN(program, code))
module = checked(driver.cuModuleLoadData(code))
kernel = checked(driver.cuModuleGetFunction(module, b"twice"))
arguments = ((int(pointer), n), (ctypes.c_void_p, ctypes.c_int))
checked(driver.cuLaunchKernel(kernel, (n + 15) // 16, 1, 1, 16, 1, 1, 0, 0, arguments, 0))
checked(driver.cuCtxSynchronize())
y = numpy.empty_like(x)
checked(driver.cuMemcpyDtoH(y.ctypes.data, pointer, x.nbytes))
numpy.testing.assert_array_equal(y, 2 * x)
checked(driver.cuMemFree(pointer))
print("PASS")
