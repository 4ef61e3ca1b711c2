// The engine's backward pass against central differences of a float64 model that shares no code with it.
#include "reference_model.h"
#include "src/network.h"
#include "src/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using engine::Precision;
using engine::RunConfig;

RunConfig smallConfig() {
    RunConfig config;
    config.model = {2, 16, 2, 9, 24};
    config.train.batch = 2;
    config.train.precision = Precision::Fp32;
    config.train.seed = 7;
    return config;
}

class Gradients : public testing::Test {
protected:
    Gradients() : m_network(m_config, Precision::Fp32, 2, engine::cpu::bestIsa()) {
        // Biases and norm weights away from 0 and 1, so that no gradient vanishes by accident.
        for (const engine::ParameterSpec& spec : m_network.table()) {
            for (std::int64_t i = 0; i < spec.count(); ++i) {
                m_network.parameters()[spec.offset + i] +=
                    0.1F *
                    engine::randomNormal(static_cast<std::uint64_t>(spec.offset) + 99, static_cast<std::uint64_t>(i));
            }
        }
        const auto tokens = static_cast<std::uint64_t>(m_config.train.batch * m_config.model.seqLen);
        for (std::uint64_t i = 0; i < tokens; ++i) {
            m_inputs.push_back(
                static_cast<int>(engine::randomBelow(1, i, static_cast<std::uint64_t>(m_config.model.vocab))));
            m_targets.push_back(
                static_cast<int>(engine::randomBelow(2, i, static_cast<std::uint64_t>(m_config.model.vocab))));
        }
        std::copy(m_inputs.begin(), m_inputs.end(), m_network.inputs());
        std::copy(m_targets.begin(), m_targets.end(), m_network.targets());
        for (const engine::ParameterSpec& spec : m_network.table()) {
            const float* values = m_network.parameters() + spec.offset;
            m_parameters.tensors.emplace_back(values, values + spec.count());
        }
    }

    double referenceLoss() const {
        return reference::Model(m_config.model).loss(m_parameters, m_inputs, m_targets, m_config.train.batch);
    }

    // ∂loss/∂parameter by a central difference in float64.
    double difference(std::size_t tensor, std::size_t index) {
        constexpr double kStep = 1e-5;
        double& value = m_parameters.tensors[tensor][index];
        const double saved = value;
        value = saved + kStep;
        const double above = referenceLoss();
        value = saved - kStep;
        const double below = referenceLoss();
        value = saved;
        return (above - below) / (2 * kStep);
    }

    RunConfig m_config = smallConfig();
    engine::Network m_network;
    engine::Pass m_pass{m_config.train.batch, m_config.model.seqLen, true, {}};
    std::vector<int> m_inputs;
    std::vector<int> m_targets;
    reference::Parameters m_parameters;
};

TEST_F(Gradients, lossEqualsTheFloat64Reference) {
    m_network.forward(m_pass);
    const double loss = m_network.loss(m_pass, 0.0F);
    EXPECT_NEAR(loss, referenceLoss(), 1e-5 * referenceLoss());
}

TEST_F(Gradients, everyParameterTensorAgreesWithCentralDifferences) {
    m_network.forward(m_pass);
    m_network.loss(m_pass, 1.0F / static_cast<float>(m_inputs.size()));
    m_network.backward(m_pass);
    double worst = 0;
    for (std::size_t tensor = 0; tensor < m_network.table().size(); ++tensor) {
        const engine::ParameterSpec& spec = m_network.table()[tensor];
        // Up to 96 entries of each tensor, spread evenly; the first and last always among them.
        const std::int64_t samples = std::min<std::int64_t>(96, spec.count());
        double error = 0;
        double norm = 0;
        for (std::int64_t s = 0; s < samples; ++s) {
            const auto index = samples > 1 ? s * (spec.count() - 1) / (samples - 1) : 0;
            const double expected = difference(tensor, static_cast<std::size_t>(index));
            const double actual = m_network.gradients()[spec.offset + index];
            error += (actual - expected) * (actual - expected);
            norm += expected * expected;
        }
        const double relative = std::sqrt(error / norm);
        worst = std::max(worst, relative);
        EXPECT_LT(relative, 1e-3) << spec.name;
        EXPECT_GT(norm, 0.0) << spec.name << ": a test of nothing";
    }
    RecordProperty("worst_relative_error", std::to_string(worst));
    std::printf("worst relative error over %zu tensors: %.2e\n", m_network.table().size(), worst);
}

}  // namespace
