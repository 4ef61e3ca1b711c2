// Shows a job's progress: one line rewritten on a terminal, about twenty lines elsewhere, JSON lines with --json.
#pragma once

#include "jobs/job.h"

#include <string>

namespace cli {

class ProgressPrinter {
public:
    ProgressPrinter(bool json, std::string database);

    /// Callbacks for the job; the printer must outlive it.
    jobs::JobListener listener();
    /// Ends a line that was being rewritten. Call before printing anything else.
    void endLine();

private:
    void runStarted(profiling::RunId run, const std::string& name);
    void stepped(const jobs::Progress& progress, const engine::StepStats& stats);
    void validated(std::int64_t step, double valLoss);
    void event(const engine::EngineEvent& event);
    void rewrite(const std::string& line);
    void line(const std::string& text);

    bool m_json;
    bool m_terminal;
    std::string m_database;
    bool m_open = false;             // a rewritten line stands on the terminal
    std::int64_t m_lastShownNs = 0;  // a terminal is not fed more than ten times a second
};

}  // namespace cli
