// A process that records a run, for tests that kill it, limit its file size, or attach an outside tool to it.
// recording_child DATABASE STEPS STEP_MICROSECONDS [FILE_SIZE_LIMIT]
// Prints the capture path and "started"; exits 3 with the error's text when rows could not be written.
#include "recording.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <sys/resource.h>

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const std::int64_t steps = std::atoll(argv[2]);
    const std::chrono::microseconds pause(std::atoll(argv[3]));
    try {
        const auto session = profiling::Session::open(argv[1]);
        const auto recorder = session->startRun(test::describeRun("child"), {});
        recorder->activate();
        std::printf("%s\nstarted\n", profiling::rangeCapturePath().c_str());
        std::fflush(stdout);
        if (argc > 4) {
            std::signal(SIGXFSZ, SIG_IGN);
            const rlim_t bytes = std::strtoull(argv[4], nullptr, 10);
            const rlimit limit{bytes, bytes};
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        for (std::int64_t step = 0; step < steps; ++step) {
            test::recordSteps(*recorder, step, 1);
            std::this_thread::sleep_for(pause);
        }
        recorder->close(profiling::RunStatus::Finished);
        return 0;
    } catch (const profiling::Error& error) {
        std::printf("%s\n", error.what());
        return 3;
    }
}
