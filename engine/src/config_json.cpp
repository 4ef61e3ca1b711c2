// Configuration to JSON and back, as stored in the run table and in checkpoints. Keys are the command line's words
// with underscores.
#include "engine/config.h"
#include "engine/error.h"

#include <nlohmann/json.hpp>

namespace engine {

using nlohmann::ordered_json;

std::string toJson(const ModelConfig& model) {
    return ordered_json{{"layers", model.layers},
                        {"d_model", model.dModel},
                        {"heads", model.heads},
                        {"seq_len", model.seqLen},
                        {"vocab", model.vocab}}
        .dump();
}

std::string toJson(const Fp8Recipe& recipe) {
    return ordered_json{{"recipe", "delayed"},
                        {"format", name(recipe.format)},
                        {"margin", recipe.margin},
                        {"amax_history_len", recipe.amaxHistoryLen},
                        {"amax_algo", name(recipe.amaxAlgo)}}
        .dump();
}

std::string toJson(const TrainConfig& train) {
    return ordered_json{{"precision", name(train.precision)},
                        {"batch", train.batch},
                        {"steps", train.steps},
                        {"lr", train.lr},
                        {"warmup_steps", train.warmupSteps},
                        {"weight_decay", train.weightDecay},
                        {"beta1", train.beta1},
                        {"beta2", train.beta2},
                        {"grad_clip", train.gradClip},
                        {"seed", train.seed},
                        {"threads", train.threads},
                        {"fused", train.fused},
                        {"keep_bf16", train.keepBf16},
                        {"guard", name(train.guard)},
                        {"snapshot_every", train.snapshotEvery},
                        {"validate_every", train.validateEvery},
                        {"device", train.device},
                        {"data", train.data}}
        .dump();
}

namespace {

ModelConfig readModel(const ordered_json& json) {
    ModelConfig model;
    json.at("layers").get_to(model.layers);
    json.at("d_model").get_to(model.dModel);
    json.at("heads").get_to(model.heads);
    json.at("seq_len").get_to(model.seqLen);
    json.at("vocab").get_to(model.vocab);
    return model;
}

Fp8Recipe readRecipe(const ordered_json& json) {
    Fp8Recipe recipe;
    recipe.format = parseRecipeFormat(json.at("format").get<std::string>());
    json.at("margin").get_to(recipe.margin);
    json.at("amax_history_len").get_to(recipe.amaxHistoryLen);
    recipe.amaxAlgo = parseAmaxAlgo(json.at("amax_algo").get<std::string>());
    return recipe;
}

TrainConfig readTrain(const ordered_json& json) {
    TrainConfig train;
    train.precision = parsePrecision(json.at("precision").get<std::string>());
    json.at("batch").get_to(train.batch);
    json.at("steps").get_to(train.steps);
    json.at("lr").get_to(train.lr);
    json.at("warmup_steps").get_to(train.warmupSteps);
    json.at("weight_decay").get_to(train.weightDecay);
    json.at("beta1").get_to(train.beta1);
    json.at("beta2").get_to(train.beta2);
    json.at("grad_clip").get_to(train.gradClip);
    json.at("seed").get_to(train.seed);
    json.at("threads").get_to(train.threads);
    json.at("fused").get_to(train.fused);
    json.at("keep_bf16").get_to(train.keepBf16);
    train.guard = parseGuard(json.at("guard").get<std::string>());
    json.at("snapshot_every").get_to(train.snapshotEvery);
    json.at("validate_every").get_to(train.validateEvery);
    json.at("device").get_to(train.device);
    json.at("data").get_to(train.data);
    return train;
}

}  // namespace

RunConfig runConfigFromJson(const std::string& model, const std::string& recipe, const std::string& train) {
    try {
        RunConfig config;
        config.model = readModel(ordered_json::parse(model));
        if (!recipe.empty()) config.recipe = readRecipe(ordered_json::parse(recipe));
        config.train = readTrain(ordered_json::parse(train));
        return config;
    } catch (const ordered_json::exception& error) {
        throw Error(ErrorKind::Failure, "stored configuration", error.what(),
                    "it was written by another version of the program or is damaged");
    }
}

}  // namespace engine
