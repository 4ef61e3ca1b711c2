// Errors as the command line prints them; see messages.h.
#include "messages.h"

#include "engine/error.h"
#include "profiling/error.h"
#include "token_text.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>

namespace cli {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t editDistance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[a.size()][b.size()];
}

std::vector<std::string> commandNames(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(command->get_name());
    }
    return names;
}

std::vector<std::string> optionNames(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

std::string helpHint(const CLI::App& app) {
    const bool isCommand = app.get_parent() != nullptr;
    return "see amaxscope-cli " + (isCommand ? app.get_name() + " " : std::string()) + "--help";
}

std::string hint(const std::string& word, const std::vector<std::string>& names, const CLI::App& app) {
    const std::string near = nearest(word, names);
    return near.empty() ? helpHint(app) : "did you mean " + near + "? " + helpHint(app);
}

void rejectWord(const CLI::App& app, const std::string& word) {
    if (word.rfind('-', 0) == 0) {
        const std::string option = word.substr(0, word.find('='));
        throw UsageError(option, "is not an option of this command", hint(option, optionNames(app), app));
    }
    if (!app.get_parent()) throw UsageError(word, "is not a command", hint(word, commandNames(app), app));
    throw UsageError(word, "is one argument too many", helpHint(app));
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t bestDistance = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        // A word cut short ("--history" for "--amax-history-len") is as good a hint as a mistyped one.
        const std::string core = word.substr(std::min(word.find_first_not_of('-'), word.size()));
        const bool contained = core.size() >= 4 && candidate.find(core) != std::string::npos;
        const std::size_t distance =
            contained ? std::min<std::size_t>(2, editDistance(word, candidate)) : editDistance(word, candidate);
        if (distance < bestDistance) {
            best = candidate;
            bestDistance = distance;
        }
    }
    return best;
}

void rejectExtras(const CLI::App& app) {
    const std::vector<std::string> own = app.remaining();
    if (!own.empty()) rejectWord(app, own.front());
    for (const CLI::App* command : app.get_subcommands()) rejectExtras(*command);
}

std::string describe(const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (const auto* mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
        const std::string option = std::string(mismatch->what()).substr(0, text.find(':'));
        return option + ": needs a value: write it after the option, see amaxscope-cli --help";
    }
    return "arguments: " + text + ": see amaxscope-cli --help";
}

void printError(const std::string& text) {
    // A message may name a file or quote a database; whoever chose those words must not drive the terminal.
    std::fprintf(stderr, "amaxscope-cli: %s\n", oneLine(text).c_str());
}

void requireOutputWritten() {
    if (std::cout.flush()) return;
    throw profiling::Error(profiling::ErrorKind::Failure, "stdout", "could not be written to its end",
                           "free disk space, or keep the reading program open");
}

int reportCurrentException() {
    try {
        throw;
    } catch (const UsageError& error) {
        printError(error.what());
        return kBadUsage;
    } catch (const engine::Error& error) {
        printError(error.what());
        return error.kind() == engine::ErrorKind::Usage ? kBadUsage : kFailure;
    } catch (const profiling::Error& error) {
        printError(error.what());
        return error.kind() == profiling::ErrorKind::Usage ? kBadUsage : kFailure;
    } catch (const std::bad_alloc&) {
        printError("memory: the system has not enough for this model: use fewer layers, a smaller batch or d-model");
    } catch (const std::exception& error) {
        printError(std::string("internal error: ") + error.what() + ": please report it with the command you gave");
    }
    return kFailure;
}

}  // namespace cli
