// A small run database for tests of the views, written through profiling::Session: three runs of one benchmark with
// invented but fixed numbers, among them a gap, zeros, an infinite amax and a loss that is not finite.
#pragma once

#include "profiling/session.h"

#include <memory>
#include <string>

struct SampleDatabase {
    profiling::BenchId bench;
    profiling::RunId fp32;  // baseline
    profiling::RunId bf16;
    profiling::RunId fp8;  // has tensors

    static constexpr int kSteps = 120;
    static constexpr int kRepeats = 5;
    static constexpr int kLayers = 2;
    static constexpr int kGapFirst = 40;     // tensor 0 has no snapshot from here …
    static constexpr int kGapLast = 49;      // … to here
    static constexpr int kZeroStep = 60;     // tensor 0: amax 0
    static constexpr int kInfStep = 70;      // tensor 0: amax inf
    static constexpr int kNanLossStep = 30;  // of the bf16 run
    static constexpr int kSpikeStep = 90;    // tensor 2: saturates
};

/// Creates the file. Another run can be recorded beside it with LiveRun.
SampleDatabase writeSampleDatabase(const std::string& path);

/// Adds an fp8 run with what an observing run has beyond the others: exponent histograms, a recipe with one scale per
/// block, and results that are not cast.
struct ObservedRun {
    profiling::RunId id;

    static constexpr int kSteps = 60;
    static constexpr int kExponentsEvery = 20;  // from step 20 on
    static constexpr std::int64_t kElements = 100000;
    // Tensors in this order: "layer.0.mlp.fc1.input" (E4M3, scale 16), "layer.0.mlp.fc1.weight" (E4M3 in blocks with
    // scales 2 … 512, 32 that of the amax), "layer.0.mlp.fc1.output" and ".wgrad" (BF16, FP32: not cast), and
    // "lm_head.input" (BF16: not quantised).
};
ObservedRun addObservedRun(const std::string& path);

/// Records steps of a run one call at a time.
class LiveRun {
public:
    explicit LiveRun(const std::string& path);
    ~LiveRun();
    profiling::RunId id() const;
    void step(std::int64_t step);

private:
    std::shared_ptr<profiling::Session> m_session;
    std::unique_ptr<profiling::RunRecorder> m_recorder;
};
