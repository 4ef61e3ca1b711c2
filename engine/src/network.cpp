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

std::int64_t tokensOf(const Pass& pass) {
    return std::int64_t{pass.rows} * pass.seqLen;
}

}  // namespace

StepContext Network::context(const Pass& pass) {
    return {m_pool,
            m_isa,
            m_plan.recipe.get(),
            pass.record ? &m_records : nullptr,
            pass.watch,
            m_config.train.fused,
            pass.firstMicroBatch,
            pass.lastMicroBatch,
            pass.noiseKey,
            m_activations.partials,
            partialsStride(m_config.model),
            m_plan.unpackA,
            m_plan.unpackB};
}

NormParameters Network::norm(const float* weight, const float* bias, float* mean, float* rstd) const {
    return {m_config.model.norm, static_cast<float>(m_config.model.normEpsilon), weight, bias, mean, rstd};
}

void Network::clearRecords() {
    std::fill(m_records.begin(), m_records.end(), TensorRecord{});
}

void Network::updateScales() {
    if (m_plan.recipe != nullptr) m_plan.recipe->update();
}

void Network::embed(const Pass& pass) {
    const std::int64_t d = m_config.model.dModel;
    const std::int64_t n = tokensOf(pass);
    float* out = m_activations.layers.front().input;
    const Range range("embedding", RangeKind::Kernel, {static_cast<double>(n * d), 12.0 * static_cast<double>(n * d)});
    m_pool.run([&](int chunk) {
        const auto [first, last] = m_pool.part(n, chunk);
        for (std::int64_t row = first; row < last; ++row) {
            float* target = out + row * d;
            std::memcpy(target, m_parameters.tokenEmbedding + std::int64_t{m_activations.inputs[row]} * d,
                        static_cast<std::size_t>(d) * sizeof(float));
            if (m_parameters.positionEmbedding == nullptr) continue;
            cpu::addTo(target, m_parameters.positionEmbedding + (row % pass.seqLen) * d, d, m_isa);
        }
    });
}

// Threads split the columns: each adds up its columns over all rows in row order. A tied head has written its share of
// the token embedding's gradient before.
void Network::embedBackward(const Pass& pass) {
    const std::int64_t d = m_config.model.dModel;
    const std::int64_t n = tokensOf(pass);
    const Range range("embedding backward", RangeKind::Kernel,
                      {2.0 * static_cast<double>(n * d), 20.0 * static_cast<double>(n * d)});
    m_pool.run([&](int chunk) {
        const auto [first, last] = m_pool.part(d, chunk, 16);
        const std::int64_t width = last - first;
        if (width == 0) return;
        const auto clear = [&](float* gradient, std::int64_t rows) {
            for (std::int64_t row = 0; row < rows; ++row) std::fill_n(gradient + row * d + first, width, 0.0F);
        };
        float* positions = m_gradients.positionEmbedding;
        if (pass.firstMicroBatch) {
            if (!m_config.model.tiedHead) clear(m_gradients.tokenEmbedding, m_config.model.vocab);
            if (positions != nullptr) clear(positions, m_config.model.seqLen);
        }
        for (std::int64_t row = 0; row < n; ++row) {
            const float* gradient = m_activations.dResidual + row * d + first;
            const std::int64_t token = m_activations.inputs[row];
            cpu::addTo(m_gradients.tokenEmbedding + token * d + first, gradient, width, m_isa);
            if (positions == nullptr) continue;
            cpu::addTo(positions + (row % pass.seqLen) * d + first, gradient, width, m_isa);
        }
    });
}

// Queries and keys, which lie side by side in a row of QKV; the gradient turns back.
void Network::rotate(const Pass& pass, float* qkv, bool inverse) {
    if (m_activations.rotary == nullptr) return;
    const ModelConfig& model = m_config.model;
    const std::int64_t turned = model.heads + model.keyValueHeads();
    const std::int64_t stride = (turned + model.keyValueHeads()) * model.headDim();
    const std::int64_t n = tokensOf(pass);
    const double elements = static_cast<double>(n * turned * model.headDim());
    const Range range(inverse ? "rotary backward" : "rotary", RangeKind::Kernel, {3.0 * elements, 8.0 * elements});
    m_pool.run([&](int chunk) {
        const auto [first, last] = m_pool.part(n, chunk);
        cpu::rotateHeads(qkv, first, last,
                         {pass.seqLen, stride, turned, model.headDim(), m_activations.rotary, inverse}, m_isa);
    });
}

