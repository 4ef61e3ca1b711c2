// CSV as RFC 4180 says: CRLF lines, a field in quotes when it holds a comma, a quote or a line break, quotes doubled.
#include "exchange/number_text.h"
#include "profiling/exchange.h"
#include "profiling/metrics.h"

#include <cmath>
#include <functional>
#include <optional>
#include <ostream>
#include <string_view>

namespace profiling {

namespace {

class CsvWriter {
public:
    explicit CsvWriter(std::ostream& out) : m_out(out) {}

    template <typename... Fields>
    void row(const Fields&... fields) {
        bool first = true;
        ((m_out << (first ? "" : ",") << fieldText(fields), first = false), ...);
        m_out << "\r\n";
    }

private:
    static std::string fieldText(std::int64_t value) { return numberText(value); }
    static std::string fieldText(int value) { return numberText(static_cast<std::int64_t>(value)); }
    static std::string fieldText(double value) { return numberText(value); }
    template <typename Number>
    static std::string fieldText(const std::optional<Number>& value) {
        return value ? numberText(*value) : std::string();
    }
    static std::string fieldText(std::string_view text) {
        if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
        std::string quoted = "\"";
        for (const char c : text) {
            if (c == '"') quoted += '"';
            quoted += c;
        }
        return quoted + "\"";
    }

    std::ostream& m_out;
};

/// An empty field unless `there`.
template <typename Number>
std::optional<Number> onlyIf(bool there, Number value) {
    return there ? std::optional<Number>(value) : std::nullopt;
}

std::optional<double> unlessNaN(double value) {
    return onlyIf(!std::isnan(value), value);
}

void writeRuns(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "uuid", "name", "bench", "baseline", "status", "started_at_ns", "ended_at_ns", "device",
            "device_name", "backend", "kernels", "precision_asked", "precision", "precision_reason", "emulated",
            "recipe", "model", "train", "data", "seed", "host", "program_version", "steps_planned", "first_step",
            "parameters", "memory_bytes", "flops_per_step", "tokens_per_step", "steps_done", "last_loss", "val_loss",
            "tokens_per_second");
    for (const RunId id : runs) {
        const RunRow r = store.run(id);
        const RunDescription& d = r.description;
        csv.row(r.id.value, r.uuid, r.name, r.benchName, static_cast<int>(r.isBaseline), name(r.status), r.startedAtNs,
                r.endedAtNs, d.device, d.deviceName, d.backend, d.kernels, d.precisionAsked, d.precision,
                d.precisionReason, static_cast<int>(d.emulated), d.recipeJson, d.modelJson, d.trainJson, d.data,
                std::to_string(d.seed), d.hostJson, r.programVersion, d.stepsPlanned, d.firstStep, d.parameters,
                d.memoryBytes, d.flopsPerStep, d.tokensPerStep, r.stepsDone, r.lastLoss, r.valLoss, r.tokensPerSecond);
    }
}

void writeSteps(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "step", "start_ns", "duration_ns", "loss", "val_loss", "grad_norm", "lr", "tokens", "skipped",
            "memory_bytes", "tokens_per_second");
    for (const RunId id : runs) {
        for (const StepRow& s : store.steps(id)) {
            csv.row(id.value, s.step, s.startNs, s.durationNs, s.loss, s.valLoss, s.gradNorm, s.lr, s.tokens,
                    static_cast<int>(s.skipped), s.memoryBytes, tokensPerSecond(s));
        }
    }
}

void writeSnapshots(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "tensor", "role", "format", "step", "amax", "scale", "saturated", "underflowed", "zeros",
            "non_finite", "count", "sq_error", "sq_signal", "headroom_bits", "sqnr_db", "scale_inv_min",
            "scale_inv_max", "smallest", "dynamic_range_bits");
    for (const RunId id : runs) {
        for (const TensorRow& t : store.tensors(id)) {
            for (const SnapshotRow& s : store.snapshots(id, t.id)) {
                const bool cast = isCast(s);
                csv.row(id.value, t.layer, t.role, t.format, s.step, s.amax, onlyIf(cast, s.scale),
                        onlyIf(cast, s.saturated), onlyIf(cast, s.underflowed), onlyIf(cast, s.zeros),
                        onlyIf(cast, s.nonFinite), s.count, onlyIf(cast, s.sqError), onlyIf(cast, s.sqSignal),
                        onlyIf(cast, headroomBits(s, t.format)), onlyIf(cast, sqnrDb(s)), unlessNaN(s.scaleInvMin),
                        unlessNaN(s.scaleInvMax), unlessNaN(s.smallest), unlessNaN(dynamicRangeBits(s)));
            }
        }
    }
}

