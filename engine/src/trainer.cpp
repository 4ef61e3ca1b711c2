// A training step: batch, forward, loss, backward, guard, clip, AdamW, scale update, report.
#include "engine/trainer.h"

#include "engine/device.h"
#include "engine/error.h"
#include "src/memory.h"
#include "src/nvtx_ranges.h"
#include "src/trainer_impl.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>

namespace engine {

namespace {

int threadCount(const RunConfig& config) {
    return config.train.threads > 0 ? config.train.threads : std::max(1, cpuInfo().cores);
}

void requireValid(const RunConfig& config) {
    const std::vector<ConfigIssue> issues = validate(config);
    if (issues.empty()) return;
    throw Error(ErrorKind::Usage, "--" + issues.front().field, issues.front().why, issues.front().fix);
}

// A machine that overcommits hands out memory it has not got and kills the process later: better asked first.
void requireMemory(std::int64_t bytes) {
    const std::int64_t available = availableMemoryBytes();
    if (available < 0 || bytes < available) return;
    const auto gib = [](std::int64_t count) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(count) / (1 << 30));
        return std::string(text);
    };
    throw Error(ErrorKind::Failure, "memory",
                "the run needs " + gib(bytes) + " and " + gib(available) + " are available",
                "use a smaller model, --batch or --seq-len, or end other programs");
}

// The only device of this build that trains is the CPU; "auto" is that.
void requireDevice(const std::string& device) {
    if (device == "auto" || device == "cpu") return;
    for (const DeviceInfo& info : inspectMachine().devices) {
        if (info.id == device || (device == "cuda" && info.id.starts_with("cuda"))) {
            throw Error(ErrorKind::Failure, "--device " + device, info.reason, "use --device cpu");
        }
    }
    throw Error(ErrorKind::Failure, "--device " + device, "this machine has no such device",
                "use --device cpu; `amaxscope-cli doctor` lists the devices");
}

}  // namespace

ResolvedPrecision resolvePrecision(Precision asked, cpu::Isa isa) {
    const bool nativeBf16 = isa == cpu::Isa::Avx512Bf16;
    switch (asked) {
        case Precision::Auto:
            if (nativeBf16) return {Precision::Bf16, false, "FP8 → BF16: this CPU has no FP8 arithmetic"};
            return {Precision::Fp32, false, "FP8 → BF16 → FP32: this CPU has no FP8 and no BF16 arithmetic"};
        case Precision::Fp8:
            return {asked, true,
                    nativeBf16 ? "FP8 is emulated on this CPU: bytes bit-exact, products in BF16"
                               : "FP8 is emulated on this CPU: bytes bit-exact, products in FP32"};
        case Precision::Bf16:
            if (nativeBf16) return {asked, false, ""};
            return {asked, true, "BF16 is emulated on this CPU: values rounded, products in FP32"};
        default:
            return {asked, false, ""};
    }
}

TrainerImpl::TrainerImpl(const RunConfig& config, StepObserver* observer, bool needsData,
                         const std::vector<std::string>& pinned)
    : m_config(config), m_observer(observer) {
    requireValid(m_config);
    requireDevice(m_config.train.device);
    if (needsData) {
        m_dataset = Dataset::open(m_config);
        m_config.model.vocab = m_dataset->vocab();
    }
    const cpu::Isa isa = cpu::activeIsa();
    const ResolvedPrecision resolved = resolvePrecision(m_config.train.precision, isa);
    requireMemory(estimate(m_config).memoryBytes);
    m_network = std::make_unique<Network>(m_config, resolved.precision, threadCount(m_config), isa, pinned);
    m_momentArena = Arena(kTwoFloats * m_network->floats());
    m_moments1 = m_momentArena.take<float>(m_network->floats());
    m_moments2 = m_momentArena.take<float>(m_network->floats());
    m_guard = std::make_unique<NumericsGuard>(
        m_config.train.guard, *m_network,
        [this](Severity severity, const std::string& code, const std::string& text) { report(severity, code, text); });
    const RunEstimate size = estimate(m_config);
    m_info.device = "cpu";
    m_info.deviceName = cpuInfo().name;
    m_info.backend = "cpu";
    m_info.kernels = chosenKernels();
    m_info.precision = resolved.precision;
    m_info.emulated = resolved.emulated;
    m_info.precisionReason = resolved.reason;
    m_info.parameters = size.parameters;
    m_info.memoryBytes = m_network->memoryBytes() + m_momentArena.used();
    m_info.flopsPerStep = size.flopsPerStep;
    m_info.tokensPerStep = size.tokensPerStep;
    m_info.firstStep = 0;
    announce(resolved);
}

