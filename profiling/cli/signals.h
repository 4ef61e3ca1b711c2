// Ctrl-C and its kin: the first asks a job to stop after its step, the second ends the program at once.
#pragma once

#include "jobs/job.h"

namespace cli {

/// A file size limit then reads as a write error, like a full disk, instead of ending the program.
void reportFileSizeLimit();

/// From now on SIGINT, SIGTERM and SIGHUP set control.stop. `control` must live to the end of the program.
/// A closed pipe on stdout no longer kills the program: the run goes on into its database.
void stopOnSignals(jobs::JobControl& control);

}  // namespace cli
