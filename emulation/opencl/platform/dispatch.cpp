// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table by which the loader finds the entry points, whole: what there is not answers so.
#include <cstring>
#include <string_view>
#include <type_traits>

#include "emulation/opencl/platform/device.h"
#include "emulation/opencl/platform/info.h"

namespace trimtab::opencl {
namespace {

// Of an entry point that there is not, by its type: CL_INVALID_OPERATION, as an error or where errors go.
template <class Function>
struct Refusal;
template <class Result, class... Arguments>
struct Refusal<Result(CL_API_CALL*)(Arguments...)> {
    static Result CL_API_CALL call(Arguments... arguments) {
        if constexpr (std::is_same_v<Result, cl_int>) {
            return CL_INVALID_OPERATION;
        } else {
            const auto tell = [](auto last) {
                if constexpr (std::is_same_v<decltype(last), cl_int*>)
                    if (last != nullptr) *last = CL_INVALID_OPERATION;
            };
            (tell(arguments), ...);
            return nullptr;
        }
    }
};

template <class Function>
void refuse(Function& entry) {
    // Entries of other systems have no type here.
    if constexpr (std::is_same_v<Function, void*>)
        entry = reinterpret_cast<void*>(&Refusal<cl_int(CL_API_CALL*)()>::call);
    else
        entry = &Refusal<Function>::call;
}

cl_icd_dispatch make_table() {
    cl_icd_dispatch table{};
    table.clGetPlatformIDs = &clGetPlatformIDs;
    table.clGetPlatformInfo = &clGetPlatformInfo;
    table.clGetDeviceIDs = &clGetDeviceIDs;
    table.clGetDeviceInfo = &clGetDeviceInfo;
    table.clCreateContext = &clCreateContext;
    table.clCreateContextFromType = &clCreateContextFromType;
    table.clRetainContext = &clRetainContext;
    table.clReleaseContext = &clReleaseContext;
    table.clGetContextInfo = &clGetContextInfo;
    table.clCreateCommandQueue = &clCreateCommandQueue;
    table.clRetainCommandQueue = &clRetainCommandQueue;
    table.clReleaseCommandQueue = &clReleaseCommandQueue;
    table.clGetCommandQueueInfo = &clGetCommandQueueInfo;
    table.clSetCommandQueueProperty = &clSetCommandQueueProperty;
    table.clCreateBuffer = &clCreateBuffer;
    table.clCreateImage2D = &clCreateImage2D;
    table.clCreateImage3D = &clCreateImage3D;
    table.clRetainMemObject = &clRetainMemObject;
    table.clReleaseMemObject = &clReleaseMemObject;
    table.clGetSupportedImageFormats = &clGetSupportedImageFormats;
    table.clGetMemObjectInfo = &clGetMemObjectInfo;
    table.clGetImageInfo = &clGetImageInfo;
    table.clCreateSampler = &clCreateSampler;
    table.clRetainSampler = &clRetainSampler;
    table.clReleaseSampler = &clReleaseSampler;
    table.clGetSamplerInfo = &clGetSamplerInfo;
    table.clCreateProgramWithSource = &clCreateProgramWithSource;
    table.clCreateProgramWithBinary = &clCreateProgramWithBinary;
    table.clRetainProgram = &clRetainProgram;
    table.clReleaseProgram = &clReleaseProgram;
    table.clBuildProgram = &clBuildProgram;
    table.clUnloadCompiler = &clUnloadCompiler;
    table.clGetProgramInfo = &clGetProgramInfo;
    table.clGetProgramBuildInfo = &clGetProgramBuildInfo;
    table.clCreateKernel = &clCreateKernel;
    table.clCreateKernelsInProgram = &clCreateKernelsInProgram;
    table.clRetainKernel = &clRetainKernel;
    table.clReleaseKernel = &clReleaseKernel;
    table.clSetKernelArg = &clSetKernelArg;
    table.clGetKernelInfo = &clGetKernelInfo;
    table.clGetKernelWorkGroupInfo = &clGetKernelWorkGroupInfo;
    table.clWaitForEvents = &clWaitForEvents;
    table.clGetEventInfo = &clGetEventInfo;
    table.clRetainEvent = &clRetainEvent;
    table.clReleaseEvent = &clReleaseEvent;
    table.clGetEventProfilingInfo = &clGetEventProfilingInfo;
    table.clFlush = &clFlush;
    table.clFinish = &clFinish;
    table.clEnqueueReadBuffer = &clEnqueueReadBuffer;
    table.clEnqueueWriteBuffer = &clEnqueueWriteBuffer;
    table.clEnqueueCopyBuffer = &clEnqueueCopyBuffer;
    table.clEnqueueReadImage = &clEnqueueReadImage;
    table.clEnqueueWriteImage = &clEnqueueWriteImage;
    table.clEnqueueCopyImage = &clEnqueueCopyImage;
    table.clEnqueueCopyImageToBuffer = &clEnqueueCopyImageToBuffer;
    table.clEnqueueCopyBufferToImage = &clEnqueueCopyBufferToImage;
    table.clEnqueueMapBuffer = &clEnqueueMapBuffer;
    table.clEnqueueMapImage = &clEnqueueMapImage;
    table.clEnqueueUnmapMemObject = &clEnqueueUnmapMemObject;
    table.clEnqueueNDRangeKernel = &clEnqueueNDRangeKernel;
    table.clEnqueueTask = &clEnqueueTask;
    table.clEnqueueNativeKernel = &clEnqueueNativeKernel;
    table.clEnqueueMarker = &clEnqueueMarker;
    table.clEnqueueWaitForEvents = &clEnqueueWaitForEvents;
    table.clEnqueueBarrier = &clEnqueueBarrier;
    table.clGetExtensionFunctionAddress = &clGetExtensionFunctionAddress;
    refuse(table.clCreateFromGLBuffer);
    refuse(table.clCreateFromGLTexture2D);
    refuse(table.clCreateFromGLTexture3D);
    refuse(table.clCreateFromGLRenderbuffer);
    refuse(table.clGetGLObjectInfo);
    refuse(table.clGetGLTextureInfo);
    refuse(table.clEnqueueAcquireGLObjects);
    refuse(table.clEnqueueReleaseGLObjects);
    refuse(table.clGetGLContextInfoKHR);
    refuse(table.clGetDeviceIDsFromD3D10KHR);
    refuse(table.clCreateFromD3D10BufferKHR);
    refuse(table.clCreateFromD3D10Texture2DKHR);
    refuse(table.clCreateFromD3D10Texture3DKHR);
    refuse(table.clEnqueueAcquireD3D10ObjectsKHR);
    refuse(table.clEnqueueReleaseD3D10ObjectsKHR);
    table.clSetEventCallback = &clSetEventCallback;
    table.clCreateSubBuffer = &clCreateSubBuffer;
    table.clSetMemObjectDestructorCallback = &clSetMemObjectDestructorCallback;
    table.clCreateUserEvent = &clCreateUserEvent;
    table.clSetUserEventStatus = &clSetUserEventStatus;
    table.clEnqueueReadBufferRect = &clEnqueueReadBufferRect;
    table.clEnqueueWriteBufferRect = &clEnqueueWriteBufferRect;
    table.clEnqueueCopyBufferRect = &clEnqueueCopyBufferRect;
    refuse(table.clCreateSubDevicesEXT);
    table.clRetainDeviceEXT = reinterpret_cast<cl_api_clRetainDeviceEXT>(&clRetainDevice);
    table.clReleaseDeviceEXT = reinterpret_cast<cl_api_clReleaseDeviceEXT>(&clReleaseDevice);
    refuse(table.clCreateEventFromGLsyncKHR);
    table.clCreateSubDevices = &clCreateSubDevices;
    table.clRetainDevice = &clRetainDevice;
    table.clReleaseDevice = &clReleaseDevice;
    table.clCreateImage = &clCreateImage;
    table.clCreateProgramWithBuiltInKernels = &clCreateProgramWithBuiltInKernels;
    table.clCompileProgram = &clCompileProgram;
    table.clLinkProgram = &clLinkProgram;
    table.clUnloadPlatformCompiler = &clUnloadPlatformCompiler;
    table.clGetKernelArgInfo = &clGetKernelArgInfo;
    table.clEnqueueFillBuffer = &clEnqueueFillBuffer;
    table.clEnqueueFillImage = &clEnqueueFillImage;
    table.clEnqueueMigrateMemObjects = &clEnqueueMigrateMemObjects;
    table.clEnqueueMarkerWithWaitList = &clEnqueueMarkerWithWaitList;
    table.clEnqueueBarrierWithWaitList = &clEnqueueBarrierWithWaitList;
    table.clGetExtensionFunctionAddressForPlatform = &clGetExtensionFunctionAddressForPlatform;
    refuse(table.clCreateFromGLTexture);
    refuse(table.clGetDeviceIDsFromD3D11KHR);
    refuse(table.clCreateFromD3D11BufferKHR);
    refuse(table.clCreateFromD3D11Texture2DKHR);
    refuse(table.clCreateFromD3D11Texture3DKHR);
    refuse(table.clCreateFromDX9MediaSurfaceKHR);
    refuse(table.clEnqueueAcquireD3D11ObjectsKHR);
    refuse(table.clEnqueueReleaseD3D11ObjectsKHR);
    refuse(table.clGetDeviceIDsFromDX9MediaAdapterKHR);
    refuse(table.clEnqueueAcquireDX9MediaSurfacesKHR);
    refuse(table.clEnqueueReleaseDX9MediaSurfacesKHR);
    refuse(table.clCreateFromEGLImageKHR);
    refuse(table.clEnqueueAcquireEGLObjectsKHR);
    refuse(table.clEnqueueReleaseEGLObjectsKHR);
    refuse(table.clCreateEventFromEGLSyncKHR);
    table.clCreateCommandQueueWithProperties = &clCreateCommandQueueWithProperties;
    refuse(table.clCreatePipe);
    refuse(table.clGetPipeInfo);
    table.clSVMAlloc = &clSVMAlloc;
    table.clSVMFree = &clSVMFree;
    table.clEnqueueSVMFree = &clEnqueueSVMFree;
    table.clEnqueueSVMMemcpy = &clEnqueueSVMMemcpy;
    table.clEnqueueSVMMemFill = &clEnqueueSVMMemFill;
    table.clEnqueueSVMMap = &clEnqueueSVMMap;
    table.clEnqueueSVMUnmap = &clEnqueueSVMUnmap;
    table.clCreateSamplerWithProperties = &clCreateSamplerWithProperties;
    table.clSetKernelArgSVMPointer = &clSetKernelArgSVMPointer;
    table.clSetKernelExecInfo = &clSetKernelExecInfo;
    table.clGetKernelSubGroupInfoKHR = &clGetKernelSubGroupInfo;
    table.clCloneKernel = &clCloneKernel;
    table.clCreateProgramWithIL = &clCreateProgramWithIL;
    table.clEnqueueSVMMigrateMem = &clEnqueueSVMMigrateMem;
    table.clGetDeviceAndHostTimer = &clGetDeviceAndHostTimer;
    table.clGetHostTimer = &clGetHostTimer;
    table.clGetKernelSubGroupInfo = &clGetKernelSubGroupInfo;
    table.clSetDefaultDeviceCommandQueue = &clSetDefaultDeviceCommandQueue;
    table.clSetProgramReleaseCallback = &clSetProgramReleaseCallback;
    table.clSetProgramSpecializationConstant = &clSetProgramSpecializationConstant;
    table.clCreateBufferWithProperties = &clCreateBufferWithProperties;
    table.clCreateImageWithProperties = &clCreateImageWithProperties;
    table.clSetContextDestructorCallback = &clSetContextDestructorCallback;
    return table;
}

}  // namespace

const cl_icd_dispatch* dispatch_table() {
    static const cl_icd_dispatch table = make_table();
    return &table;
}

}  // namespace trimtab::opencl

using namespace trimtab::opencl;

extern "C" CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id* platforms,
                                                                  cl_uint* count_back) {
    return clGetPlatformIDs(count, platforms, count_back);
}

void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
    using namespace std::string_view_literals;
    if (name == "clIcdGetPlatformIDsKHR"sv) return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
    if (name == "clGetKernelSubGroupInfoKHR"sv) return reinterpret_cast<void*>(&clGetKernelSubGroupInfo);
    return nullptr;
}

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name) {
    return is_a(platform, Kind::platform) && name != nullptr ? clGetExtensionFunctionAddress(name) : nullptr;
}
