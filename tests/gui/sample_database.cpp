// Invents runs with fixed seeds; see sample_database.h.
#include "sample_database.h"

#include "engine/observer.h"
#include "src/nvtx_ranges.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

constexpr std::int64_t kTokens = 1024;

/// Uniform in −1 … 1, the same on every machine.
class Noise {
public:
    explicit Noise(unsigned seed) : m_random(seed) {}
    double next() { return static_cast<double>(m_random()) / 2147483648.0 - 1.0; }

private:
    std::mt19937 m_random;
};

std::vector<engine::TensorInfo> tensorList() {
    std::vector<engine::TensorInfo> tensors;
    const char* const modules[] = {"attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"};
    const auto add = [&](const std::string& layer) {
        for (const char* role : {"input", "weight", "grad_output"}) {
            const bool isGradient = std::string(role) == "grad_output";
            tensors.push_back({static_cast<int>(tensors.size()), layer, role, isGradient ? "E5M2" : "E4M3", 1024, 256});
        }
    };
    for (int layer = 0; layer < SampleDatabase::kLayers; ++layer) {
        for (const char* module : modules) add("layer." + std::to_string(layer) + "." + module);
    }
    add("lm_head");
    return tensors;
}

profiling::RunDescription describe(const std::string& name, const std::string& precision, profiling::BenchId bench) {
    profiling::RunDescription run;
    run.name = name;
    run.bench = bench;
    run.device = "cpu";
    run.deviceName = "test machine";
    run.backend = "cpu";
    run.kernels = "Ref";
    run.precisionAsked = precision;
    run.precision = precision;
    run.emulated = precision == "fp8";
    run.recipeJson = precision == "fp8" ? R"({"recipe":"delayed","format":"hybrid"})" : "";
    run.modelJson = R"({"layers":2,"d_model":256})";
    run.trainJson = R"({"steps":120})";
    run.hostJson = "{}";
    run.data = "stride";
    run.seed = 1;
    run.stepsPlanned = SampleDatabase::kSteps;
    run.parameters = 1000000;
    run.memoryBytes = precision == "fp32" ? 96LL << 20 : 64LL << 20;
    run.tokensPerStep = kTokens;
    return run;
}

struct Shape {
    double stepMs;
    double finalLoss;
    unsigned seed;
};

engine::StepStats statsOf(std::int64_t step, const Shape& shape, Noise& noise, std::int64_t startNs) {
    engine::StepStats stats{};
    stats.step = step;
    stats.startNs = startNs;
    stats.durationNs = static_cast<std::int64_t>(shape.stepMs * 1e6 * (1 + 0.04 * noise.next()));
    stats.loss = shape.finalLoss + 3.5 * std::exp(-static_cast<double>(step) / 30) + 0.06 * noise.next();
    stats.gradNorm = 1 + 0.2 * noise.next();
    stats.lr = 1e-3;
    stats.tokens = kTokens;
    stats.memoryBytes = 60LL << 20;
    return stats;
}

engine::TensorSnapshot snapshotOf(const engine::TensorInfo& tensor, std::int64_t step, Noise& noise) {
    const double most = tensor.format == "E4M3" ? 448.0 : 57344.0;
    engine::TensorSnapshot snapshot{};
    snapshot.tensor = tensor.index;
    const double level =
        std::exp2(1.5 * std::sin(0.05 * static_cast<double>(step) + tensor.index) + 0.3 * noise.next());
    snapshot.amax = static_cast<float>(level * (tensor.role == "weight" ? 0.3 : 1.0));
    snapshot.scale = static_cast<float>(std::exp2(std::floor(std::log2(most / 4.0))));
    snapshot.count = tensor.rows * tensor.cols;
    snapshot.zeros = 12;
    snapshot.underflowed = static_cast<std::int64_t>(static_cast<double>(snapshot.count) * 0.01 * (1 + noise.next()));
    snapshot.sqSignal = 1000.0;
    snapshot.sqError = 1.0 + 0.3 * noise.next();
    if (tensor.index == 0 && step == SampleDatabase::kZeroStep) snapshot.amax = 0;
    if (tensor.index == 0 && step == SampleDatabase::kInfStep) {
        snapshot.amax = std::numeric_limits<float>::infinity();
        snapshot.nonFinite = 3;
    }
    if (tensor.index == 2 && step >= SampleDatabase::kSpikeStep && step < SampleDatabase::kSpikeStep + 5) {
        snapshot.amax = 40;
        snapshot.saturated = 1100;
    }
    return snapshot;
}

