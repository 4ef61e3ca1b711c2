// The stability view on a run that observes everything: exponent histograms, one scale per block, tensors that are not
// cast.
#include "views/exponents_view.h"
#include "views/tensor_picker.h"
#include "views_fixture.h"

#include <QComboBox>
#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <cmath>

using namespace gui;

namespace {

/// The stability view on a run with histograms, blocks and tensors that are not cast.
class ObservedTest : public ViewsTest {
protected:
    void SetUp() override {
        ViewsTest::SetUp();
        m_stability.resize(520, 560);
        m_observed = addObservedRun(m_path);
        m_selection.setCurrentRun(m_observed.id);
        ASSERT_TRUE(waitFor([this] {
            const auto* map = m_stability.heatPlot()->map();
            return map != nullptr && map->tensors.size() == 3 && m_stability.tensorPlot()->pointCount() > 0 &&
                   m_worker.idle();
        }));
    }
    /// By its place in ObservedRun's list.
    profiling::TensorId tensor(std::size_t index) {
        auto items = m_stability.picker()->model()->items();
        std::sort(items.begin(), items.end(),
                  [](const TensorItem& a, const TensorItem& b) { return a.tensor.id.value < b.tensor.id.value; });
        return items.at(index).tensor.id;
    }
    /// Draws this tensor first and clicks on "Exponents".
    void showExponents(std::size_t index) {
        m_selection.setTensors({tensor(index)});
        auto* tabs = m_stability.findChild<QTabBar*>("stabilityLower");
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(1).center());
    }
    ExponentPlot* plot() { return m_stability.exponents()->plot(); }
    bool waitForStep(std::int64_t step) {
        return waitFor([&] { return plot()->histogram() && plot()->histogram()->exponents.step == step; });
    }
    QString emptyText() { return m_stability.findChild<QLabel*>("stabilityExponentsEmptyText")->text(); }

    ObservedRun m_observed;
};

}  // namespace

TEST_F(ObservedTest, exponentsAreThoseOfTheNewestHistogramUpToTheCursor) {
    showExponents(0);
    ASSERT_TRUE(waitForStep(40));  // without a cursor the newest
    EXPECT_FALSE(plot()->isEmptyState());
    m_selection.pinCursor(39);
    ASSERT_TRUE(waitForStep(20));
    EXPECT_EQ(plot()->countAt(-15), 400);
    EXPECT_EQ(plot()->countAt(4), 200);
    EXPECT_EQ(plot()->countAt(5), 0);
    m_selection.pinCursor(19);
    ASSERT_TRUE(waitFor([this] { return plot()->isEmptyState(); }));
    EXPECT_TRUE(emptyText().contains("from step 20")) << emptyText().toStdString();
}

TEST_F(ObservedTest, marksStandWhereTheFormatEndsAndTheSharesOutsideAreStated) {
    showExponents(0);
    ASSERT_TRUE(waitForStep(40));
    const auto marks = plot()->marks();
    ASSERT_EQ(marks.size(), 3U);
    EXPECT_DOUBLE_EQ(marks[0].exponent, -9 - 4);  // 2^-9 / 16
    EXPECT_DOUBLE_EQ(marks[1].exponent, -6 - 4);
    EXPECT_DOUBLE_EQ(marks[2].exponent, std::log2(448.0) - 4);
    // 2^4.8 lies in the highest binade, whose 200 elements may be on either side; 1000 are below for certain.
    EXPECT_EQ(plot()->below().toStdString(), "1.0 % below");
    EXPECT_EQ(plot()->above().toStdString(), "0 % – 0.20 % above");
    const auto rows = plot()->readout(-14.5, 0);
    ASSERT_GE(rows.size(), 3U);
    EXPECT_EQ(rows[0].name.toStdString(), "|x| from 2^−15 to 2^−14");
    EXPECT_EQ(rows[1].value, "400");
    EXPECT_TRUE(plot()->csv().contains("layer.0.mlp.fc1.input,40,-15,400\r\n"));
}

TEST_F(ObservedTest, theLogButtonShowsFewElementsToo) {
    showExponents(0);
    ASSERT_TRUE(waitForStep(40));
    const double foot = plot()->yAxis->range().lower;
    EXPECT_DOUBLE_EQ(foot, 0);
    auto* log = m_stability.findChild<QToolButton*>("exponentsLog");
    ASSERT_TRUE(log->isVisible());
    QTest::mouseClick(log, Qt::LeftButton);
    EXPECT_TRUE(plot()->isLogarithmic());
    EXPECT_LT(plot()->yAxis->range().lower, 0);
    EXPECT_GT(plot()->yAxis->range().upper, 4);  // 10^4 elements and room for names
}

