// amaxscope-cli generate: greedy continuation of a prompt by a saved model.
#include "arguments.h"
#include "commands.h"
#include "engine/trainer.h"
#include "json_lines.h"
#include "messages.h"
#include "token_text.h"

#include <iostream>

namespace cli {
namespace {

struct GenerateOptions {
    std::string checkpoint;
    std::string prompt;
    std::optional<int> tokens;
    bool json = false;
};

int generate(const GenerateOptions& options) {
    if (options.checkpoint.empty()) throw UsageError("--checkpoint", "is missing", "name a file that train wrote");
    if (options.prompt.empty()) throw UsageError("--prompt", "is missing or empty", "give text, or ids like 0,3,6,9");
    const int count = options.tokens.value_or(32);
    if (count < 1) throw UsageError("--tokens " + std::to_string(count), "is not positive", "use 1 or more");

    const std::unique_ptr<engine::Trainer> trainer = engine::Trainer::load(options.checkpoint);
    const bool text = isTextData(trainer->config().train.data);
    const std::vector<int> prompt = text ? bytesToTokens(options.prompt) : tokenIds("--prompt", options.prompt);
    const std::vector<int> output = trainer->generate(prompt, count);
    if (options.json) {
        printJsonLine({{"type", "generation"},
                       {"prompt", options.prompt},
                       {"output", text ? tokensToBytes(output) : tokensToIds(output)},
                       {"prompt_tokens", prompt},
                       {"output_tokens", output}});
    } else if (text) {
        std::cout << printable(options.prompt + tokensToBytes(output)) << std::endl;
    } else {
        std::cout << tokensToIds(prompt) << "," << tokensToIds(output) << std::endl;
    }
    return kDone;
}

}  // namespace

void addGenerate(CLI::App& app, Action& run) {
    const auto options = std::make_shared<GenerateOptions>();
    CLI::App& command = addCommand<GenerateOptions>(
        app, run, "generate", "Continue a prompt with a saved model",
        "amaxscope-cli generate --checkpoint model.ckpt --prompt \"0,3,6,9\" --tokens 8", options, generate);
    addText(command, "--checkpoint", "PATH", "model saved by train", options->checkpoint);
    addText(command, "--prompt", "TEXT", "text for text models, else token ids with commas", options->prompt);
    addInt(command, "--tokens", "tokens to add (default 32)", options->tokens);
    command.add_flag("--json", options->json, "one JSON object on stdout");
}

}  // namespace cli