void recordStepRanges() {
    const engine::Range step("step", engine::RangeKind::Step);
    const engine::Range forward("forward", engine::RangeKind::Phase);
    for (const char* layer : {"layer.0", "layer.1"}) {
        const engine::Range range(layer, engine::RangeKind::Layer);
        { const engine::Range gemm("gemm_fp8", engine::RangeKind::Kernel, {2e6, 1e5}); }
        { const engine::Range attention("attention", engine::RangeKind::Kernel, {1e6, 5e4}); }
        { const engine::Range gelu("gelu_cast", engine::RangeKind::Kernel, {0, 2e5}); }
    }
}

profiling::RunId record(profiling::Session& session, const profiling::RunDescription& description, const Shape& shape,
                        bool hasNanLoss) {
    const auto recorder = session.startRun(description, {});
    recorder->activate();
    const bool isFp8 = description.precision == "fp8";
    const std::vector<engine::TensorInfo> tensors = isFp8 ? tensorList() : std::vector<engine::TensorInfo>{};
    recorder->onTensors(tensors);
    Noise noise(shape.seed);
    const std::int64_t start = engine::clockNs();
    for (int step = 0; step < SampleDatabase::kSteps; ++step) {
        recorder->onStepBegin(step);
        recordStepRanges();
        engine::StepStats stats = statsOf(step, shape, noise, start + step * 30000000LL);
        if (hasNanLoss && step == SampleDatabase::kNanLossStep) stats.loss = std::nan("");
        std::vector<engine::TensorSnapshot> snapshots;
        for (const engine::TensorInfo& tensor : tensors) {
            const engine::TensorSnapshot snapshot = snapshotOf(tensor, step, noise);
            const bool inGap = step >= SampleDatabase::kGapFirst && step <= SampleDatabase::kGapLast;
            if (tensor.index != 0 || !inGap) snapshots.push_back(snapshot);
        }
        recorder->onStepEnd(stats, snapshots);
        if (step % 20 == 19) recorder->onValidation(step, stats.loss + 0.05);
        if (isFp8 && step == SampleDatabase::kSpikeStep) {
            recorder->onEvent({step, stats.startNs, engine::Severity::Warning, "saturation",
                               "layer.0.attn.qkv.grad_output: 0.4 % of the elements saturated"});
        }
    }
    for (int i = 0; i < SampleDatabase::kRepeats; ++i) {
        const double ms = shape.stepMs * (1 + 0.05 * noise.next());
        recorder->addSample("step_ms", i, ms);
        recorder->addSample("tokens_per_second", i, kTokens / ms * 1000);
    }
    const profiling::RunId id = recorder->run();
    recorder->close(profiling::RunStatus::Finished);
    return id;
}

/// A bell over the binades 2^−15 … 2^4: 1000 elements below 2^−13, 200 in the highest binade.
std::vector<std::uint32_t> bellOfExponents(int step) {
    std::vector<std::uint32_t> counts(20, 0);
    counts[0] = 400;
    counts[1] = 600;
    counts[19] = 200;
    std::uint32_t left = ObservedRun::kElements - 1200;
    for (std::size_t i = 2; i < 19; ++i) {
        const double at = (static_cast<double>(i) - 10 - step / 60.0) / 3;
        counts[i] = static_cast<std::uint32_t>(12000 * std::exp(-0.5 * at * at));
        left -= counts[i];
    }
    counts[10] += left;
    return counts;
}

