// --json: one JSON object per line on stdout. Numbers that JSON cannot hold become "inf", "-inf" and "nan".
#pragma once

#include "engine/observer.h"

#include <nlohmann/json.hpp>

#include <optional>

namespace cli {

using Json = nlohmann::ordered_json;

Json jsonNumber(double value);
Json jsonNumber(std::optional<double> value);  ///< null when absent
Json orNull(double value);                     ///< null for NaN, where NaN stands for nothing
/// The parsed text, or null for "".
Json jsonFromText(const std::string& text);
const char* severityName(engine::Severity severity);

/// Writes one line and flushes, so that a program on the other side sees it at once.
void printJsonLine(const Json& object);

Json toJson(const engine::StepStats& stats);
Json toJson(const engine::EngineEvent& event);
Json toJson(const engine::GenerationSample& sample);

}  // namespace cli
