// A run's row as JSON; see run_json.h.
#include "run_json.h"

namespace cli {

Json runJson(const profiling::RunRow& run) {
    const profiling::RunDescription& about = run.description;
    return {{"type", "run"},
            {"run", run.id.value},
            {"uuid", run.uuid},
            {"name", run.name},
            {"status", profiling::name(run.status)},
            {"bench", run.bench ? Json(run.benchName) : Json(nullptr)},
            {"baseline", run.isBaseline},
            {"started_at_ns", run.startedAtNs},
            {"ended_at_ns", run.endedAtNs > 0 ? Json(run.endedAtNs) : Json(nullptr)},
            {"steps", run.stepsDone},
            {"steps_planned", about.stepsPlanned},
            {"first_step", about.firstStep},
            {"loss", jsonNumber(run.lastLoss)},
            {"val_loss", jsonNumber(run.valLoss)},
            {"tokens_per_second", run.tokensPerSecond},
            {"precision_asked", about.precisionAsked},
            {"precision", about.precision},
            {"precision_reason", about.precisionReason},
            {"emulated", about.emulated},
            {"device", about.device},
            {"device_name", about.deviceName},
            {"backend", about.backend},
            {"kernels", about.kernels},
            {"data", about.data},
            {"seed", about.seed},
            {"parameters", about.parameters},
            {"memory_bytes", about.memoryBytes},
            {"flops_per_step", about.flopsPerStep},
            {"tokens_per_step", about.tokensPerStep},
            {"model", jsonFromText(about.modelJson)},
            {"recipe", jsonFromText(about.recipeJson)},
            {"train", jsonFromText(about.trainJson)},
            {"host", jsonFromText(about.hostJson)},
            {"program_version", run.programVersion}};
}

}  // namespace cli
