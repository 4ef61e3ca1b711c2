// The plots and views with real mouse, wheel and key events, fed from a small database that the test records.
#include "views/axis_tickers.h"
#include "views/plot_text.h"
#include "views/rows_view.h"
#include "views/tensor_picker.h"
#include "views_fixture.h"

#include <gtest/gtest.h>

#include <QFileInfo>
#include <QHeaderView>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QWheelEvent>

#include <cmath>
#include <limits>
#include <memory>

using namespace gui;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

void wheelAt(QWidget* widget, const QPointF& at, int clicks) {
    QWheelEvent event(at, widget->mapToGlobal(at), {}, {0, clicks * 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(widget, &event);
}

void drag(QWidget* widget, const QPoint& from, const QPoint& to, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mousePress(widget, Qt::LeftButton, modifiers, from);
    for (const QPoint& at : {from + (to - from) / 2, to}) {
        QMouseEvent move(QEvent::MouseMove, at, widget->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, modifiers);
        QApplication::sendEvent(widget, &move);
    }
    QTest::mouseRelease(widget, Qt::LeftButton, modifiers, to);
}

void hover(QWidget* widget, const QPoint& at) {
    QMouseEvent move(QEvent::MouseMove, at, widget->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(widget, &move);
}

/// A plot of a straight line over 101 steps, laid out and drawn.
class PlotTest : public testing::Test {
protected:
    void SetUp() override {
        m_plot.resize(480, 200);
        m_plot.show();
        LineLook look;
        look.name = QStringLiteral("line");
        look.pen = QPen(Qt::blue, 1);
        m_plot.addLine(look);
        Series series;
        for (int i = 0; i <= 100; ++i) series.add(i, i);
        m_plot.setData(0, series);
        m_plot.group()->reset();
        m_plot.replot();
    }
    QPoint middle() const { return m_plot.axisRect()->rect().center(); }

    Selection m_selection;
    PlotWidget m_plot{&m_selection};
};

}  // namespace

TEST_F(PlotTest, wheelZoomsAtTheCursorAndBackspaceGoesBack) {
    const QCPRange before = m_plot.xAxis->range();
    const QPoint at(middle().x() / 2 + 60, middle().y());
    const double under = m_plot.xAxis->pixelToCoord(at.x());
    wheelAt(&m_plot, at, 3);
    EXPECT_LT(m_plot.xAxis->range().size(), before.size() * 0.6);
    EXPECT_NEAR(m_plot.xAxis->pixelToCoord(at.x()), under, 1e-6);
    QTest::keyClick(&m_plot, Qt::Key_Backspace);
    EXPECT_EQ(m_plot.xAxis->range(), before);
    EXPECT_FALSE(m_plot.group()->isZoomed());
}

TEST_F(PlotTest, dragPansAndAltLeftGoesBack) {
    const QCPRange before = m_plot.xAxis->range();
    drag(&m_plot, middle(), middle() + QPoint(80, 0));
    EXPECT_LT(m_plot.xAxis->range().lower, before.lower);
    EXPECT_NEAR(m_plot.xAxis->range().size(), before.size(), 1e-9);
    EXPECT_FALSE(m_selection.cursorPinned());
    QTest::keyClick(&m_plot, Qt::Key_Left, Qt::AltModifier);
    EXPECT_EQ(m_plot.xAxis->range(), before);
}

TEST_F(PlotTest, shiftDragZoomsToTheBox) {
    const QPoint from = middle() - QPoint(50, 30);
    const QPoint to = middle() + QPoint(50, 30);
    const double left = m_plot.xAxis->pixelToCoord(from.x());
    const double right = m_plot.xAxis->pixelToCoord(to.x());
    drag(&m_plot, from, to, Qt::ShiftModifier);
    EXPECT_NEAR(m_plot.xAxis->range().lower, left, 1.0);
    EXPECT_NEAR(m_plot.xAxis->range().upper, right, 1.0);
    EXPECT_LT(m_plot.yAxis->range().size(), 60);
    EXPECT_TRUE(m_plot.group()->back());
    EXPECT_NEAR(m_plot.xAxis->range().size(), 100, 1e-9);
}

TEST_F(PlotTest, doubleClickFitsAndLeavesTheCursorAsItWas) {
    wheelAt(&m_plot, middle(), 5);
    QTest::mouseClick(&m_plot, Qt::LeftButton, {}, middle());
    QTest::mouseDClick(&m_plot, Qt::LeftButton, {}, middle());
    EXPECT_NEAR(m_plot.xAxis->range().size(), 100, 1e-9);
    EXPECT_FALSE(m_selection.cursorPinned());
    EXPECT_TRUE(m_plot.group()->back());  // a fit can be undone too
    EXPECT_LT(m_plot.xAxis->range().size(), 50);
}

TEST_F(PlotTest, keysZoomPanAndFit) {
    QTest::keyClick(&m_plot, Qt::Key_Plus);
    EXPECT_NEAR(m_plot.xAxis->range().size(), 80, 1e-6);
    EXPECT_EQ(m_plot.group()->historySize(), 1);
    const double left = m_plot.xAxis->range().lower;
    QTest::keyClick(&m_plot, Qt::Key_Right);
    EXPECT_GT(m_plot.xAxis->range().lower, left);
    QTest::keyClick(&m_plot, Qt::Key_Minus);
    EXPECT_NEAR(m_plot.xAxis->range().size(), 100, 1e-6);
    QTest::keyClick(&m_plot, Qt::Key_F);
    EXPECT_NEAR(m_plot.xAxis->range().lower, 0, 1e-9);
}

TEST_F(PlotTest, aClickPinsTheStepAndEscapeFreesIt) {
    QTest::mouseClick(&m_plot, Qt::LeftButton, {}, middle());
    ASSERT_TRUE(m_selection.cursorPinned());
    EXPECT_NEAR(static_cast<double>(*m_selection.cursorStep()), 50, 2);
    hover(&m_plot, middle() + QPoint(60, 0));
    EXPECT_NEAR(static_cast<double>(*m_selection.cursorStep()), 50, 2);  // pinned: the mouse does not move it
    QTest::keyClick(&m_plot, Qt::Key_Escape);
    EXPECT_FALSE(m_selection.cursorPinned());
}

TEST_F(PlotTest, hoverMovesTheCursorOfEveryPlotAndLeavingHidesIt) {
    PlotWidget other(&m_selection);
    hover(&m_plot, middle());
    ASSERT_TRUE(m_selection.cursorStep().has_value());
    const auto step = *m_selection.cursorStep();
    const auto rows = m_plot.readout(static_cast<double>(step), 0);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].value.toStdString(), std::to_string(step) + ".0");
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&m_plot, &leave);
    EXPECT_FALSE(m_selection.cursorStep().has_value());
}

