// What train and bench jobs have in common; see job_setup.h.
#include "jobs/job_setup.h"

#include "engine/device.h"
#include "engine/error.h"
#include "jobs/output_files.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

namespace jobs {

void requireValid(const engine::RunConfig& config) {
    const std::vector<engine::ConfigIssue> issues = engine::validate(config);
    if (issues.empty()) return;
    const engine::ConfigIssue& first = issues.front();
    throw engine::Error(engine::ErrorKind::Usage, "--" + first.field, first.why, first.fix);
}

std::string dataName(const std::string& data) {
    const std::size_t slash = data.find_last_of("/\\");
    if (slash != std::string::npos) return data.substr(slash + 1);
    const std::size_t colon = data.find(':');
    return colon == std::string::npos ? data : data.substr(colon + 1);
}

std::string defaultRunName(const engine::RunConfig& config, engine::Precision precision) {
    return engine::precisionLabel(precision, config.recipe) + ", " + dataName(config.train.data);
}

namespace {

/// What "auto" came to: whoever reads a run must not need to know this version's rules.
engine::Fp8Recipe withChoicesMade(engine::Fp8Recipe recipe) {
    using engine::RecipeKind;
    const bool choosesScales = recipe.kind == RecipeKind::Current || recipe.kind == RecipeKind::Block;
    if (choosesScales) {
        recipe.powerOfTwoScales = engine::usesPowerOfTwoScales(recipe) ? engine::Switch::On : engine::Switch::Off;
    }
    if (recipe.kind != RecipeKind::NvFp4) recipe.format = engine::effectiveFormat(recipe);
    return recipe;
}

}  // namespace

profiling::RunDescription describe(const engine::Trainer& trainer, const std::string& name, engine::Precision asked,
                                   profiling::BenchId bench) {
    const engine::RunConfig& config = trainer.config();
    const engine::TrainerInfo& info = trainer.info();
    profiling::RunDescription row;
    row.name = name;
    row.bench = bench;
    row.device = info.device;
    row.deviceName = info.deviceName;
    row.backend = info.backend;
    row.kernels = info.kernels;
    row.precisionAsked = engine::name(asked);
    row.precision = engine::name(info.precision);
    row.precisionReason = info.precisionReason;
    row.emulated = info.emulated;
    if (info.precision == engine::Precision::Fp8) row.recipeJson = engine::toJson(withChoicesMade(config.recipe));
    row.modelJson = engine::toJson(config.model);
    row.trainJson = engine::toJson(config.train);
    row.hostJson = engine::toJson(engine::inspectMachine());
    row.data = config.train.data;
    row.seed = config.train.seed;
    row.stepsPlanned = config.train.steps;
    row.firstStep = info.firstStep;
    row.parameters = info.parameters;
    row.memoryBytes = info.memoryBytes;
    row.flopsPerStep = info.flopsPerStep;
    row.tokensPerStep = info.tokensPerStep;
    return row;
}

engine::RunEstimate sizeOf(engine::RunConfig config, int vocab) {
    if (config.model.vocab == 0) config.model.vocab = vocab;
    return engine::estimate(config);
}

std::string gibibytes(double bytes) {
    const long tenths = std::lround(bytes / (1 << 30) * 10);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

std::shared_ptr<profiling::Session> openBeforeBuilding(const std::string& database) {
    std::error_code ignored;
    if (std::filesystem::exists(database, ignored)) return profiling::Session::open(database);
    const std::filesystem::path probe = reserveBeside(database);
    if (probe.empty()) return profiling::Session::open(database);  // says what is wrong with the folder
    std::filesystem::remove(probe, ignored);
    return nullptr;
}

void waitWhilePaused(const JobControl& control) {
    // A signal handler may set `stop`, and it cannot notify a waiter; looking 50 times a second costs nothing.
    while (control.paused.load() && !control.stop.load()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void closeAfterError(profiling::RunRecorder& recorder, profiling::RunStatus status, const JobListener& listener) {
    try {
        recorder.close(status);
    } catch (const profiling::Error& error) {
        if (listener.event) listener.event({-1, engine::clockNs(), engine::Severity::Error, "store", error.what()});
    }
}

void requireRecording(profiling::RunRecorder& recorder, const std::string& database) {
    const std::string failure = recorder.failure();
    if (failure.empty()) return;
    try {
        recorder.close(profiling::RunStatus::Failed);
    } catch (const profiling::Error& error) {
        throw profiling::Error(error.kind(), database, "rows were lost: " + error.why(), error.fix());
    }
    throw profiling::Error(profiling::ErrorKind::Failure, database,
                           "could not be written for too long (" + failure + ")",
                           "no row was lost; put that right, then start the run again");
}

}  // namespace jobs
