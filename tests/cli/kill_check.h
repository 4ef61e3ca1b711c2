// kill -9 at random moments, shared by the quick and the slow test.
#pragma once

#include "cli_runner.h"

namespace cli_test {

/// Kills `times` runs that share one file and checks after each: the file opens, the run reads as crashed, its steps
/// have no gap, every step that ended a second before the kill is there, and earlier runs are unchanged.
void killAtRandomMoments(int times, unsigned seed);

}  // namespace cli_test
