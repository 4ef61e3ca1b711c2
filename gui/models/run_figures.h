// The few numbers per run that the comparing view shows, read step by step: a live run costs only its new steps.
// Used on the query worker's thread alone.
#pragma once

#include "profiling/metrics.h"
#include "profiling/queries.h"

#include <map>
#include <string>
#include <vector>

namespace gui {

/// One metric of one run. Without repeats the spread is over its steps.
struct Figure {
    std::vector<double> repeats;
    profiling::Spread spread;
};

struct RunFigures {
    profiling::RunId id;
    std::string name;
    bool emulated = false;
    std::int64_t steps = 0;
    Figure tokensPerSecond;
    Figure stepMs;
    Figure memoryBytes;
    double trainLoss = 0;  // mean of the last tenth of the steps; NaN when unknown
    double valLoss = 0;    // newest validation; NaN when there was none
};

/// value of `run` ÷ value of `base` − 1 on the loss that both have (validation first); NaN when there is none.
double lossGap(const RunFigures& run, const RunFigures& base);
/// Validation loss where there is one, else training loss.
double finalLoss(const RunFigures& run);

class RunFiguresCache {
public:
    std::vector<RunFigures> read(profiling::Store& store, const std::vector<profiling::RunId>& runs);

private:
    struct Seen {
        std::int64_t lastStep = -1;
        std::vector<double> tokensPerSecond;
        std::vector<double> stepMs;
        std::vector<double> loss;
        double memoryBytes = 0;
    };
    void readSteps(profiling::Store& store, profiling::RunId run, Seen& seen) const;

    std::map<std::int64_t, Seen> m_seen;
};

}  // namespace gui