engine::TensorSnapshot observedSnapshot(const engine::TensorInfo& tensor, int step) {
    engine::TensorSnapshot snapshot{};
    snapshot.tensor = tensor.index;
    snapshot.amax = 30.0F + static_cast<float>(step % 7) * 0.125F;
    snapshot.count = ObservedRun::kElements;
    snapshot.smallest = 0x1.8p-15F;
    if (tensor.index < 2) {
        snapshot.scale = tensor.index == 0 ? 16.0F : 32.0F;
        snapshot.scaleInvMin = tensor.index == 0 ? 1 / 16.0F : 1 / 512.0F;
        snapshot.scaleInvMax = tensor.index == 0 ? 1 / 16.0F : 1 / 2.0F;
        snapshot.underflowed = 500;
        snapshot.sqSignal = 1000;
        snapshot.sqError = 1;
    }
    if (step >= ObservedRun::kExponentsEvery && step % ObservedRun::kExponentsEvery == 0) {
        snapshot.firstExponent = -15;
        snapshot.exponents = bellOfExponents(step);
    }
    return snapshot;
}

}  // namespace

ObservedRun addObservedRun(const std::string& path) {
    const auto session = profiling::Session::open(path);
    const auto recorder = session->startRun(describe("observed", "fp8", {}), {});
    recorder->activate();
    const std::vector<engine::TensorInfo> tensors = {
        {0, "layer.0.mlp.fc1", "input", "E4M3", 1000, 100},  {1, "layer.0.mlp.fc1", "weight", "E4M3", 1000, 100},
        {2, "layer.0.mlp.fc1", "output", "BF16", 1000, 100}, {3, "layer.0.mlp.fc1", "wgrad", "FP32", 1000, 100},
        {4, "lm_head", "input", "BF16", 1000, 100},
    };
    recorder->onTensors(tensors);
    Noise noise(7);
    const std::int64_t start = engine::clockNs();
    for (int step = 0; step < ObservedRun::kSteps; ++step) {
        recorder->onStepBegin(step);
        std::vector<engine::TensorSnapshot> snapshots;
        for (const engine::TensorInfo& tensor : tensors) snapshots.push_back(observedSnapshot(tensor, step));
        recorder->onStepEnd(statsOf(step, {24.0, 1.83, 3}, noise, start + step * 30000000LL), snapshots);
    }
    const profiling::RunId id = recorder->run();
    recorder->close(profiling::RunStatus::Finished);
    return {id};
}

SampleDatabase writeSampleDatabase(const std::string& path) {
    const auto session = profiling::Session::open(path);
    SampleDatabase sample;
    sample.bench = session->createBench("precisions");
    sample.fp32 = record(*session, describe("fp32", "fp32", sample.bench), {47.8, 1.80, 1}, false);
    sample.bf16 = record(*session, describe("bf16", "bf16", sample.bench), {25.7, 1.81, 2}, true);
    sample.fp8 = record(*session, describe("fp8 delayed hybrid", "fp8", sample.bench), {24.0, 1.83, 3}, false);
    session->setBenchBaseline(sample.bench, sample.fp32);
    return sample;
}

LiveRun::LiveRun(const std::string& path) : m_session(profiling::Session::open(path)) {
    m_recorder = m_session->startRun(describe("live", "fp8", {}), {});
    m_recorder->onTensors(tensorList());
}

LiveRun::~LiveRun() {
    m_recorder->close(profiling::RunStatus::Finished);
}

profiling::RunId LiveRun::id() const {
    return m_recorder->run();
}

void LiveRun::step(std::int64_t step) {
    Noise noise(static_cast<unsigned>(step) + 10);
    m_recorder->onStepBegin(step);
    std::vector<engine::TensorSnapshot> snapshots;
    for (const engine::TensorInfo& tensor : tensorList()) snapshots.push_back(snapshotOf(tensor, step, noise));
    m_recorder->onStepEnd(statsOf(step, {24.0, 1.83, 3}, noise, engine::clockNs()), snapshots);
}
