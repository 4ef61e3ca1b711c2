// Helpers of the profiling tests: a temporary folder, a made-up run, and steps and snapshots with known numbers.
#pragma once

#include "profiling/queries.h"
#include "profiling/session.h"
#include "src/nvtx_ranges.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace test {

/// A fresh folder, removed at the end of the test.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string file(const std::string& name) const { return (m_path / name).string(); }
    const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

profiling::RunDescription describeRun(const std::string& name);
std::vector<engine::TensorInfo> twoTensors();  // an E4M3 input and an E5M2 gradient

/// Step s: starts at s ms, lasts 1 ms, loss 5 − s/100, 1024 tokens.
engine::StepStats stepStats(std::int64_t step);
/// Of 100 elements 1 saturated, 2 underflowed and 3 are zeros; SQNR 20 dB.
engine::TensorSnapshot snapshot(int tensor, float amax, float scale);
/// What the engine tells of a tensor that it did not cast.
engine::TensorSnapshot uncastSnapshot(int tensor, float amax);

/// Announces twoTensors() and makes `steps` steps, each with two snapshots.
void recordSteps(profiling::RunRecorder& recorder, std::int64_t first, std::int64_t steps);

/// A finished run with `steps` steps in the file.
profiling::RunId recordRun(const std::string& path, const std::string& name, std::int64_t steps);

/// The text of the profiling::Error that `action` throws; "" when it throws none.
template <typename Action>
std::string errorOf(Action action) {
    try {
        action();
    } catch (const profiling::Error& error) {
        return error.what();
    }
    return {};
}

/// Runs a program of this build with arguments and VAR=value settings; gives its exit code (128 + signal) and stdout.
struct Outcome {
    int exitCode;
    std::string output;
};
Outcome runProgram(const std::vector<std::string>& command, const std::vector<std::string>& environment = {});

}  // namespace test
