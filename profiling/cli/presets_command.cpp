// amaxscope-cli presets: the built-in models with their size, and the benchmark suites.
#include "commands.h"
#include "engine/suites.h"
#include "json_lines.h"
#include "messages.h"
#include "table.h"

#include <fmt/format.h>

#include <iostream>

namespace cli {
namespace {

constexpr int kBytesVocab = 256;

struct PresetsOptions {
    bool json = false;
};

void printPresets(bool json) {
    Table table(
        {"preset", "layers", "d-model", "heads", "seq-len", "batch", "precision", "parameters", "memory", "summary"},
        {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Right,
         Align::Right, Align::Left});
    for (const std::string& preset : engine::presetNames()) {
        engine::RunConfig config = engine::presetConfig(preset);
        if (config.model.vocab == 0) config.model.vocab = kBytesVocab;  // sizes are for text read as bytes
        const engine::RunEstimate size = engine::estimate(config);
        if (json) {
            printJsonLine({{"type", "preset"},
                           {"preset", preset},
                           {"summary", engine::presetSummary(preset)},
                           {"model", jsonFromText(engine::toJson(config.model))},
                           {"recipe", jsonFromText(engine::toJson(config.recipe))},
                           {"train", jsonFromText(engine::toJson(config.train))},
                           {"batch", config.train.batch},
                           {"parameters", size.parameters},
                           {"memory_bytes", size.memoryBytes}});
            continue;
        }
        table.add({preset, std::to_string(config.model.layers), std::to_string(config.model.dModel),
                   std::to_string(config.model.heads), std::to_string(config.model.seqLen),
                   std::to_string(config.train.batch), engine::precisionLabel(config.train.precision, config.recipe),
                   grouped(static_cast<double>(size.parameters)), bytesText(size.memoryBytes),
                   engine::presetSummary(preset)});
    }
    if (!json) std::cout << table.text() << "sizes are for a text (vocabulary 256)\n";
}

void printSuites(bool json) {
    Table table({"suite", "preset", "variants", "summary"}, {Align::Left, Align::Left, Align::Right, Align::Left});
    for (const std::string& name : engine::suiteNames()) {
        const engine::Suite suite = engine::suite(name);
        Json labels = Json::array();
        for (const engine::SuiteVariant& variant : suite.variants) labels.push_back(variant.label);
        if (json) {
            printJsonLine({{"type", "suite"},
                           {"suite", name},
                           {"summary", suite.summary},
                           {"preset", suite.preset},
                           {"variants", labels}});
        }
        table.add({name, suite.preset, std::to_string(suite.variants.size()), suite.summary});
    }
    if (!json) std::cout << '\n' << table.text() << "run one with amaxscope-cli bench --suite NAME" << std::endl;
}

int presets(const PresetsOptions& options) {
    printPresets(options.json);
    printSuites(options.json);
    return kDone;
}

}  // namespace

void addPresets(CLI::App& app, Action& run) {
    const auto options = std::make_shared<PresetsOptions>();
    CLI::App& command = addCommand<PresetsOptions>(app, run, "presets", "The built-in models and benchmark suites",
                                                   "amaxscope-cli presets", options, presets);
    command.add_flag("--json", options->json, "one JSON object per preset and suite on stdout");
}

}  // namespace cli
