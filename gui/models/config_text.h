// The settings of a recorded run in words, read from the JSON that was stored with it. What an older program did not
// store had the default.
#pragma once

#include "profiling/queries.h"

#include <QString>

#include <vector>

namespace gui {

/// "4 × 256, 4 heads, T 128, B 8"; "–" for what is not stored.
QString modelText(const profiling::RunDescription& about);
/// "RMSNorm, SwiGLU 1 408, rotary positions, 2 key/value heads, no bias, tied head"; "" when the text is not ours.
QString partsText(const profiling::RunDescription& about);
/// "fp8 delayed hybrid, history 16, max, margin 0"; "" for runs without a recipe.
QString recipeText(const profiling::RunDescription& about);
/// Where quantised weights live and what they started from; "" for FP32 from random numbers.
QString weightsText(const profiling::RunDescription& about);
/// Layers that were to stay out of FP8; "" when none were.
QString keptText(const profiling::RunDescription& about);
/// "fallback above 1 bit, for 100 steps"; "" for the usual guard.
QString guardText(const profiling::RunDescription& about);

/// What runs in higher precision after these events of one run: "lm_head → BF16, layer.0.attn.qkv.input → BF16 and 3
/// more". "" when nothing does. `whole` is one line per layer or tensor with the reason.
struct FallbackText {
    QString text;
    QString whole;
};
FallbackText fallbackText(const std::vector<profiling::EventRow>& events);

}  // namespace gui