TEST_F(PlotTest, logAxisWithZerosAndInfinitiesHasFiniteLimitsAndLonePointsAsDots) {
    m_plot.setYScale(PlotWidget::YScale::Log2);
    Series series;
    int x = 0;
    for (const double value : {12.0, 19.0, kNan, 5.0, 0.0, 3.0, kInf}) series.add(x++, value);
    m_plot.setData(0, series);
    m_plot.group()->reset();
    m_plot.replot();
    const QCPRange range = m_plot.yAxis->range();
    EXPECT_TRUE(std::isfinite(range.lower) && std::isfinite(range.upper));
    EXPECT_LT(range.lower, std::log2(3.0));
    EXPECT_GT(range.upper, std::log2(19.0));
    EXPECT_GT(range.lower, -3);                  // the zero does not pull the axis down
    EXPECT_EQ(m_plot.graph(1)->dataCount(), 2);  // the 5 and the 3
}

TEST_F(PlotTest, manyPointsAreThinnedToThePixels) {
    Series series;
    for (int i = 0; i < 200000; ++i) series.add(i, std::sin(i));
    m_plot.setData(0, series);
    m_plot.group()->reset();
    m_plot.replot();
    EXPECT_LT(m_plot.drawnPoints(0), 3000);
    EXPECT_EQ(m_plot.pointCount(), 200000U);
}

