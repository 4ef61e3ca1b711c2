// What takes longer than every commit should wait: twenty kills, and training until the stride holds.
#include "kill_check.h"

#include <gtest/gtest.h>

namespace cli_test {
namespace {

TEST(Slow, twentyKilledRunsKeepTheirStepsAndReadAsCrashed) {
    killAtRandomMoments(20, 1);
}

TEST(Slow, fp8LearnsToContinueEveryStride) {
    const Scratch scratch;
    const Outcome outcome =
        scratch.run({"train", "--layers", "2",  "--d-model", "64",     "--heads", "4",      "--seq-len",
                     "32",    "--batch",  "32", "--lr",      "0.003",  "--steps", "1500",   "--precision",
                     "fp8",   "--seed",   "1",  "--data",    "stride", "--db",    "a.amax", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json result = linesOfType(outcome.out, "result").at(0);
    EXPECT_EQ(result["stride_correct"], 20);
    EXPECT_EQ(result["stride_total"], 20);
}

}  // namespace
}  // namespace cli_test
