// Both families in the same way: find the sizes in a few tensors, then ask for every tensor by name and shape.
#include "src/weight_names.h"

#include "src/pretrained_config.h"
#include "src/safetensors.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

namespace engine {

namespace {

constexpr const char* kGetWhole =
    "get the whole model, or name its .safetensors.index.json when it lies in several files";
constexpr const char* kOtherModel = "use a model of GPT-2's or LLaMA's shape";

/// Takes tensors out of the file one by one and remembers what was taken.
class Planner {
public:
    Planner(const WeightFile& file, const PretrainedConfig& config, std::string prefix)
        : m_file(file), m_config(config), m_prefix(std::move(prefix)) {}

    WeightPlan plan;

    /// A dimension of a matrix that decides sizes of others.
    std::int64_t size(const std::string& theirs, std::size_t axis) const {
        const WeightTensor& tensor = get(theirs, "the size of the model");
        if (tensor.shape.size() != 2 || tensor.elements == 0) {
            throw failure(theirs, "its shape is " + shapeText(tensor.shape) + ", not that of a matrix", kOtherModel);
        }
        return tensor.shape[axis];
    }

    void vector(const std::string& ours, const std::string& theirs, std::int64_t length) {
        plan.entries.push_back({ours, 1, length, false, {{&take(ours, theirs, {length}), 0, 1}}});
    }

    void matrix(const std::string& ours, const std::string& theirs, std::int64_t rows, std::int64_t cols) {
        stack(ours, {{theirs, rows}}, cols);
    }

    /// GPT-2's Conv1D keeps its weights [in][out].
    void transposed(const std::string& ours, const std::string& theirs, std::int64_t rows, std::int64_t cols) {
        plan.entries.push_back({ours, rows, cols, true, {{&take(ours, theirs, {cols, rows}), 0, rows}}});
    }

    /// Several matrices, one below the other.
    void stack(const std::string& ours, const std::vector<std::pair<std::string, std::int64_t>>& parts,
               std::int64_t cols) {
        WeightEntry entry{ours, 0, cols, false, {}};
        for (const auto& [theirs, rows] : parts) {
            entry.sources.push_back({&take(ours, theirs, {rows, cols}), entry.rows, rows});
            entry.rows += rows;
        }
        plan.entries.push_back(std::move(entry));
    }

    /// The head, or none where the file has none: it is the token embedding then. It stands outside the prefix.
    void head() {
        WeightModel& model = plan.model;
        model.tied = m_file.find("lm_head.weight") == nullptr && m_config.tiedHead.value_or(true);
        if (model.tied) return;
        m_prefix.clear();
        matrix("lm_head.weight", "lm_head.weight", model.vocab, model.dModel);
    }

    /// The number of layers: config.json's, or one more than the highest in a name.
    void countLayers(const std::string& start) {
        plan.model.layers = m_config.layers;
        if (m_config.layers > 0) return;
        for (const WeightTensor& tensor : m_file.tensors()) {
            const std::string head = m_prefix + start;
            if (!tensor.name.starts_with(head)) continue;
            const char* first = tensor.name.data() + head.size();
            const char* last = tensor.name.data() + tensor.name.size();
            int number = 0;
            const auto [end, error] = std::from_chars(first, last, number);
            if (error != std::errc() || end == last || *end != '.') continue;
            plan.model.layers = std::max(plan.model.layers, std::int64_t{number} + 1);
        }
    }

    void finish(const std::vector<std::string>& buffers) {
        for (const WeightTensor& tensor : m_file.tensors()) {
            const bool buffer = std::any_of(buffers.begin(), buffers.end(),
                                            [&](const std::string& end) { return tensor.name.ends_with(end); });
            if (!buffer && !m_taken.contains(&tensor)) plan.unused.push_back(tensor.name);
        }
    }

private:
    const WeightTensor& get(const std::string& theirs, const std::string& purpose) const {
        const WeightTensor* tensor = m_file.find(m_prefix + theirs);
        if (tensor == nullptr) throw failure(theirs, "it is missing, and " + purpose + " needs it", kGetWhole);
        return *tensor;
    }

