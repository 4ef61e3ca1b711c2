// Turns push and pop calls, from the NVTX injection or from the engine's direct sink, into RangeEvents of the run that
// is active on the calling thread.
#pragma once

#include "capture/run_channel.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace profiling {

/// Connects this process's ranges to pushRange and popRange, once: through NVTX when no outside tool holds it, else
/// through engine::setRangeSink. Call it while no range is open.
void connectRanges();

/// Ranges of the calling thread go to `channel` from now on (null: nowhere).
void activateChannel(std::shared_ptr<RunChannel> channel);
/// Stops sending the calling thread's ranges to `channel`, if they go there.
void deactivateChannel(const RunChannel* channel);

/// Interned id of a name. The first form remembers the pointer, which must stay valid and constant.
std::uint32_t nameIdOfConstant(const char* name);
std::uint32_t nameIdOfText(std::string_view text);

/// Both return the 0-based level of the range on this thread, as NVTX asks; popRange -1 when none is open.
int pushRange(std::uint32_t name, engine::RangeKind kind, engine::RangeWork work);
int popRange();

/// nvtx_injection.cpp: initialises NVTX and says whether our static injection received it. False without NVTX headers.
bool attachNvtxInjection();

}  // namespace profiling