void writeExponents(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "tensor", "role", "format", "step", "exponent", "elements");
    for (const RunId id : runs) {
        for (const TensorRow& t : store.tensors(id)) {
            for (const ExponentRow& e : store.exponents(id, t.id)) {
                int exponent = e.firstExponent;
                for (const std::uint32_t elements : e.counts) {
                    csv.row(id.value, t.layer, t.role, t.format, e.step, exponent++, std::int64_t{elements});
                }
            }
        }
    }
}

void writeKernels(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "name", "calls", "total_ns", "mean_ns", "median_ns", "min_ns", "max_ns", "stddev_ns", "share",
            "flops", "bytes");
    for (const RunId id : runs) {
        for (const SummaryRow& k : store.kernelSummary(id, {})) {
            csv.row(id.value, k.name, k.calls, k.totalNs, k.meanNs, k.medianNs, k.minNs, k.maxNs, k.stddevNs, k.share,
                    k.flops, k.bytes);
        }
    }
}

void writeRanges(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "id", "parent", "step", "thread", "depth", "kind", "name", "start_ns", "duration_ns", "flops",
            "bytes");
    for (const RunId id : runs) {
        for (const RangeRow& r : store.ranges(id, StepWindow{-1})) {
            csv.row(id.value, r.id, r.parent, r.step, r.thread, r.depth, r.kind, r.name, r.startNs, r.durationNs,
                    r.flops, r.bytes);
        }
    }
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
    return "info";
}

void writeEvents(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "step", "at_ns", "severity", "code", "text");
    for (const RunId id : runs) {
        for (const EventRow& e : store.events(id)) {
            csv.row(id.value, e.step, e.atNs, severityName(e.severity), e.code, e.text);
        }
    }
}

void writeSamples(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "metric", "i", "value");
    for (const RunId id : runs) {
        for (const SampleRow& s : store.samples(id)) csv.row(id.value, s.metric, s.i, s.value);
    }
}

void writeGenerations(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "step", "prompt", "output", "correct", "total");
    for (const RunId id : runs) {
        for (const GenerationRow& g : store.generations(id)) {
            csv.row(id.value, g.step, g.prompt, g.output, g.correct, g.total);
        }
    }
}

void writeTensors(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "layer", "role", "format", "rows", "cols");
    for (const RunId id : runs) {
        for (const TensorRow& t : store.tensors(id)) csv.row(id.value, t.layer, t.role, t.format, t.rows, t.cols);
    }
}

void writeImportIssues(Store& store, const std::vector<RunId>& runs, CsvWriter& csv) {
    csv.row("run", "name", "severity", "count", "first_example");
    for (const RunId id : runs) {
        for (const ImportIssueRow& issue : store.importIssues(id)) {
            csv.row(id.value, issue.name, severityName(issue.severity), issue.count, issue.firstExample);
        }
    }
}

struct Table {
    const char* name;
    void (*write)(Store& store, const std::vector<RunId>& runs, CsvWriter& csv);
};

constexpr Table kTables[] = {{"runs", writeRuns},           {"steps", writeSteps},
                             {"snapshots", writeSnapshots}, {"kernels", writeKernels},
                             {"ranges", writeRanges},       {"events", writeEvents},
                             {"samples", writeSamples},     {"generations", writeGenerations},
                             {"tensors", writeTensors},     {"import_issues", writeImportIssues},
                             {"exponents", writeExponents}};

}  // namespace

std::vector<std::string> exportTables() {
    std::vector<std::string> names;
    for (const Table& table : kTables) names.emplace_back(table.name);
    return names;
}

void exportCsv(Store& store, const std::vector<RunId>& runs, const std::string& table, std::ostream& out) {
    for (const Table& known : kTables) {
        if (table != known.name) continue;
        for (const RunId id : runs) store.run(id);  // an unknown run is an error before anything is written
        CsvWriter csv(out);
        known.write(store, runs, csv);
        return;
    }
    std::string names;
    for (const std::string& known : exportTables()) names += (names.empty() ? "" : ", ") + known;
    throw Error(ErrorKind::Usage, "table '" + table + "'", "not known", "use one of " + names);
}

}  // namespace profiling
