// What to train and how: plain structs, their limits, and their JSON form as stored with every run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

enum class Precision : std::uint8_t { Auto = 1, Fp32 = 2, Bf16 = 3, Fp8 = 4 };

/// How scales are found and how many elements share one; see engine/src/recipes.
///   Delayed  one scale per tensor, from the amax of earlier steps
///   Current  one scale per tensor, from the tensor itself
///   Block    FP32 scales: 1×128 for input and grad_output, 128×128 for weight
///   MxFp8    power-of-two scales (E8M0) per 32 elements
///   NvFp4    FP4 (E2M1) elements, E4M3 scales per 16 elements, one FP32 scale per tensor
enum class RecipeKind : std::uint8_t { Delayed = 1, Current = 2, Block = 3, MxFp8 = 4, NvFp4 = 5 };

/// HYBRID: E4M3 forward (input, weight), E5M2 backward (grad_output). E4M3: everywhere. Auto: the recipe's own,
/// HYBRID for delayed and current scaling, E4M3 for the block recipes. NVFP4 has no choice: E2M1.
enum class RecipeFormat : std::uint8_t { Auto = 0, Hybrid = 1, E4M3 = 2 };
enum class AmaxAlgo : std::uint8_t { Max = 1, MostRecent = 2 };
enum class Switch : std::uint8_t { Auto = 0, On = 1, Off = 2 };

/// Reaction to saturation beyond guardLimit, and to a non-finite amax, loss or gradient.
///   Off       nothing is checked.
///   Warn      an event is recorded; a step with a non-finite loss or gradient is skipped, not applied.
///   Skip      as Warn, and a step with a tensor that saturates beyond the limit is skipped too.
///   Fallback  as Warn, and a tensor that keeps saturating or is not finite goes to BF16 for guardSteps steps.
///   Stop      the run ends with an error after the step was skipped.
/// A skipped step leaves parameters, moments and AdamW's count exactly as they were; amax histories roll on, so that
/// scales recover.
enum class Guard : std::uint8_t { Off = 1, Warn = 2, Fallback = 3, Stop = 4, Skip = 5 };

enum class Norm : std::uint8_t { LayerNorm = 1, RmsNorm = 2 };
/// The gated ones read twice as many inputs: act(first half) · second half.
enum class Activation : std::uint8_t { Gelu = 1, Relu = 2, GeGlu = 3, SwiGlu = 4 };
constexpr bool isGated(Activation activation) {
    return activation == Activation::GeGlu || activation == Activation::SwiGlu;
}
enum class Positions : std::uint8_t { Learned = 1, Rotary = 2 };

/// Where the weights of FP8 layers live (Transformer Engine: quantized_model_init).
///   Fp32         FP32 in the model, cast before use.
///   Fp8          in the model and in the optimizer only as quantised; every update is rounded back into the recipe.
///   Fp8KeepInit  quantised in the model; the optimizer keeps FP32 masters that start from the initial values before
///                their quantisation (preserve_high_precision_init_val).
enum class WeightStorage : std::uint8_t { Fp32 = 1, Fp8 = 2, Fp8KeepInit = 3 };

/// Causal GPT-style language model with pre-normalisation.
struct ModelConfig {
    int layers = 4;    // 1 … 256
    int dModel = 256;  // 8 … 16384, divisible by heads
    int heads = 4;     // 1 … 256
    int seqLen = 128;  // tokens per sequence, 2 … 16384
    int vocab = 0;     // 0: follows the data
    int kvHeads = 0;   // key and value heads of grouped-query attention, divides heads; 0: as many as heads
    int ffn = 0;       // width of the MLP; 0: 4·dModel
    Norm norm = Norm::LayerNorm;
    Activation activation = Activation::Gelu;
    Positions positions = Positions::Learned;
    double ropeTheta = 10000.0;  // base of the rotary angles
    double normEpsilon = 1e-5;
    bool bias = true;       // of Linear layers and LayerNorm
    bool tiedHead = false;  // lm_head shares the token embedding's weight

