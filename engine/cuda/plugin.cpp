// The CUDA plug-in's answer to "what is there": runtime, driver, GPUs, cuBLASLt. Compute kernels join it here.
#include "cuda/plugin.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

namespace {

// Half a gigabyte of library, needed for products only: opened when asked for, never linked.
std::int64_t cublasLtVersion(char* error, std::size_t size) {
    void* library = dlopen("libcublasLt.so.13", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        std::snprintf(error, size, "%s", dlerror());
        return 0;
    }
    using GetVersion = std::size_t (*)();
    const auto getVersion = reinterpret_cast<GetVersion>(dlsym(library, "cublasLtGetVersion"));
    return getVersion == nullptr ? 0 : static_cast<std::int64_t>(getVersion());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void amaxscopeCudaInfo(AmaxscopeCudaInfo* info) {
    *info = {};
    info->abi = AMAXSCOPE_CUDA_ABI;
    cudaRuntimeGetVersion(&info->runtimeVersion);
    cudaDriverGetVersion(&info->driverVersion);
    info->cublasLtVersion = cublasLtVersion(info->error, sizeof info->error);
    const cudaError_t status = cudaGetDeviceCount(&info->devices);
    if (status == cudaSuccess) return;
    info->devices = 0;
    std::snprintf(info->error, sizeof info->error, "%s", cudaGetErrorString(status));
}
