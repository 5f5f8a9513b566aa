// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that the emulator does not serve. Each says so once, on stderr, and fails as CUDA's calls do where a
// device lacks a feature; programs that ask before they use a feature never meet them.
#include <string>

#include "emulation/cuda/state.h"

namespace {

cudaError_t refuse(const char* name) {
    trimtab::cuda::State::instance().say(std::string(name) + " is not supported by the emulator");
    return trimtab::cuda::finish(cudaErrorNotSupported);
}

}  // namespace

// A function of that name whose arguments are ignored, as the C calling convention allows; the headers
// declare each with its own, so that in C++ it goes by another name. NOLINTBEGIN(bugprone-macro-parentheses)
#define TRIMTAB_UNSUPPORTED(name)                                                                      \
    extern "C" __attribute__((visibility("default"))) cudaError_t unsupported_##name() __asm__(#name); \
    cudaError_t unsupported_##name() {                                                                 \
        return refuse(#name);                                                                          \
    }
// NOLINTEND(bugprone-macro-parentheses)

// There is no display behind the emulator.
TRIMTAB_UNSUPPORTED(cudaEGLStreamConsumerAcquireFrame)
TRIMTAB_UNSUPPORTED(cudaEGLStreamConsumerConnect)
TRIMTAB_UNSUPPORTED(cudaEGLStreamConsumerConnectWithFlags)
TRIMTAB_UNSUPPORTED(cudaEGLStreamConsumerDisconnect)
TRIMTAB_UNSUPPORTED(cudaEGLStreamConsumerReleaseFrame)
TRIMTAB_UNSUPPORTED(cudaEGLStreamProducerConnect)
TRIMTAB_UNSUPPORTED(cudaEGLStreamProducerDisconnect)
TRIMTAB_UNSUPPORTED(cudaEGLStreamProducerPresentFrame)
TRIMTAB_UNSUPPORTED(cudaEGLStreamProducerReturnFrame)
TRIMTAB_UNSUPPORTED(cudaEventCreateFromEGLSync)
TRIMTAB_UNSUPPORTED(cudaGLGetDevices)
TRIMTAB_UNSUPPORTED(cudaGLMapBufferObject)
TRIMTAB_UNSUPPORTED(cudaGLMapBufferObjectAsync)
TRIMTAB_UNSUPPORTED(cudaGLRegisterBufferObject)
TRIMTAB_UNSUPPORTED(cudaGLSetBufferObjectMapFlags)
TRIMTAB_UNSUPPORTED(cudaGLSetGLDevice)
TRIMTAB_UNSUPPORTED(cudaGLUnmapBufferObject)
TRIMTAB_UNSUPPORTED(cudaGLUnmapBufferObjectAsync)
TRIMTAB_UNSUPPORTED(cudaGLUnregisterBufferObject)
TRIMTAB_UNSUPPORTED(cudaGraphicsEGLRegisterImage)
TRIMTAB_UNSUPPORTED(cudaGraphicsGLRegisterBuffer)
TRIMTAB_UNSUPPORTED(cudaGraphicsGLRegisterImage)
TRIMTAB_UNSUPPORTED(cudaGraphicsMapResources)
TRIMTAB_UNSUPPORTED(cudaGraphicsResourceGetMappedEglFrame)
TRIMTAB_UNSUPPORTED(cudaGraphicsResourceGetMappedMipmappedArray)
TRIMTAB_UNSUPPORTED(cudaGraphicsResourceGetMappedPointer)
TRIMTAB_UNSUPPORTED(cudaGraphicsResourceSetMapFlags)
TRIMTAB_UNSUPPORTED(cudaGraphicsSubResourceGetMappedArray)
TRIMTAB_UNSUPPORTED(cudaGraphicsUnmapResources)
TRIMTAB_UNSUPPORTED(cudaGraphicsUnregisterResource)
TRIMTAB_UNSUPPORTED(cudaGraphicsVDPAURegisterOutputSurface)
TRIMTAB_UNSUPPORTED(cudaGraphicsVDPAURegisterVideoSurface)
TRIMTAB_UNSUPPORTED(cudaVDPAUGetDevice)
TRIMTAB_UNSUPPORTED(cudaVDPAUSetVDPAUDevice)

