// What to train and how: plain structs, their limits, and their JSON form as stored with every run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

enum class Precision : std::uint8_t { Auto = 1, Fp32 = 2, Bf16 = 3, Fp8 = 4 };

/// HYBRID: E4M3 forward (input, weight), E5M2 backward (grad_output). E4M3: everywhere.
enum class RecipeFormat : std::uint8_t { Hybrid = 1, E4M3 = 2 };
enum class AmaxAlgo : std::uint8_t { Max = 1, MostRecent = 2 };

/// Reaction to saturation or to a non-finite loss or gradient.
///   Off       nothing is checked.
///   Warn      an event is recorded; a step with a non-finite loss or gradient is skipped, not applied.
///   Fallback  as Warn, and a layer that keeps saturating, or whose step was not finite, moves to BF16.
///   Stop      the run ends with an error after the step was skipped.
enum class Guard : std::uint8_t { Off = 1, Warn = 2, Fallback = 3, Stop = 4 };

/// Causal GPT-style language model: learned positions, pre-LayerNorm, GELU (tanh form), untied head.
struct ModelConfig {
    int layers = 4;    // 1 … 256
    int dModel = 256;  // 8 … 16384, divisible by heads
    int heads = 4;     // 1 … 256
    int seqLen = 128;  // tokens per sequence, 2 … 16384
    int vocab = 0;     // 0: follows the data

    bool operator==(const ModelConfig&) const = default;
};

/// Delayed scaling with Transformer Engine's names and defaults, but for the history length (TE: 1024).
struct Fp8Recipe {
    RecipeFormat format = RecipeFormat::Hybrid;
    int margin = 0;           // scale is divided by 2^margin; 0 … 32
    int amaxHistoryLen = 16;  // steps, 1 … 65536
    AmaxAlgo amaxAlgo = AmaxAlgo::Max;

    bool operator==(const Fp8Recipe&) const = default;
};

struct TrainConfig {
    Precision precision = Precision::Auto;
    int batch = 8;             // sequences per step, 1 … 65536
    int steps = 300;           // 1 … 1e9
    double lr = 1e-3;          // peak; linear warm-up, then cosine to a tenth of it
    int warmupSteps = 20;      // clipped to steps / 2
    double weightDecay = 0.1;  // decoupled, on matrices only
    double beta1 = 0.9;
    double beta2 = 0.95;
    double gradClip = 1.0;  // global norm; 0 switches clipping off
    std::uint64_t seed = 1;
    int threads = 0;  // 0: one per core
    bool fused = true;
    std::string keepBf16;  // comma-separated globs of layer names kept in BF16
    Guard guard = Guard::Warn;
    int snapshotEvery = 1;        // steps between snapshots; 0: none
    int validateEvery = 50;       // steps between validations; 0: only after the last step
    std::string device = "auto";  // auto | cpu | cuda[:N]
    std::string data = "stride";  // stride | text:PATH | tokens:PATH

    bool operator==(const TrainConfig&) const = default;
};

struct RunConfig {
    ModelConfig model;
    Fp8Recipe recipe;
    TrainConfig train;

    bool operator==(const RunConfig&) const = default;
};

/// One thing wrong with a configuration. `field` is the command-line option without its dashes ("heads"),
/// which the forms use to put `why` and `fix` beside the right input.
struct ConfigIssue {
    std::string field;
    std::string why;
    std::string fix;
};

/// Everything that can be said without opening the data; empty when the configuration is sound.
std::vector<ConfigIssue> validate(const RunConfig& config);

/// Size of a run, from the model alone. vocab must be set.
struct RunEstimate {
    std::int64_t parameters;   // trained numbers
    std::int64_t memoryBytes;  // parameters, gradients, optimizer, operands and activations together
    double flopsPerStep;       // matrix products, forward and backward
    std::int64_t tokensPerStep;
};
RunEstimate estimate(const RunConfig& config);

std::string toJson(const ModelConfig& model);
std::string toJson(const Fp8Recipe& recipe);
std::string toJson(const TrainConfig& train);
/// Throws Error when the text is not what toJson writes.
RunConfig runConfigFromJson(const std::string& model, const std::string& recipe, const std::string& train);

/// Names as on the command line: "fp8", "hybrid", "most_recent", "fallback". parse… throws Error (Usage) on others.
const char* name(Precision precision);
const char* name(RecipeFormat format);
const char* name(AmaxAlgo algo);
const char* name(Guard guard);
Precision parsePrecision(const std::string& text);
RecipeFormat parseRecipeFormat(const std::string& text);
AmaxAlgo parseAmaxAlgo(const std::string& text);
Guard parseGuard(const std::string& text);

/// Short text for lists and reports: "fp8 delayed hybrid", "bf16".
std::string precisionLabel(Precision precision, const Fp8Recipe& recipe);

/// The built-in models: tutorial, small, base, large (resources/presets/*.toml, compiled in).
std::vector<std::string> presetNames();
std::string presetSummary(const std::string& preset);
/// Throws Error (Usage) for an unknown name.
RunConfig presetConfig(const std::string& preset);

}  // namespace engine
