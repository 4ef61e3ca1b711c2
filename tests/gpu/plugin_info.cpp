// Opens the CUDA plug-in on a machine with a GPU and checks what it says; needs nothing but the plug-in itself.
#include "cuda/plugin.h"

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: plugin_info PLUGIN.so\n");
        return 2;
    }
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const auto ask = reinterpret_cast<AmaxscopeCudaInfoFunction>(dlsym(library, "amaxscopeCudaInfo"));
    if (ask == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    AmaxscopeCudaInfo info{};
    ask(&info);
    std::printf("abi %d, runtime %d, driver %d, GPUs %d, cuBLASLt %lld, error \"%s\"\n", info.abi, info.runtimeVersion,
                info.driverVersion, info.devices, static_cast<long long>(info.cublasLtVersion), info.error);
    const bool good = info.abi == AMAXSCOPE_CUDA_ABI && info.devices > 0 && info.cublasLtVersion > 0;
    std::printf("%d passed, %d failed\n", good ? 1 : 0, good ? 0 : 1);
    return good ? 0 : 1;
}