TEST_F(PlotTest, savesPicturesAndDataAndSaysWhyItCannot) {
    const TemporaryFolder folder;
    for (const char* suffix : {"png", "svg", "pdf", "csv"}) {
        const QString path = QString::fromStdString(folder.path()) + "/plot." + suffix;
        EXPECT_EQ(m_plot.saveTo(path).toStdString(), "");
        EXPECT_GT(QFileInfo(path).size(), 100) << suffix;
    }
    EXPECT_TRUE(m_plot.csv().startsWith("step,line\r\n0,0\r\n1,1\r\n"));
    EXPECT_TRUE(m_plot.saveTo("/nonexistent/plot.png").contains("not saved"));
    EXPECT_TRUE(m_plot.saveTo("plot.xyz").contains("unknown kind of file"));
}

TEST_F(PlotTest, followsNewDataUntilTheUserZooms) {
    Series longer;
    for (int i = 0; i <= 200; ++i) longer.add(i, i);
    m_plot.setData(0, longer);
    m_plot.group()->dataChanged(&m_plot);
    EXPECT_NEAR(m_plot.xAxis->range().upper, 200, 1e-9);
    wheelAt(&m_plot, middle(), 2);
    const QCPRange zoomed = m_plot.xAxis->range();
    longer.add(201, 201);
    m_plot.setData(0, longer);
    m_plot.group()->dataChanged(&m_plot);
    EXPECT_EQ(m_plot.xAxis->range(), zoomed);
}

TEST_F(ViewsTest, throughputShowsEveryRepeatAndTheDifferenceToTheBaseline) {
    EXPECT_EQ(m_throughput.pointCount(), 3 * SampleDatabase::kRepeats);
    EXPECT_TRUE(m_throughput.barLabel(0).contains("k"));  // the baseline shows its value
    EXPECT_TRUE(m_throughput.barLabel(2).startsWith("+"));
    m_throughput.barPlot()->replot();
    EXPECT_DOUBLE_EQ(m_throughput.barPlot()->yAxis->range().lower, 0);  // bars stand on zero
    m_throughput.setMetric(ThroughputView::Metric::StepMs);
    EXPECT_TRUE(m_throughput.barLabel(2).startsWith("−"));
}

TEST_F(ViewsTest, stabilityDrawsTheWorstTensorsFirstAndTheSpikeIsAmongThem) {
    ASSERT_EQ(m_selection.tensors().size(), 3U);
    const auto& shown = m_stability.tensorPlot()->tensors();
    const bool hasSpike = std::any_of(shown.begin(), shown.end(), [](const profiling::TensorRow& row) {
        return row.fullName() == "layer.0.attn.qkv.grad_output" || row.fullName() == "layer.0.attn.qkv.input";
    });
    EXPECT_TRUE(hasSpike);
    const QCPRange range = m_stability.tensorPlot()->yAxis->range();
    EXPECT_TRUE(std::isfinite(range.lower) && std::isfinite(range.upper));
}

TEST_F(ViewsTest, missingSnapshotsAreAGapInTheLineAndSaidInTheReadout) {
    const auto first = m_stability.heatPlot()->map()->tensors.front().id;
    m_selection.setTensors({first});
    TensorPlot* plot = m_stability.tensorPlot();
    ASSERT_TRUE(waitFor([&] { return plot->lastStep(first) == SampleDatabase::kSteps - 1; }));
    ASSERT_TRUE(waitFor([&] { return !plot->data(0).empty(); }));
    const Series& drawn = plot->data(0);
    const std::size_t at = nearestIndex(drawn, SampleDatabase::kGapFirst);
    EXPECT_DOUBLE_EQ(drawn.x[at], SampleDatabase::kGapFirst);
    EXPECT_EQ(drawn.y[at], kNotRecorded);
    EXPECT_TRUE(plot->marksOf(0).nansAt.empty());  // missing is not NaN
    EXPECT_EQ(plot->readout(SampleDatabase::kGapFirst, 0)[0].value.toStdString(), "not recorded");
    EXPECT_TRUE(plot->readout(SampleDatabase::kInfStep, 0)[0].value.contains("∞"));
}

