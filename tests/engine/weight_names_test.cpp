// Published models in miniature, mapped onto our parameters: which tensor goes where, turned, stacked or tied; and what
// is said when a model does not fit. Each element of a file is a number of its own, so a misplaced one shows.
#include "src/weight_names.h"

#include "engine/error.h"
#include "safetensors_writer.h"
#include "src/model.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace {

using engine::planWeights;
using engine::WeightEntry;
using engine::WeightFile;
using engine::WeightPlan;

using Shapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

// V 5, D 4, T 3, F 16, two layers.
Shapes gpt2Shapes(const std::string& prefix) {
    Shapes shapes{{"wte.weight", {5, 4}}, {"wpe.weight", {3, 4}}, {"ln_f.weight", {4}}, {"ln_f.bias", {4}}};
    for (const std::string layer : {"h.0.", "h.1."}) {
        const Shapes one{{"ln_1.weight", {4}},           {"ln_1.bias", {4}},
                         {"attn.bias", {1, 1, 3, 3}},    {"attn.masked_bias", {}},
                         {"attn.c_attn.bias", {12}},     {"attn.c_attn.weight", {4, 12}},
                         {"attn.c_proj.bias", {4}},      {"ln_2.weight", {4}},
                         {"attn.c_proj.weight", {4, 4}}, {"ln_2.bias", {4}},
                         {"mlp.c_fc.bias", {16}},        {"mlp.c_fc.weight", {4, 16}},
                         {"mlp.c_proj.bias", {4}},       {"mlp.c_proj.weight", {16, 4}}};
        for (const auto& [name, shape] : one) shapes.emplace_back(layer + name, shape);
    }
    for (auto& [name, shape] : shapes) name = prefix + name;
    return shapes;
}

// V 6, D 8, four heads of 2, two key-value heads, F 12, two layers.
Shapes llamaShapes() {
    Shapes shapes{{"model.embed_tokens.weight", {6, 8}}, {"model.norm.weight", {8}}, {"lm_head.weight", {6, 8}}};
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
        const Shapes one{{"input_layernorm.weight", {8}},        {"mlp.down_proj.weight", {8, 12}},
                         {"mlp.gate_proj.weight", {12, 8}},      {"mlp.up_proj.weight", {12, 8}},
                         {"self_attn.k_proj.weight", {4, 8}},    {"self_attn.o_proj.weight", {8, 8}},
                         {"self_attn.q_proj.weight", {8, 8}},    {"self_attn.v_proj.weight", {4, 8}},
                         {"self_attn.rotary_emb.inv_freq", {1}}, {"post_attention_layernorm.weight", {8}}};
        for (const auto& [name, shape] : one) shapes.emplace_back(layer + name, shape);
    }
    return shapes;
}

class WeightNames : public testing::Test {
protected:
    /// Tensor k holds 1000·k, 1000·k + 1, …
    std::string write(const Shapes& shapes) {
        std::vector<StoredTensor> tensors;
        m_start.clear();
        for (const auto& [name, shape] : shapes) {
            std::size_t count = 1;
            for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
            std::vector<float> values(count);
            m_start[name] = 1000 * static_cast<float>(tensors.size());
            for (std::size_t i = 0; i < count; ++i) values[i] = m_start[name] + static_cast<float>(i);
            tensors.push_back(floatTensor(name, shape, values));
        }
        writeFile(path(), safetensorsBytes(tensors));
        return path();
    }
    void writeConfig(const std::string& json) const { writeFile(m_folder.path() + "/config.json", json); }
    std::string path() const { return m_folder.path() + "/model.safetensors"; }
    float start(const std::string& tensor) const { return m_start.at(tensor); }

