// Where tokens come from: arithmetic stride sequences, the bytes of a file, or a token file. A batch depends on the
// seed and the step alone.
#pragma once

#include "engine/config.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

class Dataset {
public:
    /// Opens config.train.data. Throws Error: Failure for files that cannot be read, Usage for a text that is too
    /// short for the configured batch and sequence length or for an unknown kind.
    static std::unique_ptr<Dataset> open(const RunConfig& config);
    virtual ~Dataset() = default;

    virtual int vocab() const = 0;

    /// Writes `rows` sequences of length seqLen (inputs) and the same moved on by one (targets).
    virtual void trainBatch(std::int64_t step, int rows, int seqLen, int* inputs, int* targets) const = 0;

    /// Held-out sequences in a fixed order; row counts from 0 and wraps around after validationRows().
    virtual int validationRows(int seqLen) const = 0;
    virtual void validationRow(int row, int seqLen, int* inputs, int* targets) const = 0;

    /// Start and continuation of held-out stride sequences, each once: fewer than `count` when fewer were held out.
    /// Empty for other data.
    struct Prompt {
        std::vector<int> start;
        std::vector<int> expected;
    };
    virtual std::vector<Prompt> prompts(int count, int startLength, int length) const;
};

}  // namespace engine