void TrainerImpl::announce(const ResolvedPrecision& resolved) {
    if (m_observer == nullptr) return;
    m_observer->onTensors(m_network->tensors());
    if (!resolved.reason.empty()) {
        report(Severity::Info, resolved.emulated ? "emulated" : "precision", resolved.reason);
    }
    for (const LayerFallback& fallback : m_network->fallbacks()) {
        report(Severity::Warning, "fallback", fallback.layer + " runs in BF16: " + fallback.reason);
    }
}

void TrainerImpl::report(Severity severity, const std::string& code, const std::string& text) {
    if (m_observer == nullptr) return;
    const std::int64_t step = m_stepping ? m_state.step : -1;  // −1: before the first step
    m_observer->onEvent({step, clockNs(), severity, code, text});
}

void TrainerImpl::restoreState(const TrainingState& state) {
    m_state = state;
    m_info.firstStep = state.step;
}

double TrainerImpl::learningRate(std::int64_t step) const {
    const TrainConfig& train = m_config.train;
    const std::int64_t warmup = std::min<std::int64_t>(train.warmupSteps, train.steps / 2);
    if (step < warmup) return train.lr * static_cast<double>(step + 1) / static_cast<double>(warmup);
    const double progress =
        static_cast<double>(step - warmup) / static_cast<double>(std::max<std::int64_t>(1, train.steps - warmup));
    return train.lr * (0.1 + 0.9 * 0.5 * (1.0 + std::cos(std::numbers::pi * std::min(1.0, progress))));
}

