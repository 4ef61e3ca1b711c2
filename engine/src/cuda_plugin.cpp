// Opens libamaxscope_cuda.so at run time. The program links nothing of CUDA.
#include "src/cuda_plugin.h"

#include "cuda/plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace engine {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates() {
    if (const char* path = std::getenv("AMAXSCOPE_CUDA_PLUGIN")) return {path};
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    return {folder / "libamaxscope_cuda.so", folder / "../lib/amaxscope/libamaxscope_cuda.so"};
}

std::string version(std::int64_t number, std::int64_t major, std::int64_t minor) {
    return std::to_string(number / major) + "." + std::to_string(number % major / minor);
}

std::string describe(const AmaxscopeCudaInfo& info) {
    std::string text = "CUDA " + version(info.runtimeVersion, 1000, 10);
    text += info.driverVersion > 0 ? ", driver for CUDA " + version(info.driverVersion, 1000, 10) : ", no driver";
    if (info.cublasLtVersion > 0) text += ", cuBLASLt " + version(info.cublasLtVersion, 10000, 100);
    text += ", " + std::to_string(info.devices) + (info.devices == 1 ? " GPU" : " GPUs");
    if (info.error[0] != '\0') text += std::string(": ") + info.error;
    return text;
}

}  // namespace

std::string cudaPluginStatus() {
    for (const fs::path& path : candidates()) {
        std::error_code ignored;
        if (!fs::exists(path, ignored)) continue;
        void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (library == nullptr) return std::string("cannot be opened: ") + dlerror();
        const auto ask = reinterpret_cast<AmaxscopeCudaInfoFunction>(dlsym(library, "amaxscopeCudaInfo"));
        if (ask == nullptr) return path.string() + " is not Amaxscope's CUDA plug-in";
        AmaxscopeCudaInfo info{};
        ask(&info);
        if (info.abi != AMAXSCOPE_CUDA_ABI) {
            return path.string() + " has interface " + std::to_string(info.abi) + ", this program needs " +
                   std::to_string(AMAXSCOPE_CUDA_ABI);
        }
        return describe(info);
    }
    return "not installed";
}

}  // namespace engine
