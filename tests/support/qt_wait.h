// Lets the event loop run until something holds: for answers that come from other threads.
#pragma once

#include <QTest>

/// False when it does not hold within `ms`; the limit is far above what any machine needs, so that no test is timed.
template <typename Condition>
bool waitFor(Condition condition, int ms = 30000) {
    return QTest::qWaitFor(condition, ms);
}