    static const WeightEntry& entry(const WeightPlan& plan, const std::string& parameter) {
        const auto found = std::find_if(plan.entries.begin(), plan.entries.end(),
                                        [&](const WeightEntry& one) { return one.parameter == parameter; });
        if (found == plan.entries.end()) throw std::runtime_error("no entry for " + parameter);
        return *found;
    }
    static std::vector<float> values(const WeightFile& file, const WeightPlan& plan, const std::string& parameter) {
        const WeightEntry& one = entry(plan, parameter);
        std::vector<float> out(static_cast<std::size_t>(one.rows * one.cols), -1);
        readParameter(file, one, out.data());
        return out;
    }
    static std::vector<float> ramp(float first, int count) {
        std::vector<float> numbers;
        for (int i = 0; i < count; ++i) numbers.push_back(first + static_cast<float>(i));
        return numbers;
    }
    std::string refusal(const Shapes& shapes) {
        const WeightFile file(write(shapes));
        try {
            planWeights(file);
        } catch (const engine::Error& error) {
            EXPECT_EQ(error.kind(), engine::ErrorKind::Failure);
            return error.what();
        }
        return "";
    }
    void expectRefused(const Shapes& shapes, const std::vector<std::string>& parts) {
        const std::string text = refusal(shapes);
        for (const std::string& part : parts) {
            EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\nrefused with: " << text;
        }
    }
    static Shapes without(Shapes shapes, const std::string& name) {
        std::erase_if(shapes, [&](const auto& one) { return one.first == name; });
        return shapes;
    }
    static Shapes reshaped(Shapes shapes, const std::string& name, const std::vector<std::int64_t>& shape) {
        for (auto& one : shapes) {
            if (one.first == name) one.second = shape;
        }
        return shapes;
    }

    TemporaryFolder m_folder;
    std::map<std::string, float> m_start;
};

/// The parameters that our model of these sizes has.
void expectOurTable(const WeightPlan& plan, const engine::ModelConfig& model, bool head) {
    std::vector<engine::ParameterSpec> table = engine::parameterTable(model);
    if (!head) table.pop_back();
    ASSERT_EQ(plan.entries.size(), table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        EXPECT_EQ(plan.entries[i].parameter, table[i].name);
        EXPECT_EQ(plan.entries[i].rows, table[i].rows) << table[i].name;
        EXPECT_EQ(plan.entries[i].cols, table[i].cols) << table[i].name;
    }
}

engine::ModelConfig smallGpt2() {
    engine::ModelConfig model;
    model.layers = 2;
    model.dModel = 4;
    model.heads = 2;
    model.seqLen = 3;
    model.vocab = 5;
    return model;
}

TEST_F(WeightNames, gpt2FillsEveryParameterOfOurs) {
    for (const std::string prefix : {"", "transformer."}) {
        const WeightFile file(write(gpt2Shapes(prefix)));
        const WeightPlan plan = planWeights(file);
        EXPECT_EQ(plan.model.architecture, "gpt2");
        EXPECT_EQ(plan.model.layers, 2);
        EXPECT_EQ(plan.model.vocab, 5);
        EXPECT_EQ(plan.model.dModel, 4);
        EXPECT_EQ(plan.model.seqLen, 3);
        EXPECT_EQ(plan.model.ffn, 16);
        EXPECT_EQ(plan.model.kvWidth, 4);
        EXPECT_EQ(plan.model.heads, 0);
        EXPECT_TRUE(plan.model.tied);
        EXPECT_TRUE(plan.unused.empty());
        expectOurTable(plan, smallGpt2(), false);
        EXPECT_EQ(values(file, plan, "token_embedding.weight"), ramp(start(prefix + "wte.weight"), 20));
        EXPECT_EQ(values(file, plan, "position_embedding.weight"), ramp(start(prefix + "wpe.weight"), 12));
        EXPECT_EQ(values(file, plan, "layer.1.ln1.bias"), ramp(start(prefix + "h.1.ln_1.bias"), 4));
        EXPECT_EQ(values(file, plan, "layer.0.attn.qkv.bias"), ramp(start(prefix + "h.0.attn.c_attn.bias"), 12));
        EXPECT_EQ(values(file, plan, "final_norm.weight"), ramp(start(prefix + "ln_f.weight"), 4));
    }
}

