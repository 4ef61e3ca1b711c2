// Implementation of the helpers of the profiling tests.
#include "recording.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <sys/wait.h>

namespace test {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "amaxscope-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    m_path = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::permissions(m_path, fs::perms::owner_all, fs::perm_options::add, ignored);
    fs::remove_all(m_path, ignored);
}

profiling::RunDescription describeRun(const std::string& name) {
    profiling::RunDescription d;
    d.name = name;
    d.device = "cpu";
    d.deviceName = "Test processor";
    d.backend = "cpu";
    d.kernels = "gemm=ref";
    d.precisionAsked = "auto";
    d.precision = "fp8";
    d.precisionReason = "asked for by name";
    d.emulated = true;
    d.recipeJson = R"({"format":"hybrid","margin":0})";
    d.modelJson = R"({"layers":4})";
    d.trainJson = R"({"steps":10})";
    d.hostJson = R"({"cpu":"Test processor"})";
    d.data = "stride";
    d.seed = 0xFFFFFFFFFFFFFFFEU;
    d.stepsPlanned = 10;
    d.parameters = 123456;
    d.memoryBytes = 7890;
    d.flopsPerStep = 1.5e9;
    d.tokensPerStep = 1024;
    return d;
}

std::vector<engine::TensorInfo> twoTensors() {
    return {{0, "layer.0.qkv", "input", "E4M3", 64, 32}, {1, "layer.0.qkv", "grad_output", "E5M2", 64, 96}};
}

engine::StepStats stepStats(std::int64_t step) {
    return {step, step * 1000000, 1000000, 5.0 - static_cast<double>(step) / 100, 0.5, 1e-3, 1024, false, 4096};
}

engine::TensorSnapshot snapshot(int tensor, float amax, float scale) {
    engine::TensorSnapshot snapshot{};
    snapshot.tensor = tensor;
    snapshot.amax = amax;
    snapshot.scale = scale;
    snapshot.saturated = 1;
    snapshot.underflowed = 2;
    snapshot.zeros = 3;
    snapshot.count = 100;
    snapshot.sqError = 0.25;
    snapshot.sqSignal = 25.0;
    snapshot.scaleInvMin = snapshot.scaleInvMax = 1 / scale;
    return snapshot;
}

engine::TensorSnapshot uncastSnapshot(int tensor, float amax) {
    engine::TensorSnapshot snapshot{};
    snapshot.tensor = tensor;
    snapshot.amax = amax;
    snapshot.count = 100;
    return snapshot;
}

void recordSteps(profiling::RunRecorder& recorder, std::int64_t first, std::int64_t steps) {
    if (first == 0) recorder.onTensors(twoTensors());
    for (std::int64_t step = first; step < first + steps; ++step) {
        recorder.onStepBegin(step);
        {
            const engine::Range outer("step", engine::RangeKind::Step);
            const engine::Range inner("gemm", engine::RangeKind::Kernel, {10, 20});
        }
        const std::vector<engine::TensorSnapshot> snapshots{snapshot(0, 1.5F, 256.0F), snapshot(1, 2.0F, 128.0F)};
        recorder.onStepEnd(stepStats(step), snapshots);
    }
}

profiling::RunId recordRun(const std::string& path, const std::string& name, std::int64_t steps) {
    const auto session = profiling::Session::open(path);
    const auto recorder = session->startRun(describeRun(name), {});
    recorder->activate();
    recordSteps(*recorder, 0, steps);
    recorder->close(profiling::RunStatus::Finished);
    return recorder->run();
}

Outcome runProgram(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
    std::string line;
    for (const std::string& setting : environment) line += setting + " ";
    for (const std::string& word : command) line += "'" + word + "' ";
    std::FILE* pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + line);
    Outcome outcome{0, {}};
    std::array<char, 4096> buffer{};
    while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        outcome.output.append(buffer.data(), bytes);
    }
    const int status = pclose(pipe);
    outcome.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

}  // namespace test
