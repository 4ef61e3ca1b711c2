// Shows a job's progress; see progress.h.
#include "progress.h"

#include "json_lines.h"
#include "table.h"
#include "terminal.h"
#include "token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace cli {
namespace {

constexpr std::int64_t kLines = 20;
constexpr std::int64_t kRewriteNs = 100'000'000;

std::string progressText(const jobs::Progress& progress, const engine::StepStats& stats) {
    const int width = static_cast<int>(std::to_string(progress.steps).size());
    std::string text = fmt::format("step {:>{}}/{}  loss {}  {} tokens/s", progress.step, width, progress.steps,
                                   fixed(stats.loss, 4), grouped(progress.tokensPerSecond));
    if (stats.skipped) text += "  skipped";
    if (progress.secondsLeft >= 0) text += "  ETA " + durationText(progress.secondsLeft);
    return text + "  " + oneLine(progress.label);
}

}  // namespace

ProgressPrinter::ProgressPrinter(bool json, std::string database)
    : m_json(json), m_terminal(!json && stdoutIsTerminal()), m_database(std::move(database)) {}

jobs::JobListener ProgressPrinter::listener() {
    jobs::JobListener listener;
    listener.runStarted = [this](profiling::RunId run, const std::string& name) { runStarted(run, name); };
    listener.stepped = [this](const jobs::Progress& progress, const engine::StepStats& stats) {
        stepped(progress, stats);
    };
    listener.validated = [this](std::int64_t step, double valLoss) { validated(step, valLoss); };
    listener.event = [this](const engine::EngineEvent& event_) { event(event_); };
    listener.generated = [this](const engine::GenerationSample& sample) {
        if (m_json) printJsonLine(toJson(sample));
    };
    return listener;
}

void ProgressPrinter::endLine() {
    if (m_open) std::cout << std::endl;
    m_open = false;
}

void ProgressPrinter::rewrite(const std::string& text) {
    const auto columns = static_cast<std::size_t>(std::max(20, terminalColumns() - 1));
    std::cout << '\r' << text.substr(0, columns) << "\x1b[K" << std::flush;
    m_open = true;
}

void ProgressPrinter::line(const std::string& text) {
    if (m_open) std::cout << "\r\x1b[K";
    m_open = false;
    std::cout << text << std::endl;
}

void ProgressPrinter::runStarted(profiling::RunId run, const std::string& name) {
    if (m_json) {
        printJsonLine({{"type", "run"}, {"run", run.value}, {"name", name}, {"database", m_database}});
    } else {
        line(fmt::format("run {}: {}", run.value, oneLine(name)));
    }
}

void ProgressPrinter::stepped(const jobs::Progress& progress, const engine::StepStats& stats) {
    if (m_json) {
        Json object = toJson(stats);
        object["label"] = progress.label;
        object["tokens_per_second"] = progress.tokensPerSecond;
        object["seconds_left"] = progress.secondsLeft < 0 ? Json(nullptr) : Json(progress.secondsLeft);
        printJsonLine(object);
        return;
    }
    const bool last = progress.step == progress.steps;
    if (m_terminal) {
        const std::int64_t now = stats.startNs + stats.durationNs;
        if (!last && now - m_lastShownNs < kRewriteNs) return;
        m_lastShownNs = now;
        rewrite(progressText(progress, stats));
        return;
    }
    const std::int64_t every = std::max<std::int64_t>(1, progress.steps / kLines);
    if (last || progress.step % every == 0) line(progressText(progress, stats));
}

void ProgressPrinter::validated(std::int64_t step, double valLoss) {
    if (m_json) {
        printJsonLine({{"type", "validation"}, {"step", step}, {"val_loss", jsonNumber(valLoss)}});
    } else {
        line(fmt::format("step {}  validation loss {}", step + 1, fixed(valLoss, 4)));
    }
}

void ProgressPrinter::event(const engine::EngineEvent& event) {
    if (m_json) {
        printJsonLine(toJson(event));
    } else {
        const std::string where = event.step < 0 ? std::string("start") : fmt::format("step {}", event.step + 1);
        line(fmt::format("{}  {}: {}: {}", where, severityName(event.severity), event.code, oneLine(event.text)));
    }
}

}  // namespace cli
