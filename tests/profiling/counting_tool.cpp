// An outside NVTX tool for the tests: counts pushes and pops in domains and prints them when the process ends.
#define NVTX_STATIC_INJECTION_IMPL
extern "C" {
int (*InitializeInjectionNvtx2_fnptr)(const void* (*getExportTable)(unsigned int)) = nullptr;
}
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

namespace {

long g_pushes = 0;
long g_pops = 0;
char g_domain;

nvtxDomainHandle_t NVTX_API domainCreate(const char*) {
    return reinterpret_cast<nvtxDomainHandle_t>(&g_domain);
}

int NVTX_API push(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {
    return static_cast<int>(g_pushes++ - g_pops);
}

int NVTX_API pop(nvtxDomainHandle_t) {
    return static_cast<int>(g_pushes - ++g_pops);
}

struct Report {
    ~Report() { std::printf("pushes %ld pops %ld\n", g_pushes, g_pops); }
} g_report;

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
    const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(domainCreate);
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
    *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
    return 1;
}