TEST_F(WeightNames, gpt2LinearWeightsAreTurned) {
    const WeightFile file(write(gpt2Shapes("")));
    const WeightPlan plan = planWeights(file);
    const std::map<std::string, std::string> pairs{{"layer.1.attn.qkv.weight", "h.1.attn.c_attn.weight"},
                                                   {"layer.0.attn.proj.weight", "h.0.attn.c_proj.weight"},
                                                   {"layer.1.mlp.fc1.weight", "h.1.mlp.c_fc.weight"},
                                                   {"layer.0.mlp.fc2.weight", "h.0.mlp.c_proj.weight"}};
    for (const auto& [ours, theirs] : pairs) {
        const WeightEntry& one = entry(plan, ours);
        EXPECT_TRUE(one.transposed);
        const std::vector<float> out = values(file, plan, ours);
        for (std::int64_t r = 0; r < one.rows; ++r) {
            for (std::int64_t c = 0; c < one.cols; ++c) {
                // Stored as [in][out]: element (c, r) of a matrix with `rows` columns.
                EXPECT_EQ(out[static_cast<std::size_t>(r * one.cols + c)],
                          start(theirs) + static_cast<float>(c * one.rows + r))
                    << ours << " " << r << " " << c;
            }
        }
    }
}

TEST_F(WeightNames, aTurnedMatrixLargerThanATileIsWhole) {
    // 1300 · 1100 floats are more than the 2^20 of a tile.
    std::vector<float> stored(1300 * 1100);
    for (std::size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<float>(i);
    writeFile(path(), safetensorsBytes({floatTensor("w", {1300, 1100}, stored)}));
    const WeightFile file(path());
    const WeightEntry turned{"w", 1100, 1300, true, {{file.find("w"), 0, 1100}}};
    std::vector<float> out(stored.size());
    readParameter(file, turned, out.data());
    for (std::size_t r = 0; r < 1100; ++r) {
        for (std::size_t c = 0; c < 1300; ++c) ASSERT_EQ(out[r * 1300 + c], stored[c * 1100 + r]);
    }
}

TEST_F(WeightNames, gpt2WithAHeadOfItsOwnIsUntied) {
    Shapes shapes = gpt2Shapes("transformer.");
    shapes.emplace_back("lm_head.weight", std::vector<std::int64_t>{5, 4});
    const WeightFile file(write(shapes));
    const WeightPlan plan = planWeights(file);
    EXPECT_FALSE(plan.model.tied);
    expectOurTable(plan, smallGpt2(), true);
    EXPECT_EQ(values(file, plan, "lm_head.weight"), ramp(start("lm_head.weight"), 20));
}

TEST_F(WeightNames, llamaProjectionsAreStacked) {
    const WeightFile file(write(llamaShapes()));
    const WeightPlan plan = planWeights(file);
    EXPECT_EQ(plan.model.architecture, "llama");
    EXPECT_EQ(plan.model.layers, 2);
    EXPECT_EQ(plan.model.vocab, 6);
    EXPECT_EQ(plan.model.dModel, 8);
    EXPECT_EQ(plan.model.seqLen, 0);
    EXPECT_EQ(plan.model.ffn, 12);
    EXPECT_EQ(plan.model.kvWidth, 4);
    EXPECT_FALSE(plan.model.tied);
    EXPECT_TRUE(plan.unused.empty());

    // name, rows, cols
    const std::vector<std::tuple<std::string, int, int>> expected{
        {"token_embedding.weight", 6, 8},   {"layer.0.ln1.weight", 1, 8}, {"layer.0.attn.qkv.weight", 16, 8},
        {"layer.0.attn.proj.weight", 8, 8}, {"layer.0.ln2.weight", 1, 8}, {"layer.0.mlp.fc1.weight", 24, 8},
        {"layer.0.mlp.fc2.weight", 8, 12},  {"layer.1.ln1.weight", 1, 8}, {"layer.1.attn.qkv.weight", 16, 8},
        {"layer.1.attn.proj.weight", 8, 8}, {"layer.1.ln2.weight", 1, 8}, {"layer.1.mlp.fc1.weight", 24, 8},
        {"layer.1.mlp.fc2.weight", 8, 12},  {"final_norm.weight", 1, 8},  {"lm_head.weight", 6, 8}};
    ASSERT_EQ(plan.entries.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const WeightEntry& one = plan.entries[i];
        EXPECT_EQ(std::tuple(one.parameter, static_cast<int>(one.rows), static_cast<int>(one.cols)), expected[i]);
        EXPECT_FALSE(one.transposed);
    }
    const auto join = [](std::vector<float> first, const std::vector<std::vector<float>>& rest) {
        for (const auto& part : rest) first.insert(first.end(), part.begin(), part.end());
        return first;
    };
    const std::string attention = "model.layers.1.self_attn.";
    EXPECT_EQ(values(file, plan, "layer.1.attn.qkv.weight"),
              join(ramp(start(attention + "q_proj.weight"), 64),
                   {ramp(start(attention + "k_proj.weight"), 32), ramp(start(attention + "v_proj.weight"), 32)}));
    EXPECT_EQ(entry(plan, "layer.1.attn.qkv.weight").sources[2].firstRow, 12);
    // The half that the activation is applied to comes first.
    EXPECT_EQ(values(file, plan, "layer.0.mlp.fc1.weight"),
              join(ramp(start("model.layers.0.mlp.gate_proj.weight"), 96),
                   {ramp(start("model.layers.0.mlp.up_proj.weight"), 96)}));
    EXPECT_EQ(values(file, plan, "layer.1.mlp.fc2.weight"), ramp(start("model.layers.1.mlp.down_proj.weight"), 96));
    EXPECT_EQ(values(file, plan, "layer.0.ln2.weight"),
              ramp(start("model.layers.0.post_attention_layernorm.weight"), 8));
}

TEST_F(WeightNames, llamaWithoutAHeadIsTied) {
    const WeightFile file(write(without(llamaShapes(), "lm_head.weight")));
    const WeightPlan plan = planWeights(file);
    EXPECT_TRUE(plan.model.tied);
    EXPECT_EQ(plan.entries.back().parameter, "final_norm.weight");
}

TEST_F(WeightNames, everyMissingTensorIsNamed) {
    const Shapes llama = llamaShapes();
    for (const auto& [name, shape] : llama) {
        const bool needed = name != "lm_head.weight" && !name.ends_with("inv_freq");
        const std::string text = refusal(without(llama, name));
        if (!needed) {
            EXPECT_EQ(text, "") << name;
        } else if (name == "model.embed_tokens.weight") {
            EXPECT_NE(text.find("its names are neither GPT-2's nor LLaMA's"), std::string::npos) << text;
        } else {
            EXPECT_NE(text.find(path() + ", tensor " + name + ": it is missing"), std::string::npos) << text;
        }
    }
    const Shapes gpt2 = gpt2Shapes("transformer.");
    for (const auto& [name, shape] : gpt2) {
        if (name.ends_with("attn.bias") || name.ends_with("masked_bias") || name == "transformer.wte.weight") continue;
        expectRefused(without(gpt2, name), {", tensor " + name + ": it is missing"});
    }
}

TEST_F(WeightNames, everyMisshapenTensorIsNamedWithTheShapeExpected) {
    expectRefused(reshaped(gpt2Shapes(""), "h.1.attn.c_attn.weight", {12, 4}),
                  {"tensor h.1.attn.c_attn.weight: its shape is [12][4], but layer.1.attn.qkv.weight needs [4][12]"});
    expectRefused(reshaped(gpt2Shapes(""), "h.0.ln_1.bias", {5}),
                  {"tensor h.0.ln_1.bias: its shape is [5]", "needs [4]"});
    expectRefused(reshaped(gpt2Shapes(""), "h.0.ln_1.bias", {4, 1}), {"its shape is [4][1]", "needs [4]"});
    expectRefused(reshaped(gpt2Shapes(""), "wpe.weight", {3, 5}),
                  {"tensor wpe.weight: its shape is [3][5]", "needs [3][4]"});
    expectRefused(reshaped(gpt2Shapes(""), "wte.weight", {20}),
                  {"tensor wte.weight: its shape is [20], not that of a matrix"});
    expectRefused(reshaped(gpt2Shapes(""), "wte.weight", {0, 4}), {"[0][4], not that of a matrix"});
    expectRefused(
        reshaped(llamaShapes(), "model.layers.1.self_attn.v_proj.weight", {8, 8}),
        {"tensor model.layers.1.self_attn.v_proj.weight: its shape is [8][8]", "layer.1.attn.qkv.weight needs [4][8]"});
    expectRefused(reshaped(llamaShapes(), "model.layers.1.mlp.up_proj.weight", {14, 8}), {"needs [12][8]"});
    expectRefused(reshaped(llamaShapes(), "lm_head.weight", {7, 8}), {"tensor lm_head.weight: ", "needs [6][8]"});
}

TEST_F(WeightNames, aGapInTheLayersIsFound) {
    Shapes shapes = gpt2Shapes("");
    std::erase_if(shapes, [](const auto& one) { return one.first.starts_with("h.1."); });
    shapes.emplace_back("h.2.ln_1.weight", std::vector<std::int64_t>{4});
    expectRefused(shapes, {"tensor h.1.ln_1.weight: it is missing, and layer.1.ln1.weight [4] needs it"});
    std::erase_if(shapes, [](const auto& one) { return one.first.starts_with("h."); });
    expectRefused(shapes, {"tensor h.0.mlp.c_fc.weight: it is missing"});
}

TEST_F(WeightNames, tensorsWithoutAPlaceAreListed) {
    Shapes shapes = llamaShapes();
    shapes.emplace_back("model.layers.0.self_attn.q_proj.bias", std::vector<std::int64_t>{8});
    const WeightFile file(write(shapes));
    EXPECT_EQ(planWeights(file).unused, std::vector<std::string>{"model.layers.0.self_attn.q_proj.bias"});
}

TEST_F(WeightNames, quantisedWeightsAreRefused) {
    Shapes shapes = llamaShapes();
    shapes.emplace_back("model.layers.1.mlp.up_proj.weight_scale", std::vector<std::int64_t>{1});
    expectRefused(shapes, {"tensor model.layers.1.mlp.up_proj.weight: its numbers are scaled by "
                           "model.layers.1.mlp.up_proj.weight_scale"});
    std::vector<StoredTensor> tensors;
    for (const auto& [name, shape] : gpt2Shapes("")) {
        std::size_t bytes = 1;
        for (const std::int64_t size : shape) bytes *= static_cast<std::size_t>(size);
        tensors.push_back({name, name == "h.0.ln_2.weight" ? "I8" : "F8_E4M3", shape, std::string(bytes, '8')});
    }
    writeFile(path(), safetensorsBytes(tensors));
    const WeightFile file(path());
    try {
        planWeights(file);
        ADD_FAILURE() << "planned";
    } catch (const engine::Error& error) {
        EXPECT_NE(std::string(error.what()).find("tensor h.0.ln_2.weight: it holds I8"), std::string::npos)
            << error.what();
    }
}

TEST_F(WeightNames, namesOfOtherModelsAreRefused) {
    expectRefused({{"encoder.weight", {2, 2}}}, {"weights " + path() + ": its names are neither GPT-2's nor LLaMA's"});
    expectRefused({}, {"its names are neither"});
}

// ---------------------------------------------------------------- config.json

TEST_F(WeightNames, gpt2ConfigAddsHeadsAndEpsilon) {
    writeConfig(R"({"model_type":"gpt2","n_head":2,"n_layer":2,"n_embd":4,"layer_norm_epsilon":1e-05,
                    "activation_function":"gelu_new","architectures":["GPT2LMHeadModel"],"task":{"n_head":9},"x":null})");
    const WeightFile file(write(gpt2Shapes("")));
    const engine::WeightModel model = planWeights(file).model;
    EXPECT_EQ(model.modelType, "gpt2");
    EXPECT_EQ(model.activation, "gelu_new");
    EXPECT_EQ(model.heads, 2);
    EXPECT_EQ(model.kvHeads, 2);
    EXPECT_EQ(model.normEpsilon, 1e-5);
    EXPECT_EQ(model.ropeTheta, 0);
    EXPECT_FALSE(model.ropeScaled);
}