// Memory, events and semaphores of other processes and interfaces.
TRIMTAB_UNSUPPORTED(cudaDestroyExternalMemory)
TRIMTAB_UNSUPPORTED(cudaDestroyExternalSemaphore)
TRIMTAB_UNSUPPORTED(cudaDeviceFlushGPUDirectRDMAWrites)
TRIMTAB_UNSUPPORTED(cudaDeviceGetNvSciSyncAttributes)
TRIMTAB_UNSUPPORTED(cudaDeviceRegisterAsyncNotification)
TRIMTAB_UNSUPPORTED(cudaDeviceUnregisterAsyncNotification)
TRIMTAB_UNSUPPORTED(cudaExternalMemoryGetMappedBuffer)
TRIMTAB_UNSUPPORTED(cudaExternalMemoryGetMappedMipmappedArray)
TRIMTAB_UNSUPPORTED(cudaGraphAddExternalSemaphoresSignalNode)
TRIMTAB_UNSUPPORTED(cudaGraphAddExternalSemaphoresWaitNode)
TRIMTAB_UNSUPPORTED(cudaGraphExecExternalSemaphoresSignalNodeSetParams)
TRIMTAB_UNSUPPORTED(cudaGraphExecExternalSemaphoresWaitNodeSetParams)
TRIMTAB_UNSUPPORTED(cudaGraphExternalSemaphoresSignalNodeGetParams)
TRIMTAB_UNSUPPORTED(cudaGraphExternalSemaphoresSignalNodeSetParams)
TRIMTAB_UNSUPPORTED(cudaGraphExternalSemaphoresWaitNodeGetParams)
TRIMTAB_UNSUPPORTED(cudaGraphExternalSemaphoresWaitNodeSetParams)
TRIMTAB_UNSUPPORTED(cudaImportExternalMemory)
TRIMTAB_UNSUPPORTED(cudaImportExternalSemaphore)
TRIMTAB_UNSUPPORTED(cudaMemPoolExportPointer)
TRIMTAB_UNSUPPORTED(cudaMemPoolExportToShareableHandle)
TRIMTAB_UNSUPPORTED(cudaMemPoolImportFromShareableHandle)
TRIMTAB_UNSUPPORTED(cudaMemPoolImportPointer)
TRIMTAB_UNSUPPORTED(cudaSignalExternalSemaphoresAsync)
TRIMTAB_UNSUPPORTED(cudaSignalExternalSemaphoresAsync_ptsz)
TRIMTAB_UNSUPPORTED(cudaWaitExternalSemaphoresAsync)
TRIMTAB_UNSUPPORTED(cudaWaitExternalSemaphoresAsync_ptsz)

// What no emulated device has, and CUDA's own machinery.
TRIMTAB_UNSUPPORTED(cudaArrayGetPlane)
TRIMTAB_UNSUPPORTED(cudaArrayGetSparseProperties)
TRIMTAB_UNSUPPORTED(cudaDeviceGetHostAtomicCapabilities)
TRIMTAB_UNSUPPORTED(cudaDeviceGetP2PAtomicCapabilities)
TRIMTAB_UNSUPPORTED(cudaGetExportTable)
TRIMTAB_UNSUPPORTED(cudaLibraryGetUnifiedFunction)
TRIMTAB_UNSUPPORTED(cudaLogsCurrent)
TRIMTAB_UNSUPPORTED(cudaLogsDumpToFile)
TRIMTAB_UNSUPPORTED(cudaLogsDumpToMemory)
TRIMTAB_UNSUPPORTED(cudaLogsRegisterCallback)
TRIMTAB_UNSUPPORTED(cudaLogsUnregisterCallback)
TRIMTAB_UNSUPPORTED(cudaMipmappedArrayGetSparseProperties)
TRIMTAB_UNSUPPORTED(cudaArrayGetMemoryRequirements)
TRIMTAB_UNSUPPORTED(cudaMipmappedArrayGetMemoryRequirements)
TRIMTAB_UNSUPPORTED(cudaMemcpy3DBatchAsync)
TRIMTAB_UNSUPPORTED(cudaMemcpy3DBatchAsync_ptsz)
