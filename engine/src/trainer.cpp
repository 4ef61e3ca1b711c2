// A training step: batch, forward, loss, backward, guard, clip, AdamW, scale update, report.
#include "engine/trainer.h"

#include "engine/device.h"
#include "engine/error.h"
#include "src/nvtx_ranges.h"
#include "src/random.h"
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

TrainerImpl::TrainerImpl(const RunConfig& config, StepObserver* observer, Purpose purpose, bool fresh,
                         bool fallbackRoom)
    : m_config(config), m_observer(observer) {
    requireValid(m_config);
    requireDevice(m_config.train.device);
    if (purpose == Purpose::Train) {
        m_dataset = Dataset::open(m_config);
        m_config.model.vocab = m_dataset->vocab();
    }
    const cpu::Isa isa = cpu::activeIsa();
    const ResolvedPrecision resolved = resolvePrecision(m_config.train.precision, isa);
    requireMemory(estimate(m_config).memoryBytes);
    m_network = std::make_unique<Network>(m_config, resolved.precision, threadCount(m_config), isa, fallbackRoom);
    if (m_config.train.weights == WeightStorage::Fp8KeepInit) {
        m_masterFloats = m_network->gradientFloats() - m_network->parameterFloats();
    }
    const std::int64_t floats = m_network->gradientFloats();
    m_momentArena = Arena((2 * floats + m_masterFloats) * static_cast<std::int64_t>(sizeof(float)));
    m_moments1 = m_momentArena.take<float>(floats);
    m_moments2 = m_momentArena.take<float>(floats);
    if (m_masterFloats > 0) m_masters = m_momentArena.take<float>(m_masterFloats);
    if (fresh && !m_config.train.init.empty()) loadInitialWeights();
    if (fresh) startMasters();
    m_guard = std::make_unique<NumericsGuard>(
        m_config.train, *m_network,
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
        const bool asked = fallback.reason.starts_with("kept") || fallback.reason.starts_with("one of");
        report(asked ? Severity::Info : Severity::Warning, "fallback",
               fallback.layer + " runs in " + (fallback.precision == Precision::Fp32 ? "FP32" : "BF16") + ": " +
                   fallback.reason);
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
    const std::int64_t floats = m_network->gradientFloats();
    const Range range("gradient norm", RangeKind::Kernel,
                      {2.0 * static_cast<double>(floats), 4.0 * static_cast<double>(floats)});
    cpu::ThreadPool& pool = m_network->pool();
    std::vector<double> sums(static_cast<std::size_t>(pool.threads()), 0.0);
    pool.run([&](int chunk) {
        const auto [first, last] = pool.part(floats, chunk, 16);
        sums[static_cast<std::size_t>(chunk)] =
            cpu::sumOfSquares(m_network->gradients() + first, last - first, cpu::activeIsa());
    });
    return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

void TrainerImpl::resizeAmaxHistory(int length) {
    m_config.recipe.amaxHistoryLen = length;
    requireValid(m_config);
    if (m_network->recipe() != nullptr) m_network->replaceRecipe(m_config.recipe);
}

std::vector<TensorSnapshot> TrainerImpl::takeSnapshots() const {
    std::vector<TensorSnapshot> snapshots;
    for (const TensorInfo& tensor : m_network->tensors()) {
        const TensorRecord& record = m_network->records()[static_cast<std::size_t>(tensor.index)];
        if (record.seen && observes(m_config.train, tensor.role.c_str())) {
            snapshots.push_back(snapshotOf(tensor, record));
        }
    }
    return snapshots;
}

void TrainerImpl::recoverTensors() {
    for (const int slot : m_guard->recovered(m_state.step)) {
        if (!m_network->setFallback(slot, false)) continue;
        const Operand& operand = *m_network->slots()[static_cast<std::size_t>(slot)];
        const TensorInfo& tensor = m_network->tensors()[static_cast<std::size_t>(operand.tensor)];
        report(Severity::Info, "fallback_end",
               tensor.layer + "." + tensor.role + " is in " + formatName(operand.type) + " again");
    }
}

void TrainerImpl::fallBack(const std::vector<int>& slots) {
    for (const int slot : slots) {
        if (!m_network->setFallback(slot, true)) continue;
        m_guard->fellBack(slot, m_state.step);
        const Operand& operand = *m_network->slots()[static_cast<std::size_t>(slot)];
        const TensorInfo& tensor = m_network->tensors()[static_cast<std::size_t>(operand.tensor)];
        const int steps = m_config.train.guardSteps;
        report(Severity::Warning, "fallback",
               tensor.layer + "." + tensor.role + " runs in BF16 " +
                   (steps > 0 ? "for " + std::to_string(steps) + " steps" : "from the next step on"));
    }
}

// Random numbers of a micro-batch depend on where it stands in the run and on nothing else.
Pass TrainerImpl::passOf(int microBatch) const {
    const TrainConfig& train = m_config.train;
    Pass pass{train.batch, m_config.model.seqLen, true, {}};
    pass.firstMicroBatch = microBatch == 0;
    pass.lastMicroBatch = microBatch == train.accumulate - 1;
    const auto at = static_cast<std::uint64_t>(m_state.step * train.accumulate + microBatch);
    pass.noiseKey = randomBits(train.seed ^ 0x6E6F697365ULL, at);
    return pass;
}

double TrainerImpl::runMicroBatches(const Watch& watch) {
    const TrainConfig& train = m_config.train;
    const double tokens = static_cast<double>(train.batch) * m_config.model.seqLen;
    const auto gradScale = static_cast<float>(1.0 / (tokens * train.accumulate));
    double loss = 0;
    for (int i = 0; i < train.accumulate; ++i) {
        Pass pass = passOf(i);
        pass.watch = watch;
        m_dataset->trainBatch(m_state.step * train.accumulate + i, train.batch, m_config.model.seqLen,
                              m_network->inputs(), m_network->targets());
        m_network->forward(pass);
        loss += m_network->loss(pass, gradScale) / train.accumulate;
        m_network->backward(pass);
    }
    return loss;
}

StepStats TrainerImpl::step() {
    ENGINE_CHECK(m_dataset != nullptr, "a trainer loaded for generation cannot train");
    m_stepping = true;
    const TrainConfig& train = m_config.train;
    Watch watch = watchOf(train, m_state.step);
    const bool snapshot = watch.counters;
    // The fallback guard looks for NaN, which only the counters see.
    watch.everything = train.guard == Guard::Fallback;
    StepStats stats{};
    stats.step = m_state.step;
    if (m_observer != nullptr) m_observer->onStepBegin(stats.step);
    recoverTensors();
    stats.startNs = clockNs();
    Verdict verdict;
    {
        const Range range("step", RangeKind::Step);
        m_network->clearRecords();
        stats.loss = runMicroBatches(watch);
        const Range phase("optimizer", RangeKind::Phase);
        stats.gradNorm = gradientNorm();
        stats.lr = learningRate(stats.step);
        verdict = m_guard->judge(stats.step, stats.loss, stats.gradNorm);
        stats.skipped = verdict.skip;
        if (!verdict.skip) applyUpdate(stats.lr, stats.gradNorm);
        m_network->updateScales();
    }
    stats.durationNs = clockNs() - stats.startNs;
    stats.tokens = m_info.tokensPerStep;
    stats.memoryBytes = m_info.memoryBytes;
    if (m_observer != nullptr) m_observer->onStepEnd(stats, snapshot ? takeSnapshots() : std::vector<TensorSnapshot>{});
    fallBack(verdict.toFallBack);
    ++m_state.step;
    if (verdict.stop) {
        throw Error(ErrorKind::Failure, "step " + std::to_string(stats.step), verdict.reason,
                    "lower --lr, keep layers in BF16 with --keep-bf16, use --guard fallback, or resume an earlier "
                    "checkpoint");
    }
    return stats;
}

std::unique_ptr<Trainer> Trainer::create(const RunConfig& config, StepObserver* observer) {
    return std::make_unique<TrainerImpl>(config, observer, TrainerImpl::Purpose::Train, true);
}

}  // namespace engine
