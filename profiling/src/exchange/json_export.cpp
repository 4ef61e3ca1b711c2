// JSON export, written row by row so that a long run does not have to fit into memory twice.
#include "profiling/exchange.h"
#include "profiling/metrics.h"

#include "exchange/number_text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>
#include <type_traits>

namespace profiling {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinities and no NaN.
Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(numberText(value));
}

Json number(const std::optional<double>& value) {
    return value ? number(*value) : Json(nullptr);
}

/// null unless `there`.
template <typename Number>
Json onlyIf(bool there, Number value) {
    if (!there) return nullptr;
    if constexpr (std::is_floating_point_v<Number>) return number(value);
    return value;
}

Json unlessNaN(double value) {
    return onlyIf(!std::isnan(value), value);
}

/// Stored JSON texts become objects; anything else stays text.
Json embedded(const std::string& text) {
    if (text.empty()) return nullptr;
    Json parsed = Json::parse(text, nullptr, false);
    return parsed.is_discarded() ? Json(text) : parsed;
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Rows, typename ToJson>
void writeArray(std::ostream& out, const char* key, const Rows& rows, ToJson toJson) {
    out << ",\"" << key << "\":[";
    const char* separator = "\n";
    for (const auto& row : rows) {
        out << separator << dump(toJson(row));
        separator = ",\n";
    }
    out << "]";
}

Json runJson(const RunRow& run) {
    const RunDescription& d = run.description;
    return {{"id", run.id.value},
            {"uuid", run.uuid},
            {"name", run.name},
            {"bench", run.benchName},
            {"baseline", run.isBaseline},
            {"status", name(run.status)},
            {"started_at_ns", run.startedAtNs},
            {"ended_at_ns", run.endedAtNs},
            {"device", d.device},
            {"device_name", d.deviceName},
            {"backend", d.backend},
            {"kernels", d.kernels},
            {"precision_asked", d.precisionAsked},
            {"precision", d.precision},
            {"precision_reason", d.precisionReason},
            {"emulated", d.emulated},
            {"recipe", embedded(d.recipeJson)},
            {"model", embedded(d.modelJson)},
            {"train", embedded(d.trainJson)},
            {"machine", embedded(d.hostJson)},
            {"data", d.data},
            {"seed", d.seed},
            {"program_version", run.programVersion},
            {"steps_planned", d.stepsPlanned},
            {"first_step", d.firstStep},
            {"parameters", d.parameters},
            {"memory_bytes", d.memoryBytes},
            {"flops_per_step", number(d.flopsPerStep)},
            {"tokens_per_step", d.tokensPerStep},
            {"steps_done", run.stepsDone},
            {"last_loss", number(run.lastLoss)},
            {"val_loss", number(run.valLoss)},
            {"tokens_per_second", number(run.tokensPerSecond)}};
}

Json stepJson(const StepRow& s) {
    return {{"step", s.step},
            {"start_ns", s.startNs},
            {"duration_ns", s.durationNs},
            {"loss", number(s.loss)},
            {"val_loss", number(s.valLoss)},
            {"grad_norm", number(s.gradNorm)},
            {"lr", number(s.lr)},
            {"tokens", s.tokens},
            {"skipped", s.skipped},
            {"memory_bytes", s.memoryBytes}};
}

Json snapshotJson(const SnapshotRow& s) {
    const bool cast = isCast(s);
    return {{"step", s.step},
            {"amax", number(s.amax)},
            {"scale", onlyIf(cast, s.scale)},
            {"saturated", onlyIf(cast, s.saturated)},
            {"underflowed", onlyIf(cast, s.underflowed)},
            {"zeros", onlyIf(cast, s.zeros)},
            {"non_finite", onlyIf(cast, s.nonFinite)},
            {"count", s.count},
            {"sq_error", onlyIf(cast, s.sqError)},
            {"sq_signal", onlyIf(cast, s.sqSignal)},
            {"scale_inv_min", unlessNaN(s.scaleInvMin)},
            {"scale_inv_max", unlessNaN(s.scaleInvMax)},
            {"smallest", unlessNaN(s.smallest)}};
}

Json exponentJson(const ExponentRow& e) {
    return {{"step", e.step}, {"first_exponent", e.firstExponent}, {"counts", e.counts}};
}

Json kernelJson(const SummaryRow& k) {
    return {{"name", k.name},           {"calls", k.calls},
            {"total_ns", k.totalNs},    {"mean_ns", number(k.meanNs)},
            {"median_ns", k.medianNs},  {"min_ns", k.minNs},
            {"max_ns", k.maxNs},        {"stddev_ns", number(k.stddevNs)},
            {"share", number(k.share)}, {"flops", number(k.flops)},
            {"bytes", number(k.bytes)}};
}

Json eventJson(const EventRow& e) {
    return {{"step", e.step},
            {"at_ns", e.atNs},
            {"severity", static_cast<int>(e.severity)},
            {"code", e.code},
            {"text", e.text}};
}

Json sampleJson(const SampleRow& s) {
    return {{"metric", s.metric}, {"i", s.i}, {"value", number(s.value)}};
}

Json generationJson(const GenerationRow& g) {
    return {{"step", g.step}, {"prompt", g.prompt}, {"output", g.output}, {"correct", g.correct}, {"total", g.total}};
}

Json importIssueJson(const ImportIssueRow& issue) {
    return {{"name", issue.name},
            {"severity", static_cast<int>(issue.severity)},
            {"count", issue.count},
            {"first_example", issue.firstExample}};
}

void writeTensors(Store& store, RunId run, std::ostream& out) {
    out << ",\"tensors\":[";
    const char* separator = "\n";
    for (const TensorRow& t : store.tensors(run)) {
        std::string head =
            dump(Json{{"layer", t.layer}, {"role", t.role}, {"format", t.format}, {"rows", t.rows}, {"cols", t.cols}});
        head.pop_back();  // the closing brace comes after what was seen of it
        out << separator << head;
        writeArray(out, "snapshots", store.snapshots(run, t.id), snapshotJson);
        writeArray(out, "exponents", store.exponents(run, t.id), exponentJson);
        out << "}";
        separator = ",\n";
    }
    out << "]";
}

}  // namespace

void exportJson(Store& store, const std::vector<RunId>& runs, std::ostream& out) {
    std::vector<RunRow> rows;
    rows.reserve(runs.size());
    for (const RunId id : runs) rows.push_back(store.run(id));
    out << "{\"runs\":[";
    const char* separator = "\n";
    for (const RunRow& run : rows) {
        std::string head = dump(runJson(run));
        head.pop_back();
        out << separator << head;
        writeArray(out, "steps", store.steps(run.id), stepJson);
        writeTensors(store, run.id, out);
        writeArray(out, "kernels", store.kernelSummary(run.id, {}), kernelJson);
        writeArray(out, "events", store.events(run.id), eventJson);
        writeArray(out, "samples", store.samples(run.id), sampleJson);
        writeArray(out, "generations", store.generations(run.id), generationJson);
        writeArray(out, "import_issues", store.importIssues(run.id), importIssueJson);
        out << "}";
        separator = ",\n";
    }
    out << "]}\n";
}

}  // namespace profiling