TEST_F(ViewsTest, heatMapColoursCellsByTheScaleAndHatchesMissingOnes) {
    HeatMapPlot* heat = m_stability.heatPlot();
    ASSERT_EQ(heat->map()->columns, SampleDatabase::kSteps);
    EXPECT_FALSE(heat->cellColor(0, SampleDatabase::kGapFirst).isValid());
    const QColor spike = heat->cellColor(2, SampleDatabase::kSpikeStep);
    ASSERT_TRUE(spike.isValid());
    EXPECT_LT(spike.lightness(), heat->cellColor(2, 0).lightness());  // least headroom is darkest
    heat->replot();
    const QPoint cell(static_cast<int>(heat->xAxis->coordToPixel(0)), static_cast<int>(heat->yAxis->coordToPixel(12)));
    const QColor drawn = heat->grab().toImage().pixelColor(cell);
    const QColor expected = heat->cellColor(12, 0);
    EXPECT_NEAR(drawn.red(), expected.red(), 3);
    EXPECT_NEAR(drawn.green(), expected.green(), 3);
}

TEST_F(ViewsTest, clickingAHeatMapRowDrawsThatTensor) {
    HeatMapPlot* heat = m_stability.heatPlot();
    const int row = static_cast<int>(heat->map()->tensors.size()) - 1;
    const QPoint at(heat->axisRect()->center().x(), static_cast<int>(heat->yAxis->coordToPixel(row)));
    QTest::mouseClick(heat, Qt::LeftButton, {}, at);
    const auto id = heat->map()->tensors.back().id;
    ASSERT_FALSE(m_selection.tensors().empty());
    EXPECT_EQ(m_selection.tensors().front(), id);
    EXPECT_TRUE(waitFor([this, id] { return m_stability.tensorPlot()->lastStep(id) == SampleDatabase::kSteps - 1; }));
}

TEST_F(ViewsTest, theStepAxesOfTheStabilityPlotsMoveTogether) {
    wheelAt(m_stability.lossPlot(), m_stability.lossPlot()->axisRect()->center(), 3);
    EXPECT_EQ(m_stability.tensorPlot()->xAxis->range(), m_stability.lossPlot()->xAxis->range());
    EXPECT_EQ(m_stability.heatPlot()->xAxis->range(), m_stability.lossPlot()->xAxis->range());
    EXPECT_LT(m_stability.heatPlot()->xAxis->range().size(), 80);
    EXPECT_TRUE(m_stability.zoomBack());
    EXPECT_GT(m_stability.heatPlot()->xAxis->range().size(), 110);
    EXPECT_FALSE(m_stability.zoomBack());
}

TEST_F(ViewsTest, pinningAStepLimitsTheKernelTableToIt) {
    const qlonglong all = m_summary.model()->rows().front().calls;
    m_selection.pinCursor(5);
    EXPECT_TRUE(waitFor([&] { return m_summary.model()->rows().front().calls < all; }));
    m_selection.freeCursor();
    EXPECT_TRUE(waitFor([&] { return m_summary.model()->rows().front().calls == all; }));
}

TEST_F(ViewsTest, theKernelTableFiltersByName) {
    auto* filter = m_summary.findChild<QLineEdit*>("summaryFilter");
    const int all = m_summary.rowCount();
    QTest::keyClicks(filter, "gemm");
    EXPECT_LT(m_summary.rowCount(), all);
    EXPECT_EQ(m_summary.rowCount(), 1);
}

TEST_F(ViewsTest, aNarrowKernelTableDropsColumnsBeforeItsNames) {
    m_summary.resize(1200, 330);
    ASSERT_TRUE(waitFor([&] { return !m_summary.table()->isColumnHidden(SummaryModel::Min); }));
    m_summary.resize(520, 330);
    EXPECT_TRUE(waitFor([&] { return m_summary.table()->isColumnHidden(SummaryModel::Min); }));
    EXPECT_FALSE(m_summary.table()->isColumnHidden(SummaryModel::Total));
    EXPECT_GE(m_summary.table()->columnWidth(SummaryModel::Name),
              m_summary.table()->fontMetrics().averageCharWidth() * 12);
}

