// Validation and greedy generation: forward passes that leave nothing of training changed.
#include "engine/error.h"
#include "src/nvtx_ranges.h"
#include "src/trainer_impl.h"

#include <algorithm>
#include <limits>

namespace engine {

namespace {

/// Enough held-out sequences for a steady mean, few enough to cost little beside training.
constexpr int kValidationBatches = 8;

std::string joined(const std::vector<int>& tokens) {
    std::string text;
    for (int token : tokens) {
        if (!text.empty()) text += ',';
        text += std::to_string(token);
    }
    return text;
}

}  // namespace

double TrainerImpl::validationLoss(const Stop& stop) {
    ENGINE_CHECK(m_dataset != nullptr, "a trainer loaded for generation has no data");
    const Range range("validation", RangeKind::Phase);
    const int seqLen = m_config.model.seqLen;
    const int batch = m_config.train.batch;
    const int rows = std::min(m_dataset->validationRows(seqLen), kValidationBatches * batch);
    double sum = 0;
    for (int done = 0; done < rows; done += batch) {
        if (stop && stop()) return std::numeric_limits<double>::quiet_NaN();
        const int now = std::min(batch, rows - done);
        for (int row = 0; row < now; ++row) {
            m_dataset->validationRow(done + row, seqLen, m_network->inputs() + std::ptrdiff_t{row} * seqLen,
                                     m_network->targets() + std::ptrdiff_t{row} * seqLen);
        }
        const Pass pass{now, seqLen, false, {}};
        m_network->forward(pass);
        sum += m_network->loss(pass, 0.0F) * now;
    }
    const double loss = sum / rows;
    if (m_observer != nullptr && m_state.step > 0) m_observer->onValidation(m_state.step - 1, loss);
    return loss;
}

std::vector<int> TrainerImpl::generate(const std::vector<int>& prompt, int tokens) {
    if (prompt.empty()) {
        throw Error(ErrorKind::Usage, "--prompt", "it is empty", "give at least one token");
    }
    for (int token : prompt) {
        if (token >= 0 && token < m_config.model.vocab) continue;
        throw Error(ErrorKind::Usage, "--prompt", "token " + std::to_string(token) + " is outside the vocabulary",
                    "use tokens from 0 to " + std::to_string(m_config.model.vocab - 1));
    }
    std::vector<int> sequence = prompt;
    for (int i = 0; i < tokens; ++i) {
        const std::size_t length = std::min(sequence.size(), static_cast<std::size_t>(m_config.model.seqLen));
        std::copy(sequence.end() - static_cast<std::ptrdiff_t>(length), sequence.end(), m_network->inputs());
        m_network->forward({1, static_cast<int>(length), false, {}});
        const float* last = m_network->logits() + (static_cast<std::int64_t>(length) - 1) * m_config.model.vocab;
        sequence.push_back(static_cast<int>(std::max_element(last, last + m_config.model.vocab) - last));
    }
    return {sequence.begin() + static_cast<std::ptrdiff_t>(prompt.size()), sequence.end()};
}

StrideCheck TrainerImpl::checkStride(int prompts, const Stop& stop) {
    if (m_dataset == nullptr) return {0, 0};
    const int startLength = std::min(4, m_config.model.seqLen / 2);
    const int length = std::min(12, m_config.model.seqLen - startLength);
    StrideCheck check{0, 0};
    for (const Dataset::Prompt& prompt : m_dataset->prompts(prompts, startLength, length)) {
        if (stop && stop()) break;
        const std::vector<int> output = generate(prompt.start, length);
        const bool right = output == prompt.expected;
        check.correct += right ? 1 : 0;
        ++check.total;
        if (m_observer != nullptr) {
            m_observer->onGeneration({m_state.step - 1, joined(prompt.start), joined(output), right ? 1 : 0, 1});
        }
    }
    return check;
}

}  // namespace engine