    const WeightTensor& take(const std::string& ours, const std::string& theirs,
                             const std::vector<std::int64_t>& shape) {
        const WeightTensor& tensor = get(theirs, ours + " " + shapeText(shape));
        if (tensor.shape != shape) {
            throw failure(theirs,
                          "its shape is " + shapeText(tensor.shape) + ", but " + ours + " needs " + shapeText(shape),
                          kOtherModel);
        }
        if (!isReadable(tensor.type)) {
            throw failure(theirs, std::string("it holds ") + name(tensor.type) + ", not floating-point weights",
                          "use the model before it was quantised");
        }
        for (const char* end : {"_scale", "_scale_inv"}) {
            if (m_file.find(tensor.name + end) == nullptr) continue;
            throw failure(theirs,
                          "its numbers are scaled by " + m_prefix + theirs + end + ", which is not applied here",
                          "use the model before it was quantised");
        }
        m_taken.insert(&tensor);
        return tensor;
    }

    Error failure(const std::string& theirs, const std::string& why, const std::string& fix) const {
        return tensorFailure(m_file.path(), m_prefix + theirs, why, fix);
    }

    const WeightFile& m_file;
    const PretrainedConfig& m_config;
    std::string m_prefix;
    std::unordered_set<const WeightTensor*> m_taken;
};

void planGpt2(Planner& planner) {
    WeightModel& model = planner.plan.model;
    model.architecture = "gpt2";
    planner.countLayers("h.");
    model.vocab = planner.size("wte.weight", 0);
    model.dModel = planner.size("wte.weight", 1);
    model.seqLen = planner.size("wpe.weight", 0);
    model.ffn = planner.size("h.0.mlp.c_fc.weight", 1);
    model.kvWidth = model.dModel;
    const std::int64_t d = model.dModel;
    planner.matrix("token_embedding.weight", "wte.weight", model.vocab, d);
    planner.matrix("position_embedding.weight", "wpe.weight", model.seqLen, d);
    const auto norm = [&](const std::string& ours, const std::string& theirs) {
        planner.vector(ours + ".weight", theirs + ".weight", d);
        planner.vector(ours + ".bias", theirs + ".bias", d);
    };
    const auto linear = [&](const std::string& ours, const std::string& theirs, std::int64_t out, std::int64_t in) {
        planner.transposed(ours + ".weight", theirs + ".weight", out, in);
        planner.vector(ours + ".bias", theirs + ".bias", out);
    };
    for (std::int64_t i = 0; i < model.layers; ++i) {
        const std::string ours = "layer." + std::to_string(i);
        const std::string theirs = "h." + std::to_string(i);
        norm(ours + ".ln1", theirs + ".ln_1");
        linear(ours + ".attn.qkv", theirs + ".attn.c_attn", 3 * d, d);
        linear(ours + ".attn.proj", theirs + ".attn.c_proj", d, d);
        norm(ours + ".ln2", theirs + ".ln_2");
        linear(ours + ".mlp.fc1", theirs + ".mlp.c_fc", model.ffn, d);
        linear(ours + ".mlp.fc2", theirs + ".mlp.c_proj", d, model.ffn);
    }
    norm("final_norm", "ln_f");
    planner.head();
    planner.finish({".attn.bias", ".attn.masked_bias"});
}

void planLlama(Planner& planner, const PretrainedConfig& config) {
    WeightModel& model = planner.plan.model;
    model.architecture = "llama";
    planner.countLayers("layers.");
    model.vocab = planner.size("embed_tokens.weight", 0);
    model.dModel = planner.size("embed_tokens.weight", 1);
    model.seqLen = config.seqLen;
    model.ffn = planner.size("layers.0.mlp.gate_proj.weight", 0);
    model.kvWidth = planner.size("layers.0.self_attn.k_proj.weight", 0);
    const std::int64_t d = model.dModel;
    planner.matrix("token_embedding.weight", "embed_tokens.weight", model.vocab, d);
    for (std::int64_t i = 0; i < model.layers; ++i) {
        const std::string ours = "layer." + std::to_string(i);
        const std::string theirs = "layers." + std::to_string(i);
        const std::string attention = theirs + ".self_attn.";
        const std::string mlp = theirs + ".mlp.";
        planner.vector(ours + ".ln1.weight", theirs + ".input_layernorm.weight", d);
        planner.stack(ours + ".attn.qkv.weight",
                      {{attention + "q_proj.weight", d},
                       {attention + "k_proj.weight", model.kvWidth},
                       {attention + "v_proj.weight", model.kvWidth}},
                      d);
        planner.matrix(ours + ".attn.proj.weight", attention + "o_proj.weight", d, d);
        planner.vector(ours + ".ln2.weight", theirs + ".post_attention_layernorm.weight", d);
        planner.stack(ours + ".mlp.fc1.weight",
                      {{mlp + "gate_proj.weight", model.ffn}, {mlp + "up_proj.weight", model.ffn}}, d);
        planner.matrix(ours + ".mlp.fc2.weight", mlp + "down_proj.weight", d, model.ffn);
    }
    planner.vector("final_norm.weight", "norm.weight", d);
    planner.head();
    planner.finish({".rotary_emb.inv_freq"});
}

/// What config.json adds, held against the shapes in the file.
void addConfig(const PretrainedConfig& config, WeightModel& model) {
    model.modelType = config.modelType;
    model.activation = config.activation;
    model.heads = config.heads;
    model.ropeTheta = config.ropeTheta;
    model.normEpsilon = config.normEpsilon;
    model.ropeScaled = config.ropeScaled;
    if (config.heads == 0) return;
    const auto contradiction = [&](const std::string& said, const std::string& found) {
        return Error(ErrorKind::Failure, "weights " + config.path, said + ", but the weights have " + found,
                     "put the config.json of this very model there, or take it away");
    };
    const std::string heads = std::to_string(config.heads) + " heads";
    if (model.dModel % config.heads != 0) {
        throw contradiction("it says " + heads, "a width of " + std::to_string(model.dModel));
    }
    const std::int64_t headDim = model.dModel / config.heads;
    if (config.headDim != 0 && config.headDim != headDim) {
        throw contradiction("it says " + heads + " of " + std::to_string(config.headDim),
                            "a query width of " + std::to_string(model.dModel));
    }
    model.kvHeads = model.kvWidth / headDim;
    const bool agrees = model.kvWidth % headDim == 0 && model.kvHeads > 0 && config.heads % model.kvHeads == 0 &&
                        (config.kvHeads == 0 || config.kvHeads == model.kvHeads);
    if (!agrees) {
        const std::string kv = config.kvHeads == 0 ? "" : " and " + std::to_string(config.kvHeads) + " key-value heads";
        throw contradiction("it says " + heads + kv, "keys of width " + std::to_string(model.kvWidth) +
                                                         " beside queries of " + std::to_string(model.dModel));
    }
}

/// Writes a tile to its place in an array of `cols` columns. As many columns at once as the cache holds lines for: each
/// line is then written in one go.
void transpose(const WeightTile& tile, std::int64_t cols, float* out) {
    constexpr std::int64_t kAtOnce = 16;
    for (std::int64_t start = 0; start < tile.cols; start += kAtOnce) {
        const std::int64_t end = std::min(tile.cols, start + kAtOnce);
        for (std::int64_t r = 0; r < tile.rows; ++r) {
            for (std::int64_t c = start; c < end; ++c) {
                out[(tile.firstCol + c) * cols + tile.firstRow + r] = tile.values[r * tile.cols + c];
            }
        }
    }
}

}  // namespace

WeightPlan planWeights(const WeightFile& file) {
    const PretrainedConfig config = readPretrainedConfig(file.path());
    struct Family {
        const char* prefix;
        const char* embedding;
        bool llama;
    };
    for (const Family& family :
         {Family{"transformer.", "wte.weight", false}, Family{"", "wte.weight", false},
          Family{"model.", "embed_tokens.weight", true}, Family{"", "embed_tokens.weight", true}}) {
        if (file.find(std::string(family.prefix) + family.embedding) == nullptr) continue;
        Planner planner(file, config, family.prefix);
        if (family.llama) {
            planLlama(planner, config);
        } else {
            planGpt2(planner);
        }
        addConfig(config, planner.plan.model);
        return std::move(planner.plan);
    }
    throw Error(ErrorKind::Failure, "weights " + file.path(),
                "its names are neither GPT-2's nor LLaMA's: there is no wte.weight and no model.embed_tokens.weight",
                kGetWhole);
}

void readParameter(const WeightFile& file, const WeightEntry& entry, float* out) {
    for (const WeightSource& source : entry.sources) {
        if (!entry.transposed) {
            file.read(*source.tensor, 0, source.tensor->elements, out + source.firstRow * entry.cols);
            continue;
        }
        file.visitTiles(*source.tensor, [&](const WeightTile& tile) { transpose(tile, entry.cols, out); });
    }
}

}  // namespace engine
