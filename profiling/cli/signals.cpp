// Ctrl-C and its kin; see signals.h.
#include "signals.h"

#include "messages.h"

#include <csignal>
#include <cstdlib>

namespace cli {
namespace {

std::atomic<jobs::JobControl*> theControl{nullptr};
static_assert(std::atomic<jobs::JobControl*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

extern "C" void askToStop(int) {
    jobs::JobControl* control = theControl.load();
    // Somebody who presses twice does not want to wait for the step; the database marks the run as crashed.
    if (control->stop.exchange(true)) std::_Exit(kInterrupted);
}

}  // namespace

void reportFileSizeLimit() {
#ifdef SIGXFSZ
    std::signal(SIGXFSZ, SIG_IGN);
#endif
}

void stopOnSignals(jobs::JobControl& control) {
    theControl.store(&control);
    std::signal(SIGINT, askToStop);
    std::signal(SIGTERM, askToStop);
#ifdef SIGHUP
    // nohup ignores this signal on purpose.
    if (std::signal(SIGHUP, askToStop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
#endif
#ifdef SIGPIPE
    std::signal(SIGPIPE, SIG_IGN);
#endif
}

}  // namespace cli
