// What libamaxscope_cuda.so exports: plain C, so that the program that opens it at run time needs nothing of CUDA.
// The plug-in links the CUDA runtime statically and opens cuBLASLt itself.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Raised with every change of the functions or structs below; a program refuses a plug-in of another number.
#define AMAXSCOPE_CUDA_ABI 1

typedef struct AmaxscopeCudaInfo {
    int32_t abi;
    int32_t runtimeVersion;   // 13000 for CUDA 13.0
    int32_t driverVersion;    // highest CUDA version the driver serves; 0: no driver
    int32_t devices;          // usable GPUs
    int64_t cublasLtVersion;  // 0: not found
    char error[256];          // why devices is 0 or cublasLtVersion is 0; "" when all is well
} AmaxscopeCudaInfo;

// Fills `info`; never fails.
void amaxscopeCudaInfo(AmaxscopeCudaInfo* info);
typedef void (*AmaxscopeCudaInfoFunction)(AmaxscopeCudaInfo* info);

#ifdef __cplusplus
}
#endif
