// What this machine can run, in words: instruction sets, GPUs, and each precision with its reason.
#pragma once

#include "engine/config.h"

#include <string>
#include <vector>

namespace engine {

struct CpuInfo {
    std::string name;  // "AMD EPYC …"
    int cores = 0;     // usable by this process
    std::int64_t memoryBytes = 0;
    bool avx2 = false;    // with FMA
    bool avx512 = false;  // F, BW, VL, DQ and VBMI
    bool avx512Bf16 = false;
};

struct GpuInfo {
    int index = 0;
    std::string name;
    int computeMajor = 0;
    int computeMinor = 0;
    std::int64_t memoryBytes = 0;
};

enum class Support : std::uint8_t { Native = 1, Emulated = 2, Absent = 3 };
const char* name(Support support);

struct PrecisionSupport {
    Precision precision;
    Support support;
    std::string reason;
};

struct DeviceInfo {
    std::string id;  // "cpu", "cuda:0"
    std::string name;
    bool usable = false;  // a run can be started on it
    std::string reason;   // why it is not
    std::vector<PrecisionSupport> precisions;
};

struct MachineInfo {
    CpuInfo cpu;
    std::string host;
    std::string system;      // "Linux 6.1.0 x86_64"
    std::string cudaStatus;  // "no CUDA driver: libcuda.so.1 …"
    std::string cudaPlugin;  // "not installed", or its versions, or what stands in its way
    std::vector<GpuInfo> gpus;
    std::vector<DeviceInfo> devices;
};

CpuInfo cpuInfo();
/// Bytes that can be allocated at this moment without swapping, by the kernel's estimate and within this process's
/// control group; −1 where the system does not say.
std::int64_t availableMemoryBytes();
MachineInfo inspectMachine();
std::string toJson(const MachineInfo& machine);

/// Kernel implementations that a run on this CPU uses: "gemm=avx512_bf16 quantize=avx512 …".
/// AMAXSCOPE_CPU=ref|avx2|avx512|avx512_bf16 forces a lower level.
std::string chosenKernels();

}  // namespace engine
