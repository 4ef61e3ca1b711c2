// One pass forward, one pass backward, top to bottom.
#include "src/network.h"

#include "src/modules.h"
#include "src/nvtx_ranges.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace engine {

namespace {

void copyRows(cpu::ThreadPool& pool, float* target, const float* source, std::int64_t count) {
    pool.run([&](int chunk) {
        const auto [first, last] = pool.part(count, chunk, 16);
        std::memcpy(target + first, source + first, static_cast<std::size_t>(last - first) * sizeof(float));
    });
}

// Two products of T×T×headDim per head forward (four backward), each a multiply and an add; half is masked.
RangeWork attentionWork(std::int64_t batch, std::int64_t heads, std::int64_t seqLen, std::int64_t headDim,
                        double products) {
    const double scores = static_cast<double>(batch * heads) * static_cast<double>(seqLen * (seqLen + 1)) / 2.0;
    return {scores * static_cast<double>(headDim) * 2.0 * products, scores * 4.0 * products};
}

}  // namespace

StepContext Network::context(bool record, bool counting) {
    return {m_pool,
            m_isa,
            m_scaling.get(),
            record ? &m_records : nullptr,
            counting,
            m_config.train.fused,
            m_activations.partials,
            partialsStride(m_config.model)};
}

void Network::clearRecords() {
    std::fill(m_records.begin(), m_records.end(), CastRecord{});
}

void Network::updateScales() {
    for (int slot = 0; slot < m_scaling->slots(); ++slot) m_scaling->update(slot);
}

void Network::embed(int rows, int seqLen) {
    const std::int64_t d = m_config.model.dModel;
    const std::int64_t n = std::int64_t{rows} * seqLen;
    float* out = m_config.model.layers > 0 ? m_activations.layers.front().input : m_activations.output;
    const Range range("embedding", RangeKind::Kernel, {static_cast<double>(n * d), 12.0 * static_cast<double>(n * d)});
    m_pool.run([&](int chunk) {
        const auto [first, last] = m_pool.part(n, chunk);
        for (std::int64_t row = first; row < last; ++row) {
            float* target = out + row * d;
            std::memcpy(target, m_parameters.tokenEmbedding + std::int64_t{m_activations.inputs[row]} * d,
                        static_cast<std::size_t>(d) * sizeof(float));
            cpu::addTo(target, m_parameters.positionEmbedding + (row % seqLen) * d, d, m_isa);
        }
    });
}

// Threads split the columns: each adds up its columns over all rows in row order.
void Network::embedBackward(int rows, int seqLen) {
    const std::int64_t d = m_config.model.dModel;
    const std::int64_t n = std::int64_t{rows} * seqLen;
    const Range range("embedding backward", RangeKind::Kernel,
                      {2.0 * static_cast<double>(n * d), 20.0 * static_cast<double>(n * d)});
    m_pool.run([&](int chunk) {
        const auto [first, last] = m_pool.part(d, chunk, 16);
        const std::int64_t width = last - first;
        if (width == 0) return;
        for (std::int64_t v = 0; v < m_config.model.vocab; ++v) {
            std::fill_n(m_gradients.tokenEmbedding + v * d + first, width, 0.0F);
        }
        for (std::int64_t t = 0; t < m_config.model.seqLen; ++t) {
            std::fill_n(m_gradients.positionEmbedding + t * d + first, width, 0.0F);
        }
        for (std::int64_t row = 0; row < n; ++row) {
            const float* gradient = m_activations.dResidual + row * d + first;
            const std::int64_t token = m_activations.inputs[row];
            cpu::addTo(m_gradients.tokenEmbedding + token * d + first, gradient, width, m_isa);
            cpu::addTo(m_gradients.positionEmbedding + (row % seqLen) * d + first, gradient, width, m_isa);
        }
    });
}

