// amaxscope-cli presets: the built-in models and their size.
#include "commands.h"
#include "engine/config.h"
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

int presets(const PresetsOptions& options) {
    Table table({"preset", "layers", "d-model", "heads", "seq-len", "batch", "parameters", "memory", "summary"},
                {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                 Align::Right, Align::Left});
    for (const std::string& preset : engine::presetNames()) {
        engine::RunConfig config = engine::presetConfig(preset);
        if (config.model.vocab == 0) config.model.vocab = kBytesVocab;  // sizes are for text read as bytes
        const engine::RunEstimate size = engine::estimate(config);
        if (options.json) {
            printJsonLine({{"type", "preset"},
                           {"preset", preset},
                           {"summary", engine::presetSummary(preset)},
                           {"model", jsonFromText(engine::toJson(config.model))},
                           {"batch", config.train.batch},
                           {"parameters", size.parameters},
                           {"memory_bytes", size.memoryBytes}});
            continue;
        }
        table.add({preset, std::to_string(config.model.layers), std::to_string(config.model.dModel),
                   std::to_string(config.model.heads), std::to_string(config.model.seqLen),
                   std::to_string(config.train.batch), grouped(static_cast<double>(size.parameters)),
                   bytesText(size.memoryBytes), engine::presetSummary(preset)});
    }
    if (!options.json) {
        std::cout << table.text() << "sizes are for a text (vocabulary 256)" << std::endl;
    }
    return kDone;
}

}  // namespace

void addPresets(CLI::App& app, Action& run) {
    const auto options = std::make_shared<PresetsOptions>();
    CLI::App& command = addCommand<PresetsOptions>(app, run, "presets", "The built-in models", "amaxscope-cli presets",
                                                   options, presets);
    command.add_flag("--json", options->json, "one JSON object per preset on stdout");
}

}  // namespace cli
