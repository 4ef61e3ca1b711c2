// The model's loss in FP64, written from the formulas and sharing no code with the engine: what the engine's
// gradients are held against by central differences.
#pragma once

#include "engine/config.h"

#include <cmath>
#include <string>
#include <vector>

namespace reference {

using Matrix = std::vector<double>;  // row-major

/// Parameters in the engine's order, unpadded: one vector per tensor.
struct Parameters {
    std::vector<Matrix> tensors;
};

class Model {
public:
    explicit Model(const engine::ModelConfig& config) : m_config(config) {}

    /// Mean negative log likelihood of `targets` given `inputs` (rows sequences of seqLen tokens).
    double loss(const Parameters& p, const std::vector<int>& inputs, const std::vector<int>& targets, int rows) const {
        double sum = 0;
        const auto t = static_cast<std::size_t>(m_config.seqLen);
        for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
            const std::vector<int> in(inputs.begin() + static_cast<std::ptrdiff_t>(row * t),
                                      inputs.begin() + static_cast<std::ptrdiff_t>((row + 1) * t));
            const std::vector<int> out(targets.begin() + static_cast<std::ptrdiff_t>(row * t),
                                       targets.begin() + static_cast<std::ptrdiff_t>((row + 1) * t));
            sum += sequenceLoss(p, in, out);
        }
        return sum / static_cast<double>(inputs.size());
    }

private:
    static Matrix linear(const Matrix& x, std::size_t rows, const Matrix& w, const Matrix* bias, std::size_t in,
                         std::size_t out) {
        Matrix y(rows * out);
        for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t o = 0; o < out; ++o) {
                double sum = bias != nullptr ? (*bias)[o] : 0.0;
                for (std::size_t i = 0; i < in; ++i) sum += x[r * in + i] * w[o * in + i];
                y[r * out + o] = sum;
            }
        }
        return y;
    }

    static Matrix layerNorm(const Matrix& x, std::size_t rows, std::size_t d, const Matrix& w, const Matrix& b) {
        Matrix y(x.size());
        for (std::size_t r = 0; r < rows; ++r) {
            double mean = 0;
            double variance = 0;
            for (std::size_t i = 0; i < d; ++i) mean += x[r * d + i] / static_cast<double>(d);
            for (std::size_t i = 0; i < d; ++i) variance += std::pow(x[r * d + i] - mean, 2) / static_cast<double>(d);
            for (std::size_t i = 0; i < d; ++i) {
                y[r * d + i] = (x[r * d + i] - mean) / std::sqrt(variance + 1e-5) * w[i] + b[i];
            }
        }
        return y;
    }

    Matrix attention(const Matrix& qkv, std::size_t t, std::size_t d) const {
        const auto heads = static_cast<std::size_t>(m_config.heads);
        const std::size_t width = d / heads;
        Matrix out(t * d, 0.0);
        for (std::size_t h = 0; h < heads; ++h) {
            for (std::size_t i = 0; i < t; ++i) {
                std::vector<double> weights(i + 1);
                double total = 0;
                for (std::size_t j = 0; j <= i; ++j) {
                    double score = 0;
                    for (std::size_t c = 0; c < width; ++c) {
                        score += qkv[i * 3 * d + h * width + c] * qkv[j * 3 * d + d + h * width + c];
                    }
                    weights[j] = std::exp(score / std::sqrt(static_cast<double>(width)));
                    total += weights[j];
                }
                for (std::size_t j = 0; j <= i; ++j) {
                    for (std::size_t c = 0; c < width; ++c) {
                        out[i * d + h * width + c] += weights[j] / total * qkv[j * 3 * d + 2 * d + h * width + c];
                    }
                }
            }
        }
        return out;
    }

    double sequenceLoss(const Parameters& p, const std::vector<int>& in, const std::vector<int>& out) const {
        const auto t = static_cast<std::size_t>(m_config.seqLen);
        const auto d = static_cast<std::size_t>(m_config.dModel);
        const auto vocab = static_cast<std::size_t>(m_config.vocab);
        std::size_t next = 2;
        const auto take = [&]() -> const Matrix& { return p.tensors[next++]; };
        Matrix x(t * d);
        for (std::size_t i = 0; i < t; ++i) {
            for (std::size_t c = 0; c < d; ++c) {
                x[i * d + c] = p.tensors[0][static_cast<std::size_t>(in[i]) * d + c] + p.tensors[1][i * d + c];
            }
        }
        for (int layer = 0; layer < m_config.layers; ++layer) {
            const Matrix &ln1w = take(), &ln1b = take(), &qkvw = take(), &qkvb = take(), &projw = take(),
                         &projb = take(), &ln2w = take(), &ln2b = take(), &fc1w = take(), &fc1b = take(),
                         &fc2w = take(), &fc2b = take();
            const Matrix qkv = linear(layerNorm(x, t, d, ln1w, ln1b), t, qkvw, &qkvb, d, 3 * d);
            const Matrix mixed = linear(attention(qkv, t, d), t, projw, &projb, d, d);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] += mixed[i];
            Matrix hidden = linear(layerNorm(x, t, d, ln2w, ln2b), t, fc1w, &fc1b, d, 4 * d);
            for (double& h : hidden) {
                h = 0.5 * h * (1.0 + std::tanh(std::sqrt(2.0 / 3.14159265358979323846) * (h + 0.044715 * h * h * h)));
            }
            const Matrix added = linear(hidden, t, fc2w, &fc2b, 4 * d, d);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] += added[i];
        }
        const Matrix &normw = take(), &normb = take(), &headw = take();
        const Matrix logits = linear(layerNorm(x, t, d, normw, normb), t, headw, nullptr, d, vocab);
        double sum = 0;
        for (std::size_t i = 0; i < t; ++i) {
            double total = 0;
            for (std::size_t v = 0; v < vocab; ++v) total += std::exp(logits[i * vocab + v]);
            sum += std::log(total) - logits[i * vocab + static_cast<std::size_t>(out[i])];
        }
        return sum;
    }

    engine::ModelConfig m_config;
};

}  // namespace reference
