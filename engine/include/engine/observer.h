// How data leaves the engine: step statistics, tensor snapshots, events and timed ranges.
// This is the only header of the engine that profiling/ includes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// Nanoseconds since the Unix epoch, strictly on a monotonic clock: the system clock is read once per process.
/// Every time in a run comes from here.
std::int64_t clockNs();

/// One tensor that is watched: an operand of a GEMM, or on demand one of its results.
struct TensorInfo {
    int index;           // position in the run's tensor list, from 0
    std::string layer;   // "layer.3.mlp.fc1", "lm_head"
    std::string role;    // operands: "input", "weight", "grad_output"; results: "output", "dgrad", "wgrad"
    std::string format;  // what it is stored in: "E4M3", "E5M2", "E2M1", "BF16", "FP32"
    std::int64_t rows;
    std::int64_t cols;
};

/// What one step did to one tensor. Micro-batches of a step add up: largest amax, sums of the counts.
struct TensorSnapshot {
    int tensor;                // TensorInfo::index
    float amax;                // of the unscaled tensor at this step; may be infinite
    float scale;               // of this step's cast; block recipes: of the block with the largest amax; 0: not cast
    std::int64_t saturated;    // |x·scale| above the format's largest finite value
    std::int64_t underflowed;  // non-zero before the cast, ±0 after
    std::int64_t zeros;        // ±0 before the cast
    std::int64_t nonFinite;    // infinities and NaN before the cast
    std::int64_t count;        // elements
    double sqError;            // Σ(x − dequantised x)² over finite elements
    double sqSignal;           // Σx² over finite elements
    float scaleInvMin = 0;     // smallest and largest factor that dequantises a block; both 1/scale for one per tensor
    float scaleInvMax = 0;
    float smallest = 0;  // smallest non-zero |x|; 0: not looked for at this step
    /// Elements per binade, where they were counted: exponents[i] holds those with 2^(firstExponent+i) ≤ |x| <
    /// 2^(firstExponent+i+1), for x in FP32; zeros, FP32 subnormals and non-finite elements are left out.
    int firstExponent = 0;
    std::vector<std::uint32_t> exponents;
};

struct StepStats {
    std::int64_t step;        // from 0
    std::int64_t startNs;     // clockNs()
    std::int64_t durationNs;  // whole step, optimizer included, validation excluded
    double loss;              // mean negative log likelihood in nats; may be non-finite
    double gradNorm;          // before clipping
    double lr;
    std::int64_t tokens;
    bool skipped;              // the guard kept the update from being applied
    std::int64_t memoryBytes;  // held by the engine's arenas
};

enum class Severity : std::uint8_t { Info = 1, Warning = 2, Error = 3 };

/// code is a stable word: "fallback", "fallback_end", "saturation", "non_finite", "checkpoint", "resume", "emulated",
/// "precision", "weights"; "scaled_down" comes from a benchmark.
struct EngineEvent {
    std::int64_t step;  // −1: before the first step
    std::int64_t atNs;
    Severity severity;
    std::string code;
    std::string text;
};

struct GenerationSample {
    std::int64_t step;
    std::string prompt;
    std::string output;
    int correct;  // tokens (or prompts) that follow the rule of the data; 0 of 0 where there is none
    int total;
};

/// Called on the thread that runs the trainer, between kernels; must return quickly and must not throw.
class StepObserver {
public:
    virtual ~StepObserver() = default;
    /// Once, before the first step.
    virtual void onTensors(std::span<const TensorInfo> tensors) = 0;
    virtual void onStepBegin(std::int64_t step) = 0;
    /// snapshots is empty at steps that take none.
    virtual void onStepEnd(const StepStats& stats, std::span<const TensorSnapshot> snapshots) = 0;
    /// Loss over the held-out data with the weights after step `step` (which was reported by onStepEnd before).
    virtual void onValidation(std::int64_t step, double valLoss) = 0;
    virtual void onEvent(const EngineEvent& event) = 0;
    virtual void onGeneration(const GenerationSample& sample) = 0;
};

/// Level of a range; also its NVTX category.
enum class RangeKind : std::uint8_t { Step = 1, Phase = 2, Layer = 3, Module = 4, Kernel = 5 };

/// Work done inside a kernel range: floating-point operations and bytes moved (operands read + results written).
struct RangeWork {
    double flops;
    double bytes;
};

/// The NVTX domain of all ranges.
inline constexpr const char* kNvtxDomain = "amaxscope";

/// Work of the range that the calling thread opened last. NVTX carries one payload (the flops), so a tool
/// inside this process reads the rest here, during its push callback.
RangeWork currentRangeWork();

/// Receives ranges without NVTX: used when the build has no NVTX headers or when an outside tool holds NVTX.
/// Both functions run on the thread that opened the range; `name` outlives the process's ranges.
struct RangeSink {
    void (*push)(const char* name, RangeKind kind, RangeWork work);
    void (*pop)();
};
/// nullptr switches it off. Process-wide; set it while no range is open.
void setRangeSink(const RangeSink* sink);

/// True when ranges are compiled against NVTX headers.
bool builtWithNvtx();
/// Switches ranges on or off for the calling thread (default on); off costs one branch per range.
void setRangesEnabled(bool enabled);

}  // namespace engine
