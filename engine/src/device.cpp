// What this machine can run. GPUs are asked through the driver library, opened at run time: no driver is a fact to
// report, not an error.
#include "engine/device.h"

#include "cpu/kernels.h"
#include "src/cuda_plugin.h"
#include "src/trainer_impl.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <thread>

namespace engine {

namespace {

std::string cpuName() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        if (!line.starts_with("model name")) continue;
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown CPU";
}

int usableCores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return static_cast<int>(std::thread::hardware_concurrency());
}

// Signatures of the CUDA driver API, which needs no header of its own for these few calls.
struct DriverApi {
    using Init = int (*)(unsigned);
    using Count = int (*)(int*);
    using Name = int (*)(char*, int, int);
    using Attribute = int (*)(int*, int, int);
    using Memory = int (*)(std::size_t*, int);
    Init init;
    Count count;
    Name name;
    Attribute attribute;
    Memory memory;
};

template <typename Function>
bool load(void* library, const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
    return function != nullptr;
}

constexpr int kComputeMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kComputeMinor = 76;

std::string listGpus(std::vector<GpuInfo>& gpus) {
    void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return std::string("no CUDA driver: ") + dlerror();
    DriverApi api{};
    if (!load(library, "cuInit", api.init) || !load(library, "cuDeviceGetCount", api.count) ||
        !load(library, "cuDeviceGetName", api.name) || !load(library, "cuDeviceGetAttribute", api.attribute) ||
        !load(library, "cuDeviceTotalMem_v2", api.memory)) {
        return "the CUDA driver lacks functions this program needs";
    }
    if (const int status = api.init(0); status != 0) return "cuInit failed with error " + std::to_string(status);
    int count = 0;
    if (const int status = api.count(&count); status != 0) {
        return "cuDeviceGetCount failed with error " + std::to_string(status);
    }
    for (int index = 0; index < count; ++index) {
        GpuInfo gpu;
        gpu.index = index;
        std::array<char, 256> text{};
        std::size_t memory = 0;
        api.name(text.data(), static_cast<int>(text.size()) - 1, index);
        api.attribute(&gpu.computeMajor, kComputeMajor, index);
        api.attribute(&gpu.computeMinor, kComputeMinor, index);
        api.memory(&memory, index);
        gpu.name = text.data();
        gpu.memoryBytes = static_cast<std::int64_t>(memory);
        gpus.push_back(gpu);
    }
    return count == 0 ? "the CUDA driver found no GPU" : "CUDA driver with " + std::to_string(count) + " GPU(s)";
}

PrecisionSupport supportOnCpu(Precision precision) {
    const ResolvedPrecision resolved = resolvePrecision(precision, cpu::activeIsa());
    return {precision, resolved.emulated ? Support::Emulated : Support::Native,
            resolved.reason.empty() ? "in hardware" : resolved.reason};
}

DeviceInfo cpuDevice(const CpuInfo& cpu) {
    DeviceInfo device{"cpu", cpu.name, true, "", {}};
    for (Precision precision : {Precision::Fp32, Precision::Bf16, Precision::Fp8}) {
        device.precisions.push_back(supportOnCpu(precision));
    }
    return device;
}

// Rules of te-facts section 3: BF16 from compute capability 8.0, FP8 from 8.9.
DeviceInfo gpuDevice(const GpuInfo& gpu) {
    DeviceInfo device{"cuda:" + std::to_string(gpu.index),
                      gpu.name,
                      false,
                      "this build has no CUDA back end: training runs on the CPU",
                      {}};
    const int capability = gpu.computeMajor * 10 + gpu.computeMinor;
    const std::string has =
        "compute capability " + std::to_string(gpu.computeMajor) + "." + std::to_string(gpu.computeMinor);
    const auto add = [&](Precision precision, int needed, const std::string& text) {
        const bool native = capability >= needed;
        device.precisions.push_back({precision, native ? Support::Native : Support::Absent,
                                     native ? has : has + "; " + name(precision) + " needs " + text});
    };
    add(Precision::Fp32, 0, "");
    add(Precision::Bf16, 80, "8.0");
    add(Precision::Fp8, 89, "8.9");
    return device;
}

}  // namespace

const char* name(Support support) {
    return support == Support::Native ? "native" : support == Support::Emulated ? "emulated" : "absent";
}

CpuInfo cpuInfo() {
    static const CpuInfo info = [] {
        CpuInfo cpu;
        cpu.name = cpuName();
        cpu.cores = usableCores();
        cpu.memoryBytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
        cpu.avx2 = cpu::bestIsa() >= cpu::Isa::Avx2;
        cpu.avx512 = cpu::bestIsa() >= cpu::Isa::Avx512;
        cpu.avx512Bf16 = cpu::bestIsa() >= cpu::Isa::Avx512Bf16;
        return cpu;
    }();
    return info;
}

std::string chosenKernels() {
    return cpu::kernelNames(cpu::activeIsa());
}

MachineInfo inspectMachine() {
    MachineInfo machine;
    machine.cpu = cpuInfo();
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    machine.host = host.data();
    utsname system{};
    if (uname(&system) == 0) {
        machine.system = std::string(system.sysname) + " " + system.release + " " + system.machine;
    }
    machine.cudaStatus = listGpus(machine.gpus);
    machine.cudaPlugin = cudaPluginStatus();
    machine.devices.push_back(cpuDevice(machine.cpu));
    for (const GpuInfo& gpu : machine.gpus) machine.devices.push_back(gpuDevice(gpu));
    return machine;
}

std::string toJson(const MachineInfo& machine) {
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    for (const DeviceInfo& device : machine.devices) {
        nlohmann::ordered_json precisions;
        for (const PrecisionSupport& p : device.precisions) {
            precisions[name(p.precision)] = {{"support", name(p.support)}, {"reason", p.reason}};
        }
        devices.push_back({{"id", device.id},
                           {"name", device.name},
                           {"usable", device.usable},
                           {"reason", device.reason},
                           {"precisions", precisions}});
    }
    return nlohmann::ordered_json{{"host", machine.host},
                                  {"system", machine.system},
                                  {"cpu", machine.cpu.name},
                                  {"cores", machine.cpu.cores},
                                  {"memory_bytes", machine.cpu.memoryBytes},
                                  {"avx2", machine.cpu.avx2},
                                  {"avx512", machine.cpu.avx512},
                                  {"avx512_bf16", machine.cpu.avx512Bf16},
                                  {"kernels", chosenKernels()},
                                  {"cuda", machine.cudaStatus},
                                  {"cuda_plugin", machine.cudaPlugin},
                                  {"devices", devices}}
        .dump();
}

}  // namespace engine
