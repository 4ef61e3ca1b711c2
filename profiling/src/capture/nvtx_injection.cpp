// Our NVTX tool, linked into the program: NVTX finds it through the symbol InitializeInjectionNvtx2_fnptr, unless the
// user set NVTX_INJECTION64_PATH, which takes precedence. Ranges of the domain "amaxscope" become RangeEvents; other
// domains get valid handles and are left alone.
#include "capture/range_capture.h"

#if defined(AMAXSCOPE_NVTX)

#include "capture/name_registry.h"

#include <cstdint>

// The loader inside the NVTX headers names this symbol, but leaves declaring it to the tool. Written without NVTX's
// type names, which come with those same headers.
extern "C" {
extern int (*InitializeInjectionNvtx2_fnptr)(const void* (*getExportTable)(std::uint32_t));
}
#define NVTX_STATIC_INJECTION_IMPL

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstring>

namespace profiling {

namespace {

std::atomic<bool> g_attached{false};

// Only the addresses count: they are the handles of our domain, of all others, and of their strings.
char g_ownDomain;
char g_otherDomain;
char g_otherString;

nvtxDomainHandle_t domainHandle(char& mark) {
    return reinterpret_cast<nvtxDomainHandle_t>(&mark);
}

nvtxDomainHandle_t NVTX_API domainCreateA(const char* name) {
    const bool own = name != nullptr && std::strcmp(name, engine::kNvtxDomain) == 0;
    return domainHandle(own ? g_ownDomain : g_otherDomain);
}

nvtxDomainHandle_t NVTX_API domainCreateW(const wchar_t*) {
    return domainHandle(g_otherDomain);
}

nvtxStringHandle_t NVTX_API registerStringA(nvtxDomainHandle_t domain, const char* text) {
    if (domain != domainHandle(g_ownDomain)) return reinterpret_cast<nvtxStringHandle_t>(&g_otherString);
    const InternedName& name = internName(text);
    return reinterpret_cast<nvtxStringHandle_t>(const_cast<InternedName*>(&name));
}

nvtxStringHandle_t NVTX_API registerStringW(nvtxDomainHandle_t, const wchar_t*) {
    return reinterpret_cast<nvtxStringHandle_t>(&g_otherString);
}

std::uint32_t messageName(const nvtxEventAttributes_t& attributes) {
    if (attributes.messageType == NVTX_MESSAGE_TYPE_REGISTERED &&
        reinterpret_cast<const char*>(attributes.message.registered) != &g_otherString) {
        return reinterpret_cast<const InternedName*>(attributes.message.registered)->id;
    }
    if (attributes.messageType == NVTX_MESSAGE_TYPE_ASCII && attributes.message.ascii != nullptr) {
        return nameIdOfText(attributes.message.ascii);
    }
    return nameIdOfText("(unnamed)");
}

engine::RangeKind rangeKind(std::uint32_t category) {
    const bool known = category >= static_cast<std::uint32_t>(engine::RangeKind::Step) &&
                       category <= static_cast<std::uint32_t>(engine::RangeKind::Kernel);
    return known ? static_cast<engine::RangeKind>(category) : engine::RangeKind::Module;
}

int NVTX_API domainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    if (domain != domainHandle(g_ownDomain) || attributes == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
    engine::RangeWork work{0, engine::currentRangeWork().bytes};
    if (attributes->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE) work.flops = attributes->payload.dValue;
    return pushRange(messageName(*attributes), rangeKind(attributes->category), work);
}

int NVTX_API domainRangePop(nvtxDomainHandle_t domain) {
    return domain == domainHandle(g_ownDomain) ? popRange() : NVTX_NO_PUSH_POP_TRACKING;
}

int NVTX_API initializeInjection(NvtxGetExportTableFunc_t getExportTable) {
    const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(getExportTable(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return 0;
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
    if (size <= NVTX_CBID_CORE2_DomainCreateW) return 0;
    const auto set = [table](int index, auto* function) {
        *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
    };
    set(NVTX_CBID_CORE2_DomainCreateA, domainCreateA);
    set(NVTX_CBID_CORE2_DomainCreateW, domainCreateW);
    set(NVTX_CBID_CORE2_DomainRegisterStringA, registerStringA);
    set(NVTX_CBID_CORE2_DomainRegisterStringW, registerStringW);
    set(NVTX_CBID_CORE2_DomainRangePushEx, domainRangePushEx);
    set(NVTX_CBID_CORE2_DomainRangePop, domainRangePop);
    g_attached.store(true);
    return 1;
}

}  // namespace

bool attachNvtxInjection() {
    nvtxInitialize(nullptr);
    return g_attached.load();
}

}  // namespace profiling

extern "C" {
// The name is fixed by NVTX's loader. Not weak: it replaces the weak definition in every other object.
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = profiling::initializeInjection;
}

#else

namespace profiling {

bool attachNvtxInjection() {
    return false;
}

}  // namespace profiling

#endif