    int headDim() const { return dModel / heads; }
    int keyValueHeads() const { return kvHeads > 0 ? kvHeads : heads; }
    int ffnWidth() const { return ffn > 0 ? ffn : 4 * dModel; }

    bool operator==(const ModelConfig&) const = default;
};

/// Transformer Engine's names and defaults, but for the history length (TE: 1024).
struct Fp8Recipe {
    RecipeKind kind = RecipeKind::Delayed;
    RecipeFormat format = RecipeFormat::Auto;
    int margin = 0;           // delayed: scale is divided by 2^margin; 0 … 32
    int amaxHistoryLen = 16;  // delayed: steps, 1 … 65536
    AmaxAlgo amaxAlgo = AmaxAlgo::Max;
    Switch powerOfTwoScales = Switch::Auto;  // current, block: scales rounded down to powers of two; auto: block only
    double amaxEpsilon = 0.0;                // current, block: smallest amax that a scale is made from
    bool weightTiles = true;                 // block, nvfp4: a weight's blocks are squares, 128×128 and 16×16
    bool stochasticRounding = true;          // nvfp4: of grad_output
    bool hadamard = true;                    // nvfp4: 16-point transform of the operands of wgrad

    bool operator==(const Fp8Recipe&) const = default;
};
/// `format` with Auto resolved.
RecipeFormat effectiveFormat(const Fp8Recipe& recipe);
/// `powerOfTwoScales` with Auto resolved.
bool usesPowerOfTwoScales(const Fp8Recipe& recipe);

struct TrainConfig {
    Precision precision = Precision::Auto;
    int batch = 8;             // sequences per micro-batch, 1 … 65536
    int accumulate = 1;        // micro-batches per step, 1 … 4096; weights are cast once per step
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
    std::string keepBf16;    // comma-separated globs of layer names kept in BF16
    std::string keepFp32;    // the same for FP32; wins over keepBf16
    int bf16EdgeLayers = 0;  // first and last Transformer layers kept in BF16, this many at either end
    WeightStorage weights = WeightStorage::Fp32;
    Guard guard = Guard::Warn;
    double guardLimit = 1.0;  // bits by which amax·scale may exceed the format's largest value
    int guardSteps = 0;       // fallback: steps in BF16; 0: the rest of the run
    int snapshotEvery = 1;    // steps between snapshots; 0: none
    int snapshotFrom = 0;     // first step with a snapshot
    int snapshotTo = -1;      // last step with a snapshot; −1: no end
    int exponentsEvery = 0;   // steps between exponent histograms (at snapshot steps); 0: none
    std::string observe = "input,weight,grad_output";  // roles: these and output, wgrad, dgrad
    int validateEvery = 50;                            // steps between validations; 0: only after the last step
    std::string init;                                  // safetensors file that the weights start from; empty: random
    std::string device = "auto";                       // auto | cpu | cuda[:N]
    std::string data = "stride";                       // stride | text:PATH | tokens:PATH

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
/// Throws Error when the text is not what toJson writes. Settings that an older program did not know keep their
/// defaults.
RunConfig runConfigFromJson(const std::string& model, const std::string& recipe, const std::string& train);

/// Names as on the command line: "fp8", "hybrid", "most_recent", "fallback". `Enum` is any enumeration above.
template <typename Enum>
const char* name(Enum value);
/// Throws Error (Usage) on a name that is none, naming `option` and the choices.
template <typename Enum>
Enum parse(const std::string& text);
/// Every name, in the order of the list that the command line and the forms show.
template <typename Enum>
std::vector<std::string> choices();

/// Short text for lists and reports: "fp8 delayed hybrid", "bf16", "fp4 nvfp4".
std::string precisionLabel(Precision precision, const Fp8Recipe& recipe);

/// The built-in models (resources/presets/*.toml, compiled in).
std::vector<std::string> presetNames();
std::string presetSummary(const std::string& preset);
/// Throws Error (Usage) for an unknown name.
RunConfig presetConfig(const std::string& preset);

}  // namespace engine