void Network::blockForward(StepContext& context, int index, int rows, int seqLen) {
    const Range layerRange(m_layerNames[static_cast<std::size_t>(index)], RangeKind::Layer);
    const std::int64_t d = m_config.model.dModel;
    const std::int64_t n = std::int64_t{rows} * seqLen;
    const int heads = m_config.model.heads;
    LayerActivations& a = m_activations.layers[static_cast<std::size_t>(index)];
    const LayerParameters& p = m_parameters.layers[static_cast<std::size_t>(index)];
    const bool last = index + 1 == m_config.model.layers;
    float* output = last ? m_activations.output : m_activations.layers[static_cast<std::size_t>(index) + 1].input;

    GemmLayer& qkv = linear(index, Linear::Qkv);
    {
        const Range range(qkv.rangeName, RangeKind::Module);
        normAndCast(context, a.input, {p.ln1Weight, p.ln1Bias, a.ln1Mean, a.ln1Rstd}, n, qkv, m_activations.attention);
        engine::forward(context, qkv, n, a.qkv, false);
    }
    {
        const Range range("attention forward", RangeKind::Kernel, attentionWork(rows, heads, seqLen, d / heads, 2));
        cpu::attentionForward(
            m_pool, {rows, seqLen, heads, heads, d / heads, a.qkv, a.probabilities, m_activations.attention}, m_isa);
    }
    GemmLayer& proj = linear(index, Linear::Proj);
    {
        const Range range(proj.rangeName, RangeKind::Module);
        castOperand(context, proj.input, m_activations.attention, n, d, "cast input");
        copyRows(m_pool, a.middle, a.input, n * d);
        engine::forward(context, proj, n, a.middle, true);
    }
    GemmLayer& fc1 = linear(index, Linear::Fc1);
    {
        const Range range(fc1.rangeName, RangeKind::Module);
        normAndCast(context, a.middle, {p.ln2Weight, p.ln2Bias, a.ln2Mean, a.ln2Rstd}, n, fc1, m_activations.attention);
        engine::forward(context, fc1, n, a.hidden, false);
    }
    GemmLayer& fc2 = linear(index, Linear::Fc2);
    const Range range(fc2.rangeName, RangeKind::Module);
    geluAndCast(context, a.hidden, n, fc2, m_activations.wide);
    copyRows(m_pool, output, a.middle, n * d);
    engine::forward(context, fc2, n, output, true);
}

void Network::forward(int rows, int seqLen, bool record, bool counting) {
    const Range phase("forward", RangeKind::Phase);
    m_counting = counting;
    StepContext step = context(record, counting);
    {
        const Range range("embedding", RangeKind::Layer);
        embed(rows, seqLen);
    }
    for (int i = 0; i < m_config.model.layers; ++i) blockForward(step, i, rows, seqLen);
    const Range range(head().rangeName, RangeKind::Layer);
    const std::int64_t n = std::int64_t{rows} * seqLen;
    normAndCast(step, m_activations.output,
                {m_parameters.normWeight, m_parameters.normBias, m_activations.normMean, m_activations.normRstd}, n,
                head(), m_activations.attention);
    engine::forward(step, head(), n, m_activations.logits, false);
}

