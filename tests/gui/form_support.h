// Configurations and questions that the tests of forms share.
#pragma once

#include "engine/config.h"
#include "views/config_form.h"

/// Every setting away from its default.
inline engine::RunConfig unusualConfig() {
    engine::RunConfig config;
    config.model.layers = 2;
    config.model.dModel = 64;
    config.model.heads = 8;
    config.model.seqLen = 32;
    config.model.vocab = 512;
    config.model.kvHeads = 2;
    config.model.ffn = 96;
    config.model.norm = engine::Norm::RmsNorm;
    config.model.activation = engine::Activation::SwiGlu;
    config.model.positions = engine::Positions::Rotary;
    config.model.ropeTheta = 5000;
    config.model.normEpsilon = 1e-6;
    config.model.bias = false;
    config.model.tiedHead = true;
    config.recipe.kind = engine::RecipeKind::Block;
    config.recipe.format = engine::RecipeFormat::Hybrid;
    config.recipe.margin = 3;
    config.recipe.amaxHistoryLen = 7;
    config.recipe.amaxAlgo = engine::AmaxAlgo::MostRecent;
    config.recipe.powerOfTwoScales = engine::Switch::Off;
    config.recipe.amaxEpsilon = 1e-12;
    config.recipe.weightTiles = false;
    config.recipe.stochasticRounding = false;
    config.recipe.hadamard = false;
    config.train.precision = engine::Precision::Fp8;
    config.train.batch = 16;
    config.train.accumulate = 4;
    config.train.steps = 11;
    config.train.lr = 0.00125;
    config.train.warmupSteps = 2;
    config.train.weightDecay = 0.25;
    config.train.beta1 = 0.8;
    config.train.beta2 = 0.9;
    config.train.gradClip = 0.5;
    config.train.seed = 99;
    config.train.threads = 1;
    config.train.fused = false;
    config.train.keepBf16 = "layer.0.*";
    config.train.keepFp32 = "lm_head";
    config.train.bf16EdgeLayers = 2;
    config.train.weights = engine::WeightStorage::Fp8KeepInit;
    config.train.guard = engine::Guard::Fallback;
    config.train.guardLimit = 2.5;
    config.train.guardSteps = 40;
    config.train.snapshotEvery = 5;
    config.train.snapshotFrom = 10;
    config.train.snapshotTo = 90;
    config.train.exponentsEvery = 25;
    config.train.observe = "input,weight,grad_output,wgrad";
    config.train.validateEvery = 6;
    config.train.init = "/tmp/a.safetensors";
    config.train.device = "cpu";
    config.train.data = "text:/tmp/a.txt";
    return config;
}

/// Whether the field's row is there, whatever page is in front.
inline bool isShown(const gui::ConfigForm& form, const char* option) {
    const auto* input = form.findChild<QWidget*>(QStringLiteral("field_") + option);
    return input != nullptr && !input->parentWidget()->isHidden();
}

inline engine::RunConfig withRecipe(engine::RecipeKind kind) {
    engine::RunConfig config;
    config.train.precision = engine::Precision::Fp8;
    config.recipe.kind = kind;
    return config;
}