TEST_F(ObservedTest, ofBlocksAndOfTensorsThatAreNotCastItSaysWhatIsKnown) {
    showExponents(1);
    ASSERT_TRUE(waitForStep(40));
    EXPECT_EQ(plot()->below().toStdString(), "0.50 % stored as 0");
    showExponents(2);
    ASSERT_TRUE(waitFor([this] { return plot()->histogram() && plot()->histogram()->tensor.role == "output"; }));
    EXPECT_TRUE(plot()->marks().empty());
    EXPECT_EQ(plot()->below(), "BF16, not cast");
    EXPECT_EQ(plot()->above(), "");
}

TEST_F(ObservedTest, aRunWithoutHistogramsSaysHowToRecordSome) {
    m_selection.setCurrentRun(m_sample.fp8);
    ASSERT_TRUE(waitFor([this] { return m_stability.tensorPlot()->pointCount() > 0 && m_worker.idle(); }));
    auto* tabs = m_stability.findChild<QTabBar*>("stabilityLower");
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(1).center());
    ASSERT_TRUE(waitFor([this] { return emptyText().contains("--exponents-every"); }));
    auto* button = m_stability.findChild<QPushButton*>("stabilityExponentsEmptyButton");
    const QSignalSpy asked(&m_stability, &StabilityView::newRunRequested);
    QTest::mouseClick(button, Qt::LeftButton);
    EXPECT_EQ(asked.count(), 1);
}

TEST_F(ObservedTest, blocksHaveABandOfScalesAndTensorsWithoutAScaleHaveAmaxOnly) {
    m_selection.setTensors({tensor(2), tensor(1)});
    TensorPlot* amax = m_stability.tensorPlot();
    ASSERT_TRUE(waitFor([&] { return amax->lineCount() == 4 && amax->pointCount() > 0 && m_worker.idle(); }));
    EXPECT_TRUE(std::isfinite(amax->data(0).y[5]));
    EXPECT_TRUE(amax->marksOf(2).nansAt.empty());  // no limit, and no cross either
    EXPECT_DOUBLE_EQ(amax->data(3).y[5], 448.0 / 32);
    EXPECT_TRUE(amax->readout(5, 0)[0].value.contains("BF16, not cast"));
    auto* mode = m_stability.findChild<QComboBox*>("stabilityMode");
    mode->setCurrentIndex(static_cast<int>(TensorPlot::Mode::Scale));
    EXPECT_TRUE(amax->marksOf(0).nansAt.empty());
    EXPECT_DOUBLE_EQ(amax->data(1).y[5], 32);
    EXPECT_LE(amax->yAxis->range().lower, 1);  // the band's scales, 2 and 512, are in sight
    EXPECT_GE(amax->yAxis->range().upper, 9);
    EXPECT_TRUE(amax->readout(5, 0)[1].value.contains("blocks 2.00 … 512"))
        << amax->readout(5, 0)[1].value.toStdString();
}

TEST_F(ObservedTest, theHeatMapHasTheOperandsAndSaysWhichAreNotCast) {
    HeatMapPlot* heat = m_stability.heatPlot();
    ASSERT_EQ(heat->map()->tensors.size(), 3U);  // not output and wgrad, which never are
    EXPECT_TRUE(heat->cellColor(0, 5).isValid());
    EXPECT_EQ(heat->map()->tensors[2].layer, "lm_head");
    EXPECT_FALSE(heat->cellColor(2, 5).isValid());
    const auto rows = heat->readout(5, 2);
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows[0].value.toStdString(), "BF16, not cast");
    // Headroom log2(448 / (30 · 16)) = −0.1 and log2(448 / (30 · 32)) = −1.1 up to a few percent of amax.
    EXPECT_GE(heat->colorRange().size(), 1.0);
}

TEST_F(ObservedTest, thePickerNarrowsToARole) {
    TensorPicker* picker = m_stability.picker();
    picker->openList();
    auto* role = picker->findChild<QComboBox*>("tensorRole");
    auto* list = picker->findChild<QListView*>("tensorList");
    EXPECT_EQ(role->count(), 5);  // all, and the four of this run
    ASSERT_EQ(list->model()->rowCount(), 5);
    role->setCurrentIndex(role->findData("wgrad"));
    ASSERT_EQ(list->model()->rowCount(), 1);
    EXPECT_TRUE(list->model()->index(0, 0).data().toString().contains("FP32, not cast"));
}