double Network::loss(int rows, int seqLen, bool withGradient) {
    const std::int64_t n = std::int64_t{rows} * seqLen;
    const std::int64_t vocab = m_config.model.vocab;
    const float gradScale = withGradient ? 1.0F / static_cast<float>(n) : 0.0F;
    const Range range("cross entropy", RangeKind::Kernel,
                      {5.0 * static_cast<double>(n * vocab), 8.0 * static_cast<double>(n * vocab)});
    std::vector<double> sums(static_cast<std::size_t>(m_pool.threads()), 0.0);
    m_pool.run([&](int chunk) {
        double sum = 0;
        const auto [first, last] = m_pool.part(n, chunk);
        for (std::int64_t row = first; row < last; ++row) {
            sum += cpu::crossEntropyRow(m_activations.logits + row * vocab, vocab, m_activations.targets[row],
                                        gradScale, m_isa);
        }
        sums[static_cast<std::size_t>(chunk)] = sum;
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(n);
}

void Network::blockBackward(StepContext& context, int index, int rows, int seqLen) {
    const Range layerRange(m_layerNames[static_cast<std::size_t>(index)], RangeKind::Layer);
    const std::int64_t d = m_config.model.dModel;
    const std::int64_t n = std::int64_t{rows} * seqLen;
    const int heads = m_config.model.heads;
    LayerActivations& a = m_activations.layers[static_cast<std::size_t>(index)];
    const LayerParameters& p = m_parameters.layers[static_cast<std::size_t>(index)];
    LayerParameters& g = m_gradients.layers[static_cast<std::size_t>(index)];
    float* dResidual = m_activations.dResidual;

    GemmLayer& fc2 = linear(index, Linear::Fc2);
    {
        const Range range(fc2.rangeName, RangeKind::Module);
        gradAndCast(context, dResidual, n, fc2);
        engine::backward(context, fc2, n, m_activations.wide);
    }
    GemmLayer& fc1 = linear(index, Linear::Fc1);
    {
        const Range range(fc1.rangeName, RangeKind::Module);
        geluGradAndCast(context, a.hidden, m_activations.wide, n, fc1);
        engine::backward(context, fc1, n, m_activations.dNormed);
        normBackward(context, m_activations.dNormed, a.middle, {p.ln2Weight, p.ln2Bias, a.ln2Mean, a.ln2Rstd}, n, d,
                     dResidual, g.ln2Weight, g.ln2Bias);
    }
    GemmLayer& proj = linear(index, Linear::Proj);
    {
        const Range range(proj.rangeName, RangeKind::Module);
        gradAndCast(context, dResidual, n, proj);
        engine::backward(context, proj, n, m_activations.attention);
    }
    {
        const Range range("attention backward", RangeKind::Kernel, attentionWork(rows, heads, seqLen, d / heads, 4));
        cpu::attentionBackward(m_pool,
                               {rows, seqLen, heads, heads, d / heads, a.qkv, a.probabilities, m_activations.attention,
                                m_activations.dQkv},
                               m_isa);
    }
    GemmLayer& qkv = linear(index, Linear::Qkv);
    const Range range(qkv.rangeName, RangeKind::Module);
    gradAndCast(context, m_activations.dQkv, n, qkv);
    engine::backward(context, qkv, n, m_activations.dNormed);
    normBackward(context, m_activations.dNormed, a.input, {p.ln1Weight, p.ln1Bias, a.ln1Mean, a.ln1Rstd}, n, d,
                 dResidual, g.ln1Weight, g.ln1Bias);
}

void Network::backward(int rows, int seqLen) {
    const Range phase("backward", RangeKind::Phase);
    StepContext step = context(true, m_counting);
    const std::int64_t d = m_config.model.dModel;
    const std::int64_t n = std::int64_t{rows} * seqLen;
    {
        const Range range(head().rangeName, RangeKind::Layer);
        gradAndCast(step, m_activations.logits, n, head());
        engine::backward(step, head(), n, m_activations.dNormed);
        m_pool.run([&](int chunk) {
            const auto [first, last] = m_pool.part(n * d, chunk, 16);
            std::fill(m_activations.dResidual + first, m_activations.dResidual + last, 0.0F);
        });
        normBackward(step, m_activations.dNormed, m_activations.output,
                     {m_parameters.normWeight, m_parameters.normBias, m_activations.normMean, m_activations.normRstd},
                     n, d, m_activations.dResidual, m_gradients.normWeight, m_gradients.normBias);
    }
    for (int i = m_config.model.layers - 1; i >= 0; --i) blockBackward(step, i, rows, seqLen);
    const Range range("embedding", RangeKind::Layer);
    embedBackward(rows, seqLen);
}

}  // namespace engine
