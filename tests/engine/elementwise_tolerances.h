// How far an element-wise kernel may be from an FP64 reference, one line per operation with the reason.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace testing_support {

struct Tolerance {
    std::string_view operation;
    double value;
    std::string_view reason;
};

inline constexpr double kUlp = 0x1p-23;  // FP32, relative

inline constexpr std::array kTolerances{
    Tolerance{"exp, relative", 4e-7, "the promise in kernels.h"},
    Tolerance{"gelu, per max(1,|x|)", 4 * kUlp, "1 + tanh cancels for negative x: a few roundings of 1 remain"},
    Tolerance{"geluBackward, per |dy|", 12 * kUlp, "Ref forms 1 − tanh², which cancels, times x·slope of up to 20"},
    Tolerance{"silu, relative", 8 * kUlp, "exp to 4e-7 (3.4 ulp), four roundings; |x| < 87"},
    Tolerance{"siluBackward, per |dy|", 6 * kUlp, "exp to 3.4 ulp, of which a quarter reaches σ and a third x·σ'"},
    Tolerance{"relu", 0.0, "selects"},
    Tolerance{"sumOfSquares, relative", 1e-12, "FP64 sums of a hundred thousand terms in another order"},
    Tolerance{"castSums, relative", 8 * kUlp,
              "Avx512 adds four squares in FP32; an error may be rounded to FP32 first"},
    Tolerance{"layerNorm, per element", 2e-5, "FP32 sums of up to 1,000 terms around a mean ten times the spread"},
    Tolerance{"layerNormBackward, per element", 1e-4, "the forward error once more, times two dot products"},
    Tolerance{"rmsNorm, relative", 2 * kUlp, "three roundings of half an ulp: rstd and two products"},
    Tolerance{"rmsNormBackward, per element", 16 * kUlp,
              "a dozen roundings of terms below 2, and of the sum with 1 or 2"},
    Tolerance{"rotary, per length of the pair", 2 * kUlp, "cosine, sine, two products and their sum, half an ulp each"},
    Tolerance{"loss, relative", 2e-6, "exponential 4e-7, its FP32 block sums, differences of logits rounded once"},
    Tolerance{"lossGradient, absolute", 2e-6, "as the loss; probabilities are at most 1"},
    Tolerance{"adamW, per max(1,|w|)", 1e-6, "five steps of a dozen FP32 roundings each, scaled by lr"},
};

/// An operation without an entry throws: no test can pass by a tolerance nobody wrote down.
inline double tolerance(std::string_view operation) {
    for (const Tolerance& entry : kTolerances) {
        if (entry.operation == operation) return entry.value;
    }
    throw std::logic_error("no tolerance for " + std::string(operation));
}

}  // namespace testing_support