double TrainerImpl::gradientNorm() {
    const Range range("gradient norm", RangeKind::Kernel,
                      {2.0 * static_cast<double>(m_network->floats()), 4.0 * static_cast<double>(m_network->floats())});
    cpu::ThreadPool& pool = m_network->pool();
    std::vector<double> sums(static_cast<std::size_t>(pool.threads()), 0.0);
    pool.run([&](int chunk) {
        const auto [first, last] = pool.part(m_network->floats(), chunk, 16);
        sums[static_cast<std::size_t>(chunk)] =
            cpu::sumOfSquares(m_network->gradients() + first, last - first, cpu::activeIsa());
    });
    return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

void TrainerImpl::applyUpdate(double lr, double gradNorm) {
    const TrainConfig& train = m_config.train;
    ++m_state.updates;
    const auto t = static_cast<double>(m_state.updates);
    cpu::AdamWArgs args{};
    args.lr = static_cast<float>(lr);
    args.beta1 = static_cast<float>(train.beta1);
    args.beta2 = static_cast<float>(train.beta2);
    args.epsilon = 1e-8F;
    args.correction1 = static_cast<float>(1.0 / (1.0 - std::pow(train.beta1, t)));
    args.correction2 = static_cast<float>(1.0 / (1.0 - std::pow(train.beta2, t)));
    args.gradScale =
        train.gradClip > 0 && gradNorm > train.gradClip ? static_cast<float>(train.gradClip / gradNorm) : 1.0F;

    const Range range(
        "adamw", RangeKind::Kernel,
        {14.0 * static_cast<double>(m_network->floats()), 28.0 * static_cast<double>(m_network->floats())});
    cpu::ThreadPool& pool = m_network->pool();
    pool.run([&](int chunk) {
        for (const ParameterSpec& spec : m_network->table()) {
            const auto [first, last] = pool.part(spec.count(), chunk, 16);
            cpu::AdamWArgs own = args;
            own.weightDecay = spec.decay ? static_cast<float>(train.weightDecay) : 0.0F;
            const std::int64_t at = spec.offset + first;
            cpu::adamW(m_network->parameters() + at, m_network->gradients() + at, m_moments1 + at, m_moments2 + at,
                       last - first, own, cpu::activeIsa());
        }
    });
}

void TrainerImpl::pinLayers(const std::vector<std::string>& layers) {
    for (const std::string& layer : layers) {
        if (!m_network->pinToBf16(layer)) continue;
        if (std::find(m_state.pinned.begin(), m_state.pinned.end(), layer) == m_state.pinned.end()) {
            m_state.pinned.push_back(layer);
        }
        report(Severity::Warning, "fallback", layer + " runs in BF16 from the next step on");
    }
}

std::vector<TensorSnapshot> TrainerImpl::takeSnapshots() const {
    std::vector<TensorSnapshot> snapshots;
    for (const TensorInfo& tensor : m_network->tensors()) {
        const CastRecord& record = m_network->records()[static_cast<std::size_t>(tensor.index)];
        if (!record.cast) continue;
        const cpu::CastStats& s = record.stats;
        snapshots.push_back({tensor.index, s.amax, record.scale, s.saturated, s.underflowed, s.zeros, s.nonFinite,
                             s.count, s.sqError, s.sqSignal});
    }
    return snapshots;
}

StepStats TrainerImpl::step() {
    ENGINE_CHECK(m_dataset != nullptr, "a trainer loaded for generation cannot train");
    m_stepping = true;
    const TrainConfig& train = m_config.train;
    const int seqLen = m_config.model.seqLen;
    const bool snapshot = train.snapshotEvery > 0 && m_state.step % train.snapshotEvery == 0;
    // The fallback guard looks for NaN, which only the counters see.
    const bool counting = snapshot || train.guard == Guard::Fallback;
    StepStats stats{};
    stats.step = m_state.step;
    if (m_observer != nullptr) m_observer->onStepBegin(stats.step);
    stats.startNs = clockNs();
    std::vector<std::string> toPin;
    bool stop = false;
    {
        const Range range("step", RangeKind::Step);
        m_network->clearRecords();
        m_dataset->trainBatch(stats.step, train.batch, seqLen, m_network->inputs(), m_network->targets());
        m_network->forward(train.batch, seqLen, true, counting);
        stats.loss = m_network->loss(train.batch, seqLen, true);
        m_network->backward(train.batch, seqLen);

        const Range phase("optimizer", RangeKind::Phase);
        stats.gradNorm = gradientNorm();
        stats.lr = learningRate(stats.step);
        toPin = m_guard->checkSaturation(stats.step);
        stats.skipped = !m_guard->checkFinite(stats.loss, stats.gradNorm, toPin);
        stop = stats.skipped && train.guard == Guard::Stop;
        if (!stats.skipped) applyUpdate(stats.lr, stats.gradNorm);
        m_network->updateScales();
    }
    stats.durationNs = clockNs() - stats.startNs;
    stats.tokens = m_info.tokensPerStep;
    stats.memoryBytes = m_info.memoryBytes;
    if (m_observer != nullptr) m_observer->onStepEnd(stats, snapshot ? takeSnapshots() : std::vector<TensorSnapshot>{});
    pinLayers(toPin);
    ++m_state.step;
    if (stop) {
        throw Error(ErrorKind::Failure, "step " + std::to_string(stats.step), "the loss or a gradient is not finite",
                    "lower --lr, keep layers in BF16 with --keep-bf16, or use --guard fallback");
    }
    if (m_guard->state().skippedInARow >= NumericsGuard::kHopelessSteps) {
        throw Error(ErrorKind::Failure, "step " + std::to_string(stats.step),
                    "the last " + std::to_string(NumericsGuard::kHopelessSteps) +
                        " steps were skipped because the loss or a gradient was not finite",
                    "lower --lr, or resume an earlier checkpoint");
    }
    return stats;
}

std::unique_ptr<Trainer> Trainer::create(const RunConfig& config, StepObserver* observer) {
    return std::make_unique<TrainerImpl>(config, observer, true);
}

}  // namespace engine