TEST_F(ViewsTest, theFirstStepsLimitDoesNotSquashTheAmaxLines) {
    // Scale 1 at step 0: a limit far above everything after.
    profiling::TensorRow tensor;
    tensor.id = {1};
    tensor.format = "E5M2";
    std::vector<profiling::SnapshotRow> rows(100);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].step = static_cast<std::int64_t>(i);
        rows[i].amax = 1.0 / 4096;
        rows[i].scale = i == 0 ? 1.0 : 57344.0 * 2048.0;
    }
    TensorPlot plot(&m_selection, nullptr);
    plot.setTensors({tensor});
    plot.addSnapshots({1}, -1, rows);
    plot.redraw();
    EXPECT_LT(plot.yLimits().high, -8);
    EXPECT_GE(plot.yLimits().high, -11);
}

TEST(PlotTextTest, aNameBreaksAtSpacesAndColonsAndEndsWhereAPartDoesNotFit) {
    const QFontMetrics metrics(PlotStyle::light().captionFont());
    const int room = metrics.horizontalAdvance("delayed:") + 1;
    EXPECT_EQ(wrapped("fp8:delayed:hybrid", metrics, 1000), "fp8:delayed:hybrid");
    EXPECT_EQ(wrapped("fp8:delayed:hybrid", metrics, room), "fp8:\ndelayed:\nhybrid");
    const QStringList cut = wrapped("fp8:delayed:hybrid", metrics, metrics.horizontalAdvance("dela") + 8).split('\n');
    ASSERT_EQ(cut.size(), 2);
    EXPECT_TRUE(cut[1].endsWith(QChar(0x2026)));
}

TEST(PercentTickerTest, stepsOfAQuarterKeepTheirDigits) {
    PercentTicker ticker;
    ticker.setTickCount(4);
    QVector<double> ticks;
    QVector<QString> labels;
    ticker.generate(QCPRange(0, 0.001), QLocale::c(), 'g', 6, ticks, nullptr, &labels);
    ASSERT_GE(labels.size(), 3);
    for (qsizetype i = 0; i < labels.size(); ++i) {
        EXPECT_NEAR(labels[i].split(' ').front().toDouble() / 100, ticks[i], 1e-9) << labels[i].toStdString();
    }
}

TEST_F(ViewsTest, thePickerFindsTensorsByPartOfTheirName) {
    TensorPicker* picker = m_stability.picker();
    picker->openList();
    auto* search = picker->findChild<QLineEdit*>("tensorSearch");
    auto* list = picker->findChild<QListView*>("tensorList");
    QTest::keyClicks(search, "lm_head");
    ASSERT_EQ(list->model()->rowCount(), 3);
    const auto before = m_selection.tensors();
    list->model()->setData(list->model()->index(0, 0), Qt::Checked, Qt::CheckStateRole);
    EXPECT_NE(m_selection.tensors(), before);
}

TEST_F(ViewsTest, namesInTheScatterKeepClearOfItsCaption) {
    for (const int height : {200, 240, 330, 500}) {
        m_throughput.resize(430, height);
        QApplication::processEvents();
        PlotWidget* scatter = m_throughput.scatterPlot();
        scatter->replot();
        const double half = QFontMetrics(scatter->style().captionFont()).height() / 2.0;
        for (int i = 0; i < scatter->lineCount(); ++i) {
            if (scatter->data(i).empty()) continue;
            const double y = scatter->yAxis->coordToPixel(scatter->data(i).y[0]);
            if (scatter->axisRect()->height() > 40) {
                EXPECT_GE(y - half, scatter->axisRect()->top() + 3) << height << " " << i;
            }
        }
    }
}

