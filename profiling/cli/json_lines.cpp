// --json: one JSON object per line on stdout; see json_lines.h.
#include "json_lines.h"

#include <cmath>
#include <iostream>

namespace cli {

Json jsonNumber(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

Json jsonNumber(std::optional<double> value) {
    return value ? jsonNumber(*value) : Json(nullptr);
}

Json orNull(double value) {
    return std::isnan(value) ? Json(nullptr) : jsonNumber(value);
}

Json jsonFromText(const std::string& text) {
    if (text.empty()) return nullptr;
    Json parsed = Json::parse(text, nullptr, false);
    return parsed.is_discarded() ? Json(text) : parsed;
}

const char* severityName(engine::Severity severity) {
    switch (severity) {
        case engine::Severity::Info:
            return "info";
        case engine::Severity::Warning:
            return "warning";
        case engine::Severity::Error:
            return "error";
    }
    return "unknown";
}

void printJsonLine(const Json& object) {
    // Generated text may hold any bytes; invalid UTF-8 is replaced instead of thrown over.
    std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

Json toJson(const engine::StepStats& stats) {
    return {{"type", "step"},
            {"step", stats.step},
            {"start_ns", stats.startNs},
            {"duration_ns", stats.durationNs},
            {"loss", jsonNumber(stats.loss)},
            {"grad_norm", jsonNumber(stats.gradNorm)},
            {"lr", stats.lr},
            {"tokens", stats.tokens},
            {"skipped", stats.skipped},
            {"memory_bytes", stats.memoryBytes}};
}

Json toJson(const engine::EngineEvent& event) {
    return {{"type", "event"},     {"step", event.step},
            {"at_ns", event.atNs}, {"severity", severityName(event.severity)},
            {"code", event.code},  {"text", event.text}};
}

Json toJson(const engine::GenerationSample& sample) {
    return {{"type", "generation"},    {"step", sample.step},       {"prompt", sample.prompt},
            {"output", sample.output}, {"correct", sample.correct}, {"total", sample.total}};
}

}  // namespace cli