TEST_F(WeightNames, llamaConfigAddsKeyValueHeadsAndRotary) {
    writeConfig(
        R"({"model_type":"llama","num_attention_heads":4,"num_key_value_heads":2,"head_dim":2,"hidden_act":"silu",
                    "rope_theta":500000.0,"rms_norm_eps":1e-06,"max_position_embeddings":8192,"rope_scaling":null,
                    "num_hidden_layers":2,"tie_word_embeddings":false})");
    const WeightFile file(write(llamaShapes()));
    const engine::WeightModel model = planWeights(file).model;
    EXPECT_EQ(model.heads, 4);
    EXPECT_EQ(model.kvHeads, 2);
    EXPECT_EQ(model.ropeTheta, 500000);
    EXPECT_EQ(model.normEpsilon, 1e-6);
    EXPECT_EQ(model.seqLen, 8192);
    EXPECT_FALSE(model.ropeScaled);
}

TEST_F(WeightNames, keyValueHeadsFollowFromTheShapesWhereTheConfigIsSilent) {
    writeConfig(R"({"num_attention_heads":4})");
    const WeightFile file(write(llamaShapes()));
    EXPECT_EQ(planWeights(file).model.kvHeads, 2);
}

TEST_F(WeightNames, stretchedRotaryPositionsAreReported) {
    const std::vector<std::pair<std::string, bool>> cases{
        {R"({"rope_scaling":{"type":"linear","factor":2.0}})", true},
        {R"({"rope_scaling":{"factor":8.0,"rope_type":"llama3"}})", true},
        {R"({"rope_scaling":{"rope_type":"default"}})", false},
        {R"({"rope_parameters":{"rope_type":"default","rope_theta":7.5}})", false},
        {R"({"rope_parameters":{"rope_theta":7.5,"rope_type":"yarn"}})", true}};
    for (const auto& [config, scaled] : cases) {
        writeConfig(config);
        const WeightFile file(write(llamaShapes()));
        const engine::WeightModel model = planWeights(file).model;
        EXPECT_EQ(model.ropeScaled, scaled) << config;
        EXPECT_EQ(model.ropeTheta, config.find("7.5") == std::string::npos ? 0 : 7.5) << config;
    }
}