void Network::attentionForward(StepContext& context, int index, const Pass& pass) {
    const ModelConfig& model = m_config.model;
    const std::int64_t n = tokensOf(pass);
    LayerActivations& a = m_activations.layers[static_cast<std::size_t>(index)];
    const LayerParameters& p = m_parameters.layers[static_cast<std::size_t>(index)];
    GemmLayer& qkv = linear(index, Linear::Qkv);
    {
        const Range range(qkv.rangeName, RangeKind::Module);
        normAndCast(context, a.input, norm(p.ln1Weight, p.ln1Bias, a.ln1Mean, a.ln1Rstd), n, qkv,
                    m_activations.attention);
        engine::forward(context, qkv, n, a.qkv, false);
    }
    rotate(pass, a.qkv, false);
    {
        const Range range("attention forward", RangeKind::Kernel,
                          attentionWork(pass.rows, model.heads, pass.seqLen, model.headDim(), 2));
        cpu::attentionForward(m_pool,
                              {pass.rows, pass.seqLen, model.heads, model.keyValueHeads(), model.headDim(), a.qkv,
                               a.probabilities, m_activations.attention},
                              m_isa);
    }
    GemmLayer& proj = linear(index, Linear::Proj);
    const Range range(proj.rangeName, RangeKind::Module);
    castOperand(context, proj.input, m_activations.attention, n, "cast input");
    copyRows(m_pool, a.middle, a.input, n * model.dModel);
    engine::forward(context, proj, n, a.middle, true);
}

void Network::blockForward(StepContext& context, int index, const Pass& pass) {
    const Range layerRange(m_layerNames[static_cast<std::size_t>(index)], RangeKind::Layer);
    const std::int64_t n = tokensOf(pass);
    LayerActivations& a = m_activations.layers[static_cast<std::size_t>(index)];
    const LayerParameters& p = m_parameters.layers[static_cast<std::size_t>(index)];
    const bool last = index + 1 == m_config.model.layers;
    float* output = last ? m_activations.output : m_activations.layers[static_cast<std::size_t>(index) + 1].input;

    attentionForward(context, index, pass);
    GemmLayer& fc1 = linear(index, Linear::Fc1);
    {
        const Range range(fc1.rangeName, RangeKind::Module);
        normAndCast(context, a.middle, norm(p.ln2Weight, p.ln2Bias, a.ln2Mean, a.ln2Rstd), n, fc1,
                    m_activations.attention);
        engine::forward(context, fc1, n, a.hidden, false);
    }
    GemmLayer& fc2 = linear(index, Linear::Fc2);
    const Range range(fc2.rangeName, RangeKind::Module);
    activateAndCast(context, m_config.model.activation, a.hidden, n, fc2, m_activations.wide);
    copyRows(m_pool, output, a.middle, n * m_config.model.dModel);
    engine::forward(context, fc2, n, output, true);
}

void Network::forward(const Pass& pass) {
    const Range phase("forward", RangeKind::Phase);
    StepContext step = context(pass);
    {
        const Range range("embedding", RangeKind::Layer);
        embed(pass);
    }
    for (int i = 0; i < m_config.model.layers; ++i) blockForward(step, i, pass);
    const Range range(head().rangeName, RangeKind::Layer);
    const std::int64_t n = tokensOf(pass);
    normAndCast(step, m_activations.output,
                norm(m_parameters.normWeight, m_parameters.normBias, m_activations.normMean, m_activations.normRstd), n,
                head(), m_activations.attention);
    engine::forward(step, head(), n, m_activations.logits, false);
}

