// Applying a step's gradients: AdamW over FP32 parameters, and over weights that are stored quantised.
#include "src/trainer_impl.h"

#include "src/nvtx_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

cpu::AdamWArgs TrainerImpl::updateArguments(double lr, double gradNorm) {
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
    return args;
}

void TrainerImpl::applyUpdate(double lr, double gradNorm) {
    const auto floats = static_cast<double>(m_network->gradientFloats());
    const Range range("adamw", RangeKind::Kernel, {14.0 * floats, 28.0 * floats});
    const cpu::AdamWArgs args = updateArguments(lr, gradNorm);
    const auto argsFor = [&](const ParameterSpec& spec) {
        cpu::AdamWArgs own = args;
        own.weightDecay = spec.decay ? static_cast<float>(m_config.train.weightDecay) : 0.0F;
        return own;
    };
    cpu::ThreadPool& pool = m_network->pool();
    pool.run([&](int chunk) {
        for (const ParameterSpec& spec : m_network->table()) {
            if (spec.home < 0) continue;
            const auto [first, last] = pool.part(spec.count(), chunk, 16);
            const std::int64_t at = spec.offset + first;
            cpu::adamW(m_network->parameters() + spec.home + first, m_network->gradients() + at, m_moments1 + at,
                       m_moments2 + at, last - first, argsFor(spec), cpu::activeIsa());
        }
    });
    float* master = m_masters;
    for (const ParameterSpec& spec : m_network->table()) {
        if (spec.home >= 0) continue;
        updateStoredWeight(spec, *m_network->storedLayer(spec), master, argsFor(spec));
        if (master != nullptr) master += (spec.count() + 15) / 16 * 16;
    }
}

// The new FP32 values take the place of the gradient, which has done its work, so that recipes which need the whole
// tensor's amax can cast from there.
void TrainerImpl::updateStoredWeight(const ParameterSpec& spec, GemmLayer& layer, float* master,
                                     const cpu::AdamWArgs& args) {
    constexpr std::int64_t kRows = 128;  // a multiple of every recipe's strips
    cpu::ThreadPool& pool = m_network->pool();
    float* gradients = m_network->gradients() + spec.offset;
    pool.run([&](int chunk) {
        thread_local std::vector<float> buffer;
        if (buffer.size() < static_cast<std::size_t>(kRows * spec.cols)) {
            buffer.resize(static_cast<std::size_t>(kRows * spec.cols));
        }
        const auto [first, last] = pool.part((spec.rows + kRows - 1) / kRows, chunk);
        for (std::int64_t strip = first; strip < last; ++strip) {
            const std::int64_t rows = std::min(kRows, spec.rows - strip * kRows);
            const std::int64_t at = strip * kRows * spec.cols;
            const std::int64_t count = rows * spec.cols;
            float* values = master == nullptr ? buffer.data() : master + at;
            if (master == nullptr) {
                m_network->recipe()->dequantiseStrip(layer.weightOperand, strip * kRows, rows, values,
                                                     cpu::activeIsa());
            }
            cpu::adamW(values, gradients + at, m_moments1 + spec.offset + at, m_moments2 + spec.offset + at, count,
                       args, cpu::activeIsa());
            std::memcpy(gradients + at, values, static_cast<std::size_t>(count) * sizeof(float));
        }
    });
    Pass pass = passOf(m_config.train.accumulate - 1);
    pass.watch = watchOf(m_config.train, m_state.step);
    m_network->storeWeight(layer, gradients, pass);
}

// Called while the gradients still hold the initial values.
void TrainerImpl::startMasters() {
    float* master = m_masters;
    if (master == nullptr) return;
    for (const ParameterSpec& spec : m_network->table()) {
        if (spec.home >= 0) continue;
        std::copy_n(m_network->gradients() + spec.offset, spec.count(), master);
        master += (spec.count() + 15) / 16 * 16;
    }
}

}  // namespace engine
