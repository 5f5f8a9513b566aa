// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of graphics' interfaces. The emulated GPU draws nothing: no context of OpenGL is its own, so that nothing can be registered,
// and no handle of a resource is one.
#include <cuda.h>

#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;

namespace {

CUresult no_such_resource() {
    return context_call([](State&) { return CUDA_ERROR_INVALID_HANDLE; });
}
CUresult no_graphics() {
    return context_call([](State&) { return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT; });
}

}  // namespace

extern "C" {

CUresult cuGraphicsMapResources(unsigned int, CUgraphicsResource*, CUstream) {
    return no_such_resource();
}
TRIMTAB_SAME_AS(cuGraphicsMapResources, cuGraphicsMapResources_ptsz);
CUresult cuGraphicsUnmapResources(unsigned int, CUgraphicsResource*, CUstream) {
    return no_such_resource();
}
TRIMTAB_SAME_AS(cuGraphicsUnmapResources, cuGraphicsUnmapResources_ptsz);
CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr*, size_t*, CUgraphicsResource) {
    return no_such_resource();
}
CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray*, CUgraphicsResource) {
    return no_such_resource();
}
CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource, unsigned int) {
    return no_such_resource();
}
CUresult cuGraphicsSubResourceGetMappedArray(CUarray*, CUgraphicsResource, unsigned int, unsigned int) {
    return no_such_resource();
}
CUresult cuGraphicsUnregisterResource(CUgraphicsResource) {
    return no_such_resource();
}

// Declared in cudaGL.h, which wants OpenGL's headers.
CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource*, unsigned int, unsigned int) {
    return no_graphics();
}
CUresult cuGraphicsGLRegisterImage(CUgraphicsResource*, unsigned int, unsigned int, unsigned int) {
    return no_graphics();
}

}  // extern "C"