TEST_F(ViewsTest, aLongEventIsReadWholeWhateverTheWidthIs) {
    const std::unique_ptr<RowsView> events(createEventsView(&m_selection, &m_worker));
    events->resize(700, 200);
    m_selection.setCurrentRun(m_sample.bf16);
    m_selection.setCurrentRun(m_sample.fp8);  // asked while it is hidden
    QTableView* table = events->table();
    ASSERT_TRUE(waitFor([&] { return table->model()->rowCount() == 1 && m_worker.idle(); }));
    events->show();
    const auto fits = [&] {
        const int text = table->model()->columnCount() - 1;
        const QRect room(0, 0, table->columnWidth(text) - 8, 10000);
        const QString what = table->model()->index(0, text).data().toString();
        const int needed = table->fontMetrics().boundingRect(room, Qt::TextWordWrap, what).height();
        return table->rowHeight(0) >= needed;
    };
    const int wide = table->rowHeight(0);
    EXPECT_TRUE(waitFor(fits));
    events->resize(330, 200);
    EXPECT_TRUE(waitFor([&] { return fits() && table->rowHeight(0) > wide; }));
    EXPECT_LE(table->horizontalHeader()->length(), table->viewport()->width());
    const int code = 2;
    EXPECT_GE(table->columnWidth(code), table->fontMetrics().horizontalAdvance("saturation"));
}

TEST_F(ViewsTest, aLiveRunGrowsWithoutBeingReadAgainFromTheStart) {
    LiveRun live(m_path);
    for (int step = 0; step < 10; ++step) live.step(step);
    m_selection.setCurrentRun(live.id());
    ASSERT_TRUE(waitFor([&] { return m_stability.lossPlot()->readFrom(live.id()) >= 0; }));
    const std::int64_t before = m_stability.lossPlot()->readFrom(live.id());
    for (int step = 10; step < 20; ++step) live.step(step);
    EXPECT_TRUE(waitFor([&] { return m_stability.lossPlot()->readFrom(live.id()) >= before + 10; }));
}

TEST_F(ViewsTest, aRunWithoutScalesSaysWhyAndOffersARun) {
    m_selection.setCurrentRun(m_sample.fp32);
    ASSERT_TRUE(waitFor([this] { return m_stability.tensorPlot()->isEmptyState(); }));
    auto* button = m_stability.findChild<QPushButton*>("stabilityAmaxEmptyButton");
    ASSERT_NE(button, nullptr);
    const QSignalSpy asked(&m_stability, &StabilityView::newRunRequested);
    button->click();
    EXPECT_EQ(asked.count(), 1);
}

TEST_F(ViewsTest, withoutRunsTheThroughputViewSaysWhyAndOffersABenchmark) {
    m_selection.setVisibleRuns({});
    EXPECT_TRUE(m_throughput.barPlot()->isEmptyState());
    auto* button = m_throughput.findChild<QPushButton*>("throughputBarsEmptyButton");
    ASSERT_NE(button, nullptr);
    const QSignalSpy asked(&m_throughput, &ThroughputView::newBenchmarkRequested);
    button->click();
    EXPECT_EQ(asked.count(), 1);
}

TEST_F(ViewsTest, axisLabelsFitIntoTheirMarginsInBothThemes) {
    for (const PlotStyle& style : {PlotStyle::light(), PlotStyle::dark()}) {
        m_stability.setTheme(style);
        const QFontMetrics metrics(style.captionFont());
        for (PlotWidget* plot : std::initializer_list<PlotWidget*>{m_stability.tensorPlot(), m_stability.lossPlot()}) {
            plot->replot();
            QVector<double> ticks;
            QVector<QString> labels;
            plot->yAxis->ticker()->generate(plot->yAxis->range(), QLocale::c(), 'g', 6, ticks, nullptr, &labels);
            ASSERT_FALSE(labels.isEmpty());
            for (const QString& label : labels) {
                EXPECT_LE(metrics.horizontalAdvance(label) + 6, plot->axisRect()->left()) << label.toStdString();
            }
        }
    }
}

TEST(PlotStyleTest, textAndLinesHaveEnoughContrast) {
    for (const PlotStyle& style : {PlotStyle::light(), PlotStyle::dark()}) {
        EXPECT_GE(contrast(style.text, style.card), 4.5);
        EXPECT_GE(contrast(style.secondary, style.card), 4.5);
        for (int run = 0; run < 8; ++run) EXPECT_GE(contrast(style.runLineColor(run), style.card), 3.0) << run;
    }
    EXPECT_EQ(PlotStyle::runDash(5), Qt::SolidLine);
    EXPECT_NE(PlotStyle::runDash(6), Qt::SolidLine);
    EXPECT_NE(PlotStyle::runMarker(6), PlotStyle::runMarker(0));
}
