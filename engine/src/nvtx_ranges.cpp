// The only file of the engine that knows NVTX. Names are registered once per domain, so that a push carries a handle.
#include "src/nvtx_ranges.h"

#include <atomic>
#include <string>
#include <unordered_map>

#ifdef AMAXSCOPE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace engine {

namespace {

std::atomic<const RangeSink*> g_sink{nullptr};
thread_local bool t_enabled = true;
thread_local RangeWork t_work{0, 0};

#ifdef AMAXSCOPE_NVTX
nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t handle = nvtxDomainCreateA(kNvtxDomain);
    return handle;
}

// Keyed by address: the names are literals or pooled strings, each with one address for its whole life.
nvtxStringHandle_t registered(const char* name) {
    thread_local std::unordered_map<const char*, nvtxStringHandle_t> handles;
    auto [entry, fresh] = handles.try_emplace(name, nullptr);
    if (fresh) entry->second = nvtxDomainRegisterStringA(domain(), name);
    return entry->second;
}

void pushNvtx(const char* name, RangeKind kind, double flops) {
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.category = static_cast<std::uint32_t>(kind);
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = registered(name);
    if (flops > 0) {
        attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
        attributes.payload.dValue = flops;
    }
    nvtxDomainRangePushEx(domain(), &attributes);
}

void popNvtx() {
    nvtxDomainRangePop(domain());
}
#else
void pushNvtx(const char*, RangeKind, double) {}
void popNvtx() {}
#endif

}  // namespace

RangeWork currentRangeWork() {
    return t_work;
}
void setRangeSink(const RangeSink* sink) {
    g_sink.store(sink, std::memory_order_release);
}
void setRangesEnabled(bool enabled) {
    t_enabled = enabled;
}

bool builtWithNvtx() {
#ifdef AMAXSCOPE_NVTX
    return true;
#else
    return false;
#endif
}

Range::Range(const char* name, RangeKind kind, RangeWork work) : m_open(t_enabled) {
    if (!m_open) return;
    t_work = work;
    pushNvtx(name, kind, work.flops);
    if (const RangeSink* sink = g_sink.load(std::memory_order_acquire)) sink->push(name, kind, work);
}

Range::~Range() {
    if (!m_open) return;
    if (const RangeSink* sink = g_sink.load(std::memory_order_acquire)) sink->pop();
    popNvtx();
}

}  // namespace engine
