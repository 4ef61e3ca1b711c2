// Implementation of range capture: a stack of open ranges per thread, and the choice between NVTX and the direct sink.
#include "capture/range_capture.h"

#include "capture/name_registry.h"
#include "profiling/session.h"

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace profiling {

namespace {

struct OpenRange {
    std::shared_ptr<RunChannel> channel;  // null: nobody was recording when it was opened
    RangeRing* ring;                      // this thread's in that channel
    RangeEvent event;
    std::uint64_t stepsBegun;
};

struct ThreadCapture {
    std::uint64_t token;  // unique per thread in this process, from 1
    std::shared_ptr<RunChannel> current;
    RangeRing* ring = nullptr;  // this thread's in `current`
    std::vector<OpenRange> open;
    std::unordered_map<const char*, std::uint32_t> constants;
    std::unordered_map<std::string, std::uint32_t> texts;

    ThreadCapture() {
        static std::atomic<std::uint64_t> lastToken{0};
        token = ++lastToken;
    }
};

ThreadCapture& threadCapture() {
    thread_local ThreadCapture capture;
    return capture;
}

std::atomic<bool> g_throughNvtx{false};

void sinkPush(const char* name, engine::RangeKind kind, engine::RangeWork work) {
    pushRange(nameIdOfConstant(name), kind, work);
}

void sinkPop() {
    popRange();
}

}  // namespace

void connectRanges() {
    static std::once_flag once;
    std::call_once(once, [] {
        if (engine::builtWithNvtx() && attachNvtxInjection()) {
            g_throughNvtx.store(true);
            return;
        }
        static constexpr engine::RangeSink kSink{sinkPush, sinkPop};
        engine::setRangeSink(&kSink);
    });
}

std::string rangeCapturePath() {
    connectRanges();
    if (g_throughNvtx.load()) return "nvtx static injection";
    return engine::builtWithNvtx() ? "direct sink (an outside NVTX tool is attached)"
                                   : "direct sink (built without NVTX)";
}

void activateChannel(std::shared_ptr<RunChannel> channel) {
    ThreadCapture& capture = threadCapture();
    capture.ring = channel ? &channel->ringOf(capture.token) : nullptr;
    capture.current = std::move(channel);
}

void deactivateChannel(const RunChannel* channel) {
    ThreadCapture& capture = threadCapture();
    if (capture.current.get() == channel) capture.current.reset();
}

std::uint32_t nameIdOfConstant(const char* name) {
    auto& constants = threadCapture().constants;
    const auto found = constants.find(name);
    if (found != constants.end()) return found->second;
    const std::uint32_t id = internName(name).id;
    constants.emplace(name, id);
    return id;
}

std::uint32_t nameIdOfText(std::string_view text) {
    auto& texts = threadCapture().texts;
    std::string key(text);
    const auto found = texts.find(key);
    if (found != texts.end()) return found->second;
    const std::uint32_t id = internName(text).id;
    texts.emplace(std::move(key), id);
    return id;
}

int pushRange(std::uint32_t name, engine::RangeKind kind, engine::RangeWork work) {
    ThreadCapture& capture = threadCapture();
    const auto level = static_cast<int>(capture.open.size());
    RunChannel* channel = capture.current.get();
    if (channel != nullptr && channel->rangesClosed()) {
        capture.current.reset();
        channel = nullptr;
    }
    if (channel == nullptr) {
        capture.open.push_back({nullptr, nullptr, RangeEvent{}, 0});
        return level;
    }
    RangeEvent event{};
    event.id = channel->nextRangeId();
    event.step = channel->currentStep();
    event.flops = work.flops;
    event.bytes = work.bytes;
    event.name = name;
    event.thread = capture.ring->number();
    event.kind = kind;
    if (!capture.open.empty() && capture.open.back().channel.get() == channel) {
        event.parent = capture.open.back().event.id;
        event.depth = static_cast<std::uint16_t>(capture.open.back().event.depth + 1);
    }
    capture.open.push_back({capture.current, capture.ring, event, channel->stepsBegun()});
    // The clock is read last here and first in popRange, so that the bookkeeping is outside of what is timed.
    capture.open.back().event.startNs = engine::clockNs();
    return level;
}

int popRange() {
    const std::int64_t now = engine::clockNs();
    ThreadCapture& capture = threadCapture();
    if (capture.open.empty()) return -1;
    OpenRange& range = capture.open.back();
    RunChannel* channel = range.channel.get();
    if (channel != nullptr && !channel->rangesClosed()) {
        range.event.durationNs = now - range.event.startNs;
        // A range that was opened just before its step began belongs to that step.
        if (range.event.step < 0 && channel->stepsBegun() != range.stepsBegun) range.event.step = channel->lastStep();
        channel->pushRange(*range.ring, range.event);
    }
    capture.open.pop_back();
    return static_cast<int>(capture.open.size());
}

}  // namespace profiling