double Network::loss(const Pass& pass, float gradScale) {
    const std::int64_t n = tokensOf(pass);
    const std::int64_t vocab = m_config.model.vocab;
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

void Network::mlpBackward(StepContext& context, int index, const Pass& pass) {
    const std::int64_t n = tokensOf(pass);
    LayerActivations& a = m_activations.layers[static_cast<std::size_t>(index)];
    const LayerParameters& p = m_parameters.layers[static_cast<std::size_t>(index)];
    LayerParameters& g = m_gradients.layers[static_cast<std::size_t>(index)];
    GemmLayer& fc2 = linear(index, Linear::Fc2);
    {
        const Range range(fc2.rangeName, RangeKind::Module);
        gradAndCast(context, m_activations.dResidual, n, fc2);
        engine::backward(context, fc2, n, m_activations.wide);
    }
    GemmLayer& fc1 = linear(index, Linear::Fc1);
    const Range range(fc1.rangeName, RangeKind::Module);
    activationGradAndCast(context, m_config.model.activation, a.hidden, m_activations.wide, n, fc1,
                          m_activations.dHidden);
    engine::backward(context, fc1, n, m_activations.dNormed);
    normBackward(context, m_activations.dNormed, a.middle, norm(p.ln2Weight, p.ln2Bias, a.ln2Mean, a.ln2Rstd), n,
                 m_config.model.dModel, m_activations.dResidual, g.ln2Weight, g.ln2Bias);
}

void Network::blockBackward(StepContext& context, int index, const Pass& pass) {
    const Range layerRange(m_layerNames[static_cast<std::size_t>(index)], RangeKind::Layer);
    const ModelConfig& model = m_config.model;
    const std::int64_t n = tokensOf(pass);
    LayerActivations& a = m_activations.layers[static_cast<std::size_t>(index)];
    const LayerParameters& p = m_parameters.layers[static_cast<std::size_t>(index)];
    LayerParameters& g = m_gradients.layers[static_cast<std::size_t>(index)];

    mlpBackward(context, index, pass);
    GemmLayer& proj = linear(index, Linear::Proj);
    {
        const Range range(proj.rangeName, RangeKind::Module);
        gradAndCast(context, m_activations.dResidual, n, proj);
        engine::backward(context, proj, n, m_activations.attention);
    }
    {
        const Range range("attention backward", RangeKind::Kernel,
                          attentionWork(pass.rows, model.heads, pass.seqLen, model.headDim(), 4));
        cpu::attentionBackward(m_pool,
                               {pass.rows, pass.seqLen, model.heads, model.keyValueHeads(), model.headDim(), a.qkv,
                                a.probabilities, m_activations.attention, m_activations.dQkv},
                               m_isa);
    }
    rotate(pass, m_activations.dQkv, true);
    GemmLayer& qkv = linear(index, Linear::Qkv);
    const Range range(qkv.rangeName, RangeKind::Module);
    gradAndCast(context, m_activations.dQkv, n, qkv);
    engine::backward(context, qkv, n, m_activations.dNormed);
    normBackward(context, m_activations.dNormed, a.input, norm(p.ln1Weight, p.ln1Bias, a.ln1Mean, a.ln1Rstd), n,
                 model.dModel, m_activations.dResidual, g.ln1Weight, g.ln1Bias);
}

void Network::backward(const Pass& pass) {
    const Range phase("backward", RangeKind::Phase);
    StepContext step = context(pass);
    const std::int64_t d = m_config.model.dModel;
    const std::int64_t n = tokensOf(pass);
    {
        const Range range(head().rangeName, RangeKind::Layer);
        gradAndCast(step, m_activations.logits, n, head());
        engine::backward(step, head(), n, m_activations.dNormed);
        m_pool.run([&](int chunk) {
            const auto [first, last] = m_pool.part(n * d, chunk, 16);
            std::fill(m_activations.dResidual + first, m_activations.dResidual + last, 0.0F);
        });
        normBackward(
            step, m_activations.dNormed, m_activations.output,
            norm(m_parameters.normWeight, m_parameters.normBias, m_activations.normMean, m_activations.normRstd), n, d,
            m_activations.dResidual, m_gradients.normWeight, m_gradients.normBias);
    }
    for (int i = m_config.model.layers - 1; i >= 0; --i) blockBackward(step, i, pass);
    const Range range("embedding", RangeKind::Layer);
    embedBackward(pass);
}

}  // namespace engine
