// The views on a small database, as several tests show them.
#pragma once

#include "qt_wait.h"
#include "query_worker.h"
#include "sample_database.h"
#include "selection.h"
#include "temporary_folder.h"
#include "views/stability_view.h"
#include "views/summary_view.h"
#include "views/throughput_view.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

/// The three views on one database.
class ViewsTest : public testing::Test {
protected:
    void SetUp() override {
        m_path = m_folder.path() + "/runs.amax";
        m_sample = writeSampleDatabase(m_path);
        for (QWidget* view : std::initializer_list<QWidget*>{&m_throughput, &m_stability, &m_summary}) {
            view->resize(480, 330);
            view->show();
        }
        m_worker.setDatabase(QString::fromStdString(m_path));
        ASSERT_TRUE(waitFor([this] { return m_worker.idle(); }));
        m_selection.setVisibleRuns({m_sample.fp32, m_sample.bf16, m_sample.fp8});
        m_selection.setBaseline(m_sample.fp32);
        m_selection.setCurrentRun(m_sample.fp8);
        ASSERT_TRUE(waitFor([this] {
            return m_throughput.seriesCount() == 3 && m_stability.heatPlot()->map() != nullptr &&
                   m_stability.tensorPlot()->pointCount() > 0 && m_summary.rowCount() > 0 && m_worker.idle();
        }));
        m_stability.tensorPlot()->replot();
        m_stability.lossPlot()->replot();
        m_stability.heatPlot()->replot();
    }

    TemporaryFolder m_folder;
    std::string m_path;
    SampleDatabase m_sample;
    gui::Selection m_selection;
    gui::QueryWorker m_worker;
    gui::ThroughputView m_throughput{&m_selection, &m_worker};
    gui::StabilityView m_stability{&m_selection, &m_worker};
    gui::SummaryView m_summary{&m_selection, &m_worker};
};