TEST_F(WeightNames, aConfigOfAnotherModelIsRefused) {
    const std::string config = "weights " + m_folder.path() + "/config.json: ";
    writeConfig(R"({"num_attention_heads":3})");
    expectRefused(llamaShapes(), {config + "it says 3 heads, but the weights have a width of 8"});
    writeConfig(R"({"num_attention_heads":4,"num_key_value_heads":4})");
    expectRefused(llamaShapes(), {"it says 4 heads and 4 key-value heads, but the weights have keys of width 4"});
    writeConfig(R"({"num_attention_heads":4,"head_dim":4})");
    expectRefused(llamaShapes(), {"it says 4 heads of 4, but the weights have a query width of 8"});
    writeConfig(R"({"num_hidden_layers":3})");
    expectRefused(llamaShapes(), {"tensor model.layers.2.input_layernorm.weight: it is missing"});
    writeConfig(R"({"tie_word_embeddings":false})");
    expectRefused(without(llamaShapes(), "lm_head.weight"), {"tensor lm_head.weight: it is missing"});
}

TEST_F(WeightNames, aBrokenConfigIsRefused) {
    const std::string config = "weights " + m_folder.path() + "/config.json: ";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "it is not valid JSON"},
        {"[]", "it is not a JSON object"},
        {R"({"n_head":2,"n_head":4})", "it names \"n_head\" twice"},
        {R"({"n_head":0})", "its \"n_head\" is not a whole number from 1 to 16777216"},
        {R"({"n_head":-2})", "its \"n_head\" is not a whole number"},
        {R"({"n_head":2.5})", "its \"n_head\" is not a whole number"},
        {R"({"n_head":"2"})", "its \"n_head\" is not a whole number"},
        {R"({"n_head":1e99})", "its \"n_head\" is not a whole number"},
        {R"({"num_hidden_layers":99999999999})", "is not a whole number from 1 to"},
        {R"({"layer_norm_epsilon":0})", "its \"layer_norm_epsilon\" is not a number above 0"},
        {R"({"rope_theta":-1})", "its \"rope_theta\" is not a number above 0"},
        {R"({"model_type":5})", "its \"model_type\" is not a text"},
        {R"({"tie_word_embeddings":1})", "its \"tie_word_embeddings\" is not true or false"},
        {R"({"x":)" + std::string(1000, '['), "nested deeper than 32 levels"},
        {R"({"x":")" + std::string(1 << 20, 'x') + "\"}", "more than the 1048576"}};
    for (const auto& [json, why] : cases) {
        writeConfig(json);
        expectRefused(gpt2Shapes(""), {config, why});
    }
}

}  // namespace
